#pragma once
// The rules for single decisions against the State that they were made in. Each function appends
// what it finds wrong.

#include <vector>

#include "base/instant.h"
#include "invariants/internal/state_rules.h"
#include "model/decision.h"
#include "model/state.h"

namespace invariants::internal {

// Queued, not held, not backing off, the next ordinal.
void check_start_time(const model::WorkloadRecord& record, const model::Start& start,
                      base::Instant at, Findings& findings);
// Ready nodes of accepted pools with the attributes, tolerated taints and healthy devices.
void check_start_place(const model::State& state, const model::WorkloadRecord& record,
                       const model::Placement& placement, Findings& findings);
// A claim is used up by its owner, as it is, after its last victim; nobody else takes what is set
// aside.
void check_start_claim(const model::State& state, const model::WorkloadRecord& record,
                       const model::Start& start, Findings& findings);
// Unreclaimable work inside the guarantee; work beyond it not on what others keep.
void check_start_quota(const model::State& state, const model::WorkloadRecord& record,
                       const model::Start& start, Findings& findings);
// After a start or a claim no queue of the path is above a ceiling that the charge counts against;
// `leaving` are the claim's victims.
void check_ceilings(const model::State& state, const model::WorkloadRecord& record,
                    const model::Usage& charge, const std::vector<model::AttemptId>& leaving,
                    Findings& findings);
// After a start its nodes have what all their members and the claims on them need.
void check_node_amounts(const model::State& state, const model::Placement& placement,
                        Findings& findings);
// Neither the queue's tenant nor those on the same devices are kept apart from each other.
void check_tenants(const model::State& state, const model::WorkloadRecord& record,
                   const model::Placement& placement, const std::vector<model::AttemptId>& leaving,
                   Findings& findings);
// The victim's class and queue let the owner have it, now.
void check_rights(const model::State& state, const model::WorkloadRecord& owner,
                  const model::WorkloadRecord& victim, const model::Evict& evict, base::Instant at,
                  Findings& findings);
// What was asked for in the pool of the place, which is what decides whether limits bind; the place
// itself may cost more.
model::Usage ask_at(const model::State& state, const model::Workload& workload,
                    const model::Placement& placement);
// With `charge` more, the whole path stays within its guarantees in every governed resource of the
// leaf pools, and at least one is governed: then the limits of eviction do not bind.
// `leaving` are victims that the charge comes instead of.
bool is_within_guarantee(const model::State& state, model::QueueId queue,
                         const model::Usage& charge,
                         const std::vector<model::AttemptId>& leaving = {});
// Dropping any one victim would leave too little at the claimed place.
void check_victims_are_needed(const model::State& state, const model::WorkloadRecord& owner,
                              const model::Evict& evict, Findings& findings);

}  // namespace invariants::internal
