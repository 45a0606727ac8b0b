#include <cstdint>
#include <limits>
#include <string_view>

#include <gtest/gtest.h>

#include "base/instant.h"
#include "base/text.h"

namespace base {
namespace {

TEST(ParseDuration, TakesUnitsLargestFirst) {
  EXPECT_EQ(parse_duration("90s"), seconds(90));
  EXPECT_EQ(parse_duration("2h"), hours(2));
  EXPECT_EQ(parse_duration("1d12h"), hours(36));
  EXPECT_EQ(parse_duration("250ms"), milliseconds(250));
  EXPECT_EQ(parse_duration("1s500ms"), milliseconds(1500));
  EXPECT_EQ(parse_duration("1d1h1m1s1ms"), milliseconds(90'061'001));
  EXPECT_EQ(parse_duration("0s"), seconds(0));
}

TEST(ParseDuration, TakesTheFormOfSlurm) {
  EXPECT_EQ(parse_duration("1-12:00:00"), hours(36));
  EXPECT_EQ(parse_duration("02:00:00"), hours(2));
  EXPECT_EQ(parse_duration("72:00:01"), hours(72) + seconds(1));
  for (const std::string_view bad :
       {"1-24:00:00", "1:60:00", "1:00:60", "1:0:0", "10:00", "1-", "1-2", ":00:00", "-1:00:00",
        "1:00:00s", "1-1-1:00:00", "99999999999999-00:00:00"})
    EXPECT_FALSE(parse_duration(bad)) << bad;
}

TEST(ParseDuration, RefusesSignsGarbageAndOverflow) {
  for (const std::string_view bad :
       {"", "90", "-1s", "+1s", "1h2d", "1s1s", "s", "1.5h", "1 h", "1H", "1hm", "1w", "1sms",
        "9223372036854775808ms", "106751991168d", "106751991167d8h"})
    EXPECT_FALSE(parse_duration(bad)) << bad;
  EXPECT_EQ(to_text(parse_duration("90").error()),
            "'90' is a duration without a unit (write it like 90s, 2h, 1d12h, 250ms or "
            "1-12:00:00)");
}

TEST(PrintDuration, IsExact) {
  EXPECT_EQ(print_duration(hours(36)), "1d12h");
  EXPECT_EQ(print_duration(milliseconds(1500)), "1s500ms");
  EXPECT_EQ(print_duration(Duration{}), "0s");
  EXPECT_EQ(print_duration(seconds(-90)), "-1m30s");
  EXPECT_EQ(print_duration(kForever), "106751991167d7h12m55s807ms");
  EXPECT_EQ(print_duration(Duration{std::numeric_limits<std::int64_t>::min()}),
            "-106751991167d7h12m55s808ms");
}

TEST(PrintDurationShort, ShowsTwoUnits) {
  EXPECT_EQ(print_duration_short(hours(76) + minutes(59)), "3d4h");
  EXPECT_EQ(print_duration_short(hours(72) + minutes(59)), "3d");
  EXPECT_EQ(print_duration_short(minutes(61) + seconds(1)), "1h1m");
  EXPECT_EQ(print_duration_short(milliseconds(12'345)), "12s");
  EXPECT_EQ(print_duration_short(milliseconds(345)), "345ms");
  EXPECT_EQ(print_duration_short(Duration{}), "0s");
  EXPECT_EQ(print_duration_short(kForever), "forever");
}

TEST(PrintInstant, IsRfc3339InUtc) {
  EXPECT_EQ(print_instant(Instant{0}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(print_instant(Instant{-1}), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(print_instant(Instant{1'796'117'400'000}), "2026-12-01T09:30:00.000Z");
  EXPECT_EQ(print_instant(Instant{951'782'400'000}), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(print_instant(Instant{253'402'300'800'000}), "+10000-01-01T00:00:00.000Z");
  EXPECT_EQ(print_instant(kNever), "never");
  EXPECT_EQ(print_instant(Instant{std::numeric_limits<std::int64_t>::min()}),
            "-292275055-05-16T16:47:04.192Z");
}

TEST(ParseInstant, TakesAnyOffset) {
  const Instant half_past_nine{1'796'117'400'000};
  for (const std::string_view same :
       {"2026-12-01T09:30:00Z", "2026-12-01t09:30:00.000z", "2026-12-01T17:30:00+08:00",
        "2026-12-01T04:00:00-05:30", "2026-12-01 09:30:00", "2026-12-01 09:30:00Z",
        "2026-12-01T09:30:00.000999999Z"})
    EXPECT_EQ(parse_instant(same), half_past_nine) << same;
  EXPECT_EQ(parse_instant("2026-12-01T09:30:00.5Z"), half_past_nine + milliseconds(500));
}

TEST(ParseInstant, RefusesDatesThatDoNotExist) {
  for (const std::string_view bad : {"",
                                     "2026-12-01",
                                     "2026-12-01T09:30:00",
                                     "2026-13-01T00:00:00Z",
                                     "2026-02-29T00:00:00Z",
                                     "2026-04-31T00:00:00Z",
                                     "1900-02-29T00:00:00Z",
                                     "2026-12-01T24:00:00Z",
                                     "2026-12-01T23:60:00Z",
                                     "2026-12-01T23:59:60Z",
                                     "2026-12-01T09:30Z",
                                     "2026-12-01T09:30:00.Z",
                                     "2026-12-01T09:30:00+0800",
                                     "2026-12-01T09:30:00+24:00",
                                     "2026-1-1T00:00:00Z",
                                     "26-12-01T00:00:00Z",
                                     "2026-12-01T09:30:00Z ",
                                     "now",
                                     "+999999999-01-01T00:00:00Z",
                                     "-292275055-05-16T16:47:04.191Z"})
    EXPECT_FALSE(parse_instant(bad)) << bad;
}

}  // namespace
}  // namespace base
