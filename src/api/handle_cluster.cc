// Queues, pools, classes, nodes, devices, policies and topologies: what is configured and what is
// there.

#include <algorithm>
#include <optional>
#include <set>

#include "api/internal/dto.h"
#include "api/internal/handlers.h"
#include "api/internal/listing.h"
#include "base/json_text.h"
#include "base/text.h"

namespace api {

using base::Code;
using base::Result;

namespace {

// The things of a by-name index from after the cursor on. `write(item, id)` appends one,
// `takes(id)` tells whether it is wanted.
template <class Map, class Takes, class Write>
std::string page_by_name(const Map& by_name, const Page& page, const Takes& takes,
                         const Write& write) {
  PageWriter writer(page.limit);
  auto entry = page.cursor.empty() ? by_name.begin() : by_name.upper_bound(page.cursor);
  for (; entry != by_name.end(); ++entry) {
    if (!takes(entry->second)) continue;
    std::string* item = writer.next(entry->first);
    if (item == nullptr) break;
    write(*item, entry->second);
  }
  return writer.finish();
}

bool takes_every(auto) { return true; }

}  // namespace

void list_queues(Desk& desk, const ExchangePtr& exchange) {
  const auto page = page_of(exchange->query);
  if (!page) return exchange->refuse(page.error());
  answer_from_loop(desk, exchange,
                   [page = *page, top = exchange->query.text("queue")](
                       const controller::Controller& loop, base::Instant) -> Result<std::string> {
                     const model::State& state = loop.state();
                     Result<model::QueueId> queue = model::QueueId{};
                     if (top) queue = find_queue(state, *top);
                     if (!queue) return tl::unexpected(queue.error());
                     const QueueCounts counts = count_by_queue(state);
                     return page_by_name(
                         state.queue_by_name, page,
                         [&](model::QueueId id) {
                           const auto& path = state.queues.at(id).path;
                           return !*queue ||
                                  std::find(path.begin(), path.end(), *queue) != path.end();
                         },
                         [&](std::string& item, model::QueueId id) {
                           append_queue(item, state, state.queues.at(id), counts);
                         });
                   });
}

void get_queue(Desk& desk, const ExchangePtr& exchange) {
  answer_from_loop_with_tag(desk, exchange,
                            [name = exchange->names[0]](const controller::Controller& loop,
                                                        base::Instant) -> Result<std::string> {
                              const auto queue = find_queue(loop.state(), name);
                              if (!queue) return tl::unexpected(queue.error());
                              std::string json;
                              append_queue(json, loop.state(), loop.state().queues.at(*queue),
                                           count_by_queue(loop.state()));
                              return json;
                            });
}

void list_pools(Desk& desk, const ExchangePtr& exchange) {
  const auto page = page_of(exchange->query);
  if (!page) return exchange->refuse(page.error());
  answer_from_loop(
      desk, exchange,
      [page = *page](const controller::Controller& loop, base::Instant) -> Result<std::string> {
        const model::State& state = loop.state();
        return page_by_name(state.pool_by_name, page, takes_every<model::PoolId>,
                            [&](std::string& item, model::PoolId id) {
                              append_pool(item, state, state.pools.at(id));
                            });
      });
}

void get_pool(Desk& desk, const ExchangePtr& exchange) {
  answer_from_loop_with_tag(desk, exchange,
                            [name = exchange->names[0]](const controller::Controller& loop,
                                                        base::Instant) -> Result<std::string> {
                              const auto pool = find_pool(loop.state(), name);
                              if (!pool) return tl::unexpected(pool.error());
                              std::string json;
                              append_pool(json, loop.state(), loop.state().pools.at(*pool));
                              return json;
                            });
}

void list_classes(Desk& desk, const ExchangePtr& exchange) {
  const auto page = page_of(exchange->query);
  if (!page) return exchange->refuse(page.error());
  answer_from_loop(
      desk, exchange,
      [page = *page](const controller::Controller& loop, base::Instant) -> Result<std::string> {
        const model::State& state = loop.state();
        return page_by_name(state.class_by_name, page, takes_every<model::ClassId>,
                            [&](std::string& item, model::ClassId id) {
                              append_class(item, state.classes.at(id));
                            });
      });
}

void get_class(Desk& desk, const ExchangePtr& exchange) {
  answer_from_loop_with_tag(desk, exchange,
                            [name = exchange->names[0]](const controller::Controller& loop,
                                                        base::Instant) -> Result<std::string> {
                              const auto& by_name = loop.state().class_by_name;
                              const auto found = by_name.find(name);
                              if (found == by_name.end()) return no_such("class", name, by_name);
                              std::string json;
                              append_class(json, loop.state().classes.at(found->second));
                              return json;
                            });
}

namespace {

bool is_in_pool(const model::State& state, model::PoolId pool, model::PoolId wanted) {
  const model::PoolRecord* record = state.pools.find(pool);
  return record != nullptr &&
         std::find(record->path.begin(), record->path.end(), wanted) != record->path.end();
}

Result<std::set<model::NodeCondition>> conditions_of(const Query& query) {
  std::set<model::NodeCondition> conditions;
  for (const std::string& word : query.list("state")) {
    const auto condition = base::enum_from<model::NodeCondition>(word);
    if (!condition) {
      const auto near = base::nearest(word, enum_names(model::NodeCondition{}));
      return base::fail_field(Code::InvalidArgument, "state",
                              fmt::format("\"{}\" is not a condition of nodes", word),
                              near ? fmt::format("did you mean \"{}\"?", *near) : std::string());
    }
    conditions.insert(*condition);
  }
  return conditions;
}

}  // namespace

void list_nodes(Desk& desk, const ExchangePtr& exchange) {
  const auto page = page_of(exchange->query);
  const auto conditions = conditions_of(exchange->query);
  if (!page) return exchange->refuse(page.error());
  if (!conditions) return exchange->refuse(conditions.error());
  answer_from_loop(
      desk, exchange,
      [&desk, page = *page, conditions = *conditions, pool_name = exchange->query.text("pool"),
       labels = label_patterns(exchange->query)](const controller::Controller& loop,
                                                 base::Instant) -> Result<std::string> {
        const model::State& state = loop.state();
        Result<model::PoolId> pool = model::PoolId{};
        if (pool_name) pool = find_pool(state, *pool_name);
        if (!pool) return tl::unexpected(pool.error());
        return page_by_name(
            state.node_by_name, page,
            [&](model::NodeId id) {
              const model::Node& node = state.nodes.at(id).node;
              return (conditions.empty() || conditions.contains(node.condition)) &&
                     (!*pool || is_in_pool(state, node.pool, *pool)) &&
                     matches_all(node.attributes, labels);
            },
            [&](std::string& item, model::NodeId id) {
              const model::NodeRecord& record = state.nodes.at(id);
              append_node(item, state, record, desk.port.node_use(record.node), Detail::Summary);
            });
      });
}

void get_node(Desk& desk, const ExchangePtr& exchange) {
  answer_from_loop_with_tag(
      desk, exchange,
      [&desk, name = exchange->names[0]](const controller::Controller& loop,
                                         base::Instant) -> Result<std::string> {
        const auto& by_name = loop.state().node_by_name;
        const auto found = by_name.find(name);
        if (found == by_name.end()) return no_such("node", name, by_name);
        std::string json;
        const model::NodeRecord& record = loop.state().nodes.at(found->second);
        append_node(json, loop.state(), record, desk.port.node_use(record.node), Detail::Full);
        return json;
      });
}

namespace {

struct DeviceFilter {
  std::optional<std::string> node, pool, model;
  std::string state;  // "any", "free", "used", "shared", "unhealthy"
};

bool takes(const DeviceFilter& filter, const model::Device& device, const model::DeviceUse& use) {
  if (filter.model && device.model != *filter.model) return false;
  if (filter.state == "free") return use.milli.value == 0;
  if (filter.state == "used") return use.milli.value > 0;
  if (filter.state == "shared") return use.milli.value > 0 && use.milli < base::kWholeDevice;
  if (filter.state == "unhealthy") return device.health != model::Health::Ok;
  return true;
}

// "node/index": the last slash parts them, since names have none.
Result<std::pair<std::string, std::int32_t>> device_cursor(const std::string& cursor) {
  if (cursor.empty()) return std::pair<std::string, std::int32_t>("", -1);
  const std::size_t slash = cursor.rfind('/');
  const auto index = slash == std::string::npos
                         ? Result<std::int64_t>(-1)
                         : base::parse_integer(std::string_view(cursor).substr(slash + 1));
  if (!index || *index < 0 || *index > 100'000)
    return base::fail_field(Code::InvalidArgument, "cursor", "not a cursor of this list",
                            "take it from the page before");
  return std::pair(cursor.substr(0, slash), static_cast<std::int32_t>(*index));
}

// False when the page is full.
bool write_devices(PageWriter& writer, const LoopPort& port, const model::State& state,
                   const DeviceFilter& filter, const model::NodeRecord& record,
                   std::int32_t after) {
  for (std::size_t i = 0; i < record.node.devices.size(); ++i) {
    const auto index = static_cast<std::int32_t>(i);
    if (index <= after || !takes(filter, record.node.devices[i], record.devices[i])) continue;
    std::string* item = writer.next(fmt::format("{}/{}", record.node.name, index));
    if (item == nullptr) return false;
    append_device(*item, state, record, index, port.device_use(record.node, index), Detail::Full);
  }
  return true;
}

}  // namespace

void list_devices(Desk& desk, const ExchangePtr& exchange) {
  static constexpr std::string_view kStates[] = {"any", "free", "used", "shared", "unhealthy"};
  const Query& query = exchange->query;
  const auto page = page_of(query);
  const auto wanted = query.choice("state", kStates);
  if (!page) return exchange->refuse(page.error());
  if (!wanted) return exchange->refuse(wanted.error());
  const auto after = device_cursor(page->cursor);
  if (!after) return exchange->refuse(after.error());
  const DeviceFilter filter{.node = query.text("node"),
                            .pool = query.text("pool"),
                            .model = query.text("model"),
                            .state = *wanted};
  answer_from_loop(desk, exchange,
                   [&desk, filter, after = *after, limit = page->limit](
                       const controller::Controller& loop, base::Instant) -> Result<std::string> {
                     const model::State& state = loop.state();
                     Result<model::PoolId> pool = model::PoolId{};
                     if (filter.pool) pool = find_pool(state, *filter.pool);
                     if (!pool) return tl::unexpected(pool.error());
                     if (filter.node && !state.node_by_name.contains(*filter.node))
                       return no_such("node", *filter.node, state.node_by_name);
                     PageWriter writer(limit);
                     for (auto entry = state.node_by_name.lower_bound(after.first);
                          entry != state.node_by_name.end(); ++entry) {
                       const model::NodeRecord& record = state.nodes.at(entry->second);
                       if (filter.node && record.node.name != *filter.node) continue;
                       if (*pool && !is_in_pool(state, record.node.pool, *pool)) continue;
                       const std::int32_t from = entry->first == after.first ? after.second : -1;
                       if (!write_devices(writer, desk.port, state, filter, record, from)) break;
                     }
                     return writer.finish();
                   });
}

void list_policies(Desk& desk, const ExchangePtr& exchange) {
  answer_from_loop(desk, exchange,
                   [](const controller::Controller& loop, base::Instant) -> Result<std::string> {
                     return "{\"items\":[" + base::to_json(loop.state().policy) + "]}";
                   });
}

void list_topologies(Desk& desk, const ExchangePtr& exchange) {
  answer_from_loop(desk, exchange,
                   [](const controller::Controller& loop, base::Instant) -> Result<std::string> {
                     PageWriter writer(static_cast<std::size_t>(kMaxPage));
                     for (const auto& [name, topology] : loop.state().topologies)
                       if (std::string* item = writer.next(name))
                         base::append_json(*item, topology);
                     return writer.finish();
                   });
}

}  // namespace api
