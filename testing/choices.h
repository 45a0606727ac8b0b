#pragma once
// A stream of small choices drawn from plain numbers: what a property test or a fuzzer generates,
// and what it can shrink without knowing what the numbers mean. Fewer numbers make a smaller world
// and smaller numbers an earlier (simpler) choice; past the end everything is the first choice.
//
//   Choices choices(numbers);
//   const auto kind = choices.below(4);      // 0..3
//   if (choices.chance(1, 5)) …              // simplest answer: no

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.h"

namespace testkit {

// For Choices, where a generator of properties does not make them.
inline std::vector<std::uint16_t> random_numbers(base::Random& random, std::size_t count) {
  std::vector<std::uint16_t> drawn(count);
  for (std::uint16_t& number : drawn)
    number = static_cast<std::uint16_t>(random.below(1000));
  return drawn;
}

class Choices {
 public:
  explicit Choices(std::vector<std::uint16_t> numbers) : numbers_(std::move(numbers)) {}

  bool is_exhausted() const { return at_ >= numbers_.size(); }
  // 0..bound-1; bound > 0.
  std::int64_t below(std::int64_t bound) { return is_exhausted() ? 0 : numbers_[at_++] % bound; }
  std::int64_t between(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  // True in `numerator` of `denominator` cases.
  bool chance(std::int64_t numerator, std::int64_t denominator) {
    return below(denominator) >= denominator - numerator;
  }
  template <class T>
  const T& one_of(const std::vector<T>& options) {
    return options[static_cast<std::size_t>(below(static_cast<std::int64_t>(options.size())))];
  }

 private:
  std::vector<std::uint16_t> numbers_;
  std::size_t at_ = 0;
};

}  // namespace testkit
