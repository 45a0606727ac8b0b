#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/internal/utf8.h"
#include "base/text.h"

namespace base {
namespace {

TEST(IsUtf8, AcceptsEveryCodePointInItsShortestForm) {
  for (const std::string_view good :
       {"", "plain", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF", "队列 é 🚀"})
    EXPECT_TRUE(is_utf8(good)) << good;
}

TEST(IsUtf8, RefusesOverlongSurrogateTruncatedAndStrayBytes) {
  for (const std::string_view bad : {"\x80",
                                     "\xBF",
                                     "\xC0\x80",
                                     "\xC1\xBF",
                                     "\xE0\x80\x80",
                                     "\xE0\x9F\xBF",
                                     "\xF0\x80\x80\x80",
                                     "\xF0\x8F\xBF\xBF",
                                     "\xED\xA0\x80",
                                     "\xED\xBF\xBF",
                                     "\xF4\x90\x80\x80",
                                     "\xF5\x80\x80\x80",
                                     "\xF8\x88\x80\x80\x80",
                                     "\xFE",
                                     "\xFF",
                                     "\xC2",
                                     "\xE2\x82",
                                     "\xF0\x9F\x9A",
                                     "\xC2\x41",
                                     "\xE2\x82\x41",
                                     "ok\xE2\x28\xA1"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
}

// Encodes by the definition, independent of the reader.
std::string encoded(std::uint32_t point) {
  const auto tail = [point](int shift) {
    return static_cast<char>(0x80 | (point >> shift & 0x3F));
  };
  if (point < 0x80) return {static_cast<char>(point)};
  if (point < 0x800) return {static_cast<char>(0xC0 | point >> 6), tail(0)};
  if (point < 0x10000) return {static_cast<char>(0xE0 | point >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0 | point >> 18), tail(12), tail(6), tail(0)};
}

TEST(CodePointAt, GivesBackEveryCodePoint) {
  for (std::uint32_t point = 0; point <= 0x10FFFF; ++point) {
    const std::string text = encoded(point);
    const internal::CodePoint read = internal::code_point_at(text, 0);
    const bool is_surrogate = point >= 0xD800 && point <= 0xDFFF;
    ASSERT_EQ(read.is_valid, !is_surrogate) << point;
    if (is_surrogate) continue;
    ASSERT_EQ(read.value, point);
    ASSERT_EQ(read.size, text.size()) << point;
  }
}

TEST(DisplayWidth, CountsColumnsOfATerminal) {
  EXPECT_EQ(display_width(""), 0U);
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("队列"), 4U);
  EXPECT_EQ(display_width("队列 nlp，"), 10U);
  EXPECT_EQ(display_width("한국어"), 6U);
  EXPECT_EQ(display_width("ｱｲ"), 2U);  // halfwidth forms
  EXPECT_EQ(display_width("Ａ"), 2U);  // fullwidth form
  EXPECT_EQ(display_width("é"), 1U);
  EXPECT_EQ(display_width("e\xCC\x81"), 1U);  // e with a combining accent
  EXPECT_EQ(display_width("🚀"), 2U);
  EXPECT_EQ(display_width("≤×→"), 3U);
  EXPECT_EQ(display_width("a\u200Bb"), 2U);  // zero width space
  EXPECT_EQ(display_width("a\xFF"), 2U);     // shown as one replacement character
}

}  // namespace
}  // namespace base
