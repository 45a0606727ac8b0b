// The simulation itself: a scenario decides everything, its parts can be left out, and a look at a
// handful of seeds finds nothing wrong, sees enough and reaches the points that it lists.

#include "storm/world.h"

#include <gtest/gtest.h>

#include "platform/log.h"
#include "storm/fault_catalogue.h"
#include "storm/isolation.h"
#include "storm/scenario.h"
#include "storm/totals.h"

namespace storm {
namespace {

class StormTest : public testing::Test {
 protected:
  void SetUp() override {
    platform::set_log_sink([](const std::string&) {});
  }
  void TearDown() override { platform::set_log_sink(nullptr); }
};

Outcome live(const Scenario& scenario) {
  World world(scenario);
  return world.run();
}

TEST_F(StormTest, TheSameSeedGivesTheSameBytes) {
  const Scenario scenario{.seed = base::Seed{7}, .minutes = 60};
  const Outcome once = live(scenario);
  const Outcome again = live(scenario);
  EXPECT_EQ(once.digest, again.digest);
  EXPECT_EQ(once.coverage, again.coverage);
  EXPECT_NE(once.digest, live({.seed = base::Seed{8}, .minutes = 60}).digest);
}

TEST_F(StormTest, AnotherProcessGivesTheSameBytesToo) {
  const Scenario scenario{.seed = base::Seed{9}, .minutes = 60};
  EXPECT_EQ(live(scenario).digest, live_through_one(scenario).digest);
}

TEST_F(StormTest, AJournalInAFileGivesTheSameBytesAndLosesPower) {
  const Scenario scenario{.seed = base::Seed{2}, .minutes = 60, .journal = JournalKind::Sqlite};
  const Outcome once = live(scenario);
  const Outcome again = live(scenario);
  EXPECT_EQ(once.report, "");
  EXPECT_EQ(once.digest, again.digest);
  EXPECT_EQ(once.coverage, again.coverage);
  EXPECT_GT(once.coverage.passages[*fault_named("disk.write")], 0);
  EXPECT_GT(once.coverage.passages[*fault_named("disk.power")], 0);
}

TEST_F(StormTest, WhatIsNotInTheListsDoesNotHappen) {
  Scenario scenario{.seed = base::Seed{5}, .minutes = 60};
  scenario.actions.emplace();
  scenario.hits.emplace();
  const Outcome quiet = live(scenario);
  EXPECT_EQ(quiet.faults, 0);
  EXPECT_EQ(quiet.starts, 0);
  EXPECT_EQ(quiet.report, "");
  EXPECT_FALSE(quiet.is_meaningful());
}

TEST_F(StormTest, AHitThatIsListedHappensAtItsPassage) {
  Scenario scenario{.seed = base::Seed{5}, .minutes = 60};
  scenario.hits = {{*fault_named("controller.before_commit"), 20}};
  const Outcome outcome = live(scenario);
  EXPECT_EQ(outcome.deaths, 1);
  EXPECT_EQ(outcome.coverage.hits[*fault_named("controller.before_commit")], 1);
}

TEST_F(StormTest, AFewSeedsAreCleanMeaningfulAndReachMostPoints) {
  Totals totals;
  Coverage coverage;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Outcome outcome = live({.seed = base::Seed{seed}});
    EXPECT_EQ(outcome.report, "") << "berth storm --seed " << seed;
    totals.add(outcome);
    coverage.add(outcome.coverage);
  }
  // A few seeds draw no journal in a file.
  const Outcome in_file = live({.seed = base::Seed{13}, .journal = JournalKind::Sqlite});
  EXPECT_EQ(in_file.report, "") << "berth storm --seed 13 --journal-in sqlite";
  coverage.add(in_file.coverage);
  EXPECT_LE(totals.discarded(), 4);
  EXPECT_TRUE(coverage.unlisted.empty()) << coverage.unlisted.begin()->first;
  int never_passed = 0;
  for (std::size_t row = 0; row < fault_catalogue().size(); ++row) {
    const bool is_happening = fault_catalogue()[row].kind == FaultKind::Happening;
    never_passed += !is_happening && coverage.passages[row] == 0;
  }
  EXPECT_EQ(never_passed, 0);
}

TEST_F(StormTest, TheCatalogueIsLongAndNamesNothingTwice) {
  EXPECT_GE(fault_catalogue().size(), 45U);
  for (std::size_t row = 0; row < fault_catalogue().size(); ++row)
    EXPECT_EQ(fault_named(fault_catalogue()[row].name), row);
}

TEST_F(StormTest, SwarmsLeaveFaultsOutAndCalmOnesAllButThoseOfPeople) {
  std::int64_t off = 0, on = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed)
    for (const std::int32_t rate : swarm_of({.seed = base::Seed{seed}}).rates)
      ++(rate == 0 ? off : on);
  EXPECT_GT(off, on / 4);
  EXPECT_GT(on, off / 4);
  const Swarm calm = swarm_of({.seed = base::Seed{3}, .profile = "calm"});
  for (std::size_t row = 0; row < calm.rates.size(); ++row) {
    if (fault_catalogue()[row].part == FaultPart::Client) continue;
    EXPECT_EQ(calm.rates[row], 0) << fault_catalogue()[row].name;
  }
}

TEST(StormScenario, IsReadAsItWasPrinted) {
  Scenario scenario{
      .seed = base::Seed{42}, .profile = "link", .minutes = 90, .journal = JournalKind::Memory};
  scenario.actions = {1, 2, 3, 9};
  scenario.nodes = {2};
  scenario.hits = {{*fault_named("store.read"), 3}, {*fault_named("link.stop.lost"), 17}};
  const auto read = parse_scenario(print_scenario(scenario));
  ASSERT_TRUE(read) << base::to_text(read.error());
  EXPECT_EQ(*read, scenario);
}

TEST(StormScenario, SaysWhichLineIsWrong) {
  for (const char* text :
       {"seed x", "hits nothing@1", "hits store.read@0", "nodes 3-1", "journal paper", "what 1"}) {
    const auto read = parse_scenario(std::string("profile calm\n") + text);
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message.find("line 2"), std::string::npos) << read.error().message;
  }
}

}  // namespace
}  // namespace storm
