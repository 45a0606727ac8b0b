// What must hold in every small world, whatever happens in it. Each case is a list of numbers from
// which a world and its history are made (testing/random_world.h); a failing list is shrunk, then
// printed with the story that it tells.
//
// BERTH_CASES=100000 gives the full run, from a new seed each time (it is printed);
// RC_PARAMS="seed=…" repeats one. Without either, the same few cases run every time.

#include <cstdlib>
#include <exception>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/codec.h"
#include "base/json_text.h"
#include "base/random.h"
#include "model/event.h"
#include "testing/random_world.h"
#include "testing/witness.h"

namespace {

using testkit::RandomWorld;
using testkit::RandomWorldOptions;
using testkit::Witness;
using testkit::WitnessOptions;

std::string cases_or(const char* otherwise) {
  const char* wanted = std::getenv("BERTH_CASES");
  return wanted != nullptr && *wanted != '\0' ? wanted : otherwise;
}

using Numbers = std::vector<std::uint16_t>;

struct Case {
  Numbers layout;
  Numbers history;
};

// Lists of numbers grow with the size of the case, so that early cases are small worlds.
rc::Gen<Numbers> numbers(double scale) {
  return rc::gen::scale(scale,
                        rc::gen::container<Numbers>(rc::gen::inRange<std::uint16_t>(0, 1000)));
}

// The journal as text, for people who look for a cause.
std::string journal_text(const testkit::World& world) {
  std::string text;
  for (const auto& event : world.journal())
    text += base::to_json(event).substr(0, 500) + "\n";
  return text;
}

// Empty when nothing was wrong; else the faults and what led to them.
std::string live_through(const Case& made, RandomWorldOptions options, WitnessOptions watched) {
  RandomWorld random(made.layout, made.history, options);
  Witness witness(random.world(), watched);
  try {
    random.set_up();
    while (random.step() && witness.faults().empty()) {
      random.world().settle();
      witness.look_at_rest();
    }
    if (witness.faults().empty()) witness.look_at_records();
  } catch (const std::exception& error) {
    return std::string(error.what()) + "\n" + random.story() + journal_text(random.world());
  }
  if (witness.faults().empty()) return {};
  return witness.faults() + random.story() + journal_text(random.world());
}

// Gives the numbers of many cases to `faults_of`; fails with the smallest that has faults.
void expect_none(const char* cases, const std::function<std::string(const Case&)>& faults_of) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = std::stoi(cases_or(cases));
  params.maxSize = 60;
  if (std::getenv("BERTH_CASES") == nullptr && std::getenv("RC_PARAMS") == nullptr)
    params.seed = 20251201;
  const rc::detail::TestMetadata metadata{
      .id = ::testing::UnitTest::GetInstance()->current_test_info()->name(), .description = {}};
  const auto testable = [&] {
    const std::string faults = faults_of({*numbers(2.0), *numbers(4.0)});
    if (!faults.empty()) RC_FAIL(faults);
  };
  const auto result = rc::detail::checkTestable(testable, metadata, params);
  if (result.is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  FAIL() << text.str();
}

void expect_in_every_world(const char* cases, RandomWorldOptions options, WitnessOptions watched) {
  expect_none(cases, [&](const Case& made) { return live_through(made, options, watched); });
}

TEST(EveryWorld, OfWholeDevicesKeepsTheInvariants) {
  expect_in_every_world(
      "150",
      {.has_shares = false, .has_failures = false, .has_changes = false, .has_groups = false},
      {.checks_fresh_planner = false, .checks_explanations = false});
}

TEST(EveryWorld, OfPartsAndFailuresKeepsTheInvariants) {
  expect_in_every_world("150", {}, {.checks_fresh_planner = false, .checks_explanations = false});
}

constexpr WitnessOptions kOnlyFreshPlanner{.checks_state = false,
                                           .checks_journal = false,
                                           .checks_charged_steps = false,
                                           .checks_explanations = false};

TEST(EveryWorld, IsPlannedAlikeByAnIncrementalAndAFreshPlanner) {
  expect_in_every_world("150", {}, kOnlyFreshPlanner);
}

// A step budget must cut an incremental planner and a fresh one at the same place.
TEST(EveryWorld, ChargesAFreshPlannerTheSameSteps) {
  WitnessOptions watched = kOnlyFreshPlanner;
  watched.checks_charged_steps = true;
  expect_in_every_world("50", {}, watched);
}

TEST(EveryWorld, ExplainsTrulyWhyItsWorkWaits) {
  expect_in_every_world(
      "150", {}, {.checks_state = false, .checks_journal = false, .checks_fresh_planner = false});
}

std::string journal_of(const Case& made) {
  RandomWorld random(made.layout, made.history);
  random.set_up();
  while (random.step()) {
  }
  std::string bytes;
  for (const auto& event : random.world().journal())
    bytes += base::encode(event);
  return bytes;
}

TEST(EveryWorld, DecidesTheSameAgain) {
  expect_none("50", [](const Case& made) {
    return journal_of(made) == journal_of(made) ? std::string{} : "two runs differ";
  });
}

// A property that random worlds never put under stress proves nothing: a fair part of them must
// start, block, take back and lose something.
TEST(EveryWorld, IsBusyEnoughToMeanSomething) {
  int starts = 0, evictions = 0, waits = 0, losses = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    base::Random source{base::Seed{seed}};
    Case made;
    for (int i = 0; i < 120; ++i)
      made.layout.push_back(static_cast<std::uint16_t>(source.below(1000)));
    for (int i = 0; i < 700; ++i)
      made.history.push_back(static_cast<std::uint16_t>(source.below(1000)));
    RandomWorld random(made.layout, made.history);
    random.set_up();
    while (random.step()) {
    }
    for (const auto& event : random.world().journal()) {
      const std::string_view kind = model::kind_of(event);
      starts += kind == "start";
      evictions += kind == "evict";
      waits += kind == "wait" || kind == "refuse";
      losses += kind == "nodeConditionChanged";
    }
  }
  EXPECT_GT(starts, 300);
  EXPECT_GT(evictions, 30);
  EXPECT_GT(waits, 150);
  EXPECT_GT(losses, 20);
}

}  // namespace
