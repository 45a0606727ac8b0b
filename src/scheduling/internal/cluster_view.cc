#include "scheduling/internal/cluster_view.h"

#include <algorithm>

#include "base/assert.h"
#include "scheduling/internal/ranking.h"

namespace scheduling::internal {

using model::AttemptId;
using model::MemberPlacement;
using model::NodeId;
using model::NodeRecord;
using model::PoolId;
using model::QueueId;
using model::State;
using model::Workload;

ClusterView::ClusterView(const State& state) : state_(&state) {
  pools_.resize(state.pools.next_id().value - 1);
  rankings_.resize(pools_.size());
  state.nodes.each([this](NodeId id, const NodeRecord&) { load(id, Change::More); });
}

ClusterView::~ClusterView() = default;

void ClusterView::load(NodeId id, Change change) {
  ASSERT(undo_.empty());
  const NodeRecord& record = state_->nodes.at(id);
  if (nodes_.size() < id.value) {
    nodes_.resize(id.value);
    seats_.resize(id.value);
    unpinned_.resize(id.value);
    versions_.resize(id.value);
    free_.resize(id.value);
  }
  FreeNode& node = nodes_[id.value - 1];
  if (node.node != nullptr)
    leave_indexes(id);
  else
    rankings_[record.node.pool.value - 1].clear();
  load_seats(id, AttemptId{});
  node = free_node(*state_, record, seats_[id.value - 1]);
  enter_indexes(id);
  if (change == Change::More) pool_of(node).growth.push_back(id);
}

void ClusterView::load_seats(NodeId id, AttemptId changed) {
  Seats& seats = seats_[id.value - 1];
  refresh_seats(seats, *state_, state_->nodes.at(id), changed);
  unpinned_[id.value - 1] = glance_at_unpinned(*state_, seats);
  ++versions_[id.value - 1];
}

const ClusterView::PoolView& ClusterView::pool(PoolId id) const {
  ASSERT(id.value >= 1 && id.value <= pools_.size());
  return pools_[id.value - 1];
}

void ClusterView::forget_growth() {
  for (PoolView& pool : pools_)
    pool.growth.clear();
}

std::int32_t ClusterView::most_whole(PoolId id) const {
  const ByWhole& by_whole = pool(id).by_whole;
  std::size_t most = by_whole.size();
  while (most > 0 && by_whole[most - 1].empty())
    --most;
  return most == 0 ? 0 : static_cast<std::int32_t>(most - 1);
}

Ranking& ClusterView::ranking(PoolId pool, model::PlacementRule rule) {
  auto& rankings = rankings_[pool.value - 1];
  for (const std::unique_ptr<Ranking>& ranking : rankings)
    if (ranking->rule() == rule) return *ranking;
  rankings.push_back(std::make_unique<Ranking>(*state_, *this, pool, rule));
  return *rankings.back();
}

void ClusterView::forget_rankings() {
  for (auto& rankings : rankings_)
    rankings.clear();
}

ClusterView::PoolView& ClusterView::pool_of(const FreeNode& node) {
  return pools_[node.node->pool.value - 1];
}

void ClusterView::enter_indexes(NodeId id) {
  const FreeNode& node = nodes_[id.value - 1];
  free_[id.value - 1] = glance_at_free(node);
  for (const std::unique_ptr<Ranking>& ranking : rankings_[node.node->pool.value - 1])
    ranking->note(node);
  if (!node.is_ready) return;
  PoolView& pool = pool_of(node);
  const auto whole = static_cast<std::size_t>(node.whole);
  if (pool.by_whole.size() <= whole) pool.by_whole.resize(whole + 1);
  pool.by_whole[whole].insert(id);
  pool.whole += node.whole;
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    const FreeDevice& device = node.devices[i];
    if (device.is_usable && !device.is_whole() && device.milli > 0)
      pool.holes.insert({device.milli, id, static_cast<std::int32_t>(i)});
  }
}

void ClusterView::leave_indexes(NodeId id) {
  const FreeNode& node = nodes_[id.value - 1];
  if (!node.is_ready) return;
  PoolView& pool = pool_of(node);
  pool.by_whole[static_cast<std::size_t>(node.whole)].erase(id);
  pool.whole -= node.whole;
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    const FreeDevice& device = node.devices[i];
    if (device.is_usable && !device.is_whole() && device.milli > 0)
      pool.holes.erase({device.milli, id, static_cast<std::int32_t>(i)});
  }
}

template <class Edit>
void ClusterView::change(NodeId id, Edit&& edit) {
  FreeNode& node = nodes_[id.value - 1];
  undo_.emplace_back(id, node);
  leave_indexes(id);
  edit(node);
  enter_indexes(id);
}

void ClusterView::rollback(std::size_t mark) {
  while (undo_.size() > mark) {
    auto& [id, before] = undo_.back();
    leave_indexes(id);
    nodes_[id.value - 1] = std::move(before);
    enter_indexes(id);
    undo_.pop_back();
  }
}

void ClusterView::take(const Workload& workload, const MemberPlacement& member, QueueId tenant) {
  change(member.node, [&](FreeNode& node) { occupy(node, workload, member, tenant); });
}

void ClusterView::give(const Workload& workload, const MemberPlacement& member, QueueId tenant) {
  change(member.node, [&](FreeNode& node) { vacate(node, workload, member, tenant); });
}

model::Quantities ClusterView::secure(const Workload& workload, const MemberPlacement& member,
                                      QueueId tenant) {
  model::Quantities secured;
  change(member.node, [&](FreeNode& node) { secured = set_aside(node, workload, member, tenant); });
  return secured;
}

}  // namespace scheduling::internal
