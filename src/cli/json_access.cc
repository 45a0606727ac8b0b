#include "cli/json_access.h"

#include <boost/json.hpp>

namespace cli {
namespace {

namespace json = boost::json;

std::string as_text(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (value.is_number() || value.is_bool()) return json::serialize(value);
  return "";
}

template <class Each>
void append_items(std::string& out, std::size_t count, std::size_t indent, char open, char close,
                  Each each) {
  out += open;
  for (std::size_t i = 0; i < count; ++i) {
    out += i == 0 ? "\n" : ",\n";
    out.append(indent + 2, ' ');
    each(i);
  }
  if (count > 0) {
    out += '\n';
    out.append(indent, ' ');
  }
  out += close;
}

void append_pretty(std::string& out, const json::value& value, std::size_t indent) {
  if (value.is_object()) {
    auto member = value.get_object().begin();
    append_items(out, value.get_object().size(), indent, '{', '}', [&](std::size_t) {
      out += json::serialize(json::value(member->key())) + ": ";
      append_pretty(out, member->value(), indent + 2);
      ++member;
    });
  } else if (value.is_array()) {
    const json::array& array = value.get_array();
    append_items(out, array.size(), indent, '[', ']',
                 [&](std::size_t i) { append_pretty(out, array[i], indent + 2); });
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

const json::value* value_at(const json::value& value, std::string_view path) {
  const json::value* at = &value;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    if (!at->is_object()) return nullptr;
    at = at->get_object().if_contains(path.substr(0, end));
    if (at == nullptr) return nullptr;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return at;
}

std::string text_at(const json::value& value, std::string_view path) {
  const json::value* found = value_at(value, path);
  return found == nullptr ? "" : as_text(*found);
}

std::optional<std::int64_t> integer_at(const json::value& value, std::string_view path) {
  const json::value* found = value_at(value, path);
  if (found == nullptr) return std::nullopt;
  if (const std::int64_t* number = found->if_int64()) return *number;
  return std::nullopt;
}

bool flag_at(const json::value& value, std::string_view path) {
  const json::value* found = value_at(value, path);
  return found != nullptr && found->is_bool() && found->get_bool();
}

std::span<const json::value> array_at(const json::value& value, std::string_view path) {
  const json::value* found = value_at(value, path);
  if (found == nullptr || !found->is_array()) return {};
  return {found->get_array().data(), found->get_array().size()};
}

std::string joined_at(const json::value& value, std::string_view path, std::string_view separator) {
  std::string out;
  for (const json::value& element : array_at(value, path)) {
    if (!out.empty()) out += separator;
    out += as_text(element);
  }
  return out;
}

std::string pretty_json(const json::value& value) {
  std::string out;
  append_pretty(out, value, 0);
  return out + "\n";
}

}  // namespace cli
