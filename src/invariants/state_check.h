#pragma once
// What must hold of every State, whatever happened before: no device or node over-committed, legal
// partitions, allocations and attempts in exact agreement, gangs whole, tenants apart, claims kept,
// and every counter and index equal to what is counted from scratch.
//
// Pure and slow on purpose (O(state), written naively): it shares no code with what keeps the
// counters. Used after every event in tests, by simulations at intervals, and by `berth doctor`.
// The rules that need the sequence of events are in invariants/journal_check.h.

#include <vector>

#include "base/instant.h"
#include "invariants/violation.h"
#include "model/state.h"

namespace invariants {

// Empty when everything holds.
std::vector<Violation> check(const model::State& state);

// What a plan at `now` leaves behind in the State: nothing goes on beyond its time limit, or on a
// node that is to be emptied.
std::vector<Violation> check_after_plan(const model::State& state, base::Instant now);

}  // namespace invariants
