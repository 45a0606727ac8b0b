// What holds for every text function, tried on generated values: printing gives a text that parses
// back to the same value, and no text at all brings a parser down.

#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/instant.h"
#include "base/text.h"

namespace base {
namespace {

// All magnitudes are equally likely, so that small and huge amounts are both met.
rc::Gen<std::int64_t> any_amount() {
  return rc::gen::map(rc::gen::pair(rc::gen::arbitrary<std::uint64_t>(), rc::gen::inRange(1, 64)),
                      [](const std::pair<std::uint64_t, int>& drawn) {
                        return static_cast<std::int64_t>(drawn.first >> drawn.second);
                      });
}

rc::Gen<std::int64_t> any_signed_amount() {
  return rc::gen::map(rc::gen::pair(any_amount(), rc::gen::arbitrary<bool>()),
                      [](const std::pair<std::int64_t, bool>& drawn) {
                        return drawn.second ? -drawn.first : drawn.first;
                      });
}

// Texts made of the characters that the grammars use, so that many are nearly right.
rc::Gen<std::string> any_text() {
  return rc::gen::oneOf(rc::gen::arbitrary<std::string>(),
                        rc::gen::container<std::string>(
                            rc::gen::elementOf(std::string("0123456789.-+:TZ dhmsGiKBk"))));
}

RC_GTEST_PROP(TextProperty, BytesParseBackToWhatWasPrinted, ()) {
  const std::int64_t bytes = *any_amount();
  const std::string text = print_bytes(bytes);
  RC_ASSERT(parse_bytes(text) == bytes);
  RC_ASSERT(text.size() <= std::to_string(bytes).size());
}

RC_GTEST_PROP(TextProperty, RoundSizesPrintShort, ()) {
  const auto count = *rc::gen::inRange<std::int64_t>(1, 1000);
  const auto shift = *rc::gen::elementOf(std::vector<int>{10, 20, 30, 40});
  const std::int64_t bytes = count << shift;
  RC_ASSERT(parse_bytes(print_bytes(bytes)) == bytes);
  RC_ASSERT(print_bytes(bytes).size() <= std::to_string(count).size() + 2);
}

RC_GTEST_PROP(TextProperty, MilliParseBackToWhatWasPrinted, ()) {
  const std::int64_t milli = *any_amount();
  RC_ASSERT(parse_milli(print_milli(milli)) == milli);
}

RC_GTEST_PROP(TextProperty, IntegersParseBackToWhatWasPrinted, ()) {
  const auto value = *rc::gen::arbitrary<std::int64_t>();
  RC_ASSERT(parse_integer(std::to_string(value)) == value);
}

RC_GTEST_PROP(TextProperty, DurationsParseBackToWhatWasPrinted, ()) {
  const Duration duration{*any_amount()};
  RC_ASSERT(parse_duration(print_duration(duration)) == duration);
}

RC_GTEST_PROP(TextProperty, InstantsParseBackToWhatWasPrinted, ()) {
  const Instant instant{*any_signed_amount()};
  RC_ASSERT(parse_instant(print_instant(instant)) == instant);
}

RC_GTEST_PROP(TextProperty, InstantsPrintInTheirOrder, ()) {
  // Inside years 0..9999, where the text has a fixed width.
  const auto first = *rc::gen::inRange<std::int64_t>(-62'167'219'200'000, 253'402'300'800'000);
  const auto second = *rc::gen::inRange<std::int64_t>(-62'167'219'200'000, 253'402'300'800'000);
  RC_ASSERT((first < second) == (print_instant(Instant{first}) < print_instant(Instant{second})));
}

RC_GTEST_PROP(TextProperty, WhatParsesIsInRangeAndPrintsBack, ()) {
  const std::string text = *any_text();
  if (const auto bytes = parse_bytes(text)) {
    RC_ASSERT(*bytes >= 0);
    RC_ASSERT(parse_bytes(print_bytes(*bytes)) == *bytes);
  }
  if (const auto milli = parse_milli(text)) RC_ASSERT(*milli >= 0);
  if (const auto duration = parse_duration(text)) RC_ASSERT(duration->millis >= 0);
  if (const auto integer = parse_integer(text)) RC_ASSERT(parse_integer(text) == *integer);
  if (const auto instant = parse_instant(text))
    RC_ASSERT(parse_instant(print_instant(*instant)) == *instant);
}

RC_GTEST_PROP(TextProperty, WidthIsAtMostTwiceTheBytes, ()) {
  const auto text = *rc::gen::arbitrary<std::string>();
  RC_ASSERT(display_width(text) <= 2 * text.size());
}

}  // namespace
}  // namespace base
