#pragma once
// Who sits where: the only code that changes node use, what claims set aside, and State's free and
// secured sums. Every change takes the node's contribution out of the sums, changes the node, and
// puts the new contribution in, so the sums can never drift from the nodes.

#include "model/attempt.h"
#include "model/state.h"
#include "model/workload.h"

namespace lifecycle::internal {

void occupy(model::State& state, const model::Workload& workload, const model::Attempt& attempt);
void vacate(model::State& state, const model::Workload& workload, const model::Attempt& attempt);

// The claim must be in State::claims.
void add_claim_to_nodes(model::State& state, const model::Claim& claim);
// The claim is still in State::claims; nothing of it is set aside afterwards.
void remove_claim_from_nodes(model::State& state, const model::Claim& claim);

// A node as first reported or as changed: allocatable, devices, condition, pool.
void replace_node(model::State& state, const model::Node& node);
void set_condition(model::State& state, model::NodeId id, model::NodeCondition condition,
                   const std::string& note);
void set_health(model::State& state, model::NodeId id, std::int32_t device, model::Health health);

// What the node adds to State::free and State::secured, before it is spread over the pool path.
struct Contribution {
  model::Quantities free;
  model::Quantities secured;
};
Contribution contribution_of(const model::NodeRecord& node);

}  // namespace lifecycle::internal
