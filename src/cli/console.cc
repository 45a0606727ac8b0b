#include "cli/console.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "base/text.h"

namespace cli {
namespace {

std::string_view escape_of(Color color) {
  switch (color) {
    case Color::Plain:
      return "";
    case Color::Useful:
      return "\x1b[32m";
    case Color::Idle:
      return "\x1b[90m";
    case Color::Warning:
      return "\x1b[33m";
    case Color::Broken:
      return "\x1b[31m";
    case Color::Lent:
      return "\x1b[34m";
    case Color::Reserved:
      return "\x1b[35m";
    case Color::Heading:
      return "\x1b[1m";
  }
  return "";
}

// Bytes of the character that starts at text[0]: 0 when they are not UTF-8.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80       ? 1
                             : lead >> 5 == 6  ? 2
                             : lead >> 4 == 14 ? 3
                             : lead >> 3 == 30 ? 4
                                               : 0;
  if (length == 0 || length > text.size() || !base::is_utf8(text.substr(0, length))) return 0;
  return length;
}

std::uint32_t code_point(std::string_view character) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(character[i]));
  };
  switch (character.size()) {
    case 1:
      return byte(0);
    case 2:
      return (byte(0) & 0x1F) << 6 | (byte(1) & 0x3F);
    case 3:
      return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    default:
      return (byte(0) & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 |
             (byte(3) & 0x3F);
  }
}

// Marks that change the order or the visibility of the text after them.
bool is_deceiving(std::uint32_t point) {
  return (point >= 0x200B && point <= 0x200F) || (point >= 0x2028 && point <= 0x202E) ||
         (point >= 0x2060 && point <= 0x206F) || point == 0xFEFF || point == 0x061C;
}

}  // namespace

std::string colored(std::string_view text, Color color, bool has_color) {
  if (!has_color || color == Color::Plain) return std::string(text);
  return fmt::format("{}{}\x1b[0m", escape_of(color), text);
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      text.remove_prefix(1);
      continue;
    }
    const std::string_view character = text.substr(0, length);
    const std::uint32_t point = code_point(character);
    if (point == '\n')
      out += "\\n";
    else if (point == '\t')
      out += "\\t";
    else if (point < 0x20 || (point >= 0x7F && point < 0xA0))
      out += fmt::format("\\x{:02x}", point);
    else if (is_deceiving(point))
      out += fmt::format("\\u{:04x}", point);
    else
      out += character;
    text.remove_prefix(length);
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += printable(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string clipped(std::string_view text, std::size_t columns) {
  if (base::display_width(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  std::size_t used = 0, end = 0;
  while (end < text.size()) {
    const std::size_t length = std::max<std::size_t>(1, character_length(text.substr(end)));
    const std::size_t width = base::display_width(text.substr(end, length));
    if (used + width > columns - 1) break;
    used += width;
    end += length;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace cli
