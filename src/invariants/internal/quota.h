#pragma once
// Quota read from the rows of the queues, naively, as the model defines it: a missing row of a leaf
// queue guarantees nothing, an inner queue guarantees and lends what its children do.

#include <cstdint>
#include <optional>
#include <vector>

#include "model/ids.h"
#include "model/resources.h"
#include "model/state.h"

namespace invariants::internal {

std::int64_t guarantee_of(const model::State& state, model::QueueId queue, model::Dimension d);
std::int64_t lend_of(const model::State& state, model::QueueId queue, model::Dimension d);
std::optional<std::int64_t> max_of(const model::State& state, model::QueueId queue,
                                   model::Dimension d);
// Some queue has a row of that dimension.
bool is_governed(const model::State& state, model::Dimension d);

// held + claimed: what counts for admission.
std::int64_t admitted(const model::State& state, model::QueueId queue, model::Dimension d);

// Σ over the leaf queues other than `own` of the part of their guarantee that is neither lent nor
// held.
std::int64_t kept_for_others(const model::State& state, model::QueueId own, model::Dimension d);

// The queues of `queue`'s path that are not on the path of `other`, from the leaf up.
std::vector<model::QueueId> below_common(const model::State& state, model::QueueId queue,
                                         model::QueueId other);

// The leaf pools that the constraints accept, in their order.
std::vector<model::PoolId> accepted_leaves(const model::State& state,
                                           const model::Constraints& constraints);

}  // namespace invariants::internal
