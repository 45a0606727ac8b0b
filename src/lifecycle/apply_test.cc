// What happened, applied: outcomes, retries, claims, and that nothing is left behind.

#include "lifecycle/apply.h"

#include <gtest/gtest.h>

#include "invariants/state_check.h"
#include "lifecycle/retry.h"
#include "policy/default_policy.h"
#include "testing/world.h"

namespace {

using base::minutes;
using base::seconds;
using model::EndClass;
using model::Phase;
using testkit::a_node;
using testkit::a_pool;
using testkit::a_queue;
using testkit::a_workload;

struct Apply : testing::Test {
  testkit::World world;

  void SetUp() override {
    for (auto& workload_class : policy::default_classes())
      world.define(workload_class);
    world.define(a_pool("h800"));
    world.see(a_node("n1").in_pool("h800").gpus(8));
    world.define(a_queue("nlp"));
  }
  void TearDown() override { EXPECT_EQ(invariants::to_text(invariants::check(world.state())), ""); }
  model::Dimension gpus() {
    return {world.state().pool_by_name.find("h800")->second, model::kDevice};
  }
};

TEST_F(Apply, WhatAnAttemptHeldIsFreeAfterItsEnd) {
  const std::int64_t before = world.state().free.of(gpus());
  const auto w = world.submit(a_workload("w").in_queue("nlp").gang(2).gpus(3));
  world.settle();
  EXPECT_EQ(world.state().free.of(gpus()), before - 6000);
  world.end(w);
  EXPECT_EQ(world.phase_of(w), Phase::Completed);
  EXPECT_EQ(world.state().free.of(gpus()), before);
  EXPECT_TRUE(world.state().held.empty());
}

TEST_F(Apply, AUserErrorIsNotTriedAgain) {
  const auto w = world.submit(a_workload("w").in_queue("nlp").gpus(1));
  world.settle();
  world.end(w, EndClass::UserError, 3);
  EXPECT_EQ(world.phase_of(w), Phase::Failed);
  EXPECT_EQ(world.record_of(w).attempts.back().exit_code, 3);
}

TEST_F(Apply, InfrastructureErrorsAreTriedAgainWithGrowingBackOff) {
  const auto w = world.submit(a_workload("w").in_queue("nlp").gpus(1));
  base::Duration last{};
  for (int failure = 1; failure <= 5; ++failure) {
    world.settle();
    ASSERT_EQ(world.phase_of(w), Phase::Running);
    world.end(w, EndClass::Infrastructure);
    ASSERT_EQ(world.phase_of(w), Phase::Queued);
    const base::Duration wait = world.record_of(w).eligible_at - world.now();
    EXPECT_GT(wait, last);
    last = wait;
    world.advance(wait);
  }
  world.end(w, EndClass::Infrastructure);
  EXPECT_EQ(world.phase_of(w), Phase::Failed);  // training allows five
}

TEST_F(Apply, ALostNodeIsNotCounted) {
  const auto w = world.submit(a_workload("w").in_queue("nlp").gpus(1));
  world.settle();
  world.end(w, EndClass::NodeLost);
  EXPECT_EQ(world.record_of(w).failures, 0);
  world.settle();
  EXPECT_EQ(world.phase_of(w), Phase::Running);
  EXPECT_EQ(world.record_of(w).attempts.size(), 2U);
}

TEST_F(Apply, AGangThatFallsBelowItsMinimumIsReleasedWhole) {
  const auto w = world.submit(a_workload("w").in_queue("nlp").gang(3).gpus(1));
  world.settle();
  const auto attempt = world.record_of(w).attempts.back().id;
  world.record(model::MembersEnded{
      .attempt = attempt,
      .members = {
          {.rank = 1, .end_class = EndClass::UserError, .exit_code = 7, .signal = 0, .note = {}}}});
  EXPECT_EQ(world.phase_of(w), Phase::Stopping);
  world.record(model::MembersEnded{
      .attempt = attempt,
      .members = {
          {.rank = 0, .end_class = EndClass::Cancelled, .exit_code = 0, .signal = 15, .note = {}},
          {.rank = 2,
           .end_class = EndClass::Cancelled,
           .exit_code = 0,
           .signal = 15,
           .note = {}}}});
  EXPECT_EQ(world.phase_of(w), Phase::Failed);
  EXPECT_EQ(world.record_of(w).attempts.back().end_class, EndClass::UserError);
  EXPECT_EQ(world.record_of(w).attempts.back().exit_code, 7);
}

TEST_F(Apply, ARepeatedEndChangesNothing) {
  const auto w = world.submit(a_workload("w").in_queue("nlp").gpus(1));
  world.settle();
  const auto attempt = world.record_of(w).attempts.back().id;
  const model::MembersEnded ended{.attempt = attempt, .members = {model::MemberEnd{}}};
  world.record(ended);
  const model::State before = world.state();
  world.record(ended);
  model::State after = world.state();
  after.last_sequence = before.last_sequence;
  EXPECT_TRUE(after == before);
}

TEST_F(Apply, CancellingTheOwnerOfAClaimFreesWhatWasSetAside) {
  world.define(a_queue("vision").guarantee("h800", 8));
  const auto victim = world.submit(a_workload("v").in_queue("nlp").gpus(4));
  world.settle();
  world.advance(minutes(11));
  testkit::World& w = world;
  const auto owner = w.submit(a_workload("o").in_queue("vision").gpus(8));
  const model::Plan plan = w.cycle();
  ASSERT_EQ(world.state().claims.size(), 1U);
  EXPECT_EQ(world.state().secured.of(gpus()), 4000);
  world.cancel(owner);
  EXPECT_TRUE(world.state().claims.empty());
  EXPECT_EQ(world.state().secured.of(gpus()), 0);
  EXPECT_EQ(world.state().free.of(gpus()), 4000);
  EXPECT_EQ(world.phase_of(victim), Phase::Stopping);
}

TEST_F(Apply, ADeviceThatVanishedFromAReportIsKeptSeparated) {
  world.see(a_node("n1").in_pool("h800").gpus(6));
  const auto& node = world.state().nodes.at(world.state().node_by_name.find("n1")->second);
  ASSERT_EQ(node.node.devices.size(), 8U);
  EXPECT_EQ(node.node.devices[7].health, model::Health::Separate);
  EXPECT_EQ(world.state().free.of(gpus()), 6000);
}

TEST(BackOff, IsTheSameForTheSameAttemptAndNeverAboveAnHourAndAQuarter) {
  for (int failures = 1; failures < 40; ++failures) {
    const auto a = lifecycle::back_off(failures, {model::WorkloadId{7}, 2});
    EXPECT_EQ(a, lifecycle::back_off(failures, {model::WorkloadId{7}, 2}));
    EXPECT_GE(a, seconds(60));
    EXPECT_LE(a, minutes(75));
  }
}

}  // namespace
