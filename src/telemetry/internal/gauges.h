#pragma once
// The gauges of one State as metric families: plain values, made anew each time.

#include <cstddef>
#include <string>
#include <vector>

#include <prometheus/metric_family.h>

#include "model/state.h"

namespace telemetry {

inline constexpr const char* kOther = "_other";

struct GaugeLimits {
  std::size_t max_queues = 200;
  std::size_t max_pools = 100;
};

std::vector<prometheus::MetricFamily> gauges_of(const model::State& state, GaugeLimits limits);

}  // namespace telemetry
