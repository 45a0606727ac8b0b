#pragma once
// Pools, queues and classes: how a definition enters State and what it makes stale.

#include "model/event.h"
#include "model/state.h"

namespace lifecycle::internal {

void define_pool(model::State& state, const model::Pool& pool);
void define_queue(model::State& state, const model::Queue& queue);
void define_class(model::State& state, const model::WorkloadClass& workload_class);

// Asks depend on which pools exist and on the shapes of their nodes: after those changed, what the
// pending workloads ask for is computed again. O(workloads), and rare: only for a new shape.
void refresh_asks(model::State& state);

// Whether the workload's ask counts as demand: queued, not held by a person, owner of no claim.
bool counts_as_demand(const model::WorkloadRecord& record);
void add_demand(model::State& state, const model::WorkloadRecord& record, std::int64_t sign);

// Along the queue path of `queue`, itself included.
void add_held(model::State& state, model::QueueId queue, const model::Usage& charge,
              std::int64_t sign);
void add_claimed(model::State& state, model::QueueId queue, const model::Usage& charge,
                 std::int64_t sign);

}  // namespace lifecycle::internal
