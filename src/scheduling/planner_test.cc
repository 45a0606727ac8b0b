// What starts, what waits and why, and who gives way: each test is one small cluster.

#include "scheduling/planner.h"

#include <gtest/gtest.h>

#include "base/codec.h"
#include "policy/default_policy.h"
#include "testing/world.h"

using base::minutes;
using base::seconds;
using model::Phase;
using model::Reason;
using model::Verdict;
using model::WorkloadId;
using testkit::a_node;
using testkit::a_pool;
using testkit::a_queue;
using testkit::a_workload;
using testkit::World;

namespace {

struct Cluster : testing::Test {
  World world{{.stop_delay = seconds(30)}};

  void SetUp() override {
    for (auto& workload_class : policy::default_classes())
      world.define(workload_class);
    world.define(policy::default_policy());
    world.define(a_pool("h800"));
  }
  void nodes(int count, int gpus) {
    for (int i = 1; i <= count; ++i)
      world.see(a_node("n" + std::to_string(i)).in_pool("h800").gpus(gpus));
  }
  model::Explanation why(WorkloadId id) { return *world.ask(scheduling::Why{id}).answer; }
  Reason reason_of(WorkloadId id) { return model::reason_of(why(id)); }
  const model::Attempt& attempt(WorkloadId id) { return world.record_of(id).attempts.back(); }
};

TEST_F(Cluster, AGangStartsWholeOrNotAtAll) {
  nodes(2, 8);
  world.define(a_queue("nlp"));
  const auto first = world.submit(a_workload("first").in_queue("nlp").gpus(4));
  const auto gang = world.submit(a_workload("gang").in_queue("nlp").gang(2).gpus(8));
  world.settle();
  EXPECT_EQ(world.phase_of(first), Phase::Running);
  EXPECT_EQ(world.phase_of(gang), Phase::Queued);
  EXPECT_TRUE(world.record_of(gang).attempts.empty());
  EXPECT_EQ(reason_of(gang), Reason::NotEnoughFree);
  world.end(first);
  world.settle();
  EXPECT_EQ(world.phase_of(gang), Phase::Running);
  EXPECT_EQ(attempt(gang).placement.members.size(), 2U);
}

TEST_F(Cluster, ABlockedGangNamesItsHoldersWithTheirAmounts) {
  nodes(2, 8);
  world.define(a_queue("nlp"));
  const auto holder = world.submit(a_workload("holder").in_queue("nlp").gpus(8));
  const auto gang = world.submit(a_workload("gang").in_queue("nlp").gang(2).gpus(8));
  world.settle();
  const model::Explanation explanation = why(gang);
  EXPECT_EQ(explanation.verdict, Verdict::Blocked);
  const model::Step& place = explanation.steps.back();
  EXPECT_EQ(place.test, model::Test::Place);
  EXPECT_EQ(place.need, 2);
  EXPECT_EQ(place.have, 1);
  ASSERT_EQ(place.holders.size(), 1U);
  EXPECT_EQ(place.holders[0].workload, holder);
  EXPECT_EQ(place.holders[0].amount, 8000);
}

TEST_F(Cluster, WhatCanNeverRunIsRefusedWithTheNodesThatSaidNo) {
  nodes(2, 8);
  world.define(a_queue("nlp"));
  const auto giant = world.submit(a_workload("giant").in_queue("nlp").gpus(16));
  world.settle();
  const model::Explanation explanation = why(giant);
  EXPECT_EQ(explanation.verdict, Verdict::Infeasible);
  EXPECT_EQ(model::reason_of(explanation), Reason::NoNodeFits);
  ASSERT_EQ(explanation.steps.back().rejected.size(), 1U);
  EXPECT_EQ(explanation.steps.back().rejected[0].count, 2);
}

TEST_F(Cluster, SharesFillOneDeviceBeforeTheNextIsBroken) {
  nodes(2, 2);
  world.define(a_queue("nlp"));
  std::vector<WorkloadId> shares;
  for (int i = 0; i < 3; ++i)
    shares.push_back(world.submit(a_workload("s" + std::to_string(i)).in_queue("nlp").share(300)));
  world.settle();
  for (const WorkloadId id : shares) {
    EXPECT_EQ(attempt(id).placement.members[0].node, attempt(shares[0]).placement.members[0].node);
    EXPECT_EQ(attempt(id).placement.members[0].devices[0].device, 0);
    EXPECT_EQ(attempt(id).placement.isolation, model::Isolation::None);
  }
  const auto fourth = world.submit(a_workload("s3").in_queue("nlp").share(300));
  world.settle();
  EXPECT_NE(attempt(fourth).placement.members[0].devices[0].device, 0);
}

TEST_F(Cluster, AnIdleGuaranteeIsLentAndTakenBackAfterTheMinimumRunTime) {
  nodes(2, 8);
  world.define(a_queue("vision").guarantee("h800", 8));
  world.define(a_queue("nlp").guarantee("h800", 8));
  const auto a = world.submit(a_workload("a").in_queue("nlp").gang(2).gpus(8));
  world.settle();
  ASSERT_EQ(world.phase_of(a), Phase::Running);
  world.advance(minutes(1));
  const auto b = world.submit(a_workload("b").in_queue("vision").gpus(8));
  world.settle();
  EXPECT_EQ(world.phase_of(b), Phase::Queued);
  EXPECT_EQ(reason_of(b), Reason::MinRuntime);
  EXPECT_EQ(why(b).steps.back().until, testkit::kStart + minutes(10));
  world.advance_to(testkit::kStart + minutes(10));
  EXPECT_EQ(world.phase_of(a), Phase::Stopping);
  EXPECT_EQ(reason_of(b), Reason::WaitingForVictims);
  world.advance(seconds(30));
  EXPECT_EQ(world.phase_of(b), Phase::Running);
  EXPECT_EQ(attempt(a).end_class, model::EndClass::Reclaimed);
  // The whole gang went; it waits, and does not take the devices back in turn.
  world.advance(minutes(60));
  EXPECT_EQ(world.phase_of(a), Phase::Queued);
  EXPECT_EQ(world.phase_of(b), Phase::Running);
  EXPECT_EQ(world.record_of(a).evictions.size(), 1U);
}

TEST_F(Cluster, AHigherClassPreemptsInsideItsQueueTheCheapestVictim) {
  nodes(1, 8);
  world.define(a_queue("nlp"));
  const auto long_running =
      world.submit(a_workload("old").in_queue("nlp").of_class("batch").gpus(4));
  world.settle();
  world.advance(minutes(30));
  const auto recent = world.submit(a_workload("new").in_queue("nlp").of_class("batch").gpus(4));
  world.settle();
  world.advance(minutes(1));
  const auto training = world.submit(a_workload("train").in_queue("nlp").gpus(4));
  world.settle();
  EXPECT_EQ(world.phase_of(recent), Phase::Stopping);
  EXPECT_EQ(world.phase_of(long_running), Phase::Running);
  world.advance(seconds(30));
  EXPECT_EQ(world.phase_of(training), Phase::Running);
  EXPECT_EQ(attempt(recent).end_class, model::EndClass::Preempted);
}

TEST_F(Cluster, AClaimKeepsFreedCapacityFromOthers) {
  nodes(1, 8);
  world.define(a_queue("vision").guarantee("h800", 8));
  world.define(a_queue("nlp"));
  const auto a = world.submit(a_workload("a").in_queue("nlp").gpus(4));
  world.settle();
  world.advance(minutes(11));
  const auto b = world.submit(a_workload("b").in_queue("vision").gpus(8));
  world.settle();
  ASSERT_EQ(world.phase_of(a), Phase::Stopping);
  // Four devices are free at this moment, and set aside for b.
  const auto c = world.submit(a_workload("c").in_queue("nlp").gpus(4));
  world.settle();
  EXPECT_EQ(world.phase_of(c), Phase::Queued);
  world.advance(seconds(30));
  EXPECT_EQ(world.phase_of(b), Phase::Running);
  EXPECT_EQ(world.phase_of(c), Phase::Queued);
}

TEST_F(Cluster, QueuesTakeTurnsByWhatTheyHoldOfTheirShare) {
  nodes(1, 8);
  world.define(a_queue("a"));
  world.define(a_queue("b"));
  std::vector<WorkloadId> of_a, of_b;
  for (int i = 0; i < 8; ++i)
    of_a.push_back(world.submit(a_workload("a" + std::to_string(i)).in_queue("a").gpus(1)));
  for (int i = 0; i < 8; ++i)
    of_b.push_back(world.submit(a_workload("b" + std::to_string(i)).in_queue("b").gpus(1)));
  world.settle();
  const auto running = [&](const std::vector<WorkloadId>& ids) {
    return std::ranges::count_if(
        ids, [&](WorkloadId id) { return world.phase_of(id) == Phase::Running; });
  };
  EXPECT_EQ(running(of_a), 4);
  EXPECT_EQ(running(of_b), 4);
}

TEST_F(Cluster, AStrictQueueNeverPassesItsHead) {
  nodes(1, 8);
  world.define(a_queue("nlp").strict());
  world.submit(a_workload("running").in_queue("nlp").gpus(4));
  world.settle();
  const auto head = world.submit(a_workload("head").in_queue("nlp").gpus(8));
  const auto small = world.submit(a_workload("small").in_queue("nlp").gpus(1));
  world.settle();
  EXPECT_EQ(world.phase_of(small), Phase::Queued);
  EXPECT_EQ(reason_of(small), Reason::BehindHead);
  EXPECT_EQ(why(small).steps.back().holders.at(0).workload, head);
}

TEST_F(Cluster, MaxIsACeilingAndAboveItNothingCanEverStart) {
  nodes(2, 8);
  world.define(a_queue("nlp").max("h800", 4));
  const auto a = world.submit(a_workload("a").in_queue("nlp").gpus(3));
  const auto b = world.submit(a_workload("b").in_queue("nlp").gpus(2));
  const auto c = world.submit(a_workload("c").in_queue("nlp").gpus(5));
  world.settle();
  EXPECT_EQ(world.phase_of(a), Phase::Running);
  EXPECT_EQ(reason_of(b), Reason::QueueMax);
  EXPECT_EQ(reason_of(c), Reason::AboveQueueMax);
  EXPECT_EQ(why(c).verdict, Verdict::Infeasible);
}

TEST_F(Cluster, WhatFitsByMixingDeviceOptionsOnOneNodeIsNotInfeasible) {
  world.see(a_node("mixed").in_pool("h800").gpus(1, "H800").gpus(2, "A100"));
  world.define(a_queue("nlp"));
  model::DeviceRequest older;
  older.count = base::Count(1);
  older.models = {"A100"};
  const auto three = world.submit(
      a_workload("three").in_queue("nlp").gang(3).gpus(1).of_models({"H800"}).or_else(older));
  const auto four = world.submit(
      a_workload("four").in_queue("nlp").gang(4).gpus(1).of_models({"H800"}).or_else(older));
  world.settle();
  EXPECT_EQ(world.phase_of(three), Phase::Running);
  EXPECT_EQ(attempt(three).placement.members.size(), 3U);
  EXPECT_EQ(why(four).verdict, Verdict::Infeasible);
  EXPECT_EQ(why(four).steps.back().have, 3);
}

TEST_F(Cluster, ANotebookStartsOnlyInsideTheGuaranteeOfItsPath) {
  nodes(1, 8);
  world.define(a_queue("lab").guarantee("h800", 1));
  world.define(a_queue("other"));
  const auto one = world.submit(a_workload("one").in_queue("lab").of_class("notebook").gpus(1));
  const auto two = world.submit(a_workload("two").in_queue("lab").of_class("notebook").gpus(1));
  world.settle();
  EXPECT_EQ(world.phase_of(one), Phase::Running);
  EXPECT_EQ(reason_of(two), Reason::OutsideGuarantee);
}

TEST_F(Cluster, TheTimeLimitEndsTheAttempt) {
  nodes(1, 8);
  world.define(a_queue("nlp"));
  const auto w = world.submit(a_workload("w").in_queue("nlp").gpus(1).time_limit(minutes(5)));
  world.settle();
  world.advance(minutes(5));
  EXPECT_EQ(world.phase_of(w), Phase::Stopping);
  world.advance(seconds(30));
  EXPECT_EQ(attempt(w).end_class, model::EndClass::Timeout);
}

TEST_F(Cluster, APlanForgetsNothingAndLeavesNothingBehind) {
  nodes(3, 8);
  world.define(a_queue("nlp"));
  for (int i = 0; i < 10; ++i)
    world.submit(a_workload("w" + std::to_string(i)).in_queue("nlp").gpus(1 + i % 8));
  const std::string first = base::encode(world.plan_only());
  EXPECT_EQ(base::encode(world.plan_only()), first);
  EXPECT_EQ(base::encode(world.plan_fresh()), first);
  world.settle();
  EXPECT_EQ(base::encode(world.plan_only()), base::encode(world.plan_fresh()));
}

}  // namespace
