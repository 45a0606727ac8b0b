// The ledger beside the real planner on random histories: no device-time is lost or made up,
// whatever happens, to the millisecond.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "governance/ledger.h"
#include "model/state.h"
#include "testing/random_world.h"

namespace governance {
namespace {

// The same sums, naively: the whole State is looked at before every event.
struct NaiveSums {
  CapacityCounts capacity;
  std::int64_t charged = 0;

  void add(const model::State& state, std::int64_t millis) {
    state.nodes.each([&](model::NodeId, const model::NodeRecord& node) {
      for (std::size_t i = 0; i < node.devices.size(); ++i) {
        const std::int64_t used = node.devices[i].milli.value;
        const bool is_down = node.node.condition != model::NodeCondition::Ready ||
                             !takes_new_work(node.node.devices[i].health);
        capacity.installed += 1000 * millis;
        capacity.allocated += used * millis;
        (is_down ? capacity.down : capacity.unallocated) += (1000 - used) * millis;
      }
    });
    state.workloads.each([&](model::WorkloadId, const model::WorkloadRecord& record) {
      const model::Attempt* attempt = record.live_attempt();
      if (attempt == nullptr) return;
      for (const auto& charge : attempt->charge.amounts())
        if (charge.dimension.resource == model::kDevice &&
            state.pools.at(charge.dimension.pool).children.empty())
          charged += charge.amount * millis;
    });
  }
};

CapacityCounts of_root_pools(const Ledger& ledger, const model::State& state, base::Instant now) {
  CapacityCounts sum;
  for (const CapacityLine& line : ledger.capacity({}, now))
    if (state.pools.at(line.pool).pool.parent.is_none()) sum += line.counts;
  return sum;
}

UsageCounts sum_of(const Ledger& ledger, const model::State& state, UsageBy by, base::Instant now) {
  UsageCounts sum;
  for (const UsageLine& line : ledger.usage(by, {}, now)) {
    // Trees are summed at their roots, which include everything below.
    if (by == UsageBy::Queue && !state.queues.at(line.key.queue).queue.parent.is_none()) continue;
    if (by == UsageBy::Pool && !state.pools.at(line.key.pool).pool.parent.is_none()) continue;
    sum += line.counts;
  }
  return sum;
}

// Long enough for a world with some life in it.
rc::Gen<std::vector<std::uint16_t>> numbers(std::size_t count) {
  return rc::gen::container<std::vector<std::uint16_t>>(count,
                                                        rc::gen::inRange<std::uint16_t>(0, 1000));
}

RC_GTEST_PROP(LedgerProperty, ConservesDeviceTime, ()) {
  testkit::RandomWorld random(*numbers(100), *numbers(500));
  testkit::World& world = random.world();
  NaiveSums naive;
  std::unique_ptr<Ledger> ledger;
  base::Instant last;
  world.before_event = [&](const model::Event& event) {
    if (ledger == nullptr) {
      ledger = std::make_unique<Ledger>(world.state());
      last = event.at;
    }
    naive.add(world.state(), (event.at - last).millis);
    last = event.at;
  };
  world.after_event = [&](const model::Event& event) { ledger->observe(world.state(), event); };
  random.set_up();
  while (random.step()) {
  }
  if (ledger == nullptr) return;
  RC_LOG() << random.story();
  const base::Instant now = world.now() + base::milliseconds(12'345'678);
  naive.add(world.state(), (now - last).millis);

  const CapacityCounts capacity = of_root_pools(*ledger, world.state(), now);
  RC_ASSERT(capacity == naive.capacity);
  RC_ASSERT(capacity.allocated + capacity.unallocated + capacity.down == capacity.installed);
  const UsageCounts by_queue = sum_of(*ledger, world.state(), UsageBy::Queue, now);
  RC_ASSERT(by_queue.allocated == naive.charged);
  for (const UsageBy by : {UsageBy::User, UsageBy::Class, UsageBy::Kind, UsageBy::Pool})
    RC_ASSERT(sum_of(*ledger, world.state(), by, now) == by_queue);
  RC_CLASSIFY(by_queue.allocated > 0);
  RC_CLASSIFY(by_queue.evicted > 0);
  RC_CLASSIFY(capacity.down > 0);
  RC_ASSERT(by_queue.lost <= by_queue.allocated);
  RC_ASSERT(by_queue.completed + by_queue.failed + by_queue.cancelled + by_queue.evicted <=
            by_queue.started);
}

RC_GTEST_PROP(LedgerProperty, WhatIsChargedIsWhatDevicesGive, ()) {
  testkit::RandomWorld random(*numbers(100), *numbers(500));
  testkit::World& world = random.world();
  Ledger ledger{model::State{}};
  world.after_event = [&](const model::Event& event) { ledger.observe(world.state(), event); };
  random.set_up();
  while (random.step()) {
  }
  RC_LOG() << random.story();
  const base::Instant now = world.now() + base::hours(1);
  RC_ASSERT(sum_of(ledger, world.state(), UsageBy::Queue, now).allocated ==
            of_root_pools(ledger, world.state(), now).allocated);
}

}  // namespace
}  // namespace governance
