#pragma once
// Reading answers of the server, which is another program: whatever is missing or of another type
// reads as nothing, so that an older or newer server gives "-" in a cell and never a crash.
//
//   text_at(workload, "gpus.text")   // "8"; "" when there is none

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

namespace cli {

// `path` is keys separated by dots. Null when a part of it is missing.
const boost::json::value* value_at(const boost::json::value& value, std::string_view path);
// Strings as they are, numbers and booleans as JSON writes them, else empty.
std::string text_at(const boost::json::value& value, std::string_view path);
std::optional<std::int64_t> integer_at(const boost::json::value& value, std::string_view path);
bool flag_at(const boost::json::value& value, std::string_view path);
// Empty when it is missing or no array.
std::span<const boost::json::value> array_at(const boost::json::value& value,
                                             std::string_view path);
// The elements as text, separated by `separator`.
std::string joined_at(const boost::json::value& value, std::string_view path,
                      std::string_view separator = ",");

// With line ends and two spaces of indent.
std::string pretty_json(const boost::json::value& value);

}  // namespace cli
