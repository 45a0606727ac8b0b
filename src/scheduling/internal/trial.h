#pragma once
// The chain of tests for one workload: the one place where it is decided whether it starts, and
// because of what it does not. The same code answers RunNow (with or without recording steps), Why
// and Fits. Definitions: docs/design/0001-first-planner.md.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "model/explanation.h"
#include "model/placement.h"
#include "model/policy_set.h"
#include "model/state.h"
#include "scheduling/internal/cluster_view.h"
#include "scheduling/internal/losers_book.h"
#include "scheduling/internal/pending_index.h"
#include "scheduling/internal/placing.h"
#include "scheduling/internal/quota_view.h"
#include "scheduling/internal/room.h"

namespace scheduling::internal {

// Live attempts with a member in a leaf pool, by queue and by when they have run long enough to be
// stopped, and how many live attempts each class has.
struct LiveIndex {
  using Attempts = std::set<std::pair<base::Instant, model::WorkloadId>>;
  std::map<model::PoolId, std::map<model::QueueId, Attempts>> by_pool;
  std::map<model::ClassId, std::int64_t> by_class;
  // What live attempts are charged with in leaf pools, negated: the largest come first.
  std::map<model::Dimension, std::set<std::pair<std::int64_t, model::WorkloadId>>> by_amount;
  // When live attempts will have run long enough to be stopped, and the nodes, by leaf pool, on
  // which some have by now: a log, read from where a reader stopped.
  std::set<std::pair<base::Instant, model::AttemptId>> ripening;
  std::map<model::PoolId, std::vector<model::NodeId>> ripened;

  const std::vector<model::NodeId>& ripened_in(model::PoolId pool) const {
    static const std::vector<model::NodeId> kNone;
    const auto found = ripened.find(pool);
    return found == ripened.end() ? kNone : found->second;
  }
};

struct Trial {
  model::Verdict verdict = model::Verdict::Blocked;
  model::Reason reason = model::Reason::None;
  model::Placement placement;                 // when it starts or takes back
  std::vector<model::AttemptId> victims;      // not empty: starts once they are gone
  model::Reason cause = model::Reason::None;  // Reclaim or Preempt
  std::optional<base::Instant> until;         // the earliest time at which a test changes by itself
  std::vector<model::Step> steps;             // when recorded
  std::size_t pool = 0;                       // index in the class's pools, when it starts
  bool is_open = false;                       // quick only: undecided
};

// Quick stops with `is_open` where only a search can tell; Full decides; Recorded decides and
// collects steps with all their numbers. All three give the same reason for the same failure.
enum class Depth { Quick, Full, Recorded };

// Everything a trial reads. `view` and `quotas` are overlays: a trial leaves them as they were,
// except that a Trial that starts leaves its members taken in `view`.
struct TrialWorld {
  const model::State& state;
  const model::PolicySet& policy;
  base::Instant now;
  ClusterView& view;
  QuotaView& quotas;
  const LiveIndex& live;
  RoomMemory& room;
  LosersBook& losers;
  std::uint64_t& stamp;  // another for every state of what is held: grows with each decision
  std::uint64_t plan;    // the stamp with which it began
  const std::set<model::AttemptId>& stopping;  // told to stop by this plan
  std::int64_t cluster_version = 0;            // another when what could ever fit may have changed
};

// The facts of a class, brought up to date with the cluster.
void refresh_facts(const TrialWorld& world, const model::Workload& workload,
                   EquivalenceClass& equals);

// `record` is null for a workload that was not submitted; `head` is the workload that must go first
// in a strict queue, none when this one may go. Remembers in `equals` where placing failed.
Trial try_workload(const TrialWorld& world, const model::Workload& workload,
                   const model::WorkloadRecord* record, EquivalenceClass& equals,
                   model::WorkloadId head, Depth depth);

}  // namespace scheduling::internal
