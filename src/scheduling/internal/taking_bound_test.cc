// The bound says no only where a search would say no, tried on all waiting work of many small
// worlds against a search over all nodes; and a bound that lived through what happened says the
// same as one that counts anew.

#include "scheduling/internal/taking_bound.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

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
    auto request = scheduling::internal::request_for(world.state, world.policy, record.workload);
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
  for (int run = 0; run < 300; ++run) {
    testkit::RandomWorld small(testkit::random_numbers(random, 60),
                               testkit::random_numbers(random, 1000));
    small.set_up();
    while (small.step()) {
      small.world().settle();
      look_at_all(small.world().state(), small.world().state().now, tally);
    }
  }
  EXPECT_GT(tally.hopeless, 100);
  EXPECT_GT(tally.open, 50);
}

// What one planner keeps of each waiting workload while things happen.
class Kept {
 public:
  explicit Kept(const model::State& state) : state_(state) {}

  void observe(const model::Event& event) {
    if (derived_) derived_->observe(event);
  }

  // Asks all that wait, in the middle of a plan that has started some of them.
  void look(base::Instant now, base::Random& random, Tally& tally) {
    if (!derived_ || derived_->is_stale) {
      derived_.emplace(state_, state_.policy);
      classes_.clear();
    }
    derived_->begin(now);
    const std::set<model::AttemptId> nobody_stops;
    const TrialWorld world = derived_->world(now, nobody_stops);
    state_.workloads.each([&](model::WorkloadId id, const model::WorkloadRecord& record) {
      if (record.phase != model::Phase::Queued || !record.claim.is_none()) return;
      EquivalenceClass& equals = classes_[id];
      refresh_facts(world, record.workload, equals);
      for (PoolFacts& facts : equals.pools) {
        compare(world, record, equals.need, facts, tally);
        const auto request =
            scheduling::internal::request_for(state_, world.policy, record.workload);
        if (random.chance(1, 4)) place_in_pool(state_, world.view, request, facts.pool);
      }
    });
    derived_->view.rollback(0);
  }

 private:
  void compare(const TrialWorld& world, const model::WorkloadRecord& record, std::int64_t need,
               PoolFacts& facts, Tally& tally) {
    const Taker taker{.workload = &record.workload,
                      .record = &record,
                      .ask = &facts.ask,
                      .pool = facts.pool,
                      .is_within_guarantee = {}};
    if (need == 0) return;
    const auto& losers = losers_entry(world, taker).losers.queues;
    TakingBound anew_with_nobody_gone;
    EXPECT_EQ(is_hopeless(world, taker, need, {}, facts.room),
              is_hopeless(world, taker, need, {}, anew_with_nobody_gone))
        << "workload " << record.workload.id.value << " in pool " << facts.pool.value;
    TakingBound anew;
    const bool is_no = is_hopeless(world, taker, need, losers, facts.taking);
    EXPECT_EQ(is_no, is_hopeless(world, taker, need, losers, anew))
        << "workload " << record.workload.id.value << " in pool " << facts.pool.value;
    ++(is_no ? tally.hopeless : tally.open);
    if (!scheduling::internal::is_countable(record.workload)) return;
    TakingBound once;
    EXPECT_EQ(reachable_nodes(world, taker, need, losers, facts.taking),
              reachable_nodes(world, taker, need, losers, once))
        << "workload " << record.workload.id.value << " in pool " << facts.pool.value;
  }

  const model::State& state_;
  std::optional<Derived> derived_;
  std::map<model::WorkloadId, EquivalenceClass> classes_;
};

TEST(TakingBound, FollowsWhatHappensAsIfItCountedAnew) {
  base::Random random{base::Seed{22}};
  Tally tally;
  for (int run = 0; run < 200; ++run) {
    testkit::RandomWorld small(testkit::random_numbers(random, 60),
                               testkit::random_numbers(random, 2000));
    small.set_up();
    Kept kept(small.world().state());
    small.world().after_event = [&](const model::Event& event) {
      kept.observe(event);
      if (random.chance(1, 3)) kept.look(small.world().now(), random, tally);
    };
    while (small.step())
      small.world().settle();
  }
  EXPECT_GT(tally.hopeless, 100);
  EXPECT_GT(tally.open, 50);
}

}  // namespace
