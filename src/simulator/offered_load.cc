#include "simulator/offered_load.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/assert.h"

namespace simulator {

using base::Code;

namespace {

using Wide = __int128;  // milli-device-milliseconds times thousandths exceed 64 bits

constexpr std::int32_t kMostCopies = 64;
constexpr std::int64_t kPercentile = 99;

// Milli-device-milliseconds of one copy of the trace when no job runs longer than `longest`.
Wide work_within(const Trace& trace, std::int64_t longest) {
  Wide work = 0;
  for (const TraceJob& job : trace.jobs)
    work += static_cast<Wide>(job.device_milli()) * std::min(job.runtime.millis, longest);
  return work;
}

bool is_served(const Trace& trace, std::int64_t span, std::int64_t capacity_milli,
               const LoadRequest& request) {
  return work_within(trace, span) * request.repeat * 1000 <=
         static_cast<Wide>(request.load_milli) * capacity_milli * span;
}

// Step 1.
void cut_silences(std::vector<TraceJob>& jobs) {
  std::vector<std::int64_t> gaps;
  gaps.reserve(jobs.size());
  for (std::size_t i = 1; i < jobs.size(); ++i)
    gaps.push_back((jobs[i].submitted - jobs[i - 1].submitted).millis);
  if (gaps.empty()) return;
  std::vector<std::int64_t> sorted = gaps;
  std::sort(sorted.begin(), sorted.end());
  const std::int64_t longest =
      std::max<std::int64_t>(1, sorted[(sorted.size() - 1) * kPercentile / 100]);
  for (std::size_t i = 1; i < jobs.size(); ++i)
    jobs[i].submitted = jobs[i - 1].submitted + base::Duration{std::min(gaps[i - 1], longest)};
}

// Step 2. A copy begins one mean gap after the last arrival of the one before it.
void repeat_jobs(std::vector<TraceJob>& jobs, std::int32_t times) {
  const std::size_t count = jobs.size();
  const base::Duration span = jobs.back().submitted - jobs.front().submitted;
  const base::Duration shift{
      span.millis + std::max<std::int64_t>(1, span.millis / static_cast<std::int64_t>(count))};
  jobs.reserve(count * static_cast<std::size_t>(times));
  for (std::int32_t copy = 1; copy < times; ++copy)
    for (std::size_t i = 0; i < count; ++i) {
      TraceJob job = jobs[i];
      job.submitted = job.submitted + shift * copy;
      if (!job.name.empty()) job.name += fmt::format(".{}", copy);
      jobs.push_back(std::move(job));
    }
}

std::int32_t copies_for(const Trace& trace, std::int64_t capacity_milli, std::int64_t load_milli) {
  const Wide wanted = static_cast<Wide>(load_milli) * capacity_milli * kShortestSpan.millis;
  const Wide of_one = work_within(trace, kShortestSpan.millis) * 1000;
  return static_cast<std::int32_t>(
      std::clamp<Wide>((wanted + of_one - 1) / of_one, 1, kMostCopies));
}

}  // namespace

base::Result<LoadResult> compress_to_load(Trace& trace, std::int64_t capacity_milli,
                                          LoadRequest request) {
  ASSERT(request.load_milli > 0 && request.repeat >= 0);
  constexpr std::int64_t kLongest = std::int64_t{1} << 53;
  if (capacity_milli == 0 || work_within(trace, kLongest) == 0)
    return base::fail_field(Code::FailedPrecondition, "--load",
                            "the trace or the cluster has no device, so there is no device load",
                            "leave --load out, or choose another trace or cluster");
  cut_silences(trace.jobs);
  const base::Duration recorded = trace.jobs.back().submitted - trace.jobs.front().submitted;
  if (recorded.millis == 0)
    return base::fail_field(Code::FailedPrecondition, "--load",
                            "all jobs are submitted at once, so there is no gap to compress",
                            "leave --load out");
  if (request.repeat == 0) request.repeat = copies_for(trace, capacity_milli, request.load_milli);

  // The smallest served span by bisection; (low, high]: low is never served, high always.
  std::int64_t low = 0, high = kLongest;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    if (is_served(trace, middle, capacity_milli, request))
      high = middle;
    else
      low = middle;
  }
  if (low == 0) {
    const Wide at_once = work_within(trace, 1) * request.repeat * 1000 / capacity_milli;
    return base::fail_field(
        Code::FailedPrecondition, "--load",
        fmt::format("{} copies of the trace offer at most {}.{:03} of this cluster, however fast "
                    "they arrive",
                    request.repeat, static_cast<std::int64_t>(at_once / 1000),
                    static_cast<std::int64_t>(at_once % 1000)),
        "raise --repeat, lower --load, or use fewer nodes");
  }
  repeat_jobs(trace.jobs, request.repeat);
  LoadResult result{.repeat = request.repeat, .span = base::Duration{high}};
  const base::Instant first = trace.jobs.front().submitted;
  const std::int64_t before = (trace.jobs.back().submitted - first).millis;
  for (TraceJob& job : trace.jobs) {
    const Wide offset = static_cast<Wide>((job.submitted - first).millis) * high / before;
    job.submitted = first + base::Duration{static_cast<std::int64_t>(offset)};
    if (job.runtime.millis > high) ++result.cut_jobs;
    job.runtime = std::min(job.runtime, result.span);
  }
  return result;
}

std::int64_t offered_load_milli(const Trace& trace, std::int64_t capacity_milli) {
  if (trace.jobs.empty() || capacity_milli == 0) return 0;
  const Wide span = (trace.jobs.back().submitted - trace.jobs.front().submitted).millis;
  if (span == 0) return 0;
  constexpr std::int64_t kLongest = std::int64_t{1} << 53;
  return static_cast<std::int64_t>(work_within(trace, kLongest) * 1000 / (span * capacity_milli));
}

}  // namespace simulator
