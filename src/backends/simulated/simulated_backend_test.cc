// Goal: the seam's contract in virtual time: idempotent effects, fencing, true order, checkpoints.

#include "backends/simulated/simulated_backend.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace backends::simulated {
namespace {

using base::Duration;
using base::Instant;
using base::milliseconds;
using base::seconds;
using controller::EndReport;
using controller::NodeReport;
using controller::RunningReport;
using controller::StartEffect;
using controller::StopEffect;
using model::AttemptId;
using model::EndClass;
using model::Epoch;
using model::WorkloadId;

NodeReport a_node(std::string name) {
  NodeReport report;
  report.node.name = std::move(name);
  report.node.devices.resize(8);
  return report;
}

struct World {
  explicit World(SimulatedOptions options = {})
      : backend(std::move(options), {a_node("n1"), a_node("n2")}, Instant{0}) {
    backend.watch([this](controller::Observation seen) {
      if (const auto* running = std::get_if<RunningReport>(&seen))
        log.push_back("running " + to_text(running->attempt));
      if (const auto* end = std::get_if<EndReport>(&seen)) {
        std::string line = "end " + to_text(end->attempt);
        for (const auto& member : end->members)
          line += " " + std::to_string(member.rank) + ":" +
                  std::string(base::name_of(member.end_class));
        log.push_back(line);
      }
      if (const auto* node = std::get_if<NodeReport>(&seen))
        log.push_back("node " + node->node.name);
      if (const auto* condition = std::get_if<controller::NodeConditionReport>(&seen))
        log.push_back("condition " + condition->node);
    });
    log.clear();
  }

  static std::string to_text(AttemptId attempt) {
    return std::to_string(attempt.workload.value) + "." + std::to_string(attempt.ordinal);
  }

  // What was reported up to `at`, and nothing after it.
  std::vector<std::string> until(Instant at) {
    backend.advance(at);
    return std::exchange(log, {});
  }

