#include "cli/yaml_text.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>
#include <boost/json.hpp>

namespace cli {
namespace {

namespace json = boost::json;

constexpr std::string_view kWords[] = {"y",   "n",    "yes",  "no", "true", "false", "on",
                                       "off", "null", "none", "~",  ".nan", ".inf"};

bool is_plain_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == '/' || c == ' ' || c == '+' || c == '=' || c == '(' ||
         c == ')';
}

// Whether the text means itself without quotes. Only letters of any script begin such a text, and
// only harmless characters follow, so nothing of YAML's grammar has to be known here.
bool is_plain(std::string_view text) {
  if (text.empty() || text.back() == ' ') return false;
  const auto first = static_cast<unsigned char>(text[0]);
  const bool begins_well = (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') ||
                           first == '/' || first >= 0xC3;
  // Separators of lines and the byte order mark mean something to some readers.
  const bool has_mark = text.find("\xE2\x80") != std::string_view::npos ||
                        text.find("\xEF\xBB\xBF") != std::string_view::npos;
  if (!begins_well || has_mark) return false;
  for (const unsigned char c : text)
    if (c == 0xC2 || (c < 0x80 && !is_plain_character(static_cast<char>(c)))) return false;
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return std::ranges::find(kWords, std::string_view(lower)) == std::end(kWords);
}

std::string scalar(const json::value& value) {
  if (!value.is_string()) return json::serialize(value);
  const std::string_view text = value.get_string();
  // A JSON string is a YAML double-quoted one.
  return is_plain(text) ? std::string(text) : json::serialize(value);
}

void append(std::string& out, const json::value& value, std::size_t indent, bool is_after_dash);

void append_child(std::string& out, const json::value& child, std::size_t indent) {
  const bool is_block = (child.is_object() && !child.get_object().empty()) ||
                        (child.is_array() && !child.get_array().empty());
  if (!is_block) {
    out += " ";
    append(out, child, indent, true);
    return;
  }
  out += "\n";
  append(out, child, child.is_array() ? indent : indent + 2, false);
}

void append(std::string& out, const json::value& value, std::size_t indent, bool is_after_dash) {
  const std::string space(indent, ' ');
  if (value.is_object() && !value.get_object().empty()) {
    bool is_first = true;
    for (const auto& [key, child] : value.get_object()) {
      if (!is_first || !is_after_dash) out += space;
      is_first = false;
      out += scalar(json::value(key)) + ":";
      append_child(out, child, indent);
    }
  } else if (value.is_array() && !value.get_array().empty()) {
    bool is_first = true;
    for (const json::value& child : value.get_array()) {
      if (!is_first || !is_after_dash) out += space;
      is_first = false;
      out += "- ";
      append(out, child, indent + 2, true);
    }
  } else {
    out += value.is_object() ? "{}" : value.is_array() ? "[]" : scalar(value);
    out += "\n";
  }
}

}  // namespace

std::string yaml_text(const json::value& value) {
  std::string out;
  append(out, value, 0, false);
  return out;
}

}  // namespace cli
