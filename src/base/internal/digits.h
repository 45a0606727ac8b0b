#pragma once
// Reading of decimal digits from the front of a text, with overflow noticed; what the parsers of
// amounts and of times share.

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace base::internal {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The digits at the front of `rest`, which loses them; may be empty.
constexpr std::string_view take_digits(std::string_view& rest) {
  std::size_t size = 0;
  while (size < rest.size() && is_digit(rest[size]))
    ++size;
  const std::string_view digits = rest.substr(0, size);
  rest.remove_prefix(size);
  return digits;
}

// The value of `digits`, which holds digits only; nothing when it is empty or above 2^63 - 1.
constexpr std::optional<std::int64_t> value_of(std::string_view digits) {
  if (digits.empty()) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : digits) {
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, std::int64_t{c - '0'}, &value)) return std::nullopt;
  }
  return value;
}

// A foreign text inside our message: what stands in quotes stays short whatever was sent.
constexpr std::string_view shown(std::string_view text) { return text.substr(0, 60); }

}  // namespace base::internal
