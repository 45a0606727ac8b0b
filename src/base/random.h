#pragma once
// Deterministic randomness: a Seed is a value that arrives as input; the same seed gives the same
// numbers on every machine. Generator: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), chosen because
// it is tiny, passes BigCrush and can be re-derived for a sub-stream. Not for secrets.

#include <compare>
#include <cstdint>

#include "base/assert.h"

namespace base {

struct Seed {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(const Seed&, const Seed&) = default;
};

class Random {
 public:
  explicit constexpr Random(Seed seed) : state_(seed.value) {}

  constexpr std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound); bound > 0. Lemire's multiply-shift; the bias is below 2^-32 for the
  // bounds used here (< 2^32), which no decision depends on.
  std::uint64_t below(std::uint64_t bound) {
    ASSERT(bound > 0);
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }

  // Uniform in [low, high], both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    ASSERT(low <= high);
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }

  // True in `numerator` of `denominator` cases.
  bool chance(std::uint64_t numerator, std::uint64_t denominator) {
    return below(denominator) < numerator;
  }

  // An independent stream for a named purpose, so that drawing more for one purpose does not
  // shift another.
  constexpr Random fork(std::uint64_t purpose) const {
    Random child{Seed{state_ ^ (purpose * 0xD1342543DE82EF95ULL + 0x632BE59BD9B4E019ULL)}};
    child.next();
    return child;
  }

 private:
  std::uint64_t state_;
};

}  // namespace base
