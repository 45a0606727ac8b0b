// Restarts: what a new controller makes of the journal and of what the backends still have, and
// that a crash at any step of any turn loses nothing, starts nothing twice and leaves no orphan.

#include <gtest/gtest.h>

#include "controller/replay.h"
#include "invariants/state_check.h"
#include "platform/fault_point.h"
#include "tests/controller/bench.h"

namespace {

using base::Code;
using controller_test::Bench;
using controller_test::Calls;
using model::AttemptId;
using model::EndClass;
using model::Phase;
using model::WorkloadId;
using testkit::a_node;
using testkit::a_workload;

AttemptId first_attempt(WorkloadId workload) { return {.workload = workload, .ordinal = 1}; }

TEST(Recovery, EveryRestartHasANewEpochAndSaysSo) {
  Bench bench;
  const auto before = bench.state().epoch;
  bench.open();
  EXPECT_GT(bench.state().epoch, before);
  const auto last = bench.events().back();
  ASSERT_TRUE(std::holds_alternative<model::ControllerStarted>(last.body));
  EXPECT_EQ(std::get<model::ControllerStarted>(last.body).epoch, bench.state().epoch);
}

TEST(Recovery, RunningWorkGoesOn) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  const auto w = bench.submit(a_workload("w1").gpus(8));
  bench.settle();
  bench.open();
  bench.settle();
  EXPECT_EQ(bench.record(w).phase, Phase::Running);
  EXPECT_EQ(bench.backend.calls, (Calls{"start 1.1"}));
}

TEST(Recovery, AStartThatNeverHappenedIsSentAgainWithTheNewEpoch) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  const auto w = bench.submit(a_workload("w1").gpus(8));
  bench.backend.attempts.clear();  // the effect was lost with the process
  bench.backend.reports.clear();
  bench.open();
  ASSERT_EQ(bench.backend.starts.size(), 2u);
  EXPECT_EQ(bench.backend.starts[1].attempt, first_attempt(w));
  EXPECT_EQ(bench.backend.starts[1].epoch, bench.state().epoch);
  EXPECT_GT(bench.backend.starts[1].epoch, bench.backend.starts[0].epoch);
  bench.settle();
  EXPECT_EQ(bench.record(w).phase, Phase::Running);
}

TEST(Recovery, WhatBecameUpOrEndedMeanwhileIsLearned) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  const auto up = bench.submit(a_workload("w1").gpus(2));
  const auto over = bench.submit(a_workload("w2").gpus(2));
  bench.backend.end(first_attempt(over), EndClass::UserError);
  bench.backend.reports.clear();  // nobody listened
  bench.open();
  EXPECT_EQ(bench.record(up).phase, Phase::Running);
  EXPECT_EQ(bench.record(over).phase, Phase::Failed);
  EXPECT_EQ(bench.backend.calls.back(), "forget 2.1");
}

TEST(Recovery, RunningWorkThatIsGoneIsLostAndTriedAgain) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  const auto w = bench.submit(a_workload("w1").gang(2).gpus(4));
  bench.settle();
  bench.backend.attempts.clear();  // the machine was switched off
  bench.open();
  EXPECT_EQ(bench.record(w).attempts[0].end_class, EndClass::NodeLost);
  EXPECT_EQ(bench.record(w).attempts[0].member_ends.size(), 2u);
  bench.settle();
  EXPECT_EQ(bench.record(w).attempts.size(), 2u);
  EXPECT_EQ(bench.record(w).phase, Phase::Running);
}

TEST(Recovery, AStopThatGotLostIsSentAgain) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  const auto w = bench.submit(a_workload("w1").gpus(8));
  bench.settle();
  bench.backend.is_prompt = false;
  ASSERT_TRUE(bench.ask_as("ann", controller::Cancel{w}));
  bench.open();
  EXPECT_EQ(bench.backend.calls, (Calls{"start 1.1", "stop 1.1 cancelled", "stop 1.1 cancelled"}));
  EXPECT_EQ(bench.backend.stops[1].epoch, bench.state().epoch);
}

TEST(Recovery, OrphansAreStopped) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  bench.backend.attempts[{WorkloadId(900), 1}] = {.members = 1, .is_up = true};
  bench.open();
  bench.settle();
  EXPECT_EQ(bench.backend.calls, (Calls{"stop 900.1 cancelled", "forget 900.1"}));
  EXPECT_TRUE(bench.backend.attempts.empty());
}

TEST(Recovery, AnEndThatWasCommittedButNotForgottenIsForgotten) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  const auto w = bench.submit(a_workload("w1").gpus(8));
  bench.settle();
  bench.backend.end(first_attempt(w), EndClass::Ok);
  const auto kept = bench.backend.attempts;
  bench.settle();
  bench.backend.attempts = kept;  // the process died before it could tell
  bench.backend.calls.clear();
  bench.open();
  EXPECT_EQ(bench.backend.calls, (Calls{"forget 1.1"}));
}

