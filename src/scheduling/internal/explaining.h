#pragma once
// The steps of an explanation with their numbers, holders and rejected nodes. Built only when
// somebody will see them: what it costs (a look at every node and live attempt of a pool) is not
// paid for a quick no.

#include <cstdint>
#include <vector>

#include "model/explanation.h"
#include "model/state.h"
#include "policy/quota.h"
#include "scheduling/internal/protection.h"
#include "scheduling/internal/trial.h"

namespace scheduling::internal {

// Largest amount first, then workload, then queue; at most kMaxHolders stay.
void keep_largest(std::vector<model::Holder>& holders);

model::Reason infeasible_reason(const model::State& state, const EquivalenceClass& equals);
model::Step feasible_step(const model::State& state, const model::Workload& workload,
                          const EquivalenceClass& equals);

// `reason` None means passed.
model::Step quota_step(model::Test test, model::Reason reason, model::QueueId queue,
                       model::Dimension dimension, std::int64_t need, std::int64_t have,
                       std::int64_t limit);
std::vector<model::Holder> holders_in_queue(const model::State& state, model::QueueId queue,
                                            model::Dimension dimension);
std::vector<model::Holder> keepers(const model::State& state, const policy::QuotaTable& quotas,
                                   model::QueueId own, model::Dimension dimension);

// Why placing failed, from sums alone: which resource is short in the pool, or none of them.
struct PlaceFailure {
  model::Reason reason = model::Reason::None;
  model::Dimension dimension;
};
PlaceFailure place_failure(const TrialWorld& world, const model::Workload& workload,
                           const PoolFacts& facts);

model::Step place_passed_step(const PoolFacts& facts, std::int64_t need, std::int64_t have);
model::Step place_failed_step(const TrialWorld& world, const Taker& taker, const Request& request,
                              const PlaceFailure& failure, const PoolTrial& trial,
                              std::int64_t need);

}  // namespace scheduling::internal
