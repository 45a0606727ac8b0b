#include "api/internal/query.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/ranges.h>

#include "base/text.h"
#include "platform/url.h"

namespace api {

using base::Code;

base::Result<Query> Query::parse(std::string_view raw, std::span<const std::string_view> known) {
  static constexpr std::array<std::string_view, 3> kRepeatable{"label", "state", "kinds"};
  const auto pairs = platform::parse_query(raw);
  if (!pairs)
    return base::fail_field(Code::InvalidArgument, "query",
                            "the query is not percent-encoded right",
                            "encode every byte outside letters, digits and -._~ as %XX");
  Query query;
  for (const auto& [key, value] : *pairs) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      const auto near = base::nearest(key, known);
      std::string hint = near            ? fmt::format("did you mean \"{}\"?", *near)
                         : known.empty() ? std::string("this operation takes no parameters")
                                         : fmt::format("it takes {}", fmt::join(known, ", "));
      return base::fail_field(Code::InvalidArgument, key, "unknown parameter", std::move(hint));
    }
    std::vector<std::string>& values = query.values_[key];
    values.push_back(value);
    if (values.size() > 1 &&
        std::find(kRepeatable.begin(), kRepeatable.end(), key) == kRepeatable.end())
      return base::fail_field(Code::InvalidArgument, key, "given twice", "give it once");
  }
  return query;
}

std::optional<std::string> Query::text(std::string_view key) const {
  const auto found = values_.find(key);
  if (found == values_.end()) return std::nullopt;
  return found->second.front();
}

std::vector<std::string> Query::list(std::string_view key) const {
  std::vector<std::string> items;
  const auto found = values_.find(key);
  if (found == values_.end()) return items;
  for (const std::string& value : found->second) {
    std::string_view rest = value;
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      const std::string_view item = rest.substr(0, comma);
      if (!item.empty()) items.emplace_back(item);
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    }
  }
  return items;
}

base::Result<std::optional<std::int64_t>> Query::number(std::string_view key, std::int64_t least,
                                                        std::int64_t most) const {
  const auto given = text(key);
  if (!given) return std::optional<std::int64_t>{};
  const auto number = base::parse_integer(*given);
  if (!number || *number < least || *number > most)
    return base::fail_field(
        Code::InvalidArgument, std::string(key),
        fmt::format("\"{}\" is not a whole number from {} to {}", *given, least, most),
        fmt::format("for example {}={}", key, least));
  return std::optional<std::int64_t>{*number};
}

base::Result<std::optional<base::Instant>> Query::time(std::string_view key) const {
  const auto given = text(key);
  if (!given) return std::optional<base::Instant>{};
  const auto instant = base::parse_instant(*given);
  if (!instant)
    return base::fail_field(Code::InvalidArgument, std::string(key), instant.error().message,
                            "write it as 2026-12-01T09:30:00Z");
  return std::optional<base::Instant>{*instant};
}

base::Result<bool> Query::truth(std::string_view key) const {
  const auto given = text(key);
  if (!given || *given == "false" || *given == "0") return false;
  if (given->empty() || *given == "true" || *given == "1") return true;
  return base::fail_field(Code::InvalidArgument, std::string(key),
                          fmt::format("\"{}\" is neither true nor false", *given),
                          "write true or false");
}

base::Result<std::string> Query::choice(std::string_view key,
                                        std::span<const std::string_view> choices) const {
  const auto given = text(key);
  if (!given) return std::string(choices.front());
  if (std::find(choices.begin(), choices.end(), *given) != choices.end()) return *given;
  return base::fail_field(Code::InvalidArgument, std::string(key),
                          fmt::format("\"{}\" is not one of {}", *given, fmt::join(choices, ", ")),
                          fmt::format("leave it out for {}", choices.front()));
}

}  // namespace api
