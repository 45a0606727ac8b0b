// Text as the first line of a request, "GET /api/v1/workloads/7?limit=5": finding its operation and
// reading its query parameters are total, and what percent-encoding gives decodes to what it was.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/internal/query.h"
#include "api/internal/routes.h"
#include "base/assert.h"
#include "daemon/settings.h"
#include "platform/url.h"

namespace {

void read_all(const api::Query& query, std::string_view key) {
  constexpr std::string_view kChoices[] = {"queue", "user"};
  static_cast<void>(query.list(key));
  ASSERT(query.number(key, 0, 1000).has_value() || query.text(key).has_value());
  ASSERT(query.time(key).has_value() || query.text(key).has_value());
  static_cast<void>(query.truth(key));
  static_cast<void>(query.choice(key, kChoices));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const std::size_t space = line.find(' ');
  const std::string_view target = space == std::string_view::npos ? line : line.substr(space + 1);
  const std::size_t mark = target.find('?');
  const api::Match match = api::find_route(line.substr(0, space), target.substr(0, mark));
  ASSERT(match.route == nullptr || match.allowed.empty());
  const std::string_view raw =
      mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  for (const api::Route& route : api::routes()) {
    const auto query = api::Query::parse(raw, route.parameters);
    if (!query) {
      ASSERT(!query.error().message.empty());
      continue;
    }
    for (const std::string_view key : route.parameters)
      read_all(*query, key);
  }
  if (line.find('\0') == std::string_view::npos)
    ASSERT(platform::percent_decode(platform::percent_encode(line)) == line);
  if (const auto listen = berthd::parse_listen(std::string(line), "listen"))
    ASSERT(berthd::parse_listen(berthd::print_listen(*listen), "listen") == *listen);
  return 0;
}
