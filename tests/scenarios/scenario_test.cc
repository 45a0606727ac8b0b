// Every tests/scenarios/*.txt is a test of its own. Beside them: the words of the format, and that
// every Reason is shown by some scenario or is on the written list of those that cannot yet be.
//
// This binary also prints digests, for the check that plans are the same in every process:
//   integration_test scenario --digest FILE [--shuffle SEED]

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/reason.h"
#include "testing/scenario.h"

namespace {

namespace fs = std::filesystem;

fs::path folder() {
  const char* source = std::getenv("BERTH_SOURCE");
  return fs::path(source == nullptr ? "." : source) / "tests" / "scenarios";
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<fs::path> scenario_files() {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder(), ignored))
    if (entry.path().extension() == ".txt") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

class Scenario : public ::testing::TestWithParam<fs::path> {};

TEST_P(Scenario, IsMet) {
  const auto run = testkit::run_scenario(content_of(GetParam()));
  ASSERT_TRUE(run.has_value()) << base::to_text(run.error());
  for (const std::string& failure : run->failures)
    ADD_FAILURE() << failure;
}

TEST_P(Scenario, DecidesTheSameWhateverTheFillingOrder) {
  const std::string text = content_of(GetParam());
  const auto run = testkit::run_scenario(text, {.shuffle = {}, .has_witness = false});
  const auto shuffled = testkit::run_scenario(text, {.shuffle = 7, .has_witness = false});
  ASSERT_TRUE(run.has_value() && shuffled.has_value());
  EXPECT_EQ(run->digests, shuffled->digests);
}

std::string test_name(const ::testing::TestParamInfo<fs::path>& file) {
  std::string name = file.param.stem().string();
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Text, Scenario, ::testing::ValuesIn(scenario_files()), test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Scenario);

// Lines "Reason  what it waits for" of tests/scenarios/reasons_for_later.md.
std::map<std::string, std::string> reasons_for_later() {
  std::map<std::string, std::string> listed;
  std::istringstream lines(content_of(folder() / "reasons_for_later.md"));
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("| ", 0) != 0) continue;
    const auto end = line.find(" |", 2);
    if (end != std::string::npos) listed[line.substr(2, end - 2)] = line.substr(end + 2);
  }
  return listed;
}

TEST(EveryReason, HasAScenarioOrWaitsForAFeature) {
  std::set<model::Reason> shown;
  for (const fs::path& file : scenario_files()) {
    const auto run = testkit::run_scenario(content_of(file), {.shuffle = {}, .has_witness = false});
    if (run) shown.insert(run->reasons.begin(), run->reasons.end());
  }
  const auto later = reasons_for_later();
  for (const auto& row : model::reason_catalogue()) {
    if (row.reason == model::Reason::None) continue;
    const bool is_listed = later.contains(std::string(row.name));
    if (shown.contains(row.reason))
      EXPECT_FALSE(is_listed) << row.name << " has a scenario: take it off the list";
    else
      EXPECT_TRUE(is_listed) << row.name << " is shown by no scenario";
  }
}

TEST(ScenarioText, SaysWhichLineIsWrong) {
  const auto unknown = testkit::run_scenario("pool p nodes=1\nfly away\n");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().message.find("line 2: 'fly' begins no line"), std::string::npos);
  const auto key = testkit::run_scenario("pool p nodes=1 gpu=8\n");
  ASSERT_FALSE(key.has_value());
  EXPECT_NE(key.error().message.find("unknown key gpu"), std::string::npos);
  const auto back = testkit::run_scenario("pool p nodes=1\nqueue default\nat 5s\nat 2s\n");
  ASSERT_FALSE(back.has_value());
  EXPECT_NE(back.error().message.find("line 4: time goes back"), std::string::npos);
}

TEST(ScenarioText, ReportsAnExpectationThatIsNotMet) {
  const auto run = testkit::run_scenario(
      "pool p nodes=1 gpus=1\nqueue default\n"
      "at 0s submit a gpus=1 => blocked\nat 1s submit b gpus=1 => started\n");
  ASSERT_TRUE(run.has_value());
  ASSERT_EQ(run->failures.size(), 2U);
  EXPECT_EQ(run->failures[0].substr(0, 6), "line 3");
  EXPECT_EQ(run->failures[1], "line 4: b was not started");
}

int print_digests(int count, char** words) {
  testkit::ScenarioOptions options{.shuffle = {}, .has_witness = false};
  std::string file;
  for (int i = 2; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--help") {
      std::cout << "scenario --digest FILE [--shuffle SEED]: a digest of each plan\n";
      return 0;
    }
    if (word == "--shuffle" && i + 1 < count)
      options.shuffle = std::strtoull(words[++i], nullptr, 10);
    else if (word != "--digest")
      file = word;
  }
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  const auto run = testkit::run_scenario(text.str(), options);
  if (!stream || !run) {
    std::cerr << file << ": " << (run ? "cannot be read" : base::to_text(run.error())) << "\n";
    return 1;
  }
  std::cout << run->digests.size() << " plans\n";
  for (const std::string& digest : run->digests)
    std::cout << digest << "\n";
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count > 1 && std::string_view(words[1]) == "scenario") return print_digests(count, words);
  ::testing::InitGoogleTest(&count, words);
  return RUN_ALL_TESTS();
}
