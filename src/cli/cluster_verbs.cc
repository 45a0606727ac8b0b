// Verbs about the cluster and its rules: nodes, devices, queues, classes, pools, usage, get, and
// cordon, uncordon, drain.

#include <boost/json.hpp>

#include "base/text.h"
#include "cli/json_access.h"
#include "cli/session.h"
#include "platform/url.h"

namespace cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kMost = 100'000;

// Bytes for a table: the largest unit, one decimal where it says something: "22Gi", "1.5Ti". What
// is cut off is less than a tenth of the whole; JSON has the exact number.
std::string size_text(std::int64_t bytes) {
  constexpr std::string_view kUnits[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
  std::size_t unit = 0;
  std::int64_t rest = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); bytes /= 1024, ++unit)
    rest = bytes % 1024;
  const std::int64_t tenth = rest * 10 / 1024;
  if (bytes >= 10 || tenth == 0) return fmt::format("{}{}", bytes, kUnits[unit]);
  return fmt::format("{}.{}{}", bytes, tenth, kUnits[unit]);
}

std::string size_at(const json::value& value, std::string_view path) {
  const auto bytes = integer_at(value, path);
  return bytes ? size_text(*bytes) : "";
}

// The row of `resource` in a list of amounts, for a table; empty when there is none.
std::string amount_text(const json::value& value, std::string_view list,
                        std::string_view resource) {
  for (const json::value& amount : array_at(value, list)) {
    if (text_at(amount, "resource") != resource) continue;
    const auto bytes = integer_at(amount, "amount");
    return resource == "memory" && bytes ? size_text(*bytes) : text_at(amount, "text");
  }
  return "";
}

// "3/8": used of all; "-" where there is nothing to use, "0/8" where nothing is used.
std::string used_of(std::string used, std::string_view all) {
  if (all.empty() || all == "0") return "";
  if (used.empty()) used = "0";
  return fmt::format("{}/{}", used, all);
}

Color color_of_condition(std::string_view condition) {
  if (condition == "ready") return Color::Useful;
  return condition == "lost" || condition == "quarantined" ? Color::Broken : Color::Warning;
}

// Real use, where the server has samples; no samples is "-", not 0 %.
std::string percent_at(const json::value& value, std::string_view path) {
  const auto percent = integer_at(value, path);
  return percent ? fmt::format("{}%", *percent) : "";
}

Table node_table(const json::value& list, bool is_wide) {
  Table table({{.title = "NODE", .may_shrink = true, .least = 12},
               {.title = "POOL", .may_shrink = true},
               {.title = "CONDITION"},
               {.title = "GPUS", .is_number = true},
               {.title = "CPU", .is_number = true},
               {.title = "MEMORY", .is_number = true},
               {.title = "REAL CPU", .is_number = true},
               {.title = "REAL MEM", .is_number = true},
               {.title = "MODELS", .may_shrink = true},
               {.title = "NOTE", .may_shrink = true},
               {.title = "BACKEND", .is_wide_only = true},
               {.title = "ATTEMPTS", .is_wide_only = true}},
              is_wide);
  for (const json::value& node : array_at(list, "items")) {
    std::map<std::string, int> models;
    for (const json::value& device : array_at(node, "devices"))
      ++models[text_at(device, "model")];
    std::string models_text;
    for (const auto& [model, count] : models)
      models_text += fmt::format("{}{}x{}", models_text.empty() ? "" : " ", count, model);
    const std::string condition = text_at(node, "condition");
    table.add(
        {{text_at(node, "name")},
         {text_at(node, "pool")},
         {condition, color_of_condition(condition)},
         {used_of(text_at(node, "gpusUsed.text"), text_at(node, "gpus.text"))},
         {used_of(amount_text(node, "used", "cpu"), amount_text(node, "allocatable", "cpu"))},
         {used_of(amount_text(node, "used", "memory"), amount_text(node, "allocatable", "memory"))},
         {percent_at(node, "utilisation.cpuPercent")},
         {size_at(node, "utilisation.memory.bytes")},
         {models_text},
         {text_at(node, "conditionNote")},
         {text_at(node, "backend")},
         {joined_at(node, "attempts")}});
  }
  return table;
}

