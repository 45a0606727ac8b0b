#include "api/internal/listing.h"

#include <algorithm>

namespace api {

base::Result<Page> page_of(const Query& query) {
  const auto limit = query.number("limit", 1, kMaxPage);
  if (!limit) return tl::unexpected(limit.error());
  return Page{.limit = static_cast<std::size_t>(limit->value_or(kDefaultPage)),
              .cursor = query.text("cursor").value_or("")};
}

std::vector<LabelPattern> label_patterns(const Query& query) {
  std::vector<LabelPattern> patterns;
  for (const std::string& item : query.list("label")) {
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos)
      patterns.emplace_back(item, std::nullopt);
    else
      patterns.emplace_back(item.substr(0, equals), item.substr(equals + 1));
  }
  return patterns;
}

bool matches_all(const std::map<std::string, std::string>& labels,
                 const std::vector<LabelPattern>& patterns) {
  return std::all_of(patterns.begin(), patterns.end(), [&labels](const LabelPattern& pattern) {
    const auto found = labels.find(pattern.first);
    return found != labels.end() && (!pattern.second || *pattern.second == found->second);
  });
}

}  // namespace api
