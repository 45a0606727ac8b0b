// The small functions on the nouns of the model, and the amounts.

#include <string>

#include <gtest/gtest.h>

#include "model/event.h"
#include "model/explanation.h"
#include "model/ids.h"
#include "model/resources.h"
#include "model/state.h"
#include "model/workload.h"

namespace model {
namespace {

TEST(AttemptId, ReadsAsWorkloadAndOrdinal) {
  EXPECT_EQ(to_text(AttemptId{.workload = WorkloadId(1042), .ordinal = 2}), "1042.2");
}

TEST(MemberCount, SumsTheMinimaOfGroupsThatHaveMembers) {
  Workload workload;
  EXPECT_EQ(member_count(workload), 0);
  workload.groups = {{.name = "all", .members = 0, .min_members = 2},  // counts its two children
                     {.name = "leader", .parent = 0, .members = 1, .min_members = 1},
                     {.name = "workers", .parent = 0, .members = 8, .min_members = 4}};
  EXPECT_EQ(member_count(workload), 5);
}

TEST(ReasonOf, IsThatOfTheDecidingStep) {
  Explanation explanation;
  EXPECT_EQ(reason_of(explanation), Reason::None);
  explanation.steps.push_back({.test = model::Test::Eligible});
  explanation.steps.push_back(
      {.test = model::Test::Place, .outcome = Outcome::Failed, .reason = Reason::NotEnoughFree});
  EXPECT_EQ(reason_of(explanation), Reason::NotEnoughFree);
  // A start may follow a pool that failed.
  explanation.verdict = Verdict::Starts;
  EXPECT_EQ(reason_of(explanation), Reason::None);
}

TEST(ResourceName, KnowsTheFixedOnesAndAsksTheStateForOthers) {
  State state;
  state.resources[kFirstCustom] = "matlab";
  EXPECT_EQ(resource_name(state, kCpu), "cpu");
  EXPECT_EQ(resource_name(state, kMemory), "memory");
  EXPECT_EQ(resource_name(state, kScratch), "scratch");
  EXPECT_EQ(resource_name(state, kDevice), "gpu");
  EXPECT_EQ(resource_name(state, kDeviceMemory), "device_memory");
  EXPECT_EQ(resource_name(state, kNetwork), "network");
  EXPECT_EQ(resource_name(state, kFirstCustom), "matlab");
  EXPECT_EQ(resource_name(state, ResourceId(99)), "?");
}

TEST(Quantities, StaySortedWithoutZeros) {
  Quantities quantities{{kDevice, 8000}, {kCpu, 500}};
  quantities.add(kCpu, -500);
  quantities.set(kMemory, 7);
  EXPECT_EQ(quantities.of(kCpu), 0);
  EXPECT_EQ(quantities, (Quantities{{kMemory, 7}, {kDevice, 8000}}));
  quantities.add(Quantities{{kMemory, 1}, {kNetwork, 2}}, 3);
  EXPECT_EQ(quantities, (Quantities{{kMemory, 10}, {kDevice, 8000}, {kNetwork, 6}}));
}

TEST(Quantities, AreEqualWhateverTheOrderOfAdding) {
  EXPECT_EQ((Quantities{{kCpu, 1}, {kMemory, 2}}), (Quantities{{kMemory, 2}, {kCpu, 1}}));
}

TEST(QuantitiesDeathTest, AreNeverNegative) {
  Quantities quantities;
  EXPECT_DEATH(quantities.add(kCpu, -1), "amount >= 0");
}

TEST(Limits, KeepAZeroBecauseMissingMeansUnlimited) {
  Limits limits;
  EXPECT_EQ(limits.of(kCpu), std::nullopt);
  limits.set(kDevice, 2000);
  limits.set(kCpu, 0);
  EXPECT_EQ(limits.of(kCpu), 0);
  limits.set(kCpu, 5);
  EXPECT_EQ(limits.of(kCpu), 5);
  ASSERT_EQ(limits.amounts().size(), 2U);
  EXPECT_EQ(limits.amounts().front().resource, kCpu);
}

TEST(Usage, AddsAndTakesAwayByDimension) {
  const Dimension first{PoolId(1), kDevice};
  const Dimension second{PoolId(1), kCpu};
  Usage usage;
  usage.add(first, 8000);
  usage.add(second, 1);
  ASSERT_EQ(usage.amounts().size(), 2U);
  EXPECT_EQ(usage.amounts().front().dimension, second);
  Usage twice;
  twice.add(usage, 2);
  EXPECT_EQ(twice.of(first), 16'000);
  twice.add(usage, -2);
  EXPECT_TRUE(twice.empty());
}

TEST(UsageDeathTest, IsNeverNegative) {
  Usage usage;
  EXPECT_DEATH(usage.add({PoolId(1), kCpu}, -1), "amount > 0");
  usage.add({PoolId(1), kCpu}, 1);
  EXPECT_DEATH(usage.add({PoolId(1), kCpu}, -2), "amount >= 0");
}

}  // namespace
}  // namespace model
