#include "invariants/internal/quota.h"

#include <algorithm>

namespace invariants::internal {

using model::Dimension;
using model::PoolId;
using model::QueueId;
using model::State;

namespace {

const model::Quota* row_of(const State& state, QueueId queue, Dimension d) {
  for (const model::Quota& row : state.queues.at(queue).queue.quotas)
    if (row.dimension == d) return &row;
  return nullptr;
}

}  // namespace

std::int64_t guarantee_of(const State& state, QueueId queue, Dimension d) {
  const model::Quota* row = row_of(state, queue, d);
  if (row != nullptr && row->guarantee) return *row->guarantee;
  std::int64_t sum = 0;
  for (const QueueId child : state.queues.at(queue).children)
    sum += guarantee_of(state, child, d);
  return sum;
}

std::int64_t lend_of(const State& state, QueueId queue, Dimension d) {
  const model::Quota* row = row_of(state, queue, d);
  if (row != nullptr && row->lend) return *row->lend;
  const auto& children = state.queues.at(queue).children;
  if (children.empty()) return guarantee_of(state, queue, d);
  std::int64_t sum = 0;
  for (const QueueId child : children)
    sum += lend_of(state, child, d);
  return sum;
}

std::optional<std::int64_t> max_of(const State& state, QueueId queue, Dimension d) {
  const model::Quota* row = row_of(state, queue, d);
  return row == nullptr ? std::nullopt : row->max;
}

bool is_governed(const State& state, Dimension d) {
  bool is_any = false;
  state.queues.each([&](QueueId id, const model::QueueRecord&) {
    is_any = is_any || row_of(state, id, d) != nullptr;
  });
  return is_any;
}

std::int64_t admitted(const State& state, QueueId queue, Dimension d) {
  const model::QueueRecord& record = state.queues.at(queue);
  return record.held.of(d) + record.claimed.of(d);
}

std::int64_t kept_for_others(const State& state, QueueId own, Dimension d) {
  std::int64_t kept = 0;
  state.queues.each([&](QueueId id, const model::QueueRecord& record) {
    if (id == own || !record.children.empty()) return;
    kept += std::max<std::int64_t>(
        0, guarantee_of(state, id, d) - lend_of(state, id, d) - record.held.of(d));
  });
  return kept;
}

std::vector<QueueId> below_common(const State& state, QueueId queue, QueueId other) {
  const auto& others = state.queues.at(other).path;
  std::vector<QueueId> below;
  for (const QueueId on_path : state.queues.at(queue).path) {
    if (std::find(others.begin(), others.end(), on_path) != others.end()) break;
    below.push_back(on_path);
  }
  return below;
}

std::vector<PoolId> accepted_leaves(const State& state, const model::Constraints& constraints) {
  std::vector<PoolId> leaves;
  const auto add_below = [&](PoolId root) {
    state.pools.each([&](PoolId id, const model::PoolRecord& pool) {
      const bool is_below = std::find(pool.path.begin(), pool.path.end(), root) != pool.path.end();
      const bool is_new = std::find(leaves.begin(), leaves.end(), id) == leaves.end();
      if (is_below && is_new && pool.children.empty()) leaves.push_back(id);
    });
  };
  if (constraints.pools.empty())
    state.pools.each([&](PoolId id, const model::PoolRecord&) { add_below(id); });
  for (const PoolId pool : constraints.pools)
    add_below(pool);
  if (constraints.pools.empty()) std::sort(leaves.begin(), leaves.end());
  return leaves;
}

}  // namespace invariants::internal
