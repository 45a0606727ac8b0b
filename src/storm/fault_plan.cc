#include "storm/fault_plan.h"

#include <utility>

#include "base/assert.h"
#include "storm/fault_catalogue.h"

namespace storm {

namespace {

// A process that dies more often than that gets nothing done.
constexpr std::int64_t kMostKills = 40;

}  // namespace

void Coverage::add(const Coverage& other) {
  const auto sum = [](std::vector<std::int64_t>& into, const std::vector<std::int64_t>& from) {
    into.resize(std::max(into.size(), from.size()));
    for (std::size_t i = 0; i < from.size(); ++i)
      into[i] += from[i];
  };
  sum(passages, other.passages);
  sum(hits, other.hits);
  situations.resize(std::max(situations.size(), other.situations.size()));
  for (std::size_t i = 0; i < other.situations.size(); ++i)
    situations[i] |= other.situations[i];
  for (const auto& [name, count] : other.unlisted)
    unlisted[name] += count;
}

FaultPlan::FaultPlan(const Scenario& scenario, const Swarm& swarm,
                     std::function<std::int64_t()> situation)
    : seed_(scenario.seed),
      rates_(swarm.rates),
      only_(scenario.hits),
      situation_(std::move(situation)) {
  const std::size_t rows = fault_catalogue().size();
  ASSERT(rates_.size() == rows);
  coverage_.passages.resize(rows);
  coverage_.hits.resize(rows);
  coverage_.situations.resize(rows);
}

std::uint64_t FaultPlan::number_of(std::size_t row, std::int64_t passage,
                                   std::uint64_t purpose) const {
  // Named by the row's name and not by its place, so that a new row leaves old seeds as they are.
  std::uint64_t mixed = seed_.value + purpose * 0x9E3779B97F4A7C15ULL;
  for (const char letter : fault_catalogue()[row].name)
    mixed = (mixed ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
  base::Random random{base::Seed{mixed}};
  return random.fork(static_cast<std::uint64_t>(passage)).next();
}

bool FaultPlan::pass(std::size_t row) {
  const std::int64_t passage = ++coverage_.passages[row];
  if (is_stopped_) return false;
  const bool is_hit = only_ ? only_->contains({row, passage})
                            : rates_[row] > 0 && number_of(row, passage, 1) % 10'000 <
                                                     static_cast<std::uint64_t>(rates_[row]);
  if (!is_hit) return false;
  const FaultKind kind = fault_catalogue()[row].kind;
  const bool may_kill = kind == FaultKind::Kill || kind == FaultKind::Either;
  if (may_kill && !only_ && kills_ >= kMostKills) return false;
  if (may_kill) ++kills_;
  last_ = {row, passage};
  amounts_ = 0;
  hits_made_.insert(last_);
  ++hit_count_;
  ++coverage_.hits[row];
  coverage_.situations[row] |= situation_();
  return true;
}

bool FaultPlan::decides_to_fail(std::string_view name) {
  const auto row = fault_named(name);
  if (!row) {
    ++coverage_.unlisted[std::string(name)];
    return false;
  }
  if (!pass(*row)) return false;
  const FaultKind kind = fault_catalogue()[*row].kind;
  const bool kills = kind == FaultKind::Kill ||
                     (kind == FaultKind::Either && number_of(*row, last_.second, 2) % 2 == 0);
  if (kills) throw Killed{std::string(name)};
  return true;
}

bool FaultPlan::twists(std::string_view name) {
  const auto row = fault_named(name);
  ASSERT(row && fault_catalogue()[*row].kind == FaultKind::Twist);
  return pass(*row);
}

std::int64_t FaultPlan::amount(std::int64_t low, std::int64_t high) {
  base::Random random{base::Seed{number_of(last_.first, last_.second, 100 + amounts_++)}};
  return random.between(low, high);
}

void FaultPlan::happens(std::string_view name) {
  const auto row = fault_named(name);
  ASSERT(row && fault_catalogue()[*row].kind == FaultKind::Happening);
  last_ = {*row, ++coverage_.passages[*row]};
  amounts_ = 0;
  ++hit_count_;
  ++coverage_.hits[*row];
  coverage_.situations[*row] |= situation_();
}

}  // namespace storm