Table device_table(const json::value& list, bool is_wide) {
  Table table({{.title = "NODE", .may_shrink = true, .least = 10},
               {.title = "DEV", .is_number = true},
               {.title = "MODEL", .may_shrink = true, .least = 6},
               {.title = "HEALTH"},
               {.title = "ALLOC", .is_number = true},
               {.title = "MEMORY", .is_number = true},
               {.title = "REAL USE", .is_number = true},
               {.title = "OWNER", .may_shrink = true, .least = 10},
               {.title = "SOURCE"},
               {.title = "UUID", .is_wide_only = true},
               {.title = "POOL", .is_wide_only = true},
               {.title = "NUMA", .is_wide_only = true}},
              is_wide);
  for (const json::value& device : array_at(list, "items")) {
    std::string owners;
    for (const json::value& occupant : array_at(device, "occupants"))
      owners += fmt::format("{}{}", owners.empty() ? "" : ",", text_at(occupant, "attempt"));
    const std::int64_t milli = integer_at(device, "used.milli").value_or(0);
    const std::string health = text_at(device, "health");
    const bool is_reserved = milli == 0 && integer_at(device, "secured.milli").value_or(0) > 0;
    table.add({{text_at(device, "node")},
               {text_at(device, "index")},
               {text_at(device, "model")},
               {health, health == "ok" ? Color::Plain : Color::Broken},
               {fmt::format("{}%", milli / 10), is_reserved ? Color::Reserved
                                                : milli > 0 ? Color::Useful
                                                            : Color::Idle},
               {used_of(size_at(device, "usedMemory.bytes"), size_at(device, "memory.bytes"))},
               {percent_at(device, "utilisation.percent")},
               {is_reserved ? "claimed" : owners, is_reserved ? Color::Reserved : Color::Plain},
               {text_at(device, "source")},
               {text_at(device, "uuid")},
               {text_at(device, "pool")},
               {text_at(device, "numaNode") == "-1" ? "" : text_at(device, "numaNode")}});
  }
  return table;
}

Table queue_table(const json::value& list, bool is_wide) {
  Table table({{.title = "QUEUE", .may_shrink = true, .least = 12},
               {.title = "POOL", .may_shrink = true},
               {.title = "RESOURCE"},
               {.title = "HELD", .is_number = true},
               {.title = "GUARANTEE", .is_number = true},
               {.title = "MAX", .is_number = true},
               {.title = "BORROWED", .is_number = true},
               {.title = "ASKED", .is_number = true},
               {.title = "RUN", .is_number = true},
               {.title = "WAIT", .is_number = true},
               {.title = "LEND", .is_number = true, .is_wide_only = true},
               {.title = "WEIGHT", .is_number = true, .is_wide_only = true},
               {.title = "PASSING", .is_wide_only = true}},
              is_wide);
  for (const json::value& queue : array_at(list, "items")) {
    const auto add = [&](const json::value& row) {
      const bool borrows = integer_at(row, "borrowed").value_or(0) > 0;
      table.add({{text_at(queue, "name")},
                 {text_at(row, "pool")},
                 {text_at(row, "resource")},
                 {text_at(row, "text.held")},
                 {text_at(row, "text.guarantee")},
                 {text_at(row, "text.max")},
                 {borrows ? text_at(row, "text.borrowed") : "", Color::Lent},
                 {text_at(row, "text.pending")},
                 {text_at(queue, "activeWorkloads")},
                 {text_at(queue, "pendingWorkloads")},
                 {text_at(row, "text.lend")},
                 {text_at(queue, "weight")},
                 {text_at(queue, "passing")}});
    };
    bool has_row = false;
    for (const json::value& row : array_at(queue, "quotas")) {
      // Devices are what people fight over; the rest is for -o wide.
      const bool is_quota =
          value_at(row, "guarantee") != nullptr || value_at(row, "max") != nullptr;
      if (!is_wide && !is_quota && text_at(row, "resource") != "gpu") continue;
      add(row);
      has_row = true;
    }
    if (!has_row) add(json::value(json::object{}));
  }
  return table;
}

Table class_table(const json::value& list, bool is_wide) {
  Table table({{.title = "CLASS", .may_shrink = true},
               {.title = "PRIORITY", .is_number = true},
               {.title = "RECLAIMABLE"},
               {.title = "PREEMPTIBLE"},
               {.title = "MIN RUN", .is_number = true},
               {.title = "MAX RUN", .is_number = true},
               {.title = "ORDER"},
               {.title = "STRATEGY"},
               {.title = "GRACE", .is_number = true, .is_wide_only = true},
               {.title = "RETRIES", .is_number = true, .is_wide_only = true},
               {.title = "EVICTIONS/DAY", .is_number = true, .is_wide_only = true},
               {.title = "MAY PREEMPT", .is_wide_only = true}},
              is_wide);
  for (const json::value& item : array_at(list, "items"))
    table.add({{text_at(item, "name")},
               {text_at(item, "priority")},
               {text_at(item, "reclaimable")},
               {text_at(item, "preemptible")},
               {text_at(item, "minRuntime.text")},
               {text_at(item, "maxRuntime.text")},
               {text_at(item, "order")},
               {text_at(item, "strategy")},
               {text_at(item, "grace.text")},
               {text_at(item, "retries")},
               {text_at(item, "evictionsPerDay")},
               {joined_at(item, "mayPreempt")}});
  return table;
}

