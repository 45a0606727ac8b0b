#pragma once
// Integers that carry their unit in the type, so that milli-devices are never added to bytes.
// Sums are plain 64-bit: the largest real sum (bytes of 10^5 nodes with 10 TiB each, about 10^18)
// stays below 9.2 * 10^18. Outside input goes through checked parsing (base/text.h) first.

#include <compare>
#include <cstdint>

namespace base {

template <class Unit>
struct Amount {
  std::int64_t value = 0;

  constexpr Amount() = default;
  constexpr explicit Amount(std::int64_t v) : value(v) {}

  friend constexpr auto operator<=>(const Amount&, const Amount&) = default;
  friend constexpr Amount operator+(Amount a, Amount b) { return Amount(a.value + b.value); }
  friend constexpr Amount operator-(Amount a, Amount b) { return Amount(a.value - b.value); }
  friend constexpr Amount operator*(Amount a, std::int64_t n) { return Amount(a.value * n); }
  friend constexpr Amount operator/(Amount a, std::int64_t n) { return Amount(a.value / n); }
  constexpr Amount& operator+=(Amount b) {
    value += b.value;
    return *this;
  }
  constexpr Amount& operator-=(Amount b) {
    value -= b.value;
    return *this;
  }
};

using MilliCpu = Amount<struct MilliCpuUnit>;  // 1000 = one core
using Bytes = Amount<struct BytesUnit>;
using MilliDevice = Amount<struct MilliDeviceUnit>;  // 1000 = one device
using Count = Amount<struct CountUnit>;

inline constexpr MilliDevice kWholeDevice{1000};

}  // namespace base