  SimulatedBackend backend;
  std::vector<std::string> log;
};

StartEffect a_start(AttemptId attempt, std::string runtime_ms, std::uint64_t epoch = 1) {
  StartEffect effect{.attempt = attempt, .epoch = Epoch{epoch}, .node_names = {"n1", "n2"}};
  effect.workload.id = attempt.workload;
  effect.workload.annotations[std::string(kRuntimeAnnotation)] = std::move(runtime_ms);
  return effect;
}

const AttemptId kFirst{WorkloadId{1}, 1};
const AttemptId kSecond{WorkloadId{1}, 2};
using Lines = std::vector<std::string>;

TEST(SimulatedBackend, RunsAfterTheDelayAndEndsAfterItsRunTime) {
  World world({.start_delay = seconds(2)});
  world.backend.start(a_start(kFirst, "5000"));
  EXPECT_EQ(world.backend.next_event_time(), Instant{2000});
  EXPECT_EQ(world.until(Instant{1999}), Lines{});
  EXPECT_EQ(world.until(Instant{2000}), Lines{"running 1.1"});
  EXPECT_EQ(world.until(Instant{6999}), Lines{});
  EXPECT_EQ(world.until(Instant{7000}), Lines{"end 1.1 0:ok 1:ok"});
  EXPECT_EQ(world.backend.next_event_time(), base::kNever);
}

TEST(SimulatedBackend, ASecondStartOfALivingAttemptStartsNothing) {
  World world;
  world.backend.start(a_start(kFirst, "1000"));
  world.backend.start(a_start(kFirst, "1000"));
  EXPECT_EQ(world.until(Instant{5000}), (Lines{"running 1.1", "end 1.1 0:ok 1:ok"}));
}

TEST(SimulatedBackend, AStartOfAnEndedAttemptReportsItsEndAgain) {
  World world;
  world.backend.start(a_start(kFirst, "1000"));
  world.until(Instant{5000});
  world.backend.start(a_start(kFirst, "1000"));
  EXPECT_EQ(world.until(Instant{9000}), Lines{"end 1.1 0:ok 1:ok"});
}

TEST(SimulatedBackend, AnAttemptStoppedBeforeItBeganNeverRuns) {
  World world;
  world.backend.stop({.attempt = kFirst, .epoch = Epoch{1}, .end_class = EndClass::Reclaimed});
  world.until(Instant{10});
  world.backend.start(a_start(kFirst, "1000"));
  EXPECT_EQ(world.until(Instant{9000}), Lines{"end 1.1 0:reclaimed 1:reclaimed"});
}

TEST(SimulatedBackend, AStopTakesNoLongerThanTheGrace) {
  World world({.stop_delay = seconds(40)});
  world.backend.start(a_start(kFirst, "1000000"));
  world.until(Instant{100});
  world.backend.stop({.attempt = kFirst,
                      .epoch = Epoch{1},
                      .grace = seconds(30),
                      .end_class = EndClass::Preempted});
  world.backend.stop({.attempt = kFirst,
                      .epoch = Epoch{1},
                      .grace = seconds(30),
                      .end_class = EndClass::Preempted});
  EXPECT_EQ(world.until(Instant{30099}), Lines{});
  EXPECT_EQ(world.until(Instant{90000}), Lines{"end 1.1 0:preempted 1:preempted"});
}

TEST(SimulatedBackend, WorkThatEndsDuringTheGraceEndsWell) {
  World world({.stop_delay = seconds(20)});
  world.backend.start(a_start(kFirst, "5000"));
  world.until(Instant{1000});
  world.backend.stop({.attempt = kFirst, .epoch = Epoch{1}, .grace = seconds(30)});
  EXPECT_EQ(world.until(Instant{60000}), Lines{"end 1.1 0:ok 1:ok"});
}

TEST(SimulatedBackend, EffectsOfAnOlderEpochAreIgnored) {
  World world;
  world.backend.start(a_start(kFirst, "1000", 2));
  world.backend.start(a_start(kSecond, "1000", 1));
  world.backend.stop({.attempt = kFirst, .epoch = Epoch{1}, .grace = seconds(30)});
  EXPECT_EQ(world.until(Instant{9000}), (Lines{"running 1.1", "end 1.1 0:ok 1:ok"}));
}

TEST(SimulatedBackend, AStoppedWorkloadGoesOnFromItsLastCheckpoint) {
  World world({.stop_delay = Duration{}});
  StartEffect start = a_start(kFirst, "100000");
  start.workload.checkpoint.every = seconds(30);
  world.backend.start(start);
  world.until(Instant{70000});  // 70 s done, 60 s of it saved
  world.backend.stop({.attempt = kFirst, .epoch = Epoch{1}, .grace = seconds(30)});
  world.until(Instant{70000});
  start.attempt = kSecond;
  world.backend.start(start);
  EXPECT_EQ(world.until(Instant{109999}), Lines{"running 1.2"});
  EXPECT_EQ(world.until(Instant{110000}), Lines{"end 1.2 0:ok 1:ok"});
}

TEST(SimulatedBackend, WithoutCheckpointsAStoppedWorkloadBeginsAnew) {
  World world({.stop_delay = Duration{}});
  world.backend.start(a_start(kFirst, "100000"));
  world.until(Instant{70000});
  world.backend.stop({.attempt = kFirst, .epoch = Epoch{1}, .grace = seconds(30)});
  world.until(Instant{70000});
  world.backend.start(a_start(kSecond, "100000"));
  EXPECT_EQ(world.until(Instant{169999}), Lines{"running 1.2"});
  EXPECT_EQ(world.until(Instant{170000}), Lines{"end 1.2 0:ok 1:ok"});
}

TEST(SimulatedBackend, ALostNodeEndsOnlyItsOwnMembers) {
  World world;
  world.backend.start(a_start(kFirst, "1000"));
  world.until(Instant{500});
  world.backend.set_node_condition("n2", model::NodeCondition::Lost, "no heartbeat");
  EXPECT_EQ(world.until(Instant{999}), (Lines{"condition n2", "end 1.1 1:node_lost"}));
  EXPECT_EQ(world.until(Instant{1000}), Lines{"end 1.1 0:ok"});
}

TEST(SimulatedBackend, ListShowsEverythingThatWasNotForgotten) {
  World world;
  world.backend.start(a_start(kFirst, "1000"));
  world.until(Instant{5000});
  world.backend.start(a_start(kSecond, "1000"));
  world.until(Instant{5500});
  const auto listed = world.backend.list();
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 2u);
  EXPECT_EQ(listed->front().ended.size(), 2u);
  EXPECT_TRUE(listed->back().is_running);
  EXPECT_TRUE(listed->back().ended.empty());

  world.backend.forget(kFirst);
  world.backend.forget(kSecond);  // still runs: kept
  EXPECT_EQ(world.backend.list()->size(), 1u);
}

TEST(SimulatedBackend, EventsOfOneInstantKeepTheOrderOfAsking) {
  World world;
  for (const std::uint64_t id : {7, 3, 5})
    world.backend.start(a_start(AttemptId{WorkloadId{id}, 1}, "0"));
  EXPECT_EQ(world.until(Instant{0}),
            (Lines{"running 7.1", "running 3.1", "running 5.1", "end 7.1 0:ok 1:ok",
                   "end 3.1 0:ok 1:ok", "end 5.1 0:ok 1:ok"}));
}

}  // namespace
}  // namespace backends::simulated
