#include "lifecycle/internal/configuration.h"

#include <algorithm>

#include "policy/charge.h"

namespace lifecycle::internal {

using model::Pool;
using model::PoolId;
using model::PoolRecord;
using model::Queue;
using model::QueueId;
using model::QueueRecord;
using model::State;
using model::Usage;
using model::WorkloadRecord;

namespace {

template <class Id>
void insert_sorted(std::vector<Id>& ids, Id id) {
  const auto at = std::ranges::lower_bound(ids, id);
  if (at == ids.end() || *at != id) ids.insert(at, id);
}

}  // namespace

void define_pool(State& state, const Pool& pool) {
  if (PoolRecord* known = state.pools.find(pool.id)) {
    // policy::check_pool refuses a changed parent, so the paths stay as they are.
    state.pool_by_name.erase(known->pool.name);
    const PoolId parent = known->pool.parent;
    known->pool = pool;
    known->pool.parent = parent;
    state.pool_by_name[pool.name] = pool.id;
    return;
  }
  PoolRecord record;
  record.pool = pool;
  record.path.push_back(pool.id);
  if (PoolRecord* parent = state.pools.find(pool.parent)) {
    record.path.insert(record.path.end(), parent->path.begin(), parent->path.end());
    insert_sorted(parent->children, pool.id);
  }
  state.pools.insert(pool.id, std::move(record));
  state.pool_by_name[pool.name] = pool.id;
  refresh_asks(state);
}

void define_queue(State& state, const Queue& queue) {
  if (QueueRecord* known = state.queues.find(queue.id)) {
    // The name is the path, so the parent of a queue never changes.
    known->queue = queue;
    return;
  }
  QueueRecord record;
  record.queue = queue;
  record.path.push_back(queue.id);
  if (QueueRecord* parent = state.queues.find(queue.parent)) {
    record.path.insert(record.path.end(), parent->path.begin(), parent->path.end());
    insert_sorted(parent->children, queue.id);
  }
  state.queues.insert(queue.id, std::move(record));
  state.queue_by_name[queue.name] = queue.id;
}

void define_class(State& state, const model::WorkloadClass& workload_class) {
  if (model::WorkloadClass* known = state.classes.find(workload_class.id)) {
    state.class_by_name.erase(known->name);
    *known = workload_class;
  } else {
    state.classes.insert(workload_class.id, workload_class);
  }
  state.class_by_name[workload_class.name] = workload_class.id;
}

bool counts_as_demand(const WorkloadRecord& record) {
  return record.phase == model::Phase::Queued && !record.is_held && record.claim.is_none();
}

void add_demand(State& state, const WorkloadRecord& record, std::int64_t sign) {
  for (const QueueId queue : state.queues.at(record.workload.queue).path)
    state.queues.at(queue).pending.add(record.ask, sign);
}

void add_held(State& state, QueueId queue, const Usage& charge, std::int64_t sign) {
  for (const QueueId on_path : state.queues.at(queue).path)
    state.queues.at(on_path).held.add(charge, sign);
}

void add_claimed(State& state, QueueId queue, const Usage& charge, std::int64_t sign) {
  for (const QueueId on_path : state.queues.at(queue).path)
    state.queues.at(on_path).claimed.add(charge, sign);
}

void refresh_asks(State& state) {
  state.workloads.each([&state](model::WorkloadId id, const WorkloadRecord& seen) {
    if (seen.phase != model::Phase::Queued) return;
    Usage ask = policy::ask_of(state, seen.workload);
    if (ask == seen.ask) return;
    WorkloadRecord& record = state.workloads.at(id);
    const bool counts = counts_as_demand(record);
    if (counts) add_demand(state, record, -1);
    record.ask = std::move(ask);
    if (counts) add_demand(state, record, +1);
  });
}

}  // namespace lifecycle::internal
