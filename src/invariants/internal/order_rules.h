#pragma once
// Who goes before whom in a queue, worked out from the workloads alone.

#include "base/instant.h"
#include "invariants/internal/state_rules.h"
#include "model/policy_set.h"
#include "model/state.h"

namespace invariants::internal {

// Whether `first` stands before `other` in their queue; true for orders that do not compare.
bool goes_first(const model::State& state, const model::PolicySet& policy,
                const model::WorkloadRecord& first, const model::WorkloadRecord& other);

// `record` starts at `at` without a claim: nobody of its queue who may start too stands before it
// and asks for exactly the same, or, in a strict queue, for anything that could ever be had.
// O(workloads).
void check_start_order(const model::State& state, const model::WorkloadRecord& record,
                       base::Instant at, Findings& findings);

}  // namespace invariants::internal
