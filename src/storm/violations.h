#pragma once
// What a run found wrong, in the order of finding; at most a screenful is kept, all are counted.
// The label of the first one is what shrinking and the mutation check compare.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "invariants/violation.h"

namespace storm {

class Violations {
 public:
  template <class... Args>
  void add(std::string label, fmt::format_string<Args...> text, Args&&... args) {
    add(invariants::Violation{std::move(label), fmt::format(text, std::forward<Args>(args)...)});
  }
  void add(invariants::Violation violation) {
    if (++count_ <= kMostKept) kept_.push_back(std::move(violation));
  }
  bool empty() const { return count_ == 0; }
  std::int64_t count() const { return count_; }
  const std::vector<invariants::Violation>& kept() const { return kept_; }

 private:
  static constexpr std::int64_t kMostKept = 12;
  std::vector<invariants::Violation> kept_;
  std::int64_t count_ = 0;
};

}  // namespace storm
