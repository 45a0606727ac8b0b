#pragma once
// What protects a live attempt against a workload that needs its place, and which queues may lose
// work to it at all. Rules 6, 7 and 9 of the queue algebra, with the meanings of
// docs/design/0001-first-planner.md. Thread contract: none of its own.

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
  // Whether its ask stays inside its guarantees, judged before any victim is chosen: no victim
  // gives the right to another. Nothing: as things are held now.
  std::optional<bool> is_within_guarantee;
};

// What the taker asks for in the leaf pool itself: `visit(dimension, amount)` until one says no.
template <class Visit>
bool all_of_ask(const Taker& taker, Visit&& visit) {
  for (const auto& a : taker.ask->amounts())
    if (a.dimension.pool == taker.pool && !visit(a.dimension, a.amount)) return false;
  return true;
}

struct Protection {
  model::Reason reason = model::Reason::None;    // None: may be stopped
  model::Reason route = model::Reason::Reclaim;  // Reclaim or Preempt, when it may be
  std::optional<base::Instant> until;            // with MinRuntime
};
// `bars` are those known already, and takes what is found out; null: nothing is known.
Protection protection_of(const TrialWorld& world, const Taker& taker,
                         const model::WorkloadRecord& victim, QueueBars* bars);

// Since when, or from when on, the live attempt has run long enough to be stopped.
base::Instant protected_until(const model::State& state, const model::WorkloadRecord& victim);

// More is asked of the resource in the taker's pool than it may use there.
bool is_short(const TrialWorld& world, const Taker& taker, model::Dimension dimension,
              std::int64_t asked);
// With its ask the queue stays within its entitlement in every resource of the taker's pool.
bool within_entitlement(const TrialWorld& world, const Taker& taker, model::QueueId queue);
// With its ask the taker stays inside the guarantees of its whole path, where there are any.
bool within_guarantee(const TrialWorld& world, const Taker& taker);
// Whether the class of some live attempt may give way to the taker's.
bool could_preempt(const TrialWorld& world, const Taker& taker);
// Whether the taker may take anything back at all.
bool may_take_back(const TrialWorld& world, const Taker& taker);

Losers losers_to(const TrialWorld& world, const Taker& taker);
// Whether the rights of its class let a live attempt of the loser be taken, by either route.
bool may_lose(const TrialWorld& world, const Taker& taker, const Loser& loser,
              model::ClassId victim);

}  // namespace scheduling::internal
