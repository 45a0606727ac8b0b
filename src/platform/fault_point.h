#pragma once
// Places where a test may make the process fail: FAULT("store.append") is a relaxed load and a
// branch while nothing is armed. Armed by text, which the daemon takes from BERTH_FAULT:
//
//   "store.append=abort@3"     abort at the third time, as kill -9 would
//   "store.fsync=fail"         FAULT gives true, every time: the caller acts as if the world failed
//   "backend.start=fail@2,store.append=abort"
//
//   if (FAULT("store.fsync")) return base::fail(Code::Exhausted, "injected: store.fsync");
//
// A simulation installs a FaultDecider instead, for its own thread only: it sees every passage, in
// order, and what it decides may follow from a seed. It may throw, which is how a process that dies
// at this point looks from inside: nothing after the point happens, and what is thrown must be let
// through to whoever installed the decider.
//
// Thread contract: any thread; arming happens before the threads start, or in tests. A decider
// belongs to the thread that installed it.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace platform {

// Replaces what is armed; empty text disarms. Code::InvalidArgument says which item is wrong.
base::Result<base::Done> arm_faults(std::string_view text);

// True: fail here. Called at every passage while set; takes the place of what arm_faults armed.
using FaultHandler = std::function<bool(std::string_view name)>;
void set_fault_handler(FaultHandler handler);

// What decides at every passage of the thread that installed it. Takes the place of what is armed
// by text there; other threads do not notice.
class FaultDecider {
 public:
  virtual ~FaultDecider() = default;
  // True: fail here. May throw; see above.
  virtual bool decides_to_fail(std::string_view name) = 0;
};

// Installs a decider for this thread until the end of the scope; scopes nest. It outlives them.
class FaultDeciderScope {
 public:
  explicit FaultDeciderScope(FaultDecider& decider);
  ~FaultDeciderScope();
  FaultDeciderScope(const FaultDeciderScope&) = delete;
  FaultDeciderScope& operator=(const FaultDeciderScope&) = delete;

 private:
  FaultDecider* before_;
};

extern std::atomic<bool> faults_are_armed;
bool pass_fault_point(const char* name);  // only when something is armed

}  // namespace platform

#define FAULT(name)                                                \
  (::platform::faults_are_armed.load(std::memory_order_relaxed) && \
   ::platform::pass_fault_point(name))
