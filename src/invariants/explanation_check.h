#pragma once
// Is an explanation true? An evaluator written apart from the planner: it reads only State and
// recomputes, naively and from the definitions of docs/design/0001-first-planner.md, the outcome,
// reason and numbers of each step that is given, and which test decides. What it says differs is a
// fault of the planner or of this evaluator; either way one of them does not follow the page.
//
// The explanation must have been made in exactly this State at this time: of the last plan, before
// anything else happened.

#include <string>
#include <vector>

#include "base/instant.h"
#include "model/explanation.h"
#include "model/policy_set.h"
#include "model/state.h"
#include "model/workload.h"

namespace invariants {

// Differences as text, one each; empty when the explanation is true.
std::vector<std::string> check_explanation(const model::State& state,
                                           const model::PolicySet& policy,
                                           const model::WorkloadRecord& record,
                                           const model::Explanation& explanation,
                                           base::Instant now);

}  // namespace invariants
