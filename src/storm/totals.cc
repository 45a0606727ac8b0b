#include "storm/totals.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include <fmt/format.h>

#include "storm/fault_catalogue.h"
#include "storm/situations.h"

namespace storm {

bool Totals::is_known(const Outcome& outcome) const {
  return std::ranges::find(known_labels_, outcome.violation) != known_labels_.end();
}

void Totals::add(const Outcome& outcome) {
  ++runs_;
  if (is_known(outcome)) {
    ++known_;
    by_label_["(known) " + outcome.violation].push_back(outcome.seed);
  } else if (!outcome.is_good()) {
    failed_seeds_.push_back(outcome.seed);
    by_label_[outcome.violation].push_back(outcome.seed);
  }
  // A run that found something ended early, and is meaningful for that.
  if (outcome.is_meaningful() || !outcome.is_good()) {
    ++meaningful_;
  } else {
    few_starts_ += outcome.starts < kFewestStarts;
    few_evictions_ += outcome.evictions < kFewestEvictions;
    few_faults_ += outcome.faults < kFewestFaults;
  }
  simulated_millis_ += outcome.simulated_millis;
  starts_ += outcome.starts;
  evictions_ += outcome.evictions;
  faults_ += outcome.faults;
  deaths_ += outcome.deaths;
  takeovers_ += outcome.takeovers;
  fenced_ += outcome.fenced;
  watched_.add(outcome.watched);
  coverage_.add(outcome.coverage);
}

std::string Totals::last_line(double seconds) const {
  const double hours = static_cast<double>(simulated_millis_) / 3'600'000.0;
  const double meaningful =
      runs_ == 0 ? 0 : 100.0 * static_cast<double>(meaningful_) / static_cast<double>(runs_);
  return fmt::format(
      "storm: {} seeds, {} failed, {} with a known finding, {:.1f} % meaningful ({} discarded: {} "
      "with few "
      "starts, {} evictions, {} faults), {} starts, {} evictions, {} "
      "faults, {} deaths, {} takeovers ({} fenced), {} events checked, {} whole checks, {} plans "
      "compared, {} explanations, {:.1f} seeds/s, {:.0f} simulated hours/s ({:.0f} times real)\n",
      runs_, failed(), known_, meaningful, discarded(), few_starts_, few_evictions_, few_faults_,
      starts_, evictions_, faults_, deaths_, takeovers_, fenced_, watched_.events,
      watched_.full_checks, watched_.plans_compared, watched_.explanations,
      static_cast<double>(runs_) / seconds, hours / seconds, hours * 3600.0 / seconds);
}

std::string Totals::failures() const {
  std::string text;
  for (const auto& [label, seeds] : by_label_)
    text += fmt::format("{:>6} seeds, first {:>8}: {}\n", seeds.size(), seeds.front(), label);
  return text;
}

std::string Totals::coverage_table() const {
  const auto rows = fault_catalogue();
  std::string table = fmt::format("{:<34} {:<11} {:<10} {:>11} {:>9}  {}\n", "fault point", "part",
                                  "kind", "passages", "hits", "meaning");
  std::string never, pairs;
  std::size_t seen_pairs = 0;
  constexpr std::size_t kAll = std::size(kSituations);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_known = i < coverage_.hits.size();
    const std::int64_t hits = is_known ? coverage_.hits[i] : 0;
    const auto bits = static_cast<std::uint64_t>(is_known ? coverage_.situations[i] : 0);
    table += fmt::format("{:<34} {:<11} {:<10} {:>11} {:>9}  {}\n", rows[i].name,
                         name_of(rows[i].part), name_of(rows[i].kind),
                         is_known ? coverage_.passages[i] : 0, hits, rows[i].meaning);
    if (hits == 0) never += fmt::format("  {}\n", rows[i].name);
    seen_pairs += static_cast<std::size_t>(std::popcount(bits));
    std::string missing;
    for (std::size_t s = 0; s < kAll; ++s)
      if ((bits >> s & 1) == 0)
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", kSituations[s]);
    if (!missing.empty()) pairs += fmt::format("  {:<34} {}\n", rows[i].name, missing);
  }
  table +=
      fmt::format("\n{} points; never hit:\n{}", rows.size(), never.empty() ? "  none\n" : never);
  for (const auto& [name, count] : coverage_.unlisted)
    table += fmt::format("  not in the catalogue: {} passed {} times\n", name, count);
  table += fmt::format("\n{} of {} pairs of point and situation seen; never seen:\n{}", seen_pairs,
                       rows.size() * kAll, pairs.empty() ? "  none\n" : pairs);
  return table;
}

}  // namespace storm
