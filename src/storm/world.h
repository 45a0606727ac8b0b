#pragma once
// One run: the whole of Berth's control plane, its machines, disk, network and people in one thread
// and virtual time, from a scenario to an outcome. In three parts: faults happen; faults have
// stopped and everything must settle within a minute; then work ends quickly and queues must drain.
//
//   World world(scenario);
//   const Outcome outcome = world.run();   // once
//
// A failed ASSERT of the product ends the process; isolation.h makes an outcome of that.

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "storm/clients.h"
#include "storm/disk.h"
#include "storm/fault_plan.h"
#include "storm/happenings.h"
#include "storm/hardware.h"
#include "storm/organisation.h"
#include "storm/outcome.h"
#include "storm/processes.h"
#include "storm/scenario.h"
#include "storm/script.h"
#include "storm/violations.h"
#include "storm/watch.h"
#include "storm/wire.h"

namespace storm {

class World {
 public:
  explicit World(const Scenario& scenario);

  Outcome run();
  // Called with each event when it is durable; for people who look for a cause.
  void on_event(std::function<void(const model::Event&)> listener);

 private:
  std::int64_t situation() const;
  bool has_seen_enough() const;
  // Moves to the next thing that happens, at latest `until`; false: nothing does before that.
  bool step(base::Instant until);
  void live_until(base::Instant until);
  void do_what_is_due();
  bool is_stuck();
  void settle();
  void expect_settled();
  void drain();
  void expect_drained();
  void expect_lasting(const model::WorkloadRecord& record);
  bool is_drained() const;
  Outcome outcome() const;

  Scenario scenario_;
  Swarm swarm_;
  Violations violations_;
  Organisation organisation_;
  std::vector<Action> script_;
  base::Instant now_;
  FaultPlan plan_;
  Hardware hardware_;
  Wire::Machines machines_;
  Orders orders_;
  Wire wire_;
  Disk disk_;
  Watch watch_;
  Clients clients_;
  Processes processes_;
  Happenings happenings_;
  std::size_t next_action_ = 0;
  std::int64_t steps_at_instant_ = 0;
  WatchCounts counts_in_storm_;
  std::int64_t faults_in_storm_ = 0;
  bool is_given_up_ = false;
};

}  // namespace storm
