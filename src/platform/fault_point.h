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
// Thread contract: any thread; arming happens before the threads start, or in tests.

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

extern std::atomic<bool> faults_are_armed;
bool pass_fault_point(const char* name);  // only when something is armed

}  // namespace platform

#define FAULT(name)                                                \
  (::platform::faults_are_armed.load(std::memory_order_relaxed) && \
   ::platform::pass_fault_point(name))
