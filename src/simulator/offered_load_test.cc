// Goal: the formula of offered_load.h, by its definition and not by the code's way to it.

#include "simulator/offered_load.h"

#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

#include "simulator/synthetic_trace.h"

namespace simulator {
namespace {

TraceJob a_job(std::int64_t at_s, std::int64_t runtime_s, std::int64_t devices) {
  TraceJob job{.submitted = base::Instant{at_s * 1000}, .runtime = base::seconds(runtime_s)};
  job.device.count = base::Count(devices);
  return job;
}

// Device work that arrives within the span of arrivals, over what the cluster can do, thousandths.
double load_of(const Trace& trace, base::Duration span, std::int64_t capacity) {
  double work = 0;
  for (const TraceJob& job : trace.jobs)
    work += static_cast<double>(job.device_milli()) *
            static_cast<double>(std::min(job.runtime, span).millis);
  return work * 1000 / (static_cast<double>(span.millis) * static_cast<double>(capacity));
}

TEST(CompressToLoad, TheWorkOfTheSpanIsTheWantedShareOfTheCluster) {
  for (const std::int64_t wanted : {300, 900, 1000, 1100}) {
    Trace trace = synthetic_trace({.jobs = 500});
    const std::int64_t capacity = 64'000;
    const auto made = compress_to_load(trace, capacity, {.load_milli = wanted});
    ASSERT_TRUE(made) << base::to_text(made.error());
    EXPECT_NEAR(load_of(trace, made->span, capacity), static_cast<double>(wanted), 0.01);
    // Arrivals fill the span but for the gap behind the last of the copies.
    const base::Duration arrivals = trace.jobs.back().submitted - trace.jobs.front().submitted;
    EXPECT_LE(arrivals, made->span + base::Duration{1});
    EXPECT_EQ(trace.jobs.size(), 500u * static_cast<std::size_t>(made->repeat));
    for (const TraceJob& job : trace.jobs)
      EXPECT_LE(job.runtime, made->span);
    EXPECT_TRUE(std::is_sorted(
        trace.jobs.begin(), trace.jobs.end(),
        [](const TraceJob& a, const TraceJob& b) { return a.submitted < b.submitted; }));
  }
}

// Two jobs of 10 s on 2 of 4 devices, S = 2 * 2 * 10 / (0.5 * 4) = 20 s.
TEST(CompressToLoad, ASmallExampleByHand) {
  Trace trace{.name = "t", .jobs = {a_job(100, 10, 2), a_job(900, 10, 2)}};
  const auto made = compress_to_load(trace, 4000, {.load_milli = 500, .repeat = 1});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->span, base::seconds(20));
  EXPECT_EQ(trace.jobs[0].submitted, base::Instant{100'000});
  EXPECT_EQ(trace.jobs[1].submitted, base::Instant{120'000});
  EXPECT_EQ(made->cut_jobs, 0);
}

TEST(CompressToLoad, LongSilencesDoNotCount) {
  Trace trace{.name = "t", .jobs = {}};
  for (std::int64_t i = 0; i < 200; ++i)
    trace.jobs.push_back(a_job(i, 10, 1));
  trace.jobs.push_back(a_job(1'000'000, 10, 1));
  const auto made = compress_to_load(trace, 1000, {.load_milli = 500, .repeat = 1});
  ASSERT_TRUE(made);
  // All gaps are one second long after the cut, so arrivals are evenly spread.
  const std::int64_t first = (trace.jobs[1].submitted - trace.jobs[0].submitted).millis;
  const std::int64_t last = (trace.jobs[200].submitted - trace.jobs[199].submitted).millis;
  EXPECT_LE(std::abs(first - last), 1);
}

TEST(CompressToLoad, WhatCannotBeOfferedIsRefused) {
  Trace at_once{.name = "t", .jobs = {a_job(0, 10, 1), a_job(0, 10, 1)}};
  EXPECT_FALSE(compress_to_load(at_once, 8000, {.load_milli = 100}));

  Trace no_devices{.name = "t", .jobs = {a_job(0, 10, 0), a_job(5, 10, 0)}};
  EXPECT_FALSE(compress_to_load(no_devices, 8000, {.load_milli = 100}));

  // Two devices at once are the most that two jobs can use: a quarter of eight.
  Trace too_small{.name = "t", .jobs = {a_job(0, 10, 1), a_job(5, 10, 1)}};
  const auto refused = compress_to_load(too_small, 8000, {.load_milli = 300, .repeat = 1});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "1 copies of the trace offer at most 0.250 of this cluster, however fast they arrive");
  EXPECT_TRUE(compress_to_load(too_small, 8000, {.load_milli = 300, .repeat = 2}));
}

}  // namespace
}  // namespace simulator
