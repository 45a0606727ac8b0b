#pragma once
// What the world is like when a fault is hit, as bits: bit i stands for kSituations[i]. A point
// that was hit in one situation only has not been tried in the others; the coverage report lists
// those.

#include <string_view>

namespace storm {

enum class Situation {
  Calm,
  Starting,
  Stopping,
  Claimed,
  Queued,
  Held,
  BackingOff,
  NodeIll,
  DeviceIll,
  Degraded,
  NoController,
  TwoControllers,
  FirstMinute
};
inline constexpr std::string_view kSituations[] = {
    "calm",          "starting",        "stopping",    "claimed",    "queued",
    "held",          "backing off",     "node ill",    "device ill", "degraded",
    "no controller", "two controllers", "first minute"};

}  // namespace storm
