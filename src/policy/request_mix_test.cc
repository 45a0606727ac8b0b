// What was asked for is counted within bounds, and becomes prices and loads.

#include "policy/request_mix.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "policy/default_policy.h"

namespace {

using model::RequestKind;
using policy::count_requests;
using policy::kind_of_member;

model::TaskGroup group(std::int64_t cpu, model::DeviceRequest device, std::int32_t members = 1) {
  model::TaskGroup tasks{.members = members};
  tasks.per_member.set(model::kCpu, cpu);
  if (!device.is_none()) tasks.device_options.push_back(std::move(device));
  return tasks;
}

model::Workload workload(model::TaskGroup tasks) {
  model::Workload result;
  result.groups.push_back(std::move(tasks));
  return result;
}

std::int64_t weight_of(const model::RequestCounts& counts, const RequestKind& kind) {
  const auto found = std::ranges::find(counts.kinds, kind, &model::WeighedKind::kind);
  return found == counts.kinds.end() ? 0 : found->weight;
}

TEST(RequestMix, AMemberIsCountedByItsFirstOption) {
  EXPECT_EQ(kind_of_member(group(2000, {})), (RequestKind{.cpu = 2000}));
  EXPECT_EQ(kind_of_member(group(2000, {.count = base::Count(2), .models = {"T4", "A10", "T4"}})),
            (RequestKind{
                .cpu = 2000, .devices = 2, .milli = base::kWholeDevice, .models = {"A10", "T4"}}));
  EXPECT_EQ(kind_of_member(group(0, {.share = base::MilliDevice(250)})),
            (RequestKind{.cpu = 0, .devices = 1, .milli = base::MilliDevice(250)}));
}

TEST(RequestMix, OldRequestsCountLessAndLessAndAreForgottenInTheEnd) {
  model::RequestCounts counts;
  const auto old = group(1000, {.count = base::Count(1)});
  const auto fresh = group(2000, {.count = base::Count(8)});
  count_requests(counts, workload(old));
  for (int i = 0; i < 6; ++i)
    count_requests(counts, workload(group(2000, {.count = base::Count(8)},
                                          static_cast<std::int32_t>(policy::kMostMembers) / 2)));
  EXPECT_EQ(weight_of(counts, kind_of_member(old)), 0);
  EXPECT_GT(weight_of(counts, kind_of_member(fresh)), 0);
  EXPECT_EQ(counts.members, 1 + 3 * policy::kMostMembers);
}

TEST(RequestMix, WhatIsKeptIsBoundedWhateverIsAskedFor) {
  model::RequestCounts counts;
  count_requests(counts, workload(group(7, {.count = base::Count(1)}, 1'000'000'000)));
  for (std::int64_t i = 1; i <= 2000; ++i) {
    count_requests(counts, workload(group(i, {.share = base::MilliDevice(1 + i % 1000)})));
    std::int64_t sum = 0;
    for (const model::WeighedKind& weighed : counts.kinds) {
      EXPECT_GT(weighed.weight, 0);
      sum += weighed.weight;
    }
    ASSERT_EQ(sum, counts.total);
    ASSERT_LE(counts.kinds.size(), policy::kMostKinds);
    ASSERT_TRUE(std::ranges::is_sorted(counts.kinds, {}, &model::WeighedKind::kind));
  }
  EXPECT_GT(weight_of(counts, kind_of_member(group(7, {.count = base::Count(1)}))), 0)
      << "what is asked for most stays";
  const model::RequestMix mix = policy::make_mix(counts.kinds, {});
  EXPECT_LE(mix.prices.size(), policy::kMostSizes);
  EXPECT_EQ(mix.prices.back().size, base::kWholeDevice);
}

TEST(RequestMix, IsMadeAnewWhenHalfAsMuchAgainWasAskedForAndARuleReadsIt) {
  model::State state;
  state.requests.members = 16;
  EXPECT_FALSE(policy::is_mix_due(state)) << "nobody reads it";
  state.policy.placement = model::PlacementRule::Value;
  EXPECT_TRUE(policy::is_mix_due(state));
  state.requests.members_at_mix = 100;
  state.requests.members = 149;
  EXPECT_FALSE(policy::is_mix_due(state));
  state.requests.members = 150;
  EXPECT_TRUE(policy::is_mix_due(state));
  state.requests.members_at_mix = 1'000'000;
  state.requests.members = 1'001'023;
  EXPECT_FALSE(policy::is_mix_due(state));
  state.requests.members = 1'001'024;
  EXPECT_TRUE(policy::is_mix_due(state));
  state.policy.placement.reset();
  EXPECT_FALSE(policy::is_mix_due(state));
  model::WorkloadClass by_value = policy::default_classes().front();
  by_value.strategy = model::Strategy::Value;
  state.classes.insert(by_value.id, by_value);
  EXPECT_TRUE(policy::is_mix_due(state));
}

TEST(RequestMix, LoadIsThatOfMembersWithoutAChoicePouredWhereThereIsLeast) {
  // As much is asked for as there is: 40 devices, half of them by members that take B or C alone.
  const auto devices = [](std::int32_t count, std::vector<std::string> models) {
    return RequestKind{
        .cpu = 0, .devices = count, .milli = base::kWholeDevice, .models = std::move(models)};
  };
  const model::RequestMix mix = policy::make_mix({{.kind = devices(1, {}), .weight = 20},
                                                  {.kind = devices(1, {"B"}), .weight = 5},
                                                  {.kind = devices(1, {"B", "C"}), .weight = 15}},
                                                 {{.model = "A", .milli = 20'000, .cpu = 1},
                                                  {.model = "B", .milli = 10'000, .cpu = 1},
                                                  {.model = "C", .milli = 10'000, .cpu = 1}});
  ASSERT_EQ(mix.loads.size(), 3u);
  EXPECT_EQ(mix.loads[0], (model::ModelLoad{.model = "A", .load = 0}));
  EXPECT_NEAR(static_cast<double>(mix.loads[1].load), 1e6, 2e4);
  EXPECT_NEAR(static_cast<double>(mix.loads[2].load), 1e6, 2e4);
}

}  // namespace
