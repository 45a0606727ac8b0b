#include "cli/settings.h"

#include <gtest/gtest.h>

#include "platform/file.h"

namespace cli {
namespace {

class SettingsOf : public ::testing::Test {
 protected:
  std::string home() const { return folder_.path().string(); }
  void write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = folder_.path() / name;
    ASSERT_TRUE(platform::make_folder(path.parent_path()));
    ASSERT_TRUE(platform::write_file_atomically(path, text));
  }
  base::Result<Settings> load(const std::vector<std::string>& words, Environment environment = {}) {
    environment.emplace("HOME", home());
    const auto invocation = parse_command_line(words);
    EXPECT_TRUE(invocation.has_value());
    return load_settings(*invocation, environment);
  }

  platform::TemporaryFolder folder_;
};

TEST_F(SettingsOf, NothingSetMeansTheDefaultAddressAndNoToken) {
  const auto settings = load({"queue"});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->server, kDefaultServer);
  EXPECT_EQ(settings->token, "");
  EXPECT_EQ(settings->output, "table");
}

TEST_F(SettingsOf, AServerOfTheSameUserIsFoundByItself) {
  write(".local/share/berth/server.json", R"({"address":"127.0.0.1:4711","pid":1})");
  write(".local/share/berth/admin.token", "secret-of-the-server\n");
  const auto settings = load({"queue"});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->server, "http://127.0.0.1:4711");
  EXPECT_EQ(settings->token, "secret-of-the-server");
}

TEST_F(SettingsOf, TheFlagGoesBeforeTheEnvironmentBeforeTheFile) {
  write(".config/berth/client.yaml",
        "# mine\nserver: http://file:1\ntoken: file-token\noutput: wide\n");
  EXPECT_EQ(load({"queue"})->server, "http://file:1");
  EXPECT_EQ(load({"queue"})->output, "wide");
  EXPECT_EQ(load({"queue"}, {{"BERTH_SERVER", "env:2"}})->server, "http://env:2");
  EXPECT_EQ(load({"queue"}, {{"BERTH_TOKEN", "env-token"}})->token, "env-token");
  const auto settings =
      load({"queue", "--server", "https://flag:3/", "--token", "flag-token", "-o", "json"},
           {{"BERTH_SERVER", "env:2"}, {"BERTH_TOKEN", "env-token"}});
  EXPECT_EQ(settings->server, "https://flag:3");
  EXPECT_EQ(settings->token, "flag-token");
  EXPECT_EQ(settings->output, "json");
}

TEST_F(SettingsOf, MistakesInTheFileNameTheLineAndTheRemedy) {
  write("bad.yaml", "server: http://x:1\nsever: http://y:2\n");
  const auto unknown = load({"queue", "--config", home() + "/bad.yaml"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().field, home() + "/bad.yaml:2");
  EXPECT_EQ(unknown.error().hint, "did you mean server");
  write("twice.yaml", "token: a\ntoken: b\n");
  EXPECT_FALSE(load({"queue"}, {{"BERTH_CONFIG", home() + "/twice.yaml"}}));
  write("output.yaml", "output: xml\n");
  EXPECT_FALSE(load({"queue", "--config", home() + "/output.yaml"}));
  write("noise.yaml", "just words\n");
  EXPECT_FALSE(load({"queue", "--config", home() + "/noise.yaml"}));
  EXPECT_FALSE(load({"queue", "--config", home() + "/absent.yaml"}));
}

TEST_F(SettingsOf, ATokenFileThatOthersCanReadIsRefused) {
  write("token", "secret\n");
  std::filesystem::permissions(folder_.path() / "token", std::filesystem::perms(0644));
  write("client.yaml", "tokenFile: " + home() + "/token\n");
  EXPECT_FALSE(load({"queue", "--config", home() + "/client.yaml"}));
  std::filesystem::permissions(folder_.path() / "token", std::filesystem::perms(0600));
  EXPECT_EQ(load({"queue", "--config", home() + "/client.yaml"})->token, "secret");
}

TEST_F(SettingsOf, ColourIsSwitchedOffByAnyoneWhoAsks) {
  EXPECT_TRUE(load({"queue"})->has_color);
  EXPECT_FALSE(load({"queue", "--no-color"})->has_color);
  EXPECT_FALSE(load({"queue"}, {{"NO_COLOR", "1"}})->has_color);
  write("client.yaml", "color: false\n");
  EXPECT_FALSE(load({"queue", "--config", home() + "/client.yaml"})->has_color);
}

}  // namespace
}  // namespace cli
