#pragma once
// Text <-> value for the amounts, durations and instants that people write. Parsing is strict and
// total: overflow, a stray sign, a wrong unit or trailing bytes give an Error that says what would
// have been right. Printing gives the shortest text that parses back to the same value.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/instant.h"
#include "base/result.h"

namespace base {

// "17", "-3": decimal digits only, whole text.
Result<std::int64_t> parse_integer(std::string_view text);

// Bytes: "1024", "128Gi", "1.5Gi", "40G" (decimal), suffixes k K M G T P and Ki Mi Gi Ti Pi, with
// an optional trailing B. Never negative.
Result<std::int64_t> parse_bytes(std::string_view text);
std::string print_bytes(std::int64_t bytes);  // "128Gi", exact

// Thousandths of a whole: "16", "0.5", "500m". Never negative, at most three decimals.
Result<std::int64_t> parse_milli(std::string_view text);
std::string print_milli(std::int64_t milli);  // "16", "0.5"

// "90s", "2h", "1d12h", "30m", "250ms", or Slurm's "1-12:00:00" and "02:00:00". Never negative.
Result<Duration> parse_duration(std::string_view text);
std::string print_duration(Duration duration);        // exact: "1d12h", "1.5s" as "1s500ms"
std::string print_duration_short(Duration duration);  // for people, two largest units: "3d4h"

// RFC 3339 in UTC with milliseconds: "2026-12-01T09:30:00.000Z". Parsing takes any offset, and
// "2026-12-01 09:30:00" as UTC.
std::string print_instant(Instant instant);
Result<Instant> parse_instant(std::string_view text);

// The candidate with the least edit distance to `word`, if it is near enough to be a typing slip.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> candidates);

bool is_utf8(std::string_view text);

// A name that is safe in paths, labels and tables: 1..63 of [a-z0-9], '-', '_', '.', starting and
// ending with a letter or digit.
Result<Done> check_name(std::string_view name, std::string_view field);

// Columns that the text takes in a terminal: CJK wide characters count 2, combining ones 0.
std::size_t display_width(std::string_view utf8);

}  // namespace base
