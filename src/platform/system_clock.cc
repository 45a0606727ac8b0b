#include "platform/system_clock.h"

#include <chrono>

namespace platform {

namespace {

template <class Clock>
std::int64_t millis_of() {
  using std::chrono::duration_cast;
  return duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch()).count();
}

}  // namespace

base::Instant system_now() { return base::Instant{millis_of<std::chrono::system_clock>()}; }

base::Duration steady_now() { return base::Duration{millis_of<std::chrono::steady_clock>()}; }

std::int64_t steady_micros() {
  using std::chrono::duration_cast;
  return duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace platform
