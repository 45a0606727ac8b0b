#pragma once
// What the journal is on, and how processes open it. In memory, or SQLite on a LossyDisk. Outlives
// the processes; what a process that died had not made durable is lost with it.
//
// The stores that it opens add to the fault points of the product: appends that take seconds, a
// full disk, checkpoints that are damaged, death in the middle of writing.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/instant.h"
#include "controller/store.h"
#include "storm/fault_plan.h"
#include "storm/swarm.h"

namespace storm {

class Medium;  // of the two kinds

class Disk {
 public:
  // `sleep` lets virtual time pass for who waits for a slow disk.
  Disk(const Swarm& swarm, FaultPlan& plan, std::function<void(base::Duration)> sleep);
  ~Disk();

  // A new process opens the journal.
  base::Result<std::unique_ptr<controller::Store>> open();
  // Destroys a store as a killed process leaves it: without a last word to the disk. With
  // `loses_power` also what was written and not yet synchronised may be gone; then no other store
  // may be open.
  void kill(std::unique_ptr<controller::Store> store, bool loses_power);

  // No append and no checkpoint succeeds while it is full.
  void set_full(bool is_full) { is_full_ = is_full; }
  bool is_full() const { return is_full_; }

 private:
  friend class DiskStore;
  FaultPlan& plan_;
  std::function<void(base::Duration)> sleep_;
  std::unique_ptr<Medium> medium_;
  bool is_full_ = false;
};

}  // namespace storm
