#pragma once
// The table of operations: method, path, least role, parameters and handler of each, the same as in
// openapi.yaml (a test compares them). And the search in it.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/internal/exchange.h"
#include "controller/identity.h"

namespace api {

struct Route {
  std::string_view method;
  std::string_view path;  // "/api/v1/workloads/{workload}/why"
  controller::Role role = controller::Role::Viewer;
  std::span<const std::string_view> parameters;  // of the query
  void (*handler)(Desk& desk, const ExchangePtr& exchange) = nullptr;
};

std::span<const Route> routes();

struct Match {
  const Route* route = nullptr;
  std::vector<std::string> names;         // decoded, of the parts in braces
  std::vector<std::string_view> allowed;  // methods of that path, when only the method is wrong
};
// `path` percent-encoded, as it came.
Match find_route(std::string_view method, std::string_view path);

}  // namespace api
