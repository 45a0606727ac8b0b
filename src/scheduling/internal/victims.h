#pragma once
// Taking back: which attempts to stop so that a workload finds room.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/instant.h"
#include "model/reason.h"
#include "model/state.h"
#include "scheduling/internal/protection.h"
#include "scheduling/internal/trial.h"

namespace scheduling::internal {

struct VictimSearch {
  std::vector<model::AttemptId> victims;  // sufficient and irreducible; empty: not enough
  model::Reason cause = model::Reason::None;
  model::Placement placement;  // of the taker once they are gone
  std::int64_t placeable = 0;  // members that could be placed with all of them gone
  // For the explanation; names the quota that bars the room which the victims would make, where the
  // search met one.
  model::Reason failure = model::Reason::None;
  // What the workload waits for. Known without a search, so that a cycle, which often has a bound
  // instead of one, and an explanation, which has none, agree.
  model::Reason wait = model::Reason::None;
  std::optional<base::Instant> until;
};
// `need`: the sum of the minima. Leaves view and quotas as they were. `placeable` is only counted
// at Depth::Recorded or when the search succeeds. `bound` leaves out what is hopeless; null: every
// node is searched.
VictimSearch find_victims(const TrialWorld& world, const Taker& taker, const Request& request,
                          std::int64_t need, Depth depth, TakingBound* bound);

// Why a taker finds nothing to take where no room barred by quota was found, and when it may find
// something by the mere passing of time.
struct TakingFailure {
  model::Reason reason = model::Reason::None;
  std::optional<base::Instant> until;
};
TakingFailure taking_failure(const TrialWorld& world, const Taker& taker, LosersEntry& entry);

}  // namespace scheduling::internal
