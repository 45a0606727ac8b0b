#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/internal/digits.h"
#include "base/text.h"

namespace base {

namespace {

using internal::shown;
using internal::take_digits;
using internal::value_of;

constexpr std::int64_t kSecond = 1000, kMinute = 60 * kSecond, kHour = 60 * kMinute,
                       kDay = 24 * kHour;
constexpr std::string_view kDurationHint = "write it like 90s, 2h, 1d12h, 250ms or 1-12:00:00";
constexpr std::string_view kInstantHint = "write it like 2026-12-01T09:30:00Z";

struct TimeUnit {
  std::string_view text;
  std::int64_t millis = 1;
};
constexpr std::array<TimeUnit, 5> kUnits{
    {{"d", kDay}, {"h", kHour}, {"m", kMinute}, {"s", kSecond}, {"ms", 1}}};

tl::unexpected<Error> refused(std::string_view text, std::string_view what, std::string_view hint) {
  return fail_field(Code::InvalidArgument, "", fmt::format("'{}' is {}", shown(text), what),
                    std::string(hint));
}

// Exactly `count` digits at the front of `rest`, which loses them.
std::optional<std::int64_t> take_fixed(std::string_view& rest, std::size_t count) {
  std::string_view front = rest.substr(0, count);
  const std::string_view digits = take_digits(front);
  if (digits.size() != count) return std::nullopt;
  rest.remove_prefix(count);
  return value_of(digits);
}

bool take_char(std::string_view& rest, char wanted) {
  if (!rest.starts_with(wanted)) return false;
  rest.remove_prefix(1);
  return true;
}

// Sum of parts * units, nothing on overflow.
struct MillisSum {
  std::int64_t millis = 0;
  bool has_overflowed = false;
  void add(std::int64_t count, std::int64_t unit) {
    std::int64_t part = 0;
    if (__builtin_mul_overflow(count, unit, &part) || __builtin_add_overflow(millis, part, &millis))
      has_overflowed = true;
  }
};

// "[days-]hours:minutes:seconds"; hours may exceed 23 when no days are given.
Result<Duration> parse_clock_duration(std::string_view text) {
  constexpr std::string_view kWrong = "not a duration of the form days-hours:minutes:seconds";
  std::string_view rest = text;
  MillisSum sum;
  std::string_view digits = take_digits(rest);
  const bool has_days = take_char(rest, '-');
  if (has_days) {
    const auto day_count = value_of(digits);
    if (!day_count) return refused(text, kWrong, kDurationHint);
    sum.add(*day_count, kDay);
    digits = take_digits(rest);
  }
  const auto hour_count = value_of(digits);
  if (!hour_count || (has_days && *hour_count > 23)) return refused(text, kWrong, kDurationHint);
  sum.add(*hour_count, kHour);
  for (const std::int64_t unit : {kMinute, kSecond}) {
    if (!take_char(rest, ':')) return refused(text, kWrong, kDurationHint);
    const auto part = take_fixed(rest, 2);
    if (!part || *part > 59) return refused(text, kWrong, kDurationHint);
    sum.add(*part, unit);
  }
  if (!rest.empty()) return refused(text, kWrong, kDurationHint);
  if (sum.has_overflowed) return refused(text, "too long a duration", kDurationHint);
  return Duration{sum.millis};
}

std::string print_parts(std::uint64_t millis, std::size_t parts_max) {
  std::string text;
  std::size_t part_count = 0;
  for (const TimeUnit& unit : kUnits) {
    const auto size = static_cast<std::uint64_t>(unit.millis);
    const std::uint64_t count = millis / size;
    millis %= size;
    const bool has_begun = !text.empty();
    if (has_begun) ++part_count;
    if (part_count >= parts_max) break;
    if (count == 0) continue;
    text += fmt::format("{}{}", count, unit.text);
  }
  return text.empty() ? "0s" : text;
}

// Magnitude without the overflow of negating the least value.
std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

struct Civil {
  std::int64_t year = 1970;
  std::int64_t month = 1;
  std::int64_t day = 1;
};

constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

// Days since 1970-01-01 of a date of the proleptic Gregorian calendar, and back: counted in eras of
// 400 years (146097 days) that begin on 1 March, so that the leap day is the last of its year.
constexpr std::int64_t days_of(Civil date) {
  const std::int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const std::int64_t era = floor_div(year, 400);
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t month_from_march = (date.month + 9) % 12;
  const std::int64_t day_of_year = (153 * month_from_march + 2) / 5 + date.day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146'097 + day_of_era - 719'468;
}

constexpr Civil civil_of(std::int64_t days) {
  const std::int64_t shifted = days + 719'468;
  const std::int64_t era = floor_div(shifted, 146'097);
  const std::int64_t day_of_era = shifted - era * 146'097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const std::int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  return {.year = era * 400 + year_of_era + (month <= 2 ? 1 : 0),
          .month = month,
          .day = day_of_year - (153 * month_from_march + 2) / 5 + 1};
}

constexpr std::int64_t days_in_month(std::int64_t year, std::int64_t month) {
  const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  if (month == 2) return is_leap ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Four digits, or a sign and five to nine digits for years outside 0..9999, which only our own
// printing of extreme instants produces.
std::optional<std::int64_t> take_year(std::string_view& rest) {
  if (!rest.starts_with('+') && !rest.starts_with('-')) return take_fixed(rest, 4);
  const bool is_negative = rest.front() == '-';
  rest.remove_prefix(1);
  const std::string_view digits = take_digits(rest);
  if (digits.size() < 4 || digits.size() > 9) return std::nullopt;
  const std::int64_t year = *value_of(digits);
  return is_negative ? -year : year;
}

std::optional<Civil> take_date(std::string_view& rest) {
  const auto year = take_year(rest);
  if (!year || !take_char(rest, '-')) return std::nullopt;
  const auto month = take_fixed(rest, 2);
  if (!month || *month < 1 || *month > 12 || !take_char(rest, '-')) return std::nullopt;
  const auto day = take_fixed(rest, 2);
  if (!day || *day < 1 || *day > days_in_month(*year, *month)) return std::nullopt;
  return Civil{.year = *year, .month = *month, .day = *day};
}

// Milliseconds of the day of "09:30:00[.fraction]"; digits beyond the millisecond are cut off.
std::optional<std::int64_t> take_time(std::string_view& rest) {
  const auto hour = take_fixed(rest, 2);
  if (!hour || *hour > 23 || !take_char(rest, ':')) return std::nullopt;
  const auto minute = take_fixed(rest, 2);
  if (!minute || *minute > 59 || !take_char(rest, ':')) return std::nullopt;
  const auto second = take_fixed(rest, 2);
  if (!second || *second > 59) return std::nullopt;
  std::int64_t millis = 0;
  if (take_char(rest, '.')) {
    const std::string_view fraction = take_digits(rest);
    if (fraction.empty() || fraction.size() > 9) return std::nullopt;
    for (std::size_t i = 0; i < 3; ++i)
      millis = millis * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
  }
  return *hour * kHour + *minute * kMinute + *second * kSecond + millis;
}

// "Z" or "+08:00", as the milliseconds by which local time is ahead.
std::optional<std::int64_t> take_offset(std::string_view& rest) {
  if (take_char(rest, 'Z') || take_char(rest, 'z')) return 0;
  const bool is_behind = rest.starts_with('-');
  if (!is_behind && !rest.starts_with('+')) return std::nullopt;
  rest.remove_prefix(1);
  const auto hour = take_fixed(rest, 2);
  if (!hour || *hour > 23 || !take_char(rest, ':')) return std::nullopt;
  const auto minute = take_fixed(rest, 2);
  if (!minute || *minute > 59) return std::nullopt;
  const std::int64_t ahead = *hour * kHour + *minute * kMinute;
  return is_behind ? -ahead : ahead;
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  if (text.find(':') != std::string_view::npos) return parse_clock_duration(text);
  std::string_view rest = text;
  MillisSum sum;
  std::size_t next_unit = 0;  // units come largest first, each at most once
  if (rest.empty()) return refused(text, "not a duration", kDurationHint);
  while (!rest.empty()) {
    const std::string_view digits = take_digits(rest);
    if (digits.empty()) return refused(text, "not a duration", kDurationHint);
    std::size_t size = 0;
    while (size < rest.size() && rest[size] >= 'a' && rest[size] <= 'z')
      ++size;
    const std::string_view name = rest.substr(0, size);
    if (name.empty()) return refused(text, "a duration without a unit", kDurationHint);
    std::size_t unit = next_unit;
    while (unit < kUnits.size() && kUnits[unit].text != name)
      ++unit;
    if (unit == kUnits.size())
      return refused(text, "not a duration: units are d, h, m, s, ms, largest first",
                     kDurationHint);
    next_unit = unit + 1;
    rest.remove_prefix(size);
    const auto count = value_of(digits);
    if (!count) return refused(text, "too long a duration", kDurationHint);
    sum.add(*count, kUnits[unit].millis);
  }
  if (sum.has_overflowed) return refused(text, "too long a duration", kDurationHint);
  return Duration{sum.millis};
}

std::string print_duration(Duration duration) {
  const std::string text = print_parts(magnitude(duration.millis), kUnits.size());
  return duration.millis < 0 ? "-" + text : text;
}

std::string print_duration_short(Duration duration) {
  if (duration == kForever) return "forever";
  std::uint64_t millis = magnitude(duration.millis);
  // From one second on nobody reads the milliseconds.
  if (millis >= static_cast<std::uint64_t>(kSecond)) millis -= millis % 1000;
  const std::string text = print_parts(millis, 2);
  return duration.millis < 0 ? "-" + text : text;
}

std::string print_instant(Instant instant) {
  if (instant == kNever) return "never";
  const std::int64_t days = floor_div(instant.millis, kDay);
  // Not millis - days * kDay: on the first day of the range that product is out of it.
  const std::int64_t millis = (instant.millis % kDay + kDay) % kDay;
  const Civil date = civil_of(days);
  const bool is_plain = date.year >= 0 && date.year <= 9999;
  const std::string year = is_plain ? fmt::format("{:04}", date.year)
                                    : fmt::format("{}{:05}", date.year < 0 ? '-' : '+',
                                                  date.year < 0 ? -date.year : date.year);
  return fmt::format("{}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", year, date.month, date.day,
                     millis / kHour, millis / kMinute % 60, millis / kSecond % 60, millis % 1000);
}

Result<Instant> parse_instant(std::string_view text) {
  constexpr std::string_view kWrong = "not a point in time";
  if (text == "never") return kNever;
  std::string_view rest = text;
  const auto date = take_date(rest);
  if (!date) return refused(text, kWrong, kInstantHint);
  const bool is_spaced = take_char(rest, ' ');
  if (!is_spaced && !take_char(rest, 'T') && !take_char(rest, 't'))
    return refused(text, kWrong, kInstantHint);
  const auto time = take_time(rest);
  if (!time) return refused(text, kWrong, kInstantHint);
  std::int64_t ahead = 0;
  if (!rest.empty() || !is_spaced) {
    const auto offset = take_offset(rest);
    if (!offset) return refused(text, "a point in time without a zone", kInstantHint);
    ahead = *offset;
  }
  if (!rest.empty()) return refused(text, kWrong, kInstantHint);
  // The first day of the range is cut off before its midnight, so the sum is made wider first.
  const __int128 millis = static_cast<__int128>(days_of(*date)) * kDay + *time - ahead;
  constexpr __int128 kLeast = std::numeric_limits<std::int64_t>::min();
  if (millis < kLeast || millis >= kNever.millis)
    return refused(text, "outside the range of time", kInstantHint);
  return Instant{static_cast<std::int64_t>(millis)};
}

}  // namespace base
