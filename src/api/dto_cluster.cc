#include <algorithm>
#include <map>
#include <set>

#include "api/internal/dto.h"
#include "api/internal/json_object.h"
#include "base/json_text.h"
#include "base/text.h"

namespace api {

namespace {

std::int64_t used_devices(const model::NodeRecord& record) {
  std::int64_t milli = 0;
  for (const model::DeviceUse& use : record.devices)
    milli += use.milli.value;
  return milli;
}

void append_amounts(std::string& out, const model::State& state,
                    const model::Quantities& quantities) {
  JsonList amounts(out);
  for (const model::ResourceAmount& amount : quantities.amounts()) {
    JsonObject row(amounts.next());
    row.text("resource", resource_name(state, amount.resource));
    row.number("amount", amount.amount);
    row.text("text", amount_text(amount.resource, amount.amount));
  }
}

// The nodes of a pool and of all pools below it.
void collect_nodes(const model::State& state, const model::PoolRecord& record,
                   std::vector<const model::NodeRecord*>& nodes) {
  for (const model::NodeId node : record.nodes)
    nodes.push_back(&state.nodes.at(node));
  for (const model::PoolId child : record.children)
    collect_nodes(state, state.pools.at(child), nodes);
}

struct Capacity {
  std::int64_t held = 0, free = 0, secured = 0;
};

std::map<model::ResourceId, Capacity> capacity_of(const model::State& state, model::PoolId pool) {
  std::map<model::ResourceId, Capacity> rows;
  const auto collect = [&](const model::Usage& usage, std::int64_t Capacity::* part) {
    for (const model::DimensionAmount& amount : usage.amounts())
      if (amount.dimension.pool == pool) rows[amount.dimension.resource].*part += amount.amount;
  };
  collect(state.held, &Capacity::held);
  collect(state.free, &Capacity::free);
  collect(state.secured, &Capacity::secured);
  return rows;
}

void append_capacity(std::string& out, const model::State& state, model::PoolId pool) {
  JsonList list(out);
  for (const auto& [resource, capacity] : capacity_of(state, pool)) {
    const std::int64_t whole = capacity.held + capacity.free + capacity.secured;
    JsonObject row(list.next());
    row.text("resource", resource_name(state, resource));
    row.number("capacity", whole);
    row.number("held", capacity.held);
    row.number("free", capacity.free);
    row.number("secured", capacity.secured);
    JsonObject text(row.value("text"));
    text.text("capacity", amount_text(resource, whole));
    text.text("held", amount_text(resource, capacity.held));
    text.text("free", amount_text(resource, capacity.free));
    text.text("secured", amount_text(resource, capacity.secured));
  }
}

void append_quota_row(std::string& out, const model::State& state, const model::QueueRecord& record,
                      model::Dimension dimension) {
  const model::Quota* quota = nullptr;
  for (const model::Quota& row : record.queue.quotas)
    if (row.dimension == dimension) quota = &row;
  const std::int64_t held = record.held.of(dimension);
  JsonObject object(out);
  object.text("pool", pool_name(state, dimension.pool));
  object.text("resource", resource_name(state, dimension.resource));
  std::map<std::string, std::string> words;
  const auto put = [&](const char* key, std::int64_t amount) {
    object.number(key, amount);
    words[key] = amount_text(dimension.resource, amount);
  };
  if (quota != nullptr && quota->guarantee) put("guarantee", *quota->guarantee);
  if (quota != nullptr && quota->lend) put("lend", *quota->lend);
  if (quota != nullptr && quota->max) put("max", *quota->max);
  put("held", held);
  put("claimed", record.claimed.of(dimension));
  put("pending", record.pending.of(dimension));
  if (quota != nullptr && quota->guarantee)
    put("borrowed", std::max<std::int64_t>(0, held - *quota->guarantee));
  object.map("text", words);
}

}  // namespace

QueueCounts count_by_queue(const model::State& state) {
  QueueCounts counts;
  state.workloads.each([&](model::WorkloadId, const model::WorkloadRecord& record) {
    if (is_finished(record.phase)) return;
    const model::QueueRecord* own = state.queues.find(record.workload.queue);
    if (own == nullptr) return;
    for (const model::QueueId queue : own->path)
      ++(record.live_attempt() != nullptr ? counts[queue].active : counts[queue].pending);
  });
  return counts;
}

void append_queue(std::string& out, const model::State& state, const model::QueueRecord& record,
                  const QueueCounts& counts) {
  const model::Queue& queue = record.queue;
  const auto counted = counts.find(queue.id);
  const QueueCount count = counted == counts.end() ? QueueCount{} : counted->second;
  std::set<model::Dimension> dimensions;
  for (const model::Quota& quota : queue.quotas)
    dimensions.insert(quota.dimension);
  for (const model::Usage* usage : {&record.held, &record.claimed, &record.pending})
    for (const model::DimensionAmount& amount : usage->amounts())
      dimensions.insert(amount.dimension);

  JsonObject object(out);
  object.text("name", queue.name);
  object.text("parent", queue.parent ? queue_name(state, queue.parent) : std::string());
  object.number("weight", queue.weight);
  object.number("priority", queue.priority);
  object.text("passing", base::name_of(queue.passing));
  object.text("exclusive", base::name_of(queue.exclusive));
  object.truth("sharesDevicesAcrossTenants", queue.shares_devices_across_tenants);
  object.span("claimBackoff", queue.claim_backoff);
  object.number("pendingWorkloads", count.pending);
  object.number("activeWorkloads", count.active);
  JsonList quotas(object.value("quotas"));
  for (const model::Dimension dimension : dimensions)
    append_quota_row(quotas.next(), state, record, dimension);
}

void append_pool(std::string& out, const model::State& state, const model::PoolRecord& record) {
  std::vector<const model::NodeRecord*> nodes;
  collect_nodes(state, record, nodes);
  std::int64_t ready = 0;
  std::int64_t devices = 0;
  std::map<std::string, std::int64_t> models;
  for (const model::NodeRecord* node : nodes) {
    if (node->node.condition == model::NodeCondition::Ready) ++ready;
    devices += static_cast<std::int64_t>(node->node.devices.size());
    for (const model::Device& device : node->node.devices)
      ++models[device.model];
  }
  JsonObject object(out);
  object.text("name", record.pool.name);
  object.text("parent", record.pool.parent ? pool_name(state, record.pool.parent) : std::string());
  object.map("selector", record.pool.selector);
  object.number("nodes", static_cast<std::int64_t>(nodes.size()));
  object.number("readyNodes", ready);
  object.number("devices", devices);
  {
    JsonObject by_model(object.value("models"));
    for (const auto& [model, count] : models)
      by_model.number(model, count);
  }
  append_capacity(object.value("capacity"), state, record.pool.id);
}

void append_class(std::string& out, const model::WorkloadClass& own) {
  JsonObject object(out);
  object.text("name", own.name);
  object.number("priority", own.priority);
  object.text("reclaimable", base::name_of(own.reclaimable));
  object.text("preemptible", base::name_of(own.preemptible));
  object.span("minRuntime", own.min_runtime);
  object.span("grace", own.grace);
  if (own.max_runtime) object.span("maxRuntime", *own.max_runtime);
  object.text("order", base::name_of(own.order));
  object.text("strategy", base::name_of(own.strategy));
  object.number("evictionsPerDay", own.evictions_per_day);
  object.number("retries", own.retries);
  object.texts("mayPreempt", own.may_preempt);
  object.number("chargeFactorMilli", own.charge_factor_milli);
}

namespace {

// Absent is not zero: what was not measured is left out.
void append_real_use(std::string& out, const devices::DeviceSample& real) {
  JsonObject object(out);
  if (real.busy_percent) object.number("percent", *real.busy_percent);
  if (real.memory_used) object.memory("memory", real.memory_used->value);
  if (real.power_mw) object.number("powerMilliwatts", *real.power_mw);
  if (real.temperature_c) object.number("temperatureCelsius", *real.temperature_c);
}

void append_real_use(std::string& out, const NodeUse& real) {
  JsonObject object(out);
  if (real.cpu_percent) object.number("cpuPercent", *real.cpu_percent);
  if (real.memory_used) object.memory("memory", real.memory_used->value);
}

}  // namespace

void append_device(std::string& out, const model::State& state, const model::NodeRecord& record,
                   std::int32_t index, const std::optional<devices::DeviceSample>& real,
                   Detail detail) {
  const auto at = static_cast<std::size_t>(index);
  const model::Device& device = record.node.devices[at];
  const model::DeviceUse& use = record.devices[at];
  JsonObject object(out);
  object.text("node", record.node.name);
  object.text("pool", pool_name(state, record.node.pool));
  object.number("index", index);
  object.text("uuid", device.uuid);
  object.text("vendor", device.vendor);
  object.text("model", device.model);
  object.memory("memory", device.memory.value);
  object.text("health", base::name_of(device.health));
  object.text("source", base::name_of(device.source));
  object.devices("used", use.milli.value);
  object.memory("usedMemory", use.memory.value);
  object.devices("secured", use.secured_milli.value);
  object.number("linkGroup", device.link_group);
  object.number("numaNode", device.numa_node);
  if (real && !real->is_empty()) append_real_use(object.value("utilisation"), *real);
  if (detail == Detail::Summary) return;
  JsonList occupants(object.value("occupants"));
  for (const model::Occupant& occupant : use.occupants) {
    JsonObject row(occupants.next());
    row.text("attempt", model::to_text(occupant.attempt));
    row.number("rank", occupant.rank);
    row.number("milli", occupant.milli.value);
    row.memory("memory", occupant.memory.value);
  }
}

void append_node(std::string& out, const model::State& state, const model::NodeRecord& record,
                 const NodeUse& real, Detail detail) {
  const model::Node& node = record.node;
  JsonObject object(out);
  object.text("name", node.name);
  object.text("pool", pool_name(state, node.pool));
  object.text("backend", node.backend);
  object.text("condition", base::name_of(node.condition));
  object.text_if_any("conditionNote", node.condition_note);
  append_amounts(object.value("allocatable"), state, node.allocatable);
  append_amounts(object.value("used"), state, record.used);
  object.devices("gpus", static_cast<std::int64_t>(node.devices.size()) * 1000);
  object.devices("gpusUsed", used_devices(record));
  if (!(real == NodeUse{})) append_real_use(object.value("utilisation"), real);
  {
    JsonList attempts(object.value("attempts"));
    for (const model::AttemptId attempt : record.attempts)
      base::append_json_string(attempts.next(), model::to_text(attempt));
  }
  {
    JsonList devices(object.value("devices"));
    for (std::size_t i = 0; i < node.devices.size(); ++i)
      append_device(devices.next(), state, record, static_cast<std::int32_t>(i), {}, detail);
  }
  object.map("attributes", node.attributes);
  base::append_json(object.value("taints"), node.taints);
  base::append_json(object.value("topology"), node.topology);
  object.map("enforcement", node.enforcement);
}

std::string amount_text(model::ResourceId resource, std::int64_t amount) {
  const bool is_bytes =
      resource == model::kMemory || resource == model::kScratch || resource == model::kDeviceMemory;
  const bool is_milli = resource == model::kCpu || resource == model::kDevice;
  if (amount < 0) return "-" + amount_text(resource, -amount);
  if (is_bytes) return base::print_bytes(amount);
  return is_milli ? base::print_milli(amount) : std::to_string(amount);
}

std::string_view reason_text(model::Reason reason) {
  return reason == model::Reason::None ? std::string_view() : base::name_of(reason);
}

std::int64_t device_charge(const model::Usage& usage) {
  std::int64_t most = 0;
  for (const model::DimensionAmount& amount : usage.amounts())
    if (amount.dimension.resource == model::kDevice) most = std::max(most, amount.amount);
  return most;
}

std::string pool_name(const model::State& state, model::PoolId pool) {
  const model::PoolRecord* record = state.pools.find(pool);
  return record != nullptr ? record->pool.name : std::to_string(pool.value);
}

std::string queue_name(const model::State& state, model::QueueId queue) {
  const model::QueueRecord* record = state.queues.find(queue);
  return record != nullptr ? record->queue.name : std::to_string(queue.value);
}

std::string node_name(const model::State& state, model::NodeId node) {
  const model::NodeRecord* record = state.nodes.find(node);
  return record != nullptr ? record->node.name : std::to_string(node.value);
}

}  // namespace api
