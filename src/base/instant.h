#pragma once
// Time as a value. Nothing in the pure ranks asks what time it is: an Instant arrives as input.
// Resolution is one millisecond, signed 64 bits; arithmetic saturates at the ends of the range, so
// "never" plus an hour is still never.

#include <compare>
#include <cstdint>
#include <limits>

namespace base {

struct Duration {
  std::int64_t millis = 0;
  friend constexpr auto operator<=>(const Duration&, const Duration&) = default;
};

struct Instant {
  std::int64_t millis = 0;  // since 1970-01-01T00:00:00Z, no leap seconds
  friend constexpr auto operator<=>(const Instant&, const Instant&) = default;
};

inline constexpr Instant kNever{std::numeric_limits<std::int64_t>::max()};
inline constexpr Duration kForever{std::numeric_limits<std::int64_t>::max()};

constexpr Duration milliseconds(std::int64_t n) { return Duration{n}; }
constexpr Duration seconds(std::int64_t n) { return Duration{n * 1000}; }
constexpr Duration minutes(std::int64_t n) { return Duration{n * 60'000}; }
constexpr Duration hours(std::int64_t n) { return Duration{n * 3'600'000}; }
constexpr Duration days(std::int64_t n) { return Duration{n * 86'400'000}; }

constexpr std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<std::int64_t>::max()
               : std::numeric_limits<std::int64_t>::min();
}

constexpr Instant operator+(Instant t, Duration d) {
  return t == kNever ? kNever : Instant{saturating_add(t.millis, d.millis)};
}
constexpr Instant operator-(Instant t, Duration d) {
  return t == kNever ? kNever : Instant{saturating_add(t.millis, -d.millis)};
}
constexpr Duration operator-(Instant a, Instant b) {
  if (a == kNever) return kForever;
  return Duration{saturating_add(a.millis, -b.millis)};
}
constexpr Duration operator+(Duration a, Duration b) {
  return Duration{saturating_add(a.millis, b.millis)};
}
constexpr Duration operator-(Duration a, Duration b) {
  return Duration{saturating_add(a.millis, -b.millis)};
}
constexpr Duration operator*(Duration d, std::int64_t n) { return Duration{d.millis * n}; }

}  // namespace base
