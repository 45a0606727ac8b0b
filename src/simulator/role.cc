#include "simulator/role.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "platform/terminal_progress.h"
#include "simulator/fgd_role.h"
#include "simulator/offered_load.h"
#include "simulator/replay.h"
#include "simulator/report.h"
#include "simulator/settings.h"
#include "simulator/synthetic_trace.h"
#include "simulator/trace_reader.h"

namespace simulator {

using base::Result;

namespace {

constexpr std::string_view kVersion = "simulate 1";  // in the journal; changes its hash

// The most memory that this process ever had, 0 where the system does not say.
std::int64_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) {
      const std::size_t first = line.find_first_of("0123456789");
      const std::size_t last = line.find_last_of("0123456789");
      if (first == std::string::npos) return 0;
      const auto kib = base::parse_integer(line.substr(first, last - first + 1));
      return kib ? *kib * 1024 : 0;
    }
  return 0;
}

ReplayOptions options_for(const Settings& settings, std::size_t index) {
  const model::PolicySet& policy = settings.policies[index];
  return {.policy = policy,
          .seed = settings.seed,
          .version = std::string(kVersion),
          .journal = settings.out / fmt::format("journal.{}.bin", policy.name),
          .start_delay = settings.start_delay,
          .stop_delay = settings.stop_delay,
          .checkpoint = settings.checkpoint,
          .is_verified = settings.is_verified};
}

// Every policy on a thread of its own, as many at once as asked for. Replays share nothing but the
// trace, which nobody changes.
std::vector<Result<PolicyResult>> replay_all(const Settings& settings,
                                             const Experiment& experiment) {
  const std::size_t count = settings.policies.size();
  std::vector<std::optional<Result<PolicyResult>>> results(count);
  std::vector<std::int64_t> finished(count, 0);
  std::mutex progress_lock;
  platform::TerminalProgress progress(
      "replay", static_cast<std::int64_t>(experiment.trace.jobs.size() * count));
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t index = next++; index < count; index = next++) {
      ReplayOptions options = options_for(settings, index);
      options.progress = [&, index](std::int64_t jobs) {
        const std::lock_guard<std::mutex> hold(progress_lock);
        finished[index] = jobs;
        std::int64_t sum = 0;
        for (const std::int64_t part : finished)
          sum += part;
        progress.update(sum);
      };
      results[index] = replay(experiment.trace, experiment.nodes, options);
    }
  };
  const std::size_t wanted = settings.threads > 0
                                 ? static_cast<std::size_t>(settings.threads)
                                 : std::max(1u, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(wanted, count); ++i)
      threads.emplace_back(work);
    work();
  }
  std::vector<Result<PolicyResult>> all;
  for (std::optional<Result<PolicyResult>>& result : results)
    all.push_back(std::move(*result));
  return all;
}

int refuse(const base::Error& error) {
  fmt::print(stderr, "berth simulate: {}\n", base::to_text(error));
  return 1;
}

int generate(const Settings& settings) {
  std::ofstream out(settings.out, std::ios::binary | std::ios::trunc);
  out << write_trace(synthetic_trace({.jobs = settings.generate, .seed = settings.seed}));
  out.close();
  if (out) return 0;
  return refuse({.code = base::Code::Unavailable,
                 .message = fmt::format("{} cannot be written", settings.out.string()),
                 .field = "--out",
                 .hint = "name a file in a folder that exists"});
}

Simulation describe(const Settings& settings, const Experiment& experiment) {
  const std::int64_t capacity = capacity_milli(experiment.nodes);
  return {.trace = experiment.trace.name,
          .file = settings.file.filename().string(),
          .jobs = static_cast<std::int64_t>(experiment.trace.jobs.size()),
          .nodes = static_cast<std::int64_t>(experiment.nodes.size()),
          .devices = capacity / base::kWholeDevice.value,
          .offered_ppm = offered_load_milli(experiment.trace, capacity) * 1000,
          .load = experiment.load,
          .seed = settings.seed.value,
          .version = std::string(kVersion),
          .start_delay = settings.start_delay,
          .stop_delay = settings.stop_delay,
          .checkpoint = settings.checkpoint};
}

}  // namespace

int main(std::span<const std::string> words) {
  const auto is_experiment = [](const std::string& word) {
    return word == "--experiment" || word.starts_with("--experiment=");
  };
  if (std::ranges::any_of(words, is_experiment)) return fgd_main(words);
  const auto understood = settings_of(words);
  if (const auto* answer = std::get_if<UsageAnswer>(&understood)) {
    fmt::print(answer->exit_code == 0 ? stdout : stderr, "{}", answer->text);
    return answer->exit_code;
  }
  const Settings& settings = std::get<Settings>(understood);
  if (settings.generate > 0) return generate(settings);
  const Result<Experiment> experiment = load_experiment(settings);
  if (!experiment) return refuse(experiment.error());

  std::error_code failure;
  std::filesystem::create_directories(settings.out, failure);
  if (failure)
    return refuse({.code = base::Code::Unavailable,
                   .message = fmt::format("folder {} cannot be made: {}", settings.out.string(),
                                          failure.message()),
                   .field = "--out",
                   .hint = "name a folder that you may write to"});
  Simulation simulation = describe(settings, *experiment);
  for (Result<PolicyResult>& result : replay_all(settings, *experiment)) {
    if (!result) return refuse(result.error());
    simulation.policies.push_back(std::move(*result));
  }
  simulation.peak_memory_bytes = peak_memory_bytes();
  if (const Result<base::Done> done = write_reports(simulation, settings.out); !done)
    return refuse(done.error());
  fmt::print("{}", settings.prints_json ? report_json(simulation) : report_text(simulation));
  if (!settings.prints_json) fmt::print("\nreport: {}\n", (settings.out / "report.html").string());
  return 0;
}

}  // namespace simulator
