// Every scenario that storm ever failed on is lived through again: the files of regressions/, each
// a scenario with the finding that it stands for in its first lines.

#include <filesystem>

#include <gtest/gtest.h>

#include "platform/file.h"
#include "platform/log.h"
#include "storm/isolation.h"
#include "storm/scenario.h"

namespace {

TEST(StormRegressions, AllAreClean) {
  platform::set_log_sink([](const std::string&) {});
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/storm/regressions")) {
    const auto text = platform::read_file(entry.path());
    ASSERT_TRUE(text) << base::to_text(text.error());
    const auto scenario = storm::parse_scenario(*text);
    ASSERT_TRUE(scenario) << entry.path() << ": " << base::to_text(scenario.error());
    const storm::Outcome outcome = storm::live_through_one(*scenario);
    EXPECT_EQ(outcome.report, "") << "berth storm --scenario " << entry.path().string();
    ++count;
  }
  EXPECT_GE(count, 8);
  platform::set_log_sink(nullptr);
}

}  // namespace
