#pragma once
// Makes a trace offer a wanted load to a cluster. Recorded traces hold long silences and a few jobs
// of months that would make up most of the work, so arrival gaps are compressed like this:
//
//   1. A gap between two submissions is at most the 99th percentile of all gaps.
//   2. The trace is repeated R times, end to end (R >= 1).
//   3. The span S of all arrivals is the smallest whole number of milliseconds for which
//          sum over jobs of w * min(d, S)  <=  L * C * S
//      with w = milli-devices of the job, d = its run time, C = milli-devices of the cluster and
//      L = the wanted load. The left side divided by S falls as S grows, so S is unique.
//   4. Arrival a becomes a0 + (a - a0) * S / (span after steps 1 and 2), rounded down; every run
//      time becomes min(d, S). Then the work that arrives within S is L * C * S.

#include <cstdint>

#include "base/instant.h"
#include "base/result.h"
#include "simulator/trace.h"

namespace simulator {

struct LoadRequest {
  std::int64_t load_milli = 1000;  // L in thousandths, above 0
  std::int32_t repeat = 0;         // R; 0: the fewest, up to 64, for which S is kShortestSpan
};

inline constexpr base::Duration kShortestSpan = base::hours(4);

struct LoadResult {
  std::int32_t repeat = 1;
  base::Duration span;        // S
  std::int64_t cut_jobs = 0;  // whose run time was cut to S
};

// FailedPrecondition when the trace has no device work, all jobs arrive at once, or even the
// fastest arrival of R copies offers less than L; the hint names what would be enough.
base::Result<LoadResult> compress_to_load(Trace& trace, std::int64_t capacity_milli,
                                          LoadRequest request);

// Load that the trace offers as it is: its device time over capacity times arrival span, in
// thousandths; 0 when it arrives at once.
std::int64_t offered_load_milli(const Trace& trace, std::int64_t capacity_milli);

}  // namespace simulator
