#include "simulator/synthetic_trace.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "model/resources.h"

namespace simulator {

namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

// Times whose logarithm is about uniform: a power of two and a random part below it.
base::Duration long_tailed(base::Random& random, std::int64_t least_seconds, int doublings) {
  const auto scale = static_cast<std::int64_t>(
      std::uint64_t{1} << random.below(static_cast<std::uint64_t>(doublings)));
  return base::Duration{least_seconds * scale * 1000 +
                        random.between(0, least_seconds * scale * 1000)};
}

void ask_for_gang(TraceJob& job, base::Random& random) {
  constexpr std::array<std::pair<std::int32_t, std::int64_t>, 8> kShapes{
      {{1, 1}, {1, 1}, {1, 2}, {1, 4}, {1, 8}, {2, 8}, {2, 4}, {4, 8}}};
  const auto& [members, devices] = kShapes[random.below(kShapes.size())];
  job.members = members;
  job.device.count = base::Count(devices);
  job.runtime = long_tailed(random, 120, 7);
}

TraceJob synthetic_job(base::Random& random) {
  constexpr std::array<std::string_view, 3> kQueues{"search", "vision", "speech"};
  TraceJob job;
  job.queue = kQueues[random.below(kQueues.size())];
  job.user = fmt::format("user-{}", random.between(1, 12));
  const std::uint64_t kind = random.below(100);
  if (kind < 50) {
    job.class_name = "training";
    ask_for_gang(job, random);
  } else if (kind < 75) {
    job.class_name = "batch";
    job.device.count = base::Count(1);
    job.members = static_cast<std::int32_t>(random.between(1, 4));
    job.runtime = long_tailed(random, 60, 6);
  } else if (kind < 85) {
    job.class_name = "notebook";
    job.device.share = base::MilliDevice(random.between(1, 4) * 250);
    if (job.device.share == base::kWholeDevice) job.device = {.count = base::Count(1)};
    job.runtime = long_tailed(random, 900, 3);
  } else if (kind < 95) {
    job.class_name = "inference";
    job.device.share = base::MilliDevice(random.between(1, 9) * 100);
    job.runtime = long_tailed(random, 600, 5);
  } else {
    job.class_name = "batch";
    job.runtime = long_tailed(random, 60, 4);
  }
  const std::int64_t devices = job.device.is_whole() ? job.device.count.value : 1;
  job.per_member.set(model::kCpu, devices * random.between(2, 8) * 1000);
  job.per_member.set(model::kMemory, devices * random.between(4, 64) * kGib);
  return job;
}

}  // namespace

Trace synthetic_trace(SyntheticOptions options) {
  ASSERT(options.jobs >= 1);
  Trace trace{.name = "synthetic"};
  base::Random random(options.seed);
  base::Instant at;
  for (std::int32_t i = 0; i < options.jobs; ++i) {
    // The middle third arrives four times as densely as the rest.
    const bool is_busy = i >= options.jobs / 3 && i < options.jobs * 2 / 3;
    at = at + base::Duration{random.between(0, is_busy ? 240'000 : 960'000)};
    TraceJob job = synthetic_job(random);
    job.submitted = at;
    job.name = fmt::format("job-{:04}", i + 1);
    trace.jobs.push_back(std::move(job));
  }
  return trace;
}

}  // namespace simulator
