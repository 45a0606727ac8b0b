#pragma once
// What a placement costs its queue, and what a pending workload asks for: amounts by (pool,
// resource), on the leaf pool of each node and on every ancestor. Devices are charged in
// milli-devices; price differences between models live in rates, not here.

#include <cstdint>
#include <vector>

#include "model/ids.h"
#include "model/placement.h"
#include "model/resources.h"
#include "model/state.h"
#include "model/workload.h"

namespace policy {

// Milli-devices of one assignment: 1000 for a whole device, the larger of milli and memory share
// for a part, and for a slice [start, start + n) of an axis of S the difference
// floor(1000 (start + n) / S) - floor(1000 start / S), so that a full layout is exactly 1000.
std::int64_t charge_of(const model::Device& device, const model::DeviceAssignment& assignment);

// Of all members together.
model::Usage charge_of(const model::State& state, const model::Workload& workload,
                       const model::Placement& placement);

// The leaf pools that the workload accepts, in its order: an inner pool stands for its leaves by
// id, an empty list for every leaf pool. Doubles are dropped.
std::vector<model::PoolId> accepted_pools(const model::State& state,
                                          const model::Constraints& constraints);

// What the minimum of the workload would be charged in this leaf pool, at the smallest device that
// could take it.
model::Usage ask_in(const model::State& state, const model::Workload& workload, model::PoolId leaf);

// What counts as its demand while it is pending: ask_in its first accepted pool that could ever
// fit it, else its first accepted pool; empty without any pool.
model::Usage ask_of(const model::State& state, const model::Workload& workload);

// Members of the minimum that could ever fit in the leaf pool, each group by itself.
std::int64_t could_ever_fit(const model::State& state, const model::Workload& workload,
                            model::PoolId leaf);

// Sum of the groups' min_members, leaves only.
std::int64_t min_members(const model::Workload& workload);

}  // namespace policy