TEST(Recovery, ABackendThatCannotSayWhatExistsStopsTheRecovery) {
  Bench bench;
  const auto before = bench.events().size();
  bench.backend.list_failure = base::Error{.code = Code::Unavailable, .message = "no answer"};
  const auto opened = bench.try_open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::Unavailable);
  EXPECT_EQ(bench.events().size(), before);
  bench.backend.list_failure.reset();
  EXPECT_TRUE(bench.try_open());
}

// A crash thrown out of the middle of a turn, as far as a test in one process can have one.
struct Crash {};

// Crashes at the n-th step of the steps that a turn has: before and after each append, after each
// commit, before each effect.
class CrashAt {
 public:
  CrashAt(Bench& bench, int step) : bench_(bench), left_(step) {
    platform::set_fault_handler([this](std::string_view) {
      pass();
      return false;
    });
    arm_store();
  }
  ~CrashAt() { platform::set_fault_handler(nullptr); }

  void arm_store() {
    bench_.store->before_append = [this] { pass(); };
    bench_.store->after_append = [this] { pass(); };
  }
  bool has_happened() const { return has_happened_; }

 private:
  void pass() {
    if (has_happened_ || --left_ > 0) return;
    has_happened_ = true;
    throw Crash{};
  }

  Bench& bench_;
  int left_;
  bool has_happened_ = false;
};

// Does `step`; where it crashes, restarts, looks, and (as a client with a key would) does it again.
template <class Step>
void surviving(Bench& bench, Step&& step) {
  for (int tries = 0; tries < 3; ++tries) {
    try {
      step();
      return;
    } catch (const Crash&) {
      bench.open();
      const auto stored = controller::replay(*bench.store, controller::ReplayFrom::Beginning);
      ASSERT_TRUE(stored);
      EXPECT_EQ(stored->state, bench.state());
      EXPECT_EQ(invariants::to_text(invariants::check(bench.state())), "");
    }
  }
  FAIL() << "one crash was asked for";
}

// A day in the life: more work than fits, a failing gang, a cancelled one, everything ends. True
// when the crash happened on the way.
bool live_through(int crash_at) {
  Bench bench({.version = "test", .checkpoint_every_events = 7});
  CrashAt crash(bench, crash_at);
  surviving(bench, [&] { bench.see(a_node("n1").gpus(8)); });
  surviving(bench, [&] { bench.see(a_node("n1").gpus(8)); });
  for (int i = 1; i <= 4; ++i)
    surviving(bench, [&] {
      const std::string name = "w" + std::to_string(i);
      ASSERT_TRUE(bench.try_submit(a_workload(name).gang(2).gpus(2), "key-" + name));
    });
  EXPECT_EQ(bench.state().workloads.size(), 4u);
  surviving(bench, [&] { bench.settle(); });
  surviving(bench, [&] {
    bench.backend.end(first_attempt(WorkloadId(1)), EndClass::UserError, 1);
    bench.settle();
  });
  surviving(bench, [&] {
    const auto reply = bench.ask_as("ann", controller::Cancel{WorkloadId(2)});
    // After a crash behind the commit it may be over already.
    EXPECT_TRUE(reply || reply.error().code == Code::FailedPrecondition);
    bench.settle();
  });
  for (int rounds = 0; rounds < 3; ++rounds)
    surviving(bench, [&] {
      bench.settle();
      const auto attempts = bench.backend.attempts;
      for (const auto& [id, attempt] : attempts)
        if (!attempt.is_ended()) bench.backend.end(id, EndClass::Ok);
      bench.settle();
    });
  const std::vector<Phase> expected{Phase::Failed, Phase::Cancelled, Phase::Completed,
                                    Phase::Completed};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(bench.record(WorkloadId(i + 1)).phase, expected[i]) << "workload " << i + 1;
  for (const auto& [attempt, count] : bench.backend.processes_started)
    EXPECT_EQ(count, 1) << model::to_text(attempt) << " was started twice";
  EXPECT_TRUE(bench.backend.attempts.empty()) << "something was left behind";
  EXPECT_EQ(invariants::to_text(invariants::check(bench.state())), "");
  return crash.has_happened();
}

TEST(Recovery, ACrashAtAnyStepLosesNothingAndStartsNothingTwice) {
  int step = 1;
  while (true) {
    SCOPED_TRACE("crash at step " + std::to_string(step));
    if (!live_through(step)) break;
    if (testing::Test::HasFailure()) break;
    ++step;
    ASSERT_LT(step, 1000);
  }
  EXPECT_GT(step, 30) << "too few steps were tried";
}

}  // namespace
