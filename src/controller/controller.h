#pragma once
// The loop: inbox -> events -> State -> plan -> one commit -> answers and effects. Has no clock, no
// thread and no file of its own: the daemon drives it in real time, the simulator in virtual time,
// and the same calls give the same journal, byte for byte.
//
// Order inside a turn: commands (validated against State, then applied), observations, due timers,
// then planning if something relevant changed, then ONE append; only after it succeeded callers are
// answered and effects go to the backends. If the append fails the turn never happened: State goes
// back to the last commit (rebuilt from the store), callers get Code::Exhausted or Unavailable,
// observations are kept for the next turn, reading goes on.
//
// Thread contract: one thread owns a Controller.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "base/random.h"
#include "base/result.h"
#include "controller/cluster_backend.h"
#include "controller/command.h"
#include "controller/store.h"
#include "model/event.h"
#include "model/explanation.h"
#include "model/state.h"
#include "scheduling/planner.h"

namespace controller {

struct ControllerOptions {
  std::string version;  // recorded in ControllerStarted
  base::Seed seed{1};
  std::int64_t checkpoint_every_events = 100'000;
  scheduling::Budget budget;
};

struct Inbox {
  std::vector<std::pair<Command, Answer>> commands;
  std::vector<Observation> observations;
};

// Counters since construction, for metrics and reports.
struct ControllerCounters {
  std::int64_t turns = 0, plans = 0, events = 0, starts = 0, evictions = 0, waits = 0,
               refused_commands = 0, failed_commits = 0;
};

class Controller {
 public:
  // `store` and `backends` outlive the controller.
  Controller(ControllerOptions options, Store& store, std::vector<ClusterBackend*> backends);
  ~Controller();

  // Latest checkpoint, replay of the tail, a new epoch, then reconciliation with what the backends
  // list: ended members are reported, attempts that nobody knows are lost, starts that never
  // happened are sent again. Call once, first. Also defines the defaults on an empty journal.
  base::Result<base::Done> recover(base::Instant now);

  // `now` never goes back; a clock that jumped back is held at the last event's time.
  void turn(base::Instant now, Inbox inbox);

  // When turn() is due without any input: a time limit, a back-off, a claim's end. kNever: never.
  base::Instant next_due() const;
  // The last append failed: turn() again soon, even without input.
  bool is_degraded() const;
  // Another controller took over the journal: nothing more is committed here, ever. The process
  // ends; its effects are refused by their epoch.
  bool is_fenced() const;

  const model::State& state() const;
  // Why and Fits: read-only questions against the present State.
  model::Plan ask(base::Instant now, const scheduling::Question& question) const;
  // The same, answered by a planner made from State alone: what the answer must be.
  model::Plan ask_fresh(base::Instant now, const scheduling::Question& question) const;
  // Called after each commit with what was committed.
  void on_commit(std::function<void(const std::vector<model::Event>&)> listener);
  const ControllerCounters& counters() const;
  ClusterBackend* backend_of(const model::Attempt& attempt) const;
  Store& store() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace controller