Table pool_table(const json::value& list, bool is_wide) {
  Table table({{.title = "POOL", .may_shrink = true},
               {.title = "PARENT", .may_shrink = true},
               {.title = "READY", .is_number = true},
               {.title = "DEVICES", .is_number = true},
               {.title = "FREE", .is_number = true},
               {.title = "HELD", .is_number = true},
               {.title = "MODELS", .may_shrink = true}},
              is_wide);
  for (const json::value& pool : array_at(list, "items")) {
    json::value gpu;
    for (const json::value& row : array_at(pool, "capacity"))
      if (text_at(row, "resource") == "gpu") gpu = row;
    std::string models;
    if (const json::value* found = value_at(pool, "models"); found != nullptr && found->is_object())
      for (const auto& [model, count] : found->get_object())
        models += fmt::format("{}{}x{}", models.empty() ? "" : " ", json::serialize(count),
                              std::string_view(model));
    table.add({{text_at(pool, "name")},
               {text_at(pool, "parent")},
               {used_of(text_at(pool, "readyNodes"), text_at(pool, "nodes"))},
               {text_at(pool, "devices")},
               {text_at(gpu, "text.free")},
               {text_at(gpu, "text.held")},
               {models}});
  }
  return table;
}

// In the largest unit of which there is one, to a tenth, rounded down: "12.5 GPU-hours", "8
// GPU-seconds". JSON has the exact number.
std::string device_time_text(std::int64_t milli_device_millis) {
  constexpr std::int64_t kSecond = 1000 * 1000;
  const auto in = [&](std::int64_t unit, std::string_view name) {
    const std::int64_t tenths = milli_device_millis / (unit / 10);
    return tenths % 10 == 0 ? fmt::format("{} GPU-{}", tenths / 10, name)
                            : fmt::format("{}.{} GPU-{}", tenths / 10, tenths % 10, name);
  };
  if (milli_device_millis >= 3600 * kSecond) return in(3600 * kSecond, "hours");
  if (milli_device_millis >= 60 * kSecond) return in(60 * kSecond, "minutes");
  return in(kSecond, "seconds");
}

// Of all that is shown. A queue and a pool include those below them, so there the lines do not add
// up and a part of the sum would mean nothing.
std::string part_of(std::int64_t amount, std::int64_t sum, std::string_view by) {
  if (by == "queue" || by == "pool" || sum == 0) return "";
  const auto tenths = static_cast<std::int64_t>(static_cast<__int128>(amount) * 1000 / sum);
  return fmt::format("{}.{}%", tenths / 10, tenths % 10);
}

Table usage_table(const json::value& usage, const std::string& by) {
  std::int64_t sum = 0;
  for (const json::value& line : array_at(usage, "items"))
    sum += integer_at(line, "allocated").value_or(0);
  std::string title = by;
  for (char& c : title)
    c = static_cast<char>(c - 'a' + 'A');
  Table table({{.title = title, .may_shrink = true, .least = 20},
               {.title = "USED", .is_number = true},
               {.title = "PART", .is_number = true},
               {.title = "STARTED", .is_number = true},
               {.title = "DONE", .is_number = true},
               {.title = "FAILED", .is_number = true},
               {.title = "CANCELLED", .is_number = true},
               {.title = "EVICTED", .is_number = true}});
  for (const json::value& line : array_at(usage, "items")) {
    const std::int64_t amount = integer_at(line, "allocated").value_or(0);
    table.add({{text_at(line, "key")},
               {device_time_text(amount)},
               {part_of(amount, sum, by)},
               {text_at(line, "started")},
               {text_at(line, "completed")},
               {text_at(line, "failed")},
               {text_at(line, "cancelled")},
               {text_at(line, "evicted")}});
  }
  return table;
}

base::Result<int> list_watched(Session& session, std::string_view path, const Query& query,
                               Table (*table)(const json::value&, bool),
                               std::string_view when_empty) {
  return repeatedly(session, [&]() -> base::Result<base::Done> {
    const base::Result<json::value> list = session.server.list(path, query, kMost);
    if (!list) return tl::unexpected(list.error());
    print_list(session, *list, "name", [&] { return table(*list, session.is_wide()); }, when_empty);
    return base::Done{};
  });
}

