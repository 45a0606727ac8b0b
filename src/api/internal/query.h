#pragma once
// The query parameters of one request, read strictly: a parameter that the operation does not know,
// a number that is none, a value outside its range are errors that name the parameter.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/result.h"

namespace api {

class Query {
 public:
  static base::Result<Query> parse(std::string_view raw, std::span<const std::string_view> known);

  // Nothing when absent; an empty value is a value.
  std::optional<std::string> text(std::string_view key) const;
  // All values of a key, each also split at its commas; empty parts are left out.
  std::vector<std::string> list(std::string_view key) const;
  base::Result<std::optional<std::int64_t>> number(std::string_view key, std::int64_t least,
                                                   std::int64_t most) const;
  base::Result<std::optional<base::Instant>> time(std::string_view key) const;
  // "true" or "1", "false" or "0"; absent is false, present without a value is true.
  base::Result<bool> truth(std::string_view key) const;
  // One of `choices`, the first when absent.
  base::Result<std::string> choice(std::string_view key,
                                   std::span<const std::string_view> choices) const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
};

}  // namespace api
