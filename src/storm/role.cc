#include "storm/role.h"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "base/json_text.h"
#include "platform/file.h"
#include "platform/log.h"
#include "platform/system_clock.h"
#include "platform/terminal_progress.h"
#include "storm/isolation.h"
#include "storm/settings.h"
#include "storm/shrink.h"
#include "storm/totals.h"
#include "storm/world.h"

namespace storm {

namespace {

constexpr std::int64_t kMostShown = 10;

void show_failure(const Scenario& scenario, const Outcome& outcome) {
  Scenario replayed = scenario;
  replayed.seed.value = outcome.seed;
  fmt::print("seed {} violates: {}\n{}", outcome.seed, outcome.violation, outcome.report);
  const bool is_whole = !scenario.nodes && !scenario.actions && !scenario.hits;
  if (is_whole) fmt::print("  again: {}\n", replay_command(replayed));
}

// In this process, so that a debugger and a listener can be beside it.
int show_journal(const Scenario& scenario) {
  World world(scenario);
  world.on_event([](const model::Event& event) { fmt::print("{}\n", base::to_json(event)); });
  const Outcome outcome = world.run();
  fmt::print("{}", outcome.report);
  return outcome.is_good() ? 0 : 1;
}

constexpr std::int64_t kMostTrials = 600;

int shrink_run(const Settings& settings) {
  const Shrunk shrunk = shrink(settings.scenario, kMostTrials,
                               [](const std::string& line) { fmt::print(stderr, "{}\n", line); });
  if (shrunk.violation.empty()) {
    fmt::print("seed {} violates nothing\n", settings.scenario.seed.value);
    return 0;
  }
  const std::string text =
      fmt::format("# violates: {}\n# {} actions, {} hits, {} nodes left\n{}", shrunk.violation,
                  shrunk.actions, shrunk.hits, shrunk.nodes, print_scenario(shrunk.scenario));
  if (settings.out.empty()) {
    fmt::print("{}", text);
    return 1;
  }
  if (const auto written =
          platform::write_file_atomically(settings.out, text, platform::FileMode::OwnerOnly);
      !written) {
    fmt::print(stderr, "berth storm: {}\n{}", base::to_text(written.error()), text);
    return 2;
  }
  fmt::print("{}\n  again: berth storm --scenario {}\n", shrunk.violation, settings.out.string());
  return 1;
}

int live(const Settings& settings) {
  const auto began = platform::steady_micros();
  Totals totals(settings.known);
  std::string digest;
  platform::TerminalProgress progress("storm", settings.seeds);
  live_through(
      {.first = settings.scenario,
       .count = settings.seeds,
       .workers = settings.workers,
       .stops_at_first = settings.stops_at_first,
       .known = settings.known},
      [&](const Outcome& outcome) {
        totals.add(outcome);
        digest = outcome.digest;
        progress.update(totals.runs());
        if (!outcome.is_good() && !totals.is_known(outcome) && totals.failed() <= kMostShown)
          show_failure(settings.scenario, outcome);
      });
  const double seconds =
      std::max(0.001, static_cast<double>(platform::steady_micros() - began) / 1e6);
  fmt::print("{}", totals.failures());
  if (settings.shows_coverage) fmt::print("{}\n", totals.coverage_table());
  if (settings.seeds == 1) fmt::print("journal {}\n", digest);
  fmt::print("{}", totals.last_line(seconds));
  return totals.failed() > 0 ? 1 : 0;
}

}  // namespace

int main(std::span<const std::string> words) {
  const auto understood = settings_of(words);
  if (const auto* answer = std::get_if<UsageAnswer>(&understood)) {
    fmt::print(answer->exit_code == 0 ? stdout : stderr, "{}", answer->text);
    return answer->exit_code;
  }
  const Settings& settings = std::get<Settings>(understood);
  // What the product logs of injected faults is not news.
  platform::set_log_sink([](const std::string&) {});
  if (settings.shrinks) return shrink_run(settings);
  if (settings.shows_journal) return show_journal(settings.scenario);
  return live(settings);
}

}  // namespace storm
