#include "cli/completion.h"

#include <sys/wait.h>

#include <cstdio>

#include <gtest/gtest.h>

#include "cli/command_tree.h"
#include "platform/file.h"

namespace cli {
namespace {

// What a bash line prints; empty with a failure recorded when it fails.
std::string bash(const std::string& line) {
  FILE* pipe = popen(("bash -c '" + line + "'").c_str(), "r");
  if (pipe == nullptr) return "";
  std::string out;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    out.append(buffer, n);
  EXPECT_EQ(pclose(pipe), 0) << line;
  return out;
}

TEST(Completion, EveryScriptKnowsEveryVerbAndFlag) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto script = completion_script(shell);
    ASSERT_TRUE(script.has_value());
    for (const Verb& verb : verbs()) {
      EXPECT_NE(script->find(verb.name), std::string::npos) << shell << " " << verb.name;
      for (const Flag& flag : verb.flags)
        EXPECT_NE(script->find(flag.name), std::string::npos) << shell << " --" << flag.name;
    }
  }
}

TEST(Completion, UnknownShellsHaveNone) { EXPECT_FALSE(completion_script("tcsh").has_value()); }

TEST(Completion, BashCompletesVerbsFlagsAndChoices) {
  const platform::TemporaryFolder folder;
  const std::string path = (folder.path() / "berth.bash").string();
  ASSERT_TRUE(platform::write_file_atomically(path, *completion_script("bash")));
  const auto complete = [&](const std::string& words, int at) {
    return bash("source " + path + "; COMP_WORDS=(" + words +
                "); COMP_CWORD=" + std::to_string(at) + "; _berth; echo ${COMPREPLY[@]}");
  };
  EXPECT_EQ(complete("berth subm", 1), "submit\n");
  EXPECT_EQ(complete("berth queue --ou", 2), "--output\n");
  EXPECT_EQ(complete("berth queue -o js", 3), "json\n");
  EXPECT_EQ(complete("berth completion zs", 2), "zsh\n");
  // Behind -- a command of the user's begins.
  EXPECT_EQ(complete("berth submit -- --ou", 3), "\n");
}

TEST(Completion, BashAsksTheServerForNames) {
  const platform::TemporaryFolder folder;
  const std::string path = (folder.path() / "berth.bash").string();
  ASSERT_TRUE(platform::write_file_atomically(path, *completion_script("bash")));
  EXPECT_EQ(bash("source " + path +
                 "; _berth_ask() { echo 1042; echo 1050; echo 7; }; "
                 "COMP_WORDS=(berth why 10); COMP_CWORD=2; _berth; echo ${COMPREPLY[@]}"),
            "1042 1050\n");
}

}  // namespace
}  // namespace cli
