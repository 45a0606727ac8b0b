#pragma once
// A cluster that exists only in virtual time: for simulation, storm and tests. Starts succeed after
// a fixed delay, members end after a run time that is known beforehand, stops take a fixed time but
// never longer than the grace. The driver owns the clock: whatever was asked is answered from
// advance(), in the order (time, sequence of asking), so that equal calls give equal observations.
//
// The run time of a workload is its annotation kRuntimeAnnotation in milliseconds, else the default
// of the options. With `checkpoint.every` a stopped workload goes on from its last checkpoint; with
// a checkpoint signal and grace it loses nothing; else it begins anew.
//
//   backend.advance(t);                  // observations due up to t go to the sink
//   controller.turn(t, inbox);           // may call start and stop
//   next = backend.next_event_time();

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "controller/cluster_backend.h"

namespace backends::simulated {

inline constexpr std::string_view kRuntimeAnnotation = "berth.sim/runtime-ms";

struct SimulatedOptions {
  std::string name = "simulated";
  base::Duration start_delay;                     // from start() to every member running
  base::Duration stop_delay = base::seconds(1);   // from stop() to the last member gone
  std::optional<base::Duration> default_runtime;  // without annotation; nothing: until stopped
};

// What is really there, whatever is reported of it: members exist from `began` on, and those of
// `gone` no longer do.
struct RunChange {
  model::AttemptId attempt;
  bool began = false;
  std::vector<std::int32_t> gone;  // ranks
};

class SimulatedBackend final : public controller::ClusterBackend {
 public:
  // `now` is where virtual time begins.
  SimulatedBackend(SimulatedOptions options, std::vector<controller::NodeReport> nodes,
                   base::Instant now);

  // The earliest time at which advance() would report something; kNever: nothing is under way.
  base::Instant next_event_time() const;
  // Moves virtual time to `now`, never back, and reports everything due up to then. What is asked
  // for from now on counts from `now`.
  void advance(base::Instant now);

  // Faults, effective at the present virtual time. The node must exist. Members on a node that
  // becomes lost end at once as NodeLost.
  void set_node_condition(std::string_view node, model::NodeCondition condition, std::string note);
  void set_device_health(std::string_view node, std::int32_t device, model::Health health,
                         std::string note);
  // Nothing that happens on the node is seen and nothing asked of it is done until resume_node();
  // then everything that fell due meanwhile happens. What runs there goes on: with a condition
  // reported as lost, its members are what others call zombies.
  void pause_node(std::string_view node);
  void resume_node(std::string_view node);
  bool is_paused(std::string_view node) const;
  // Everything on the node is gone and reported as NodeLost; the node itself is up again.
  void reboot_node(std::string_view node);
  // A new node, or a known one as it is from now on; its condition is reported with it.
  void set_node(controller::NodeReport report);
  // As they are now.
  const std::vector<controller::NodeReport>& nodes() const { return nodes_; }
  // All members that still run end now, as a crash of the program would; nothing while a node of
  // theirs is paused.
  void end_members(model::AttemptId attempt, model::EndClass end_class, std::int32_t exit_code);
  // One member alone; the others go on.
  void end_member(model::AttemptId attempt, model::MemberEnd how);

  // Told at once of what really happens, before anything is reported.
  void on_change(std::function<void(const RunChange&)> listener);

  std::string_view name() const override;
  void watch(controller::ObservationSink sink) override;
  void fence(model::Epoch epoch) override;
  base::Result<std::vector<controller::AttemptReport>> list() override;
  void start(const controller::StartEffect& effect) override;
  void stop(const controller::StopEffect& effect) override;
  void forget(model::AttemptId attempt) override;
  // Always Code::NotFound: simulated members write nothing.
  base::Result<controller::LogChunk> read_log(const controller::LogRequest& request) override;

 private:
  enum class Due { Running, Finished, Stopped, EndAgain };
  struct Timer {
    base::Instant at;
    std::uint64_t sequence = 0;
    model::AttemptId attempt;
    Due due = Due::Running;
    // The earliest first, and of one time the first asked for.
    friend bool operator<(const Timer& a, const Timer& b) {
      return a.at != b.at ? b.at < a.at : b.sequence < a.sequence;
    }
  };
  struct Run {
    std::vector<std::string> nodes;  // by rank; empty: stopped before it was ever started
    std::vector<model::MemberEnd> ended;
    bool is_running = false;
    bool is_stopping = false;
    bool is_ended = false;
    model::EndClass stop_class = model::EndClass::Cancelled;
    base::Instant running_since;
    base::Duration runtime;           // left when this attempt began
    base::Duration checkpoint_every;  // zero: no checkpoints
    bool saves_when_stopped = false;
    std::vector<Due> postponed;  // fell due while a node of it was paused
  };

  void add_timer(base::Instant at, model::AttemptId attempt, Due due);
  void deliver(const Timer& timer);
  void end_rest(model::AttemptId attempt, Run& run, model::MemberEnd how);
  void end_on_node(std::string_view node);
  bool is_waiting(const Run& run) const;
  bool has_ended(const Run& run, std::int32_t rank) const;
  void tell_gone(model::AttemptId attempt, const std::vector<model::MemberEnd>& ended);
  void keep_progress(model::AttemptId attempt, const Run& run);
  bool is_fenced(model::Epoch epoch);
  base::Duration runtime_left(const model::Workload& workload) const;
  void report(controller::Observation observation);
  controller::NodeReport& node_named(std::string_view node);

  SimulatedOptions options_;
  std::vector<controller::NodeReport> nodes_;
  base::Instant now_;
  controller::ObservationSink sink_;
  std::function<void(const RunChange&)> listener_;
  std::set<std::string, std::less<>> paused_;  // nodes
  std::priority_queue<Timer> timers_;
  std::uint64_t next_sequence_ = 1;
  std::map<model::AttemptId, Run> runs_;
  std::map<model::WorkloadId, base::Duration> saved_;  // work done up to the last checkpoint
  model::Epoch newest_epoch_;
};

}  // namespace backends::simulated
