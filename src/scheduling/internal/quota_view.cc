#include "scheduling/internal/quota_view.h"

#include "base/assert.h"
#include "policy/entitlement.h"

namespace scheduling::internal {

using model::Dimension;
using model::QueueId;
using model::QueueRecord;
using model::Usage;

QuotaView::Column& QuotaView::column(Dimension dimension) const {
  for (Column& known : columns_)
    if (known.dimension == dimension) return known;
  return columns_.emplace_back(fresh_column(dimension));
}

QuotaView::Column QuotaView::fresh_column(Dimension dimension) const {
  Column fresh{.dimension = dimension, .held = {}, .leaving = {}, .wanted = {}, .entitled = {}};
  const std::size_t queues = state_->queues.next_id().value - 1;
  fresh.held.resize(queues, 0);
  fresh.leaving.resize(queues, 0);
  fresh.wanted.resize(queues, 0);
  state_->queues.each(
      [&](QueueId id, const QueueRecord& record) { read_queue(fresh, id, record); });
  read_free(fresh);
  for (auto at = leaving_.lower_bound({dimension, QueueId{}});
       at != leaving_.end() && at->first.first == dimension; ++at)
    fresh.leaving[at->first.second.value - 1] = at->second;
  for (const Change& earlier : overlay_)
    if (earlier.dimension == dimension) add(fresh, earlier, +1);
  return fresh;
}

void QuotaView::read_queue(Column& column, QueueId queue, const QueueRecord& record) const {
  const std::size_t at = queue.value - 1;
  column.held[at] = record.held.of(column.dimension) + record.claimed.of(column.dimension);
  if (!record.children.empty()) return;
  const std::int64_t wanted = column.held[at] + record.pending.of(column.dimension);
  if (wanted == column.wanted[at]) return;
  column.wanted[at] = wanted;
  column.entitled.clear();
}

void QuotaView::read_free(Column& column) const {
  column.free = state_->free.of(column.dimension);
  const std::int64_t capacity =
      state_->held.of(column.dimension) + column.free + state_->secured.of(column.dimension);
  if (capacity == column.capacity) return;
  column.capacity = capacity;
  column.entitled.clear();
}

std::int64_t QuotaView::entitlement(QueueId queue, Dimension dimension) const {
  Column& here = column(dimension);
  if (here.entitled.empty())
    here.entitled = policy::entitlements(*state_, table_, dimension, here.capacity, here.wanted);
  return here.entitled[queue.value - 1];
}

void QuotaView::add(Column& column, const Change& change, std::int64_t sign) {
  if (change.queue.is_none())
    column.free += sign * change.amount;
  else if (change.is_leaving)
    column.leaving[change.queue.value - 1] += sign * change.amount;
  else
    column.held[change.queue.value - 1] += sign * change.amount;
}

void QuotaView::change(const Change& change) {
  overlay_.push_back(change);
  if (change.is_started) started_[{change.queue, change.dimension}] += change.amount;
  for (Column& column : columns_)
    if (column.dimension == change.dimension) add(column, change, +1);
}

void QuotaView::hold(QueueId queue, const Usage& usage, std::int64_t sign) {
  for (const QueueId on_path : state_->queues.at(queue).path)
    for (const auto& a : usage.amounts())
      change({.dimension = a.dimension,
              .queue = on_path,
              .amount = sign * a.amount,
              .is_started = on_path == queue});
  for (const auto& a : usage.amounts())
    change({.dimension = a.dimension, .queue = {}, .amount = -sign * a.amount});
}

void QuotaView::set_aside(model::PoolId leaf, const model::Quantities& amounts) {
  for (const model::PoolId pool : state_->pools.at(leaf).path)
    for (const auto& a : amounts.amounts())
      change({.dimension = {pool, a.resource}, .queue = {}, .amount = -a.amount});
}

void QuotaView::hold_only(QueueId queue, const Usage& usage, std::int64_t sign) {
  for (const QueueId on_path : state_->queues.at(queue).path)
    for (const auto& a : usage.amounts())
      change({.dimension = a.dimension, .queue = on_path, .amount = sign * a.amount});
}

void QuotaView::leave(QueueId queue, const Usage& usage) {
  for (const QueueId on_path : state_->queues.at(queue).path)
    for (const auto& a : usage.amounts())
      change({.dimension = a.dimension, .queue = on_path, .amount = a.amount, .is_leaving = true});
}

void QuotaView::note_leaving(QueueId queue, const Usage& usage, std::int64_t sign) {
  ASSERT(overlay_.empty());
  for (const QueueId on_path : state_->queues.at(queue).path)
    for (const auto& a : usage.amounts()) {
      const auto at = leaving_.try_emplace({a.dimension, on_path}, 0).first;
      at->second += sign * a.amount;
      if (at->second == 0) leaving_.erase(at);
      for (Column& column : columns_)
        if (column.dimension == a.dimension) column.leaving[on_path.value - 1] += sign * a.amount;
    }
}

void QuotaView::rollback(std::size_t mark) {
  for (; overlay_.size() > mark; overlay_.pop_back()) {
    const Change& last = overlay_.back();
    for (Column& column : columns_)
      if (column.dimension == last.dimension) add(column, last, -1);
    if (!last.is_started) continue;
    const auto started = started_.find({last.queue, last.dimension});
    started->second -= last.amount;
    if (started->second == 0) started_.erase(started);
  }
}

void QuotaView::refresh(QueueId queue) {
  ASSERT(overlay_.empty());
  for (const QueueId on_path : state_->queues.at(queue).path) {
    const QueueRecord& record = state_->queues.at(on_path);
    for (Column& column : columns_)
      read_queue(column, on_path, record);
  }
}

void QuotaView::refresh_free() {
  ASSERT(overlay_.empty());
  for (Column& column : columns_)
    read_free(column);
}

}  // namespace scheduling::internal
