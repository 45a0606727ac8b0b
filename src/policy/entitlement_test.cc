// Entitlements are exact: nobody gets more than is there, guarantees that are in demand come first,
// and what does not divide goes by largest remainder.

#include "policy/entitlement.h"

#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "lifecycle/apply.h"
#include "testing/world.h"

namespace {

using policy::Taker;
using testkit::a_pool;
using testkit::a_queue;

std::int64_t sum(const std::vector<std::int64_t>& amounts) {
  return std::accumulate(amounts.begin(), amounts.end(), std::int64_t{0});
}

TEST(WaterFill, SharesByWeightAndGivesWhatOthersCannotTake) {
  // 10 among weights 1:1:2 with caps 1, 10, 10: the first takes 1, the rest 9 as 3:6.
  EXPECT_EQ(policy::water_fill(10, std::vector<Taker>{{1, 1}, {1, 10}, {2, 10}}),
            (std::vector<std::int64_t>{1, 3, 6}));
}

TEST(WaterFill, GivesRemaindersToTheLargestAndTiesToTheEarlier) {
  EXPECT_EQ(policy::water_fill(10, std::vector<Taker>{{1, 10}, {1, 10}, {1, 10}}),
            (std::vector<std::int64_t>{4, 3, 3}));
  EXPECT_EQ(policy::water_fill(10, std::vector<Taker>{{3, 10}, {3, 10}, {1, 10}}),
            (std::vector<std::int64_t>{4, 4, 2}));
}

RC_GTEST_PROP(WaterFill, GivesExactlyWhatThereIsOrWhatCanBeTaken, ()) {
  const auto takers = *rc::gen::container<std::vector<Taker>>(
      rc::gen::apply([](int weight, int cap) { return Taker{weight, cap}; },
                     rc::gen::inRange(0, 50), rc::gen::inRange(0, 100000)));
  const std::int64_t amount = *rc::gen::inRange(0, 300000);
  const auto given = policy::water_fill(amount, takers);
  std::int64_t takeable = 0;
  for (std::size_t i = 0; i < takers.size(); ++i) {
    RC_ASSERT(given[i] >= 0 && given[i] <= takers[i].cap);
    if (takers[i].weight > 0)
      takeable += takers[i].cap;
    else
      RC_ASSERT(given[i] == 0);
  }
  RC_ASSERT(sum(given) == std::min(amount, takeable));
  // Fair: who is not full holds no less per weight than anybody else, up to the one that rounds.
  for (std::size_t i = 0; i < takers.size(); ++i)
    for (std::size_t j = 0; j < takers.size(); ++j)
      if (takers[i].weight > 0 && takers[j].weight > 0 && given[i] < takers[i].cap)
        RC_ASSERT((given[i] + 1) * takers[j].weight >= (given[j] - 1) * takers[i].weight);
}

struct Entitlements : testing::Test {
  testkit::World world;
  model::Dimension gpus;

  void SetUp() override { gpus = {world.define(a_pool("h800")), model::kDevice}; }
  std::vector<std::int64_t> of(std::int64_t capacity, std::vector<std::int64_t> wanted) {
    wanted.resize(world.state().queues.next_id().value - 1, 0);
    return policy::entitlements(world.state(), policy::QuotaTable(world.state()), gpus, capacity,
                                wanted);
  }
  std::size_t at(const char* name) {
    return world.state().queue_by_name.find(name)->second.value - 1;
  }
  std::vector<std::int64_t> wanted(std::initializer_list<std::pair<const char*, int>> amounts) {
    std::vector<std::int64_t> all(world.state().queues.next_id().value - 1, 0);
    for (const auto& [name, amount] : amounts)
      all[at(name)] = amount;
    return all;
  }
};

TEST_F(Entitlements, AnIdleGuaranteeIsLentInFull) {
  world.define(a_queue("vision").guarantee("h800", 8));
  world.define(a_queue("nlp").guarantee("h800", 8));
  const auto entitled = of(16'000, wanted({{"nlp", 16'000}}));
  EXPECT_EQ(entitled[at("nlp")], 16'000);
  EXPECT_EQ(entitled[at("vision")], 0);
}

TEST_F(Entitlements, WhatIsNotLentStaysOutOfTheSurplus) {
  world.define(a_queue("vision").guarantee("h800", 8).lend("h800", 3));
  world.define(a_queue("nlp").guarantee("h800", 8));
  const auto entitled = of(16'000, wanted({{"nlp", 16'000}}));
  EXPECT_EQ(entitled[at("nlp")], 11'000);  // 16 - (8 - 3)
}

TEST_F(Entitlements, SurplusGoesByPriorityThenWeight) {
  world.define(a_queue("a").weight(3));
  world.define(a_queue("b").weight(1));
  world.define(a_queue("c").priority(1).max("h800", 2));
  const auto entitled = of(10'000, wanted({{"a", 20'000}, {"b", 20'000}, {"c", 20'000}}));
  EXPECT_EQ(entitled[at("c")], 2'000);
  EXPECT_EQ(entitled[at("a")], 6'000);
  EXPECT_EQ(entitled[at("b")], 2'000);
}

TEST_F(Entitlements, GuaranteesBeyondWhatExistsAreFilledInProportion) {
  world.define(a_queue("a").guarantee("h800", 12));
  world.define(a_queue("b").guarantee("h800", 4));
  const auto entitled = of(8'000, wanted({{"a", 12'000}, {"b", 4'000}}));
  EXPECT_EQ(entitled[at("a")], 6'000);
  EXPECT_EQ(entitled[at("b")], 2'000);
}

TEST_F(Entitlements, AnInnerQueuePassesDownWhatItHas) {
  world.define(a_queue("search").guarantee("h800", 8));
  world.define(a_queue("search/nlp").guarantee("h800", 2));
  world.define(a_queue("search/ads").guarantee("h800", 2));
  const auto entitled = of(8'000, wanted({{"search/nlp", 8'000}, {"search/ads", 1'000}}));
  EXPECT_EQ(entitled[at("search")], 8'000);
  EXPECT_EQ(entitled[at("search/ads")], 1'000);
  EXPECT_EQ(entitled[at("search/nlp")], 7'000);
}

}  // namespace
