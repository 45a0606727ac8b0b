#pragma once
// What the journal is on, and how processes open it: a list of events in memory, which loses
// nothing but what was not appended; or the product's SQLite store on a disk that fails, dies in
// the middle of a write, and loses what was not synced when the power goes.
//
// The stores that it opens add to the fault points of the product: appends that take seconds, a
// full disk, checkpoints that are cut short.

#include <functional>
#include <memory>
#include <utility>

#include "base/instant.h"
#include "controller/store.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/volatile_disk.h"
#include "storm/fault_plan.h"
#include "storm/scenario.h"

namespace storm {

class Disk {
 public:
  // `sleep` lets virtual time pass for who waits for a slow disk.
  Disk(JournalKind kind, FaultPlan& plan, std::function<void(base::Duration)> sleep);

  // A new process opens the journal. It ends as by kill -9 when the store is destroyed. Throws
  // Killed where it dies in the attempt.
  base::Result<std::unique_ptr<controller::Store>> open();
  // Is it the power that failed, now that a process has died? Decided by the plan.
  bool loses_power();
  // No process has the journal open.
  void cut_power();

  // No append and no checkpoint succeeds while it is full.
  void set_full(bool is_full) { is_full_ = is_full; }

  // Called once, by the next append, before it. Empty: nothing is.
  void before_append(std::function<void()> call) { before_append_ = std::move(call); }

 private:
  friend class DiskStore;
  JournalKind kind_;
  FaultPlan& plan_;
  std::function<void(base::Duration)> sleep_;
  std::shared_ptr<store::MemoryJournal> journal_ = store::make_memory_journal();
  store::VolatileDisk volatile_disk_;
  bool is_full_ = false;
  std::function<void()> before_append_;
};

}  // namespace storm
