#pragma once
// Percent-encoding and query strings (RFC 3986), strict in what is read.
//
//   auto query = parse_query("queue=search%2Fnlp&limit=50");   // {{"queue","search/nlp"}, ...}

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace platform {

// Nothing when a percent sign is not followed by two hex digits, or the result has a zero byte.
std::optional<std::string> percent_decode(std::string_view text);
// Everything but letters, digits and -._~ is encoded, slashes too.
std::string percent_encode(std::string_view text);

// In the order written; plus signs are spaces. Nothing when the encoding is broken.
std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query);

}  // namespace platform
