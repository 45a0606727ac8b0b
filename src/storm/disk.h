#pragma once
// What the journal is on, and how processes open it: in memory, outliving the processes; a batch
// that a process had not appended is lost with it.
//
// The stores that it opens add to the fault points of the product: appends that take seconds, a
// full disk, checkpoints that are cut short.

#include <functional>
#include <memory>

#include "base/instant.h"
#include "controller/store.h"
#include "store/memory/memory_store.h"
#include "storm/fault_plan.h"

namespace storm {

class Disk {
 public:
  // `sleep` lets virtual time pass for who waits for a slow disk.
  Disk(FaultPlan& plan, std::function<void(base::Duration)> sleep);

  // A new process opens the journal.
  base::Result<std::unique_ptr<controller::Store>> open();

  // No append and no checkpoint succeeds while it is full.
  void set_full(bool is_full) { is_full_ = is_full; }

 private:
  friend class DiskStore;
  FaultPlan& plan_;
  std::function<void(base::Duration)> sleep_;
  std::shared_ptr<store::MemoryJournal> journal_ = store::make_memory_journal();
  bool is_full_ = false;
};

}  // namespace storm
