#include "storm/settings.h"

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "platform/file.h"
#include "storm/swarm.h"

namespace storm {

namespace {

struct Typed {
  std::string scenario_file, known_file, journal;
  double hours = 0;
};

void add_options(CLI::App& app, Settings& settings, Typed& typed) {
  std::string profiles;
  for (const std::string_view name : profile_names())
    profiles += (profiles.empty() ? "" : ", ") + std::string(name);
  auto* seed = app.add_option("--seed", settings.scenario.seed.value, "live through this one");
  auto* seeds =
      app.add_option("--seeds", settings.seeds, "live through so many, on all processors");
  app.add_option("--first-seed", settings.scenario.seed.value, "the first of them");
  auto* hours =
      app.add_option("--hours", typed.hours, "simulated hours in which faults happen; left out: 3")
          ->check(CLI::Range(0.02, 100'000.0));
  auto* minutes = app.add_option("--minutes", settings.scenario.minutes, "the same in minutes")
                      ->excludes(hours);
  auto* profile = app.add_option("--profile", settings.scenario.profile, profiles);
  auto* journal = app.add_option("--journal-in", typed.journal, "memory or sqlite");
  app.add_option("--scenario", typed.scenario_file, "live through this file")
      ->excludes(seed, hours, minutes, profile, journal);
  app.add_option("--known", typed.known_file, "labels of open findings, which do not fail a run");
  app.add_option("--workers", settings.workers, "processes; left out: one for each processor")
      ->check(CLI::Range(1, 1024));
  auto* shrink =
      app.add_flag("--shrink", settings.shrinks, "look for the smallest scenario that fails alike")
          ->excludes(seeds);
  app.add_option("--out", settings.out, "where --shrink writes the scenario")->needs(shrink);
  app.add_flag("--coverage", settings.shows_coverage, "list the fault points and their hits");
  app.add_flag("--journal", settings.shows_journal, "print every event as JSON")
      ->excludes(seeds, shrink);
  app.add_flag("--first", settings.stops_at_first, "stop at the first seed that fails");
}

base::Result<base::Done> understand(Settings& settings, const Typed& typed) {
  if (typed.hours > 0) settings.scenario.minutes = static_cast<std::int64_t>(typed.hours * 60);
  if (!typed.journal.empty()) {
    settings.scenario.journal = journal_named(typed.journal);
    if (!settings.scenario.journal)
      return base::fail(base::Code::InvalidArgument,
                        "--journal-in is memory or sqlite, and not \"{}\"", typed.journal);
  }
  if (!typed.scenario_file.empty()) {
    const auto text = platform::read_file(typed.scenario_file);
    if (!text) return tl::unexpected(text.error());
    auto scenario = parse_scenario(*text);
    if (!scenario) return tl::unexpected(scenario.error());
    settings.scenario = std::move(*scenario);
  }
  if (!typed.known_file.empty()) {
    const auto text = platform::read_file(typed.known_file);
    if (!text) return tl::unexpected(text.error());
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);)
      if (!line.empty() && !line.starts_with('#')) settings.known.push_back(line);
  }
  const auto names = profile_names();
  if (std::ranges::find(names, settings.scenario.profile) == names.end())
    return base::fail(base::Code::InvalidArgument, "there is no profile {}",
                      settings.scenario.profile);
  if (settings.seeds < 1 || settings.scenario.minutes < 1)
    return base::fail(base::Code::InvalidArgument, "seeds and time must be at least one");
  return base::Done{};
}

}  // namespace

std::variant<Settings, UsageAnswer> settings_of(std::span<const std::string> words) {
  Settings settings;
  Typed typed;
  CLI::App app("Live through random faults in a simulation and check what must hold",
               "berth storm");
  add_options(app, settings, typed);
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 takes them
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::ParseError& problem) {
    std::ostringstream out, err;
    const bool is_help = app.exit(problem, out, err) == 0;
    return UsageAnswer{.text = is_help ? out.str() : "berth storm: " + err.str(),
                       .exit_code = is_help ? 0 : 2};
  }
  if (const auto done = understand(settings, typed); !done)
    return UsageAnswer{.text = "berth storm: " + base::to_text(done.error()) + "\n",
                       .exit_code = 2};
  return settings;
}

}  // namespace storm
