#pragma once
// What the end of an attempt must make of its workload: the table of end classes and retry rules,
// worked out from the journal alone.

#include <cstdint>

#include "invariants/internal/state_rules.h"
#include "model/state.h"

namespace invariants::internal {

// `record`'s last attempt has just ended; it had failed `failures_before` times until then.
void check_end(const model::State& state, const model::WorkloadRecord& record,
               std::int32_t failures_before, Findings& findings);

}  // namespace invariants::internal
