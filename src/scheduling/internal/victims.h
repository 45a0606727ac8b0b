#pragma once
// Taking back: what protects a live attempt against a workload that needs its place, and which
// attempts to stop. Rules 6, 7 and 9 of the queue algebra.

#include <map>
#include <optional>
#include <vector>

#include "base/instant.h"
#include "model/reason.h"
#include "model/state.h"
#include "scheduling/internal/trial.h"

namespace scheduling::internal {

// Who wants to take back, and what it would be charged in the pool.
struct Taker {
  const model::Workload* workload = nullptr;
  const model::WorkloadRecord* record = nullptr;  // null: not submitted
  const model::Usage* ask = nullptr;
  model::PoolId pool;
};

struct Protection {
  model::Reason reason = model::Reason::None;    // None: may be stopped
  model::Reason route = model::Reason::Reclaim;  // Reclaim or Preempt, when it may be
  std::optional<base::Instant> until;            // with MinRuntime
};
// What bars reclaim from whole queues, remembered while nothing changes what queues hold.
using QueueBars = std::map<model::QueueId, model::Reason>;
Protection protection_of(const TrialWorld& world, const Taker& taker,
                         const model::WorkloadRecord& victim, QueueBars* bars);

// Since when, or from when on, the live attempt has run long enough to be stopped.
base::Instant protected_until(const model::State& state, const model::WorkloadRecord& victim);

// Whether the taker may take anything back at all.
bool may_take_back(const TrialWorld& world, const Taker& taker);

struct VictimSearch {
  std::vector<model::AttemptId> victims;  // sufficient and irreducible; empty: not enough
  model::Reason cause = model::Reason::None;
  model::Placement placement;  // of the taker once they are gone
  std::int64_t placeable = 0;  // members that could be placed with all of them gone
  model::Reason failure = model::Reason::None;
  std::optional<base::Instant> until;
};
// `need`: the sum of the minima. Leaves view and quotas as they were. `placeable` is only counted
// at Depth::Recorded or when the search succeeds.
VictimSearch find_victims(const TrialWorld& world, const Taker& taker, const Request& request,
                          std::int64_t need, Depth depth, TakingBound& bound);

}  // namespace scheduling::internal
