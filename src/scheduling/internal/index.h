#pragma once
// What the planner keeps between cycles: views and indexes over one State, fed event by event.
// Everything here is derived from State; what is cached (facts of classes, where placing failed)
// changes only how fast an answer comes.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "model/event.h"
#include "model/policy_set.h"
#include "model/state.h"
#include "scheduling/internal/cluster_view.h"
#include "scheduling/internal/pending_index.h"
#include "scheduling/internal/quota_view.h"
#include "scheduling/internal/trial.h"

namespace scheduling::internal {

struct Derived {
  Derived(const model::State& state, const model::PolicySet& policy);

  void observe(const model::Event& event);
  base::Instant next_due() const;
  // Before a plan or an answer: catches up with what time alone changes. The world is that of the
  // plan: `stopping` is what it tells to stop, empty at first; both must outlive the world.
  void begin(base::Instant now);
  TrialWorld world(base::Instant now, const std::set<model::AttemptId>& stopping);

  const model::State& state;
  model::PolicySet policy;  // whose orders `pending` follows
  ClusterView view;
  QuotaView quotas;
  PendingIndex pending;
  LiveIndex live;
  RoomMemory room;
  LosersBook losers;
  std::uint64_t stamp = 0;
  // When live attempts reach their enforced limit.
  std::set<std::pair<base::Instant, model::AttemptId>> deadlines;
  std::set<model::NodeId> draining;
  std::int64_t cluster_version = 0;       // grows when a node or pool changes what could ever fit
  bool is_stale = false;                  // configuration changed: build anew before planning
  std::optional<base::Instant> retry_at;  // the earliest `until` of the last cycle

 private:
  struct LiveFacts {
    std::vector<model::PoolId> pools;
    std::vector<model::DimensionAmount> amounts;  // in these pools
    model::QueueId queue;
    model::ClassId workload_class;
    base::Instant deadline;  // kNever: none
    base::Instant ripe_at;
    bool is_leaving = false;
  };
  void ripen(base::Instant now);
  void note_ripe(model::AttemptId attempt);
  void shorten_logs();
  void enter_live(const model::WorkloadRecord& record);
  void leave_live(model::AttemptId attempt);
  void move_in_time(const model::WorkloadRecord& record);
  void note_leaving(const model::WorkloadRecord& record, LiveFacts& facts);
  base::Instant deadline_of(const model::WorkloadRecord& record) const;
  void load_nodes(const model::Placement& placement, ClusterView::Change change);
  void load_node(model::NodeId id, ClusterView::Change change);
  void drop_ended_claims(model::WorkloadId owner);
  void observe_attempt(model::AttemptId attempt);
  void observe_end(model::AttemptId attempt);
  void observe_decision(const model::Decision& decision);

  std::map<model::AttemptId, LiveFacts> live_facts_;
  base::Instant ripened_to_;
  std::map<model::WorkloadId, model::Placement> claims_;  // by owner, to know what they held
  // Whose claim waits for a victim: when the last one leaves, the claim charges its owner.
  std::map<model::AttemptId, model::QueueId> charged_next_;
};

}  // namespace scheduling::internal
