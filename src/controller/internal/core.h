#pragma once
// The parts of the controller, shared by the files that handle commands, observations, effects and
// recovery. A Batch collects what one turn did: the events (already applied to State), the answers
// and the effects; nothing of it leaves before its events are committed.
//
// Invariant between turns: the batch is empty and State is what the store's events give.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/controller.h"

namespace controller {

// What is told to a backend after the commit. `backend` null: to the attempt's own, or for an
// attempt that State does not know, to every one.
struct Intent {
  enum class Kind { Start, Stop, Forget };
  Kind kind = Kind::Forget;
  model::AttemptId attempt;
  ClusterBackend* backend = nullptr;
};

struct Batch {
  std::vector<model::Event> events;
  std::vector<std::pair<Answer, base::Result<Reply>>> answers;
  std::vector<Intent> intents;
  bool must_plan = false;
};

struct Controller::Parts {
  Parts(ControllerOptions options, Store& store, std::vector<ClusterBackend*> backends);

  // ---- controller.cc ----
  // One event at the present instant: numbered, applied, observed by the planner, put in the batch;
  // what it means for backends is noted.
  model::Sequence record(model::EventBody body, std::string actor = {});
  void plan();
  scheduling::Cycle cycle_of(base::Instant at, const scheduling::Question& question) const;
  void forget_finished();
  // Appends the batch; then listener, answers, effects. On failure the batch is undone: State comes
  // from the store again and every caller gets the error.
  base::Result<base::Done> commit();
  base::Result<base::Done> rebuild();
  void note_failed_append(std::size_t events, const base::Error& error);
  // After a failed append: one event, for the audit, finds out whether the store works again.
  // A whole turn would, too, but undoing it costs a replay, every second of a day with a full disk.
  bool resume();
  void write_checkpoint_if_due();
  base::Instant retention_due() const;

  // ---- command_handling.cc ----
  void handle(const Command& command, Answer answer);
  base::Result<Reply> carry_out(const Command& command);
  base::Result<Reply> apply_document(const Apply& apply, const Caller& caller);
  base::Result<Reply> submit(const Apply& apply, model::Workload workload,
                             const std::vector<model::ResourceDefined>& resources,
                             const Caller& caller);
  base::Result<Reply> repeated(const model::Workload& asked, model::WorkloadId id,
                               const Caller& caller);
  base::Result<Reply> cancel(model::WorkloadId id, const Caller& caller);
  base::Result<Reply> hold(model::WorkloadId id, const Caller& caller);
  base::Result<Reply> release(model::WorkloadId id, const Caller& caller);
  base::Result<Reply> set_node_condition(const SetNodeCondition& command, const Caller& caller);
  base::Result<const model::WorkloadRecord*> unfinished(model::WorkloadId id) const;

  // ---- observation_handling.cc ----
  void observe(const Observation& observation);
  void observe(const NodeReport& report);
  void observe(const NodeConditionReport& report);
  void observe(const DeviceHealthReport& report);
  void observe(const RunningReport& report);
  void observe(const EndReport& report);
  // Brings State in line with what is reported of this node.
  void settle_node(const NodeReport& report);
  // After pools changed, or State went back. O(nodes), and rare.
  void settle_all_nodes();

  // ---- effects.cc ----
  void note_intents(const model::Event& event);
  void carry_out_intents(const std::vector<Intent>& intents);
  void start(const model::WorkloadRecord& record, const model::Attempt& attempt);
  void stop(model::AttemptId id, ClusterBackend* backend);
  ClusterBackend* backend_named(const std::string& name) const;
  ClusterBackend* backend_of(const model::Attempt& attempt) const;
  const model::Attempt* find_attempt(model::AttemptId id) const;

  // ---- recovery.cc ----
  void define_defaults();
  base::Result<base::Done> reconcile();
  void reconcile_known(const std::map<model::AttemptId, AttemptReport>& reports,
                       const model::WorkloadRecord& record);
  void reconcile_listed(const AttemptReport& report, ClusterBackend* backend);

  ControllerOptions options;
  Store& store;
  std::vector<ClusterBackend*> backends;

  model::State state;
  std::unique_ptr<scheduling::Planner> planner;  // refers to `state`
  base::Instant now;                             // of the present turn
  Batch batch;
  base::Instant due = base::kNever;
  // Nodes as their backends last told them. Not State: after a restart everything is told again.
  std::map<std::string, NodeReport, std::less<>> reported_nodes;
  bool must_settle_nodes = false;
  std::vector<Observation> kept_observations;  // of turns that were not committed
  std::int64_t events_since_checkpoint = 0;
  bool is_degraded = false;   // the last append failed
  bool is_fenced = false;     // another controller has the journal
  bool must_rebuild = false;  // State holds events that are not committed
  std::optional<base::Error> last_failure;
  std::function<void(const std::vector<model::Event>&)> listener;
  ControllerCounters counters;
};

}  // namespace controller
