#include "api/internal/routes.h"

#include <algorithm>
#include <array>

#include "api/internal/handlers.h"
#include "platform/url.h"

namespace api {

namespace {

using controller::Role;
using Keys = std::span<const std::string_view>;

constexpr std::string_view kWorkloadKeys[] = {"queue", "state", "owner", "kind",  "class", "name",
                                              "node",  "label", "sort",  "limit", "cursor"};
constexpr std::string_view kAttemptKeys[] = {"workload", "state", "queue",
                                             "owner",    "limit", "cursor"};
constexpr std::string_view kQueueKeys[] = {"queue", "limit", "cursor"};
constexpr std::string_view kPageKeys[] = {"limit", "cursor"};
constexpr std::string_view kNodeKeys[] = {"pool", "state", "label", "limit", "cursor"};
constexpr std::string_view kDeviceKeys[] = {"node", "pool", "model", "state", "limit", "cursor"};
constexpr std::string_view kEventKeys[] = {"after", "kinds", "workload", "limit"};
constexpr std::string_view kUsageKeys[] = {"by", "from", "until"};
constexpr std::string_view kLogKeys[] = {"member", "stream", "follow", "tail", "offset"};
constexpr std::string_view kOfQueueKeys[] = {"queue"};
constexpr std::string_view kWhyKeys[] = {"queue", "lang"};
constexpr std::string_view kLangKeys[] = {"lang"};
constexpr std::string_view kDryRunKeys[] = {"dryRun"};
constexpr std::string_view kNoteKeys[] = {"note"};
constexpr Keys kNoKeys;

constexpr Role kViewer = Role::Viewer, kUser = Role::User, kOperator = Role::Operator,
               kAdmin = Role::Admin;

constexpr Route kRoutes[] = {
    {"GET", "/metrics", kViewer, kNoKeys, give_metrics},
    {"GET", "/api/v1/openapi.yaml", kViewer, kNoKeys, give_openapi},
    {"GET", "/api/v1/server", kViewer, kNoKeys, describe_server},
    {"POST", "/api/v1/apply", kUser, kDryRunKeys, apply_manifests},
    {"POST", "/api/v1/fits", kViewer, kLangKeys, fits},
    {"GET", "/api/v1/workloads", kViewer, kWorkloadKeys, list_workloads},
    {"POST", "/api/v1/workloads", kUser, kDryRunKeys, create_workload},
    {"POST", "/api/v1/trainingjobs", kUser, kDryRunKeys, create_training_job},
    {"POST", "/api/v1/inferenceservices", kUser, kDryRunKeys, create_inference_service},
    {"POST", "/api/v1/notebooks", kUser, kDryRunKeys, create_notebook},
    {"POST", "/api/v1/batchinferences", kUser, kDryRunKeys, create_batch_inference},
    {"GET", "/api/v1/workloads/{workload}", kViewer, kOfQueueKeys, get_workload},
    {"DELETE", "/api/v1/workloads/{workload}", kUser, kOfQueueKeys, cancel_workload},
    {"POST", "/api/v1/workloads/{workload}/cancel", kUser, kOfQueueKeys, cancel_workload},
    {"POST", "/api/v1/workloads/{workload}/hold", kUser, kOfQueueKeys, hold_workload},
    {"POST", "/api/v1/workloads/{workload}/release", kUser, kOfQueueKeys, release_workload},
    {"GET", "/api/v1/workloads/{workload}/why", kViewer, kWhyKeys, why_workload},
    {"GET", "/api/v1/attempts", kViewer, kAttemptKeys, list_attempts},
    {"GET", "/api/v1/attempts/{attempt}", kViewer, kNoKeys, get_attempt},
    {"GET", "/api/v1/attempts/{attempt}/logs", kViewer, kLogKeys, get_logs},
    {"GET", "/api/v1/queues", kViewer, kQueueKeys, list_queues},
    {"POST", "/api/v1/queues", kAdmin, kDryRunKeys, apply_queue},
    {"GET", "/api/v1/queues/{name}", kViewer, kNoKeys, get_queue},
    {"GET", "/api/v1/pools", kViewer, kPageKeys, list_pools},
    {"POST", "/api/v1/pools", kAdmin, kDryRunKeys, apply_pool},
    {"GET", "/api/v1/pools/{name}", kViewer, kNoKeys, get_pool},
    {"GET", "/api/v1/classes", kViewer, kPageKeys, list_classes},
    {"POST", "/api/v1/classes", kAdmin, kDryRunKeys, apply_class},
    {"GET", "/api/v1/classes/{name}", kViewer, kNoKeys, get_class},
    {"GET", "/api/v1/policies", kViewer, kNoKeys, list_policies},
    {"POST", "/api/v1/policies", kAdmin, kDryRunKeys, apply_policy},
    {"GET", "/api/v1/topologies", kViewer, kNoKeys, list_topologies},
    {"POST", "/api/v1/topologies", kAdmin, kDryRunKeys, apply_topology},
    {"GET", "/api/v1/nodes", kViewer, kNodeKeys, list_nodes},
    {"GET", "/api/v1/nodes/{name}", kViewer, kNoKeys, get_node},
    {"POST", "/api/v1/nodes/{name}/cordon", kOperator, kNoteKeys, cordon_node},
    {"POST", "/api/v1/nodes/{name}/uncordon", kOperator, kNoteKeys, uncordon_node},
    {"POST", "/api/v1/nodes/{name}/drain", kOperator, kNoteKeys, drain_node},
    {"GET", "/api/v1/devices", kViewer, kDeviceKeys, list_devices},
    {"GET", "/api/v1/events", kViewer, kEventKeys, list_events},
    {"GET", "/api/v1/usage", kViewer, kUsageKeys, report_usage},
};

// "/a/b" is {"a", "b"}; a slash at the end adds an empty part, which matches nothing.
std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    const std::size_t end = path.find('/');
    parts.push_back(path.substr(0, end));
    path = end == std::string_view::npos ? std::string_view{} : path.substr(end);
  }
  return parts;
}

std::optional<std::vector<std::string>> match(std::string_view pattern,
                                              const std::vector<std::string_view>& parts) {
  const std::vector<std::string_view> expected = parts_of(pattern);
  if (expected.size() != parts.size()) return std::nullopt;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!expected[i].starts_with('{')) {
      if (expected[i] != parts[i]) return std::nullopt;
      continue;
    }
    auto name = platform::percent_decode(parts[i]);
    if (!name || name->empty()) return std::nullopt;
    names.push_back(std::move(*name));
  }
  return names;
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

Match find_route(std::string_view method, std::string_view path) {
  const std::vector<std::string_view> parts = parts_of(path);
  const std::string_view wanted = method == "HEAD" ? std::string_view("GET") : method;
  Match found;
  for (const Route& route : kRoutes) {
    auto names = match(route.path, parts);
    if (!names) continue;
    if (route.method == wanted) return {.route = &route, .names = std::move(*names), .allowed = {}};
    found.allowed.push_back(route.method);
  }
  return found;
}

}  // namespace api
