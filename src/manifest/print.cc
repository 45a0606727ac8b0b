#include "manifest/print.h"

#include <algorithm>

#include "base/text.h"
#include "manifest/internal/read_kinds.h"
#include "manifest/internal/write_kinds.h"

namespace manifest {

namespace {

std::string formatted(const Tree& tree, Format format) {
  return format == Format::Yaml ? to_yaml(tree) : to_json(tree);
}

std::string pool_name(const model::State& state, model::PoolId pool) {
  const model::PoolRecord* record = state.pools.find(pool);
  return record == nullptr ? std::string() : record->pool.name;
}

// [{pool, resource, amount}]
Tree write_usage(const model::State& state, const model::Usage& usage) {
  Tree list = Tree::list();
  for (const model::DimensionAmount& a : usage.amounts()) {
    const std::string_view resource = model::resource_name(state, a.dimension.resource);
    list.items.push_back(Tree::map()
                             .put("pool", Tree::of_text(pool_name(state, a.dimension.pool)))
                             .put("resource", Tree::of_text(resource))
                             .put("amount", write_amount(resource, a.amount)));
  }
  return list;
}

Tree write_quantities(const model::State& state, const model::Quantities& quantities) {
  Tree map = Tree::map();
  for (const model::ResourceAmount& a : quantities.amounts()) {
    const std::string_view resource = model::resource_name(state, a.resource);
    map.put(resource, write_amount(resource, a.amount));
  }
  return map;
}

void put_instant(Tree& map, std::string_view key, const std::optional<base::Instant>& instant) {
  if (instant) map.put(key, write_instant(*instant));
}

Tree write_attempt(const model::State& state, const model::Attempt& attempt) {
  constexpr std::size_t kMaxNodesShown = 64;
  Tree map = Tree::map();
  map.put("id", Tree::of_text(model::to_text(attempt.id)));
  map.put("phase", write_enum(attempt.phase));
  put_instant(map, "decided", attempt.decided);
  put_instant(map, "runningSince", attempt.running_since);
  put_instant(map, "stoppingSince", attempt.stopping_since);
  put_instant(map, "ended", attempt.ended);
  if (attempt.stop_cause != model::Reason::None)
    map.put("stopCause", write_enum(attempt.stop_cause));
  if (attempt.phase == model::AttemptPhase::Ended) {
    map.put("endClass", write_enum(attempt.end_class));
    map.put("exitCode", Tree::of_number(attempt.exit_code));
    if (attempt.signal != 0) map.put("signal", Tree::of_number(attempt.signal));
  }
  map.put("members", Tree::of_number(static_cast<std::int64_t>(attempt.placement.members.size())));
  Tree nodes = Tree::list();
  std::vector<model::NodeId> shown;
  for (const model::MemberPlacement& member : attempt.placement.members) {
    if (shown.size() == kMaxNodesShown) break;
    if (std::find(shown.begin(), shown.end(), member.node) != shown.end()) continue;
    shown.push_back(member.node);
    if (const model::NodeRecord* node = state.nodes.find(member.node))
      nodes.items.push_back(Tree::of_text(node->node.name));
  }
  return map.put_unless_empty("nodes", std::move(nodes));
}

Tree write_workload_status(const model::State& state, const model::WorkloadRecord& record) {
  Tree status = Tree::map();
  status.put("id", Tree::of_number(static_cast<std::int64_t>(record.workload.id.value)));
  status.put("phase", write_enum(record.phase));
  status.put_unless_empty("user", Tree::of_text(record.workload.user));
  put_instant(status, "submitted", record.workload.submitted);
  put_instant(status, "finished", record.finished);
  status.put("held", Tree::of_boolean(record.is_held));
  if (record.wait_reason != model::Reason::None)
    status.put("reason", write_enum(record.wait_reason));
  status.put("failures", Tree::of_number(record.failures));
  Tree attempts = Tree::list();
  for (const model::Attempt& attempt : record.attempts)
    attempts.items.push_back(write_attempt(state, attempt));
  return status.put_unless_empty("attempts", std::move(attempts));
}

Tree write_device(const model::Device& device) {
  Tree map = Tree::map();
  map.put("uuid", Tree::of_text(device.uuid));
  map.put_unless_empty("vendor", Tree::of_text(device.vendor));
  map.put_unless_empty("model", Tree::of_text(device.model));
  map.put("memory", write_amount("memory", device.memory.value));
  map.put("health", write_enum(device.health));
  map.put("source", write_enum(device.source));
  if (device.link_group != 0) map.put("linkGroup", Tree::of_number(device.link_group));
  if (device.numa_node >= 0) map.put("numaNode", Tree::of_number(device.numa_node));
  return map;
}

Tree write_node_spec(const model::State& state, const model::Node& node) {
  Tree spec = Tree::map();
  spec.put_unless_empty("backend", Tree::of_text(node.backend));
  spec.put_unless_empty("pool", Tree::of_text(pool_name(state, node.pool)));
  spec.put("allocatable", write_quantities(state, node.allocatable));
  Tree devices = Tree::list();
  for (const model::Device& device : node.devices)
    devices.items.push_back(write_device(device));
  spec.put_unless_empty("devices", std::move(devices));
  spec.put_unless_empty("attributes", write_text_map(node.attributes));
  Tree taints = Tree::list();
  for (const model::Taint& taint : node.taints) {
    Tree row = Tree::map();
    row.put("key", Tree::of_text(taint.key));
    row.put_unless_empty("value", Tree::of_text(taint.value));
    taints.items.push_back(row.put("effect", write_enum(taint.effect)));
  }
  spec.put_unless_empty("taints", std::move(taints));
  Tree topology = Tree::map();
  for (const model::TopologyPath& path : node.topology)
    topology.put(path.topology, write_texts(path.domains));
  spec.put_unless_empty("topology", std::move(topology));
  return spec.put_unless_empty("enforcement", write_text_map(node.enforcement));
}

}  // namespace

std::string print(const Document& document, Format format) {
  return formatted(write_document(document), format);
}

std::string print(const std::vector<Document>& documents, Format format) {
  if (format == Format::Json) {
    Tree list = Tree::list();
    for (const Document& document : documents)
      list.items.push_back(write_document(document));
    return to_json(list);
  }
  std::string out;
  for (const Document& document : documents) {
    if (!out.empty()) out += "---\n";
    out += to_yaml(write_document(document));
  }
  return out;
}

WorkloadDocument document_of(const model::State& state, const model::Workload& workload) {
  WorkloadDocument document{
      .workload = workload, .queue = {}, .class_name = {}, .pools = {}, .custom = {}};
  if (const auto* record = state.queues.find(workload.queue)) document.queue = record->queue.name;
  if (const auto* found = state.classes.find(workload.workload_class))
    document.class_name = found->name;
  for (const model::PoolId pool : workload.constraints.pools)
    if (std::string name = pool_name(state, pool); !name.empty())
      document.pools.push_back(std::move(name));
  model::Workload& plain = document.workload;
  for (std::size_t i = 0; i < plain.groups.size(); ++i) {
    model::Quantities known;
    for (const model::ResourceAmount& a : plain.groups[i].per_member.amounts()) {
      if (!known_resource_name(a.resource).empty())
        known.set(a.resource, a.amount);
      else
        document.custom.push_back({.group = static_cast<std::int32_t>(i),
                                   .resource = std::string(model::resource_name(state, a.resource)),
                                   .amount = a.amount});
    }
    plain.groups[i].per_member = std::move(known);
  }
  std::sort(document.custom.begin(), document.custom.end(), [](const auto& a, const auto& b) {
    return std::tie(a.group, a.resource) < std::tie(b.group, b.resource);
  });
  plain.id = model::WorkloadId{};
  plain.queue = model::QueueId{};
  plain.workload_class = model::ClassId{};
  plain.constraints.pools.clear();
  plain.user.clear();
  plain.submitted = base::Instant{};
  plain.request_key.clear();
  return document;
}

QueueDocument document_of(const model::State& state, const model::Queue& queue) {
  QueueDocument document{.queue = queue, .quotas = {}};
  for (const model::Quota& quota : queue.quotas)
    document.quotas.push_back(
        {.pool = pool_name(state, quota.dimension.pool),
         .resource = std::string(model::resource_name(state, quota.dimension.resource)),
         .guarantee = quota.guarantee,
         .lend = quota.lend,
         .max = quota.max});
  document.queue.id = model::QueueId{};
  document.queue.parent = model::QueueId{};
  document.queue.quotas.clear();
  return document;
}

PoolDocument document_of(const model::State& state, const model::Pool& pool) {
  PoolDocument document{.pool = pool, .parent = pool_name(state, pool.parent)};
  document.pool.id = model::PoolId{};
  document.pool.parent = model::PoolId{};
  return document;
}

std::string print_workload(const model::State& state, const model::WorkloadRecord& record,
                           Format format) {
  Tree tree = write_workload(document_of(state, record.workload));
  return formatted(tree.put("status", write_workload_status(state, record)), format);
}

std::string print_queue(const model::State& state, const model::QueueRecord& record,
                        Format format) {
  Tree tree = write_queue(document_of(state, record.queue));
  Tree status = Tree::map();
  status.put("held", write_usage(state, record.held));
  status.put("claimed", write_usage(state, record.claimed));
  status.put("pending", write_usage(state, record.pending));
  Tree children = Tree::list();
  for (const model::QueueId child : record.children)
    if (const auto* found = state.queues.find(child))
      children.items.push_back(Tree::of_text(found->queue.name));
  status.put_unless_empty("children", std::move(children));
  return formatted(tree.put("status", std::move(status)), format);
}

std::string print_pool(const model::State& state, const model::PoolRecord& record, Format format) {
  Tree tree = write_pool(document_of(state, record.pool));
  Tree status = Tree::map();
  Tree children = Tree::list();
  for (const model::PoolId child : record.children)
    children.items.push_back(Tree::of_text(pool_name(state, child)));
  status.put_unless_empty("children", std::move(children));
  status.put("nodes", Tree::of_number(static_cast<std::int64_t>(record.nodes.size())));
  for (const auto& [key, usage] :
       {std::pair{"held", &state.held}, {"free", &state.free}, {"secured", &state.secured}}) {
    Tree map = Tree::map();
    for (const model::DimensionAmount& a : usage->amounts()) {
      if (a.dimension.pool != record.pool.id) continue;
      const std::string_view resource = model::resource_name(state, a.dimension.resource);
      map.put(resource, write_amount(resource, a.amount));
    }
    status.put(key, std::move(map));
  }
  return formatted(tree.put("status", std::move(status)), format);
}

std::string print_class(const model::WorkloadClass& workload_class, Format format) {
  return formatted(write_class(ClassDocument{workload_class}), format);
}

std::string print_policy(const model::PolicySet& policy, Format format) {
  return formatted(write_policy(PolicyDocument{policy}), format);
}

std::string print_topology(const model::Topology& topology, Format format) {
  return formatted(write_topology(TopologyDocument{topology}), format);
}

std::string print_node(const model::State& state, const model::NodeRecord& record, Format format) {
  Tree tree = write_heading("Node", record.node.name);
  tree.put("spec", write_node_spec(state, record.node));
  Tree status = Tree::map();
  status.put("condition", write_enum(record.node.condition));
  status.put_unless_empty("conditionNote", Tree::of_text(record.node.condition_note));
  status.put("used", write_quantities(state, record.used));
  Tree attempts = Tree::list();
  for (const model::AttemptId attempt : record.attempts)
    attempts.items.push_back(Tree::of_text(model::to_text(attempt)));
  status.put_unless_empty("attempts", std::move(attempts));
  return formatted(tree.put("status", std::move(status)), format);
}

}  // namespace manifest
