// The bound says no only where a search would say no: tried on all waiting work of many small
// worlds, against the search itself, which does not read the bound when it records its steps.

#include "scheduling/internal/taking_bound.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "scheduling/internal/index.h"
#include "scheduling/internal/victims.h"
#include "testing/random_world.h"

namespace {

using scheduling::internal::Depth;
using scheduling::internal::Derived;
using scheduling::internal::EquivalenceClass;
using scheduling::internal::PoolFacts;
using scheduling::internal::Taker;
using scheduling::internal::TakingBound;
using scheduling::internal::TrialWorld;

struct Tally {
  int hopeless = 0;
  int open = 0;
  int found = 0;
};

void look_at(const TrialWorld& world, const model::WorkloadRecord& record, EquivalenceClass& equals,
             Tally& tally) {
  for (PoolFacts& facts : equals.pools) {
    const Taker taker{.workload = &record.workload,
                      .record = &record,
                      .ask = &facts.ask,
                      .pool = facts.pool,
                      .is_within_guarantee = {}};
    const std::size_t mark = world.view.mark();
    auto request = scheduling::internal::request_for(world.state, record.workload);
    const bool has_room = place_in_pool(world.state, world.view, request, facts.pool).is_complete();
    world.view.rollback(mark);
    if (has_room || equals.need == 0 || !may_take_back(world, taker)) continue;
    const auto& losers = losers_entry(world, taker).losers.queues;
    const bool is_no = is_hopeless(world, taker, equals.need, losers, facts.taking);
    request.growth = scheduling::internal::Growth::None;
    const auto search = find_victims(world, taker, request, equals.need, Depth::Recorded, nullptr);
    ++(is_no ? tally.hopeless : tally.open);
    if (!search.victims.empty()) ++tally.found;
    EXPECT_FALSE(is_no && !search.victims.empty())
        << "workload " << record.workload.id.value << " in pool " << facts.pool.value;
  }
}

void look_at_all(const model::State& state, base::Instant now, Tally& tally) {
  Derived derived(state, state.policy);
  derived.begin(now);
  const std::set<model::AttemptId> stopping;
  const TrialWorld world = derived.world(now, stopping);
  state.workloads.each([&](model::WorkloadId, const model::WorkloadRecord& record) {
    if (record.phase != model::Phase::Queued || !record.claim.is_none()) return;
    EquivalenceClass equals;
    equals.queue = record.workload.queue;
    refresh_facts(world, record.workload, equals);
    look_at(world, record, equals, tally);
  });
}

TEST(TakingBound, SaysNoOnlyWhereASearchFails) {
  base::Random random{base::Seed{20}};
  Tally tally;
  for (int run = 0; run < 600; ++run) {
    testkit::RandomWorld small(testkit::random_numbers(random, 60),
                               testkit::random_numbers(random, 60));
    small.set_up();
    while (small.step()) {
      small.world().settle();
      look_at_all(small.world().state(), small.world().state().now, tally);
    }
  }
  EXPECT_GT(tally.hopeless, 100);
  EXPECT_GT(tally.open, 50);
}

}  // namespace
