#include "scheduling/internal/quota_view.h"

#include "policy/entitlement.h"

namespace scheduling::internal {

using model::Dimension;
using model::QueueId;
using model::QueueRecord;
using model::Usage;

namespace {

template <class Map, class Key>
std::int64_t difference(const Map& map, const Key& key) {
  if (map.empty()) return 0;
  const auto found = map.find(key);
  return found == map.end() ? 0 : found->second;
}

}  // namespace

std::int64_t QuotaView::held(QueueId queue, Dimension dimension) const {
  const QueueRecord& record = state_->queues.at(queue);
  return record.held.of(dimension) + record.claimed.of(dimension) +
         difference(held_, std::pair(queue, dimension));
}

std::int64_t QuotaView::free(Dimension dimension) const {
  return state_->free.of(dimension) + difference(free_, dimension);
}

std::int64_t QuotaView::wanted(QueueId leaf, Dimension dimension) const {
  return held(leaf, dimension) + state_->queues.at(leaf).pending.of(dimension) +
         difference(pending_, std::pair(leaf, dimension));
}

std::int64_t QuotaView::entitlement(QueueId queue, Dimension dimension) const {
  auto found = entitlements_.find(dimension);
  if (found == entitlements_.end()) {
    std::vector<std::int64_t> wanted_by_queue(state_->queues.next_id().value - 1, 0);
    state_->queues.each([&](QueueId id, const QueueRecord& record) {
      if (record.children.empty()) wanted_by_queue[id.value - 1] = wanted(id, dimension);
    });
    // What this plan has started moved from free to held, so the capacity is State's.
    const std::int64_t capacity =
        state_->held.of(dimension) + state_->free.of(dimension) + state_->secured.of(dimension);
    found = entitlements_
                .emplace(dimension, policy::entitlements(*state_, table_, dimension, capacity,
                                                         wanted_by_queue))
                .first;
  }
  return found->second[queue.value - 1];
}

void QuotaView::hold(QueueId queue, const Usage& usage, std::int64_t sign) {
  hold_only(queue, usage, sign);
  for (const auto& a : usage.amounts()) {
    started_[{queue, a.dimension}] += sign * a.amount;
    free_[a.dimension] -= sign * a.amount;
  }
}

void QuotaView::hold_only(QueueId queue, const Usage& usage, std::int64_t sign) {
  for (const QueueId on_path : state_->queues.at(queue).path)
    for (const auto& a : usage.amounts())
      held_[{on_path, a.dimension}] += sign * a.amount;
}

void QuotaView::set_aside(model::PoolId leaf, const model::Quantities& amounts) {
  for (const model::PoolId pool : state_->pools.at(leaf).path)
    for (const auto& a : amounts.amounts())
      free_[{pool, a.resource}] -= a.amount;
}

void QuotaView::drop_demand(QueueId queue, const Usage& ask) {
  for (const QueueId on_path : state_->queues.at(queue).path)
    for (const auto& a : ask.amounts())
      pending_[{on_path, a.dimension}] -= a.amount;
}

void QuotaView::clear_overlay() {
  started_.clear();
  held_.clear();
  pending_.clear();
  free_.clear();
  entitlements_.clear();
}

}  // namespace scheduling::internal