// A moment as people write it: an instant, or how long ago.
base::Result<std::string> moment_flag(const Session& session, std::string_view flag) {
  const std::string text = session.invocation.value(flag);
  if (text.empty()) return text;
  if (const base::Result<base::Instant> instant = base::parse_instant(text))
    return base::print_instant(*instant);
  if (const base::Result<base::Duration> ago = base::parse_duration(text))
    return base::print_instant(session.clock() - *ago);
  return base::fail_field(base::Code::InvalidArgument, fmt::format("--{}", flag),
                          fmt::format("\"{}\" is no time", text),
                          "write how long ago (7d, 12h) or a moment (2026-12-01T00:00:00Z)");
}

}  // namespace

base::Result<int> list_nodes(Session& session) {
  return list_watched(session, "/nodes", {}, node_table, "no nodes yet");
}

base::Result<int> list_devices(Session& session) {
  return repeatedly(session, [&]() -> base::Result<base::Done> {
    base::Result<json::value> list =
        session.server.list("/devices", {{"node", session.invocation.value("node")}}, kMost);
    if (!list) return tl::unexpected(list.error());
    print_list(
        session, *list, "uuid", [&] { return device_table(*list, session.is_wide()); },
        "no devices; a server without probed devices needs `devices:` in its configuration");
    return base::Done{};
  });
}

base::Result<int> list_queues(Session& session) {
  return list_watched(session, "/queues", {}, queue_table, "no queues yet");
}

base::Result<int> list_classes(Session& session) {
  return list_watched(session, "/classes", {}, class_table, "no classes yet");
}

base::Result<int> list_pools(Session& session) {
  return list_watched(session, "/pools", {}, pool_table, "no pools yet");
}

base::Result<int> list_usage(Session& session) {
  const base::Result<std::string> since = moment_flag(session, "since");
  if (!since) return tl::unexpected(since.error());
  const base::Result<std::string> until = moment_flag(session, "until");
  if (!until) return tl::unexpected(until.error());
  const std::string by = session.invocation.value("by", "queue");
  const base::Result<json::value> usage =
      session.server.get("/usage", {{"by", by}, {"from", *since}, {"until", *until}});
  if (!usage) return tl::unexpected(usage.error());
  print_list(
      session, *usage, "key", [&] { return usage_table(*usage, by); },
      "nothing was used in that time");
  return 0;
}

base::Result<int> list_any(Session& session) {
  constexpr std::string_view kKinds[] = {"workloads", "attempts", "queues",
                                         "pools",     "classes",  "nodes",
                                         "devices",   "policies", "topologies"};
  const std::string& kind = session.invocation.arguments.front();
  for (const std::string_view known : kKinds) {
    if (kind != known) continue;
    const base::Result<json::value> list = session.server.list(fmt::format("/{}", kind), {}, kMost);
    if (!list) return tl::unexpected(list.error());
    const std::string_view key = kind == "workloads"  ? "number"
                                 : kind == "attempts" ? "id"
                                 : kind == "devices"  ? "uuid"
                                                      : "name";
    print_list(
        session, *list, key,
        [&] {
          if (kind == "queues") return queue_table(*list, session.is_wide());
          if (kind == "pools") return pool_table(*list, session.is_wide());
          if (kind == "classes") return class_table(*list, session.is_wide());
          if (kind == "nodes") return node_table(*list, session.is_wide());
          if (kind == "devices") return device_table(*list, session.is_wide());
          const std::string title = key == "id" ? "ATTEMPT" : key == "number" ? "NUMBER" : "NAME";
          Table table({{.title = title}, {.title = "STATE"}});
          for (const json::value& item : array_at(*list, "items"))
            table.add({{text_at(item, key)}, {text_at(item, "state")}});
          return table;
        },
        fmt::format("no {}", kind));
    return 0;
  }
  const auto near = base::nearest(kind, kKinds);
  return base::fail_field(base::Code::InvalidArgument, "KIND",
                          fmt::format("there is no kind \"{}\"", kind),
                          near ? fmt::format("did you mean {}", *near) : "see: berth get --help");
}

base::Result<int> change_node(Session& session) {
  const std::string& node = session.invocation.arguments.front();
  const base::Result<json::value> done = session.server.post(
      fmt::format("/nodes/{}/{}", platform::percent_encode(node), session.invocation.verb->name),
      {{"note", session.invocation.value("note")}});
  if (!done) return tl::unexpected(done.error());
  print_one(session, *done, "name", [&] {
    return fmt::format("node {}: {}\n", printable(node),
                       session.invocation.verb->name == "uncordon" ? "in use again"
                       : session.invocation.verb->name == "drain"  ? "draining"
                                                                   : "cordoned");
  });
  return 0;
}

}  // namespace cli
