#include "daemon/settings.h"

#include <gtest/gtest.h>

#include "platform/file.h"

namespace berthd {
namespace {

class SettingsTest : public testing::Test {
 protected:
  ServeOptions with_file(const std::string& text) {
    const std::string path = folder_.path() / "berth.yaml";
    EXPECT_TRUE(platform::write_file_atomically(path, text));
    return {.config_file = path, .environment = {{"HOME", "/home/ann"}}};
  }
  platform::TemporaryFolder folder_;
};

TEST_F(SettingsTest, WithoutAnythingTheDefaultsOfTheUserHold) {
  const auto settings = load_settings({.environment = {{"HOME", "/home/ann"}}});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->data_folder, "/home/ann/.local/share/berth");
  EXPECT_EQ(settings->address, "127.0.0.1");
  EXPECT_EQ(settings->port, 7070);
  const auto other =
      load_settings({.environment = {{"HOME", "/home/ann"}, {"XDG_DATA_HOME", "/data"}}});
  EXPECT_EQ(other->data_folder, "/data/berth");
}

TEST_F(SettingsTest, WithoutHomeTheFlagIsAskedFor) {
  const auto settings = load_settings({});
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().field, "--data");
}

TEST_F(SettingsTest, FlagsWinOverTheFileAndTheFileOverDefaults) {
  auto options = with_file("listen: 0.0.0.0:8080\ndataDir: state\n");
  auto settings = load_settings(options);
  ASSERT_TRUE(settings) << base::to_text(settings.error());
  EXPECT_EQ(settings->address, "0.0.0.0");
  EXPECT_EQ(settings->port, 8080);
  EXPECT_EQ(settings->data_folder, (folder_.path() / "state").string())
      << "relative to the file, wherever the daemon is started";
  options.listen = "[::1]:0";
  options.data_folder = "/elsewhere";
  settings = load_settings(options);
  EXPECT_EQ(settings->address, "::1");
  EXPECT_EQ(settings->port, 0);
  EXPECT_EQ(settings->data_folder, "/elsewhere");
}

TEST_F(SettingsTest, AWriteCacheIsThereWhenATestAsksForIt) {
  const auto with = [](const std::string& seed) {
    return load_settings({.environment = {{"HOME", "/home/ann"}, {"BERTH_WRITE_CACHE", seed}}});
  };
  EXPECT_EQ(with("")->write_cache, std::nullopt);
  EXPECT_EQ(with("7")->write_cache, 7U);
  for (const char* wrong : {"yes", "-1", "1x", "99999999999999999999"})
    EXPECT_EQ(with(wrong).error().field, "BERTH_WRITE_CACHE") << wrong;
}

TEST_F(SettingsTest, AWrongFileOrAddressIsNamed) {
  EXPECT_NE(load_settings(with_file("listn: x")).error().field.find("listn"), std::string::npos);
  EXPECT_NE(load_settings(with_file("listen: gpu-1:80")).error().field.find("berth.yaml: listen"),
            std::string::npos);
  EXPECT_EQ(load_settings({.config_file = folder_.path() / "none.yaml"}).error().code,
            base::Code::NotFound);
}

TEST(Listen, IsReadStrictlyAndPrintedBack) {
  EXPECT_EQ(parse_listen(":7070", "f"), (Listen{"127.0.0.1", 7070}));
  EXPECT_EQ(parse_listen("localhost:1", "f"), (Listen{"127.0.0.1", 1}));
  EXPECT_EQ(parse_listen("[::]:65535", "f"), (Listen{"::", 65535}));
  for (const char* wrong : {"", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
                            "300.0.0.1:1", "name:1", "127.0.0.1:1x"}) {
    const auto parsed = parse_listen(wrong, "--listen");
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_EQ(parsed.error().field, "--listen");
    EXPECT_FALSE(parsed.error().hint.empty());
  }
  EXPECT_EQ(print_listen({"::1", 80}), "[::1]:80");
  EXPECT_EQ(print_listen({"127.0.0.1", 80}), "127.0.0.1:80");
}

}  // namespace
}  // namespace berthd
