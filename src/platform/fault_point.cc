#include "platform/fault_point.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/text.h"

namespace platform {

std::atomic<bool> faults_are_armed{false};

namespace {

struct Fault {
  bool aborts = false;  // else it fails
  std::int64_t at = 0;  // the passage that it happens at; 0: every one
  std::int64_t passed = 0;
};

struct Armed {
  std::mutex mutex;
  std::map<std::string, Fault, std::less<>> faults;
  FaultHandler handler;
};

// Of this thread; null: none.
thread_local FaultDecider* decider_of_thread = nullptr;
// Of all threads: while there is one, every point must look for its own.
std::atomic<int> deciders{0};

// Made at first use and never destroyed: a fault point may be passed while the process ends.
Armed& armed() {
  static Armed* const kArmed = new Armed;
  return *kArmed;
}

base::Result<std::pair<std::string, Fault>> parse_fault(std::string_view item) {
  const std::size_t equals = item.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return base::fail(base::Code::InvalidArgument,
                      "fault \"{}\" is not NAME=abort or NAME=fail, with @N for the N-th time",
                      item);
  Fault fault;
  std::string_view action = item.substr(equals + 1);
  if (const std::size_t sign = action.find('@'); sign != std::string_view::npos) {
    const auto at = base::parse_integer(action.substr(sign + 1));
    if (!at || *at < 1)
      return base::fail(base::Code::InvalidArgument,
                        "fault \"{}\": after @ stands a whole number from 1", item);
    fault.at = *at;
    action = action.substr(0, sign);
  }
  if (action != "abort" && action != "fail")
    return base::fail(base::Code::InvalidArgument, "fault \"{}\": the action is abort or fail",
                      item);
  fault.aborts = action == "abort";
  return std::pair(std::string(item.substr(0, equals)), fault);
}

}  // namespace

base::Result<base::Done> arm_faults(std::string_view text) {
  std::map<std::string, Fault, std::less<>> faults;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    auto fault = parse_fault(text.substr(0, comma));
    if (!fault) return tl::unexpected(fault.error());
    faults.insert(std::move(*fault));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  const std::lock_guard lock(armed().mutex);
  armed().faults = std::move(faults);
  armed().handler = nullptr;
  faults_are_armed = !armed().faults.empty() || deciders > 0;
  return base::Done{};
}

void set_fault_handler(FaultHandler handler) {
  const std::lock_guard lock(armed().mutex);
  armed().faults.clear();
  armed().handler = std::move(handler);
  faults_are_armed = armed().handler != nullptr || deciders > 0;
}

FaultDeciderScope::FaultDeciderScope(FaultDecider& decider) : before_(decider_of_thread) {
  const std::lock_guard lock(armed().mutex);
  decider_of_thread = &decider;
  ++deciders;
  faults_are_armed = true;
}

FaultDeciderScope::~FaultDeciderScope() {
  const std::lock_guard lock(armed().mutex);
  decider_of_thread = before_;
  --deciders;
  faults_are_armed = deciders > 0 || !armed().faults.empty() || armed().handler != nullptr;
}

bool pass_fault_point(const char* name) {
  if (decider_of_thread != nullptr) return decider_of_thread->decides_to_fail(name);
  std::unique_lock lock(armed().mutex);
  if (armed().handler) {
    const FaultHandler handler = armed().handler;
    lock.unlock();
    return handler(name);
  }
  const auto found = armed().faults.find(std::string_view(name));
  if (found == armed().faults.end()) return false;
  Fault& fault = found->second;
  ++fault.passed;
  if (fault.at != 0 && fault.passed != fault.at) return false;
  // No handler, no flush, no destructor: what a power cut would leave.
  if (fault.aborts) std::_Exit(137);
  return true;
}

}  // namespace platform
