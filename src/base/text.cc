#include "base/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/internal/digits.h"

namespace base {

namespace {

using internal::is_digit;
using internal::shown;
using internal::take_digits;
using internal::value_of;

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kFractionDigitsMax = 9;

struct Suffix {
  std::string_view text;
  std::int64_t factor = 1;
};

// In the order of preference of print_bytes: binary before decimal, larger before smaller.
constexpr std::array<Suffix, 12> kByteSuffixes{{
    {"Pi", std::int64_t{1} << 50},
    {"Ti", std::int64_t{1} << 40},
    {"Gi", std::int64_t{1} << 30},
    {"Mi", std::int64_t{1} << 20},
    {"Ki", std::int64_t{1} << 10},
    {"P", 1'000'000'000'000'000},
    {"T", 1'000'000'000'000},
    {"G", 1'000'000'000},
    {"M", 1'000'000},
    {"k", 1'000},
    {"K", 1'000},
    {"", 1},
}};

tl::unexpected<Error> refused(std::string_view text, std::string_view what, std::string hint) {
  return fail_field(Code::InvalidArgument, "", fmt::format("'{}' is not {}", shown(text), what),
                    std::move(hint));
}

tl::unexpected<Error> too_large(std::string_view text) {
  return fail_field(Code::InvalidArgument, "", fmt::format("'{}' is too large", shown(text)),
                    fmt::format("the largest value is {}", kLargest));
}

// "12" or "12.5" at the front of a text. The fraction keeps its digits, so that 0.5 and 0.50 and
// their scale are known.
struct Decimal {
  std::string_view whole;
  std::string_view fraction;
  bool is_well_formed = false;
};

Decimal take_decimal(std::string_view& rest) {
  Decimal decimal{.whole = take_digits(rest), .fraction = {}, .is_well_formed = false};
  decimal.is_well_formed = !decimal.whole.empty();
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    decimal.fraction = take_digits(rest);
    if (decimal.fraction.empty()) decimal.is_well_formed = false;
  }
  return decimal;
}

enum class ScaleFault { None, TooLarge, NotWhole };

struct Scaled {
  std::int64_t value = 0;
  ScaleFault fault = ScaleFault::None;
};

// decimal * factor in exact integers; NotWhole when the fraction does not come out even.
Scaled scale(const Decimal& decimal, std::int64_t factor) {
  const std::optional<std::int64_t> whole = value_of(decimal.whole);
  if (!whole) return {.fault = ScaleFault::TooLarge};
  __int128 total = static_cast<__int128>(*whole) * factor;
  std::string_view fraction = decimal.fraction;
  while (fraction.ends_with('0'))
    fraction.remove_suffix(1);
  if (fraction.size() > kFractionDigitsMax) return {.fault = ScaleFault::NotWhole};
  if (!fraction.empty()) {
    __int128 unit = 1;
    for (std::size_t i = 0; i < fraction.size(); ++i)
      unit *= 10;
    const __int128 part = static_cast<__int128>(*value_of(fraction)) * factor;
    if (part % unit != 0) return {.fault = ScaleFault::NotWhole};
    total += part / unit;
  }
  if (total > kLargest) return {.fault = ScaleFault::TooLarge};
  return {.value = static_cast<std::int64_t>(total)};
}

// value / 1000 with the zeros at the end left out.
std::string thousandths(std::int64_t whole, std::int64_t thousandth) {
  if (thousandth == 0) return std::to_string(whole);
  std::string text = fmt::format("{}.{:03}", whole, thousandth);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// Edits that turn one into the other: insert, drop, replace, swap of neighbours; capitals do not
// count. O(|a| * |b|).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool is_same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (is_same ? 0 : 1)});
      const bool is_swap = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (is_swap) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

constexpr bool is_name_end(char c) { return (c >= 'a' && c <= 'z') || is_digit(c); }

}  // namespace

Result<std::int64_t> parse_integer(std::string_view text) {
  std::string_view rest = text;
  const bool is_negative = rest.starts_with('-');
  if (is_negative) rest.remove_prefix(1);
  const std::string_view digits = take_digits(rest);
  if (digits.empty() || !rest.empty()) return refused(text, "a whole number", "write it like 17");
  std::int64_t value = 0;  // counted downwards: the range reaches one further there
  for (const char c : digits) {
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value) ||
        __builtin_sub_overflow(value, std::int64_t{c - '0'}, &value))
      return too_large(text);
  }
  if (is_negative) return value;
  if (value == std::numeric_limits<std::int64_t>::min()) return too_large(text);
  return -value;
}

Result<std::int64_t> parse_bytes(std::string_view text) {
  constexpr std::string_view kHint = "write it like 1024, 128Gi, 1.5Gi or 40G";
  std::string_view rest = text;
  const Decimal decimal = take_decimal(rest);
  if (!decimal.is_well_formed) return refused(text, "a size", std::string(kHint));
  if (rest.ends_with('B')) rest.remove_suffix(1);
  const auto suffix = std::find_if(kByteSuffixes.begin(), kByteSuffixes.end(),
                                   [rest](const Suffix& s) { return s.text == rest; });
  if (suffix == kByteSuffixes.end())
    return refused(text, "a size: the unit is unknown", std::string(kHint));
  const Scaled scaled = scale(decimal, suffix->factor);
  if (scaled.fault == ScaleFault::TooLarge) return too_large(text);
  if (scaled.fault == ScaleFault::NotWhole)
    return refused(text, "a whole number of bytes", "use a smaller unit with fewer decimals");
  return scaled.value;
}

std::string print_bytes(std::int64_t bytes) {
  if (bytes <= 0) return std::to_string(bytes);
  std::string shortest = std::to_string(bytes);
  // The suffixes stand in the order of preference, so an earlier one wins a tie.
  for (const Suffix& suffix : kByteSuffixes) {
    if (suffix.factor == 1 || suffix.text == "K") continue;
    const __int128 milli = static_cast<__int128>(bytes) * 1000;
    if (milli % suffix.factor != 0) continue;
    const auto parts = static_cast<std::int64_t>(milli / suffix.factor % 1000);
    std::string text = thousandths(bytes / suffix.factor, parts) + std::string(suffix.text);
    if (text.size() < shortest.size()) shortest = std::move(text);
  }
  return shortest;
}

Result<std::int64_t> parse_milli(std::string_view text) {
  constexpr std::string_view kHint = "write it like 16, 0.5 or 500m";
  std::string_view rest = text;
  const Decimal decimal = take_decimal(rest);
  if (!decimal.is_well_formed) return refused(text, "an amount", std::string(kHint));
  const bool is_milli = rest == "m";
  if (!is_milli && !rest.empty()) return refused(text, "an amount", std::string(kHint));
  if (is_milli && !decimal.fraction.empty())
    return refused(text, "a whole number of thousandths", std::string(kHint));
  if (decimal.fraction.size() > 3)
    return refused(text, "an amount with at most three decimals", std::string(kHint));
  const Scaled scaled = scale(decimal, is_milli ? 1 : 1000);
  if (scaled.fault != ScaleFault::None) return too_large(text);
  return scaled.value;
}

std::string print_milli(std::int64_t milli) {
  if (milli >= 0) return thousandths(milli / 1000, milli % 1000);
  return "-" + thousandths(-(milli / 1000), -(milli % 1000));
}

std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates) {
  constexpr std::size_t kLongestWord = 64;  // longer ones are no typing slip
  if (word.empty() || word.size() > kLongestWord) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongestWord) continue;
    const std::size_t distance = edit_distance(word, candidate);
    // Replacing every letter is no slip either: "gpu" is not near "cp".
    if (distance >= best_distance || distance >= std::max(word.size(), candidate.size())) continue;
    best = candidate;
    best_distance = distance;
  }
  return best;
}

Result<Done> check_name(std::string_view name, std::string_view field) {
  constexpr std::size_t kLongest = 63;
  const auto refuse = [field](std::string message) {
    return fail_field(Code::InvalidArgument, std::string(field), std::move(message),
                      "use 1 to 63 of a-z, 0-9, '-', '_', '.', first and last a letter or digit");
  };
  if (name.empty()) return refuse("the name is empty");
  if (name.size() > kLongest)
    return refuse(fmt::format("the name has {} characters, {} are allowed", name.size(), kLongest));
  for (const char c : name) {
    if (is_name_end(c) || c == '-' || c == '_' || c == '.') continue;
    std::string shown_name(name);
    for (char& shown_char : shown_name)
      if (shown_char < 0x20 || shown_char == 0x7F) shown_char = '?';
    if (!is_utf8(shown_name)) return refuse("the name holds bytes that are not UTF-8");
    return refuse(
        fmt::format("the name '{}' holds a character that names do not have", shown_name));
  }
  if (!is_name_end(name.front()) || !is_name_end(name.back()))
    return refuse(fmt::format("the name '{}' begins or ends with a sign", name));
  return Done{};
}

}  // namespace base
