#include "simulator/results.h"

#include <algorithm>

namespace simulator {

Distribution distribution_of(std::vector<std::int64_t> millis) {
  Distribution result{.count = static_cast<std::int64_t>(millis.size())};
  if (millis.empty()) return result;
  std::sort(millis.begin(), millis.end());
  __int128 sum = 0;
  for (const std::int64_t value : millis)
    sum += value;
  result.mean_ms = static_cast<double>(sum) / static_cast<double>(millis.size());
  // Nearest rank: the smallest member that at least p percent do not exceed.
  const auto at = [&millis](std::size_t percent) {
    return millis[(millis.size() * percent + 99) / 100 - 1];
  };
  result.p50_ms = at(50);
  result.p90_ms = at(90);
  result.p99_ms = at(99);
  result.max_ms = millis.back();
  return result;
}

const std::vector<base::Duration>& wait_steps() {
  // Four steps a factor of ten, from a second to 31 days: even on a logarithmic axis.
  static const std::vector<base::Duration> kSteps = [] {
    std::vector<base::Duration> steps{base::Duration{0}};
    for (std::int64_t decade = 1000; decade <= 1'000'000'000; decade *= 10)
      for (const std::int64_t tenths : {10, 18, 32, 56})
        steps.push_back(base::Duration{decade * tenths / 10});
    return steps;
  }();
  return kSteps;
}

}  // namespace simulator
