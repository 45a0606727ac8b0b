#pragma once
// The processes of the controller: at most one that serves, and sometimes an older one that was
// stopped (SIGSTOP, a long pause of its machine), does not know that it was replaced, and goes on
// later. A process that dies (Killed, thrown by a fault point, or kill()) leaves the journal and
// the machines as they are; another one is started after a while.
//
// All processes are on one machine and share its clock, which may be wrong.

#include <cstdint>
#include <memory>
#include <vector>

#include "controller/controller.h"
#include "storm/clients.h"
#include "storm/disk.h"
#include "storm/fault_plan.h"
#include "storm/watch.h"
#include "storm/wire.h"

namespace storm {

struct ProcessCounts {
  std::int64_t boots = 0, deaths = 0, takeovers = 0, fenced = 0, turns = 0, failed_commits = 0;
};

class Processes {
 public:
  struct Surroundings {
    const Swarm& swarm;
    base::Seed seed;
    Disk& disk;
    Wire& wire;
    Wire::Machines& machines;
    Clients& clients;
    Watch& watch;
    Orders& orders;
    FaultPlan& plan;
    Violations& violations;
  };
  explicit Processes(Surroundings around) : around_(around) {}
  ~Processes();

  // Starts one when none serves and it is time. Then turns of all that are not stopped, as far as
  // they have something to do. `now` is true time.
  void advance(base::Instant now);
  // When advance() has something to do without any news.
  base::Instant next_due(base::Instant now) const;
  void deliver(const controller::Observation& observation);

  void kill(base::Instant now, base::Duration down_for);
  // The serving one is stopped for `pause`; another one takes over at once.
  void take_over(base::Instant now, base::Duration pause);
  void shift_clock(base::Duration by) { clock_error_ = clock_error_ + by; }
  // No process is stopped or waits to be started any more; old ones go on and find out.
  void wake_all();

  // The one that serves; null while there is none.
  const controller::Controller* serving() const;
  bool has_replaced() const { return !replaced_.empty(); }
  base::Instant clock(base::Instant now) const { return now + clock_error_; }
  const ProcessCounts& counts() const { return counts_; }

 private:
  struct Process {
    ProcessId id = 0;
    std::unique_ptr<controller::Store> store;
    std::unique_ptr<Link> link;
    std::unique_ptr<controller::Controller> controller;
    std::vector<controller::Observation> inbox;
    base::Instant stopped_until;
    base::Instant retry_at;
    bool has_turned_since_wake = true;
  };

  void boot(base::Instant now);
  std::unique_ptr<controller::Store> open_journal();
  bool recover(Process& process, base::Instant now);
  void turn(Process& process, base::Instant now);
  // A turn of the `index`-th of those that were replaced, which is its last one.
  void turn_replaced(std::size_t index, base::Instant now);
  void let_old_ones_act(base::Instant now);
  bool is_due(const Process& process, base::Instant now) const;
  void end(std::unique_ptr<Process> process, base::Instant now);

  Surroundings around_;
  std::unique_ptr<Process> serving_;
  std::vector<std::unique_ptr<Process>> replaced_;
  base::Instant boot_at_;
  base::Duration clock_error_;
  ProcessId next_ = 1;
  ProcessCounts counts_;
};

}  // namespace storm
