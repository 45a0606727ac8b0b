// A view that was fed event by event says of every node what one that reads State anew says: who
// sits there, what would be free without them, and where the indexes list it.

#include "scheduling/internal/cluster_view.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "base/random.h"
#include "model/event.h"
#include "scheduling/internal/index.h"
#include "testing/random_world.h"

namespace {

using scheduling::internal::ClusterView;
using scheduling::internal::Derived;
using scheduling::internal::Glance;
using scheduling::internal::NodeSet;
using scheduling::internal::Seat;
using scheduling::internal::SeatPart;
using scheduling::internal::Seats;

struct Tally {
  int views = 0;
  int seats = 0;
  int stopping = 0;
};

void expect_same(const Glance& kept, const Glance& anew) {
  EXPECT_EQ(kept.cpu, anew.cpu);
  EXPECT_EQ(kept.memory, anew.memory);
  EXPECT_EQ(kept.devices, anew.devices);
  EXPECT_EQ(kept.most_milli, anew.most_milli);
  EXPECT_EQ(kept.is_plain, anew.is_plain);
}

void expect_same(const Seat& kept, const Seat& anew) {
  EXPECT_EQ(kept.attempt, anew.attempt);
  EXPECT_EQ(kept.queue, anew.queue);
  EXPECT_EQ(kept.workload_class, anew.workload_class);
  EXPECT_EQ(kept.tenant, anew.tenant);
  EXPECT_EQ(kept.members, anew.members);
  EXPECT_EQ(kept.is_stopping, anew.is_stopping);
  EXPECT_EQ(kept.since, anew.since);
  EXPECT_EQ(kept.ripe_at, anew.ripe_at);
  EXPECT_EQ(kept.milli, anew.milli);
  EXPECT_EQ(kept.holds, anew.holds);
}

void expect_same(const Seats& kept, const Seats& anew, Tally& tally) {
  EXPECT_EQ(kept.is_ready, anew.is_ready);
  EXPECT_EQ(kept.barred, anew.barred);
  EXPECT_EQ(kept.left, anew.left);
  ASSERT_EQ(kept.seats.size(), anew.seats.size());
  for (std::size_t i = 0; i < kept.seats.size(); ++i) {
    expect_same(kept.seats[i], anew.seats[i]);
    ++tally.seats;
    if (kept.seats[i].is_stopping) ++tally.stopping;
  }
  ASSERT_EQ(kept.parts.size(), anew.parts.size());
  for (std::size_t i = 0; i < kept.parts.size(); ++i) {
    EXPECT_EQ(kept.parts[i].device, anew.parts[i].device);
    EXPECT_EQ(kept.parts[i].seat, anew.parts[i].seat);
    EXPECT_EQ(kept.parts[i].milli, anew.parts[i].milli);
  }
}

// Without empty places at the end: a view keeps the length that it once needed.
std::vector<std::vector<model::NodeId>> listed(const ClusterView::ByWhole& by_whole) {
  std::vector<std::vector<model::NodeId>> all;
  for (const NodeSet& nodes : by_whole) {
    all.emplace_back();
    nodes.any([&all](model::NodeId id) {
      all.back().push_back(id);
      return false;
    });
  }
  while (!all.empty() && all.back().empty())
    all.pop_back();
  return all;
}

void expect_same(const model::State& state, const ClusterView& kept, Tally& tally) {
  const ClusterView anew(state);
  ++tally.views;
  state.nodes.each([&](model::NodeId id, const model::NodeRecord& record) {
    SCOPED_TRACE("node " + record.node.name);
    ASSERT_EQ(kept.has(id), anew.has(id));
    expect_same(kept.seats(id), anew.seats(id), tally);
    expect_same(kept.unpinned_at(id), anew.unpinned_at(id));
    expect_same(kept.free_at(id), anew.free_at(id));
  });
  state.pools.each([&](model::PoolId id, const model::PoolRecord& record) {
    SCOPED_TRACE("pool " + record.pool.name);
    EXPECT_EQ(listed(kept.pool(id).by_whole), listed(anew.pool(id).by_whole));
    EXPECT_EQ(kept.pool(id).holes, anew.pool(id).holes);
    EXPECT_EQ(kept.pool(id).whole, anew.pool(id).whole);
    EXPECT_EQ(kept.most_whole(id), anew.most_whole(id));
  });
}

TEST(ClusterView, FedEventByEventIsWhatStateSays) {
  base::Random random{base::Seed{31}};
  Tally tally;
  for (int run = 0; run < 100 && !testing::Test::HasFailure(); ++run) {
    testkit::RandomWorld small(testkit::random_numbers(random, 60),
                               testkit::random_numbers(random, 1500));
    small.set_up();
    const model::State& state = small.world().state();
    std::optional<Derived> derived;
    derived.emplace(state, state.policy);
    small.world().after_event = [&](const model::Event& event) {
      derived->observe(event);
      if (derived->is_stale) derived.emplace(state, state.policy);
      expect_same(state, derived->view, tally);
    };
    while (small.step() && !testing::Test::HasFailure())
      small.world().settle();
  }
  EXPECT_GT(tally.views, 1000);
  EXPECT_GT(tally.seats, 1000);
  EXPECT_GT(tally.stopping, 50);
}

}  // namespace
