#include "base/json_text.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "base/internal/utf8.h"
#include "base/text.h"

namespace base {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kHexDigits = "0123456789abcdef";

void append_escaped(std::string& out, std::uint32_t point) {
  switch (point) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  out += "\\u00";
  out += kHexDigits[point >> 4 & 0xF];
  out += kHexDigits[point & 0xF];
}

// Controls of both sets: those above U+007F are legal in JSON, but move a terminal's cursor.
bool needs_escape(std::uint32_t point) {
  return point < 0x20 || point == '"' || point == '\\' || (point >= 0x7F && point <= 0x9F);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  for (std::size_t at = 0; at < text.size();) {
    const internal::CodePoint point = internal::code_point_at(text, at);
    if (!point.is_valid)
      out += kReplacement;
    else if (needs_escape(point.value))
      append_escaped(out, point.value);
    else
      out += text.substr(at, point.size);
    at += point.size;
  }
  out += '"';
}

void append_json_instant(std::string& out, Instant instant) {
  if (instant == kNever)
    out += "null";
  else
    append_json_string(out, print_instant(instant));
}

}  // namespace base
