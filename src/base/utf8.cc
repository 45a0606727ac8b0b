#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/assert.h"
#include "base/internal/utf8.h"
#include "base/text.h"

namespace base {

namespace {

struct Range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

// Code points that take two columns: East Asian Wide and Fullwidth of Unicode 15, neighbouring
// blocks merged across unassigned points.
constexpr std::array<Range, 71> kWide{{
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x23F0, 0x23F0},   {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
    {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},
    {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},
    {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
    {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
    {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x16FE0, 0x18CFF}, {0x1AFF0, 0x1B2FF}, {0x1F004, 0x1F004},
    {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A}, {0x1F200, 0x1F320},
    {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA},
    {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4}, {0x1F3F8, 0x1F43E},
    {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F567},
    {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6D7}, {0x1F7E0, 0x1F7F0},
    {0x1F90C, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD},
}};

// Code points that take no column of their own: controls, combining marks of the scripts that
// names are written in, joiners, direction marks, variation selectors.
constexpr std::array<Range, 29> kZero{{
    {0x0000, 0x001F}, {0x007F, 0x009F}, {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},
    {0x05BF, 0x05BF}, {0x05C1, 0x05C2}, {0x05C4, 0x05C5}, {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x0670, 0x0670}, {0x06D6, 0x06DC}, {0x06DF, 0x06E4}, {0x06E7, 0x06E8}, {0x06EA, 0x06ED},
    {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
    {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x2064}, {0x20D0, 0x20F0}, {0x302A, 0x302D},
    {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF},
}};

// O(log ranges).
bool is_in(std::span<const Range> ranges, std::uint32_t value) {
  const auto after = std::upper_bound(
      ranges.begin(), ranges.end(), value,
      [](std::uint32_t wanted, const Range& range) { return wanted < range.first; });
  return after != ranges.begin() && value <= std::prev(after)->last;
}

// Bytes of the sequence that `lead` begins, and the least value that needs that many: smaller
// ones are overlong. Size 0: `lead` begins nothing.
struct Lead {
  std::size_t size = 0;
  std::uint32_t bits = 0;
  std::uint32_t least = 0;
};

Lead lead_of(unsigned char lead) {
  if (lead < 0x80) return {1, lead, 0};
  if ((lead & 0xE0) == 0xC0) return {2, lead & 0x1FU, 0x80};
  if ((lead & 0xF0) == 0xE0) return {3, lead & 0x0FU, 0x800};
  if ((lead & 0xF8) == 0xF0) return {4, lead & 0x07U, 0x10000};
  return {};
}

}  // namespace

internal::CodePoint internal::code_point_at(std::string_view text, std::size_t at) {
  ASSERT(at < text.size());
  const Lead lead = lead_of(static_cast<unsigned char>(text[at]));
  if (lead.size == 0 || lead.size > text.size() - at) return {};
  std::uint32_t value = lead.bits;
  for (std::size_t i = 1; i < lead.size; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    if ((byte & 0xC0) != 0x80) return {};
    value = value << 6 | (byte & 0x3FU);
  }
  const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < lead.least || value > 0x10FFFF || is_surrogate) return {};
  return {.value = value, .size = lead.size, .is_valid = true};
}

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const internal::CodePoint point = internal::code_point_at(text, at);
    if (!point.is_valid) return false;
    at += point.size;
  }
  return true;
}

std::size_t display_width(std::string_view utf8) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    const internal::CodePoint point = internal::code_point_at(utf8, at);
    at += point.size;
    // A bad byte is shown as one replacement character.
    if (!point.is_valid)
      width += 1;
    else if (is_in(kZero, point.value))
      continue;
    else
      width += is_in(kWide, point.value) ? 2 : 1;
  }
  return width;
}

}  // namespace base
