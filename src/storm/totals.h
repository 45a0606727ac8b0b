#pragma once
// Sums over many outcomes, and the texts that people and machines read: the last line of totals,
// the table of fault points, what was never hit, and which pairs of point and situation were never
// seen.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "storm/outcome.h"

namespace storm {

class Totals {
 public:
  // `known`: labels of open findings, counted apart.
  explicit Totals(std::vector<std::string> known = {}) : known_labels_(std::move(known)) {}

  void add(const Outcome& outcome);
  bool is_known(const Outcome& outcome) const;

  std::int64_t runs() const { return runs_; }
  std::int64_t failed() const { return static_cast<std::int64_t>(failed_seeds_.size()); }
  std::int64_t discarded() const { return runs_ - meaningful_; }
  // `seconds` is how long all of it took.
  std::string last_line(double seconds) const;
  std::string coverage_table() const;
  // By label of the first violation: how many seeds, and the smallest of them.
  std::string failures() const;

 private:
  std::vector<std::string> known_labels_;
  std::int64_t known_ = 0;
  std::int64_t runs_ = 0, meaningful_ = 0, simulated_millis_ = 0;
  std::int64_t starts_ = 0, evictions_ = 0, faults_ = 0, deaths_ = 0, takeovers_ = 0, fenced_ = 0;
  std::int64_t few_starts_ = 0, few_evictions_ = 0, few_faults_ = 0;  // of the discarded
  std::vector<std::uint64_t> failed_seeds_;
  std::map<std::string, std::vector<std::uint64_t>> by_label_;
  WatchCounts watched_;
  Coverage coverage_;
};

}  // namespace storm
