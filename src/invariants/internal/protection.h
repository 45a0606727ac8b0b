#pragma once
// What keeps a live attempt from being taken back for a workload, as far as it can be said without
// entitlements: by phase, by rights of the classes and the policy, by time and by the limits of
// eviction. Whether a queue is above its entitlement is not recomputed here.

#include <optional>
#include <string>

#include "invariants/internal/evaluator.h"
#include "model/explanation.h"

namespace invariants::internal {

// What is wrong with the protection that an explanation gives a holder; empty when nothing is.
std::string check_protection(const Subject& subject, model::PoolId leaf,
                             const model::Holder& holder);

}  // namespace invariants::internal
