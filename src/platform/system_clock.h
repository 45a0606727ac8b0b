#pragma once
// The machine's clocks, and the only place that reads them. Everything that decides gets the time
// as a value; the daemon's loop, logs and time-outs ask here.
//
//   controller.turn(platform::system_now(), inbox);

#include <cstdint>

#include "base/instant.h"

namespace platform {

// Wall time, UTC. May jump when somebody sets the clock; the controller holds it at the last event.
base::Instant system_now();

// Time since an arbitrary point, never going back: for durations and time-outs.
base::Duration steady_now();
// The same in microseconds, for measuring what takes less than a millisecond.
std::int64_t steady_micros();

}  // namespace platform
