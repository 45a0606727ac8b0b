#include "manifest/internal/write_kinds.h"

#include "base/text.h"
#include "manifest/internal/read_kinds.h"

namespace manifest {

namespace {

// Bytes and milli-amounts that are whole numbers are numbers in JSON too.
Tree written_amount(std::string text) {
  const bool is_number = base::parse_integer(text).has_value();
  Tree tree = Tree::of_word(text);
  if (is_number) tree.shape = Tree::Shape::Number;
  return tree;
}

Tree write_device(const model::DeviceRequest& request) {
  Tree map = Tree::map();
  if (request.count.value > 0) map.put("count", Tree::of_number(request.count.value));
  if (request.share.value > 0) map.put("share", write_amount("gpu", request.share.value));
  if (request.memory.value > 0) map.put("memory", write_amount("memory", request.memory.value));
  if (request.memory_percent > 0)
    map.put("memory", Tree::of_text(fmt::format("{}%", request.memory_percent)));
  map.put_unless_empty("slice", Tree::of_text(request.slice));
  map.put_unless_empty("model", write_texts(request.models));
  return map.put("isolation", write_enum(request.min_isolation));
}

Tree write_devices(const std::vector<model::DeviceRequest>& options) {
  if (options.size() == 1) return write_device(options.front());
  Tree list = Tree::list();
  for (const model::DeviceRequest& option : options)
    list.items.push_back(write_device(option));
  return list;
}

Tree write_resources(const WorkloadDocument& document, std::size_t index) {
  const model::TaskGroup& group = document.workload.groups[index];
  Tree map = Tree::map();
  if (!group.device_options.empty()) map.put("gpu", write_devices(group.device_options));
  for (const auto& a : group.per_member.amounts()) {
    const std::string_view name = known_resource_name(a.resource);
    if (!name.empty()) map.put(name, write_amount(name, a.amount));
  }
  Tree custom = Tree::map();
  for (const WorkloadDocument::Custom& row : document.custom)
    if (row.group == static_cast<std::int32_t>(index))
      custom.put(row.resource, Tree::of_number(row.amount));
  return map.put_unless_empty("custom", std::move(custom));
}

Tree write_replicas(const model::TaskGroup& group) {
  return Tree::map()
      .put("min", Tree::of_number(group.min_members))
      .put("max", Tree::of_number(group.members))
      .put("step", Tree::of_number(group.step));
}

Tree write_groups(const WorkloadDocument& document) {
  Tree list = Tree::list();
  const auto& groups = document.workload.groups;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const model::TaskGroup& group = groups[i];
    Tree map = Tree::map();
    map.put("name", Tree::of_text(group.name));
    if (group.parent >= 0)
      map.put("parent", Tree::of_text(groups[static_cast<std::size_t>(group.parent)].name));
    if (group.members == 0) {
      map.put("minChildren", Tree::of_number(group.min_members));
    } else {
      map.put("replicas", write_replicas(group));
      map.put_unless_empty("resources", write_resources(document, i));
    }
    list.items.push_back(std::move(map));
  }
  return list;
}

Tree write_topology_request(const model::TopologyRequest& topology) {
  Tree map = Tree::map();
  map.put_unless_empty("required", Tree::of_text(topology.required));
  map.put_unless_empty("preferred", Tree::of_text(topology.preferred));
  if (topology.segment_size > 0)
    map.put("segment", Tree::map()
                           .put("size", Tree::of_number(topology.segment_size))
                           .put("level", Tree::of_text(topology.segment_level)));
  return map;
}

Tree write_tolerations(const std::vector<model::Toleration>& tolerations) {
  Tree list = Tree::list();
  for (const model::Toleration& toleration : tolerations) {
    Tree map = Tree::map();
    map.put_unless_empty("key", Tree::of_text(toleration.key));
    list.items.push_back(map.put_unless_empty("value", Tree::of_text(toleration.value)));
  }
  return list;
}

Tree write_checkpoint(const model::Checkpoint& checkpoint) {
  Tree map = Tree::map();
  if (checkpoint == model::Checkpoint{}) return map;
  if (checkpoint.every > base::Duration{}) map.put("every", write_duration(checkpoint.every));
  map.put_unless_empty("signal", Tree::of_text(checkpoint.signal));
  return map.put("grace", write_duration(checkpoint.grace));
}

Tree write_retry(const model::RetryPolicy& retry) {
  Tree map = Tree::map();
  if (retry.max) map.put("max", Tree::of_number(*retry.max));
  Tree rules = Tree::list();
  for (const model::RetryRule& rule : retry.rules) {
    Tree row = Tree::map();
    row.put("class", write_enum(rule.on));
    if (rule.code) row.put("code", Tree::of_number(*rule.code));
    rules.items.push_back(row.put("action", write_enum(rule.action)));
  }
  return map.put_unless_empty("on", std::move(rules));
}

void write_command(const model::Command& command, Tree& spec) {
  spec.put_unless_empty("command", write_texts(command.argv));
  spec.put_unless_empty("env", write_text_map(command.environment));
  spec.put_unless_empty("workdir", Tree::of_text(command.directory));
  spec.put_unless_empty("image", Tree::of_text(command.image));
}

bool is_only_group(const model::Workload& workload) {
  if (workload.groups.size() != 1) return false;
  const model::TaskGroup& group = workload.groups.front();
  return group.parent < 0 && group.members > 0 && (group.name.empty() || group.name == kOnlyGroup);
}

}  // namespace

Tree write_texts(const std::vector<std::string>& texts) {
  Tree list = Tree::list();
  for (const std::string& text : texts)
    list.items.push_back(Tree::of_text(text));
  return list;
}

Tree write_text_map(const std::map<std::string, std::string>& texts) {
  Tree map = Tree::map();
  for (const auto& [key, value] : texts)
    map.put(key, Tree::of_text(value));
  return map;
}

Tree write_duration(base::Duration duration) {
  return Tree::of_word(base::print_duration(duration));
}

Tree write_instant(base::Instant instant) { return Tree::of_text(base::print_instant(instant)); }

Tree write_amount(std::string_view resource, std::int64_t amount) {
  switch (amount_form_of(resource)) {
    case AmountForm::Milli:
      return written_amount(base::print_milli(amount));
    case AmountForm::Bytes:
      return written_amount(base::print_bytes(amount));
    case AmountForm::Count:
      return Tree::of_number(amount);
  }
  return Tree{};
}

Tree write_heading(std::string_view kind, std::string_view name) {
  Tree metadata = Tree::map();
  metadata.put_unless_empty("name", Tree::of_text(name));
  return Tree::map()
      .put("apiVersion", Tree::of_word("berth/v1"))
      .put("kind", Tree::of_word(kind))
      .put("metadata", std::move(metadata));
}

Tree write_workload(const WorkloadDocument& document) {
  const model::Workload& workload = document.workload;
  Tree tree = write_heading(base::name_of(workload.kind), workload.name);
  Tree& metadata = tree.entries.back().value;
  metadata.put_unless_empty("queue", Tree::of_text(document.queue));
  metadata.put_unless_empty("labels", write_text_map(workload.labels));
  metadata.put_unless_empty("annotations", write_text_map(workload.annotations));
  Tree spec = Tree::map();
  spec.put_unless_empty("class", Tree::of_text(document.class_name));
  spec.put("priorityBoost", Tree::of_number(workload.priority_boost));
  if (is_only_group(workload)) {
    spec.put("replicas", write_replicas(workload.groups.front()));
    spec.put_unless_empty("resources", write_resources(document, 0));
  } else {
    spec.put("groups", write_groups(document));
  }
  spec.put_unless_empty("pools", write_texts(document.pools));
  spec.put_unless_empty("attributes", write_text_map(workload.constraints.attributes));
  spec.put_unless_empty("tolerations", write_tolerations(workload.constraints.tolerations));
  spec.put_unless_empty("topology", write_topology_request(workload.constraints.topology));
  if (workload.time_limit) spec.put("timeLimit", write_duration(*workload.time_limit));
  if (workload.estimate) spec.put("estimate", write_duration(*workload.estimate));
  if (workload.deadline) spec.put("deadline", write_instant(*workload.deadline));
  write_command(workload.command, spec);
  spec.put_unless_empty("checkpoint", write_checkpoint(workload.checkpoint));
  spec.put_unless_empty("retry", write_retry(workload.retry));
  return tree.put("spec", std::move(spec));
}

Tree write_queue(const QueueDocument& document) {
  const model::Queue& queue = document.queue;
  Tree spec = Tree::map();
  Tree rows = Tree::list();
  for (const QuotaRow& quota : document.quotas) {
    Tree row = Tree::map();
    row.put_unless_empty("pool", Tree::of_text(quota.pool));
    row.put("resource", Tree::of_text(quota.resource));
    if (quota.guarantee) row.put("guarantee", write_amount(quota.resource, *quota.guarantee));
    if (quota.lend) row.put("lend", write_amount(quota.resource, *quota.lend));
    if (quota.max) row.put("max", write_amount(quota.resource, *quota.max));
    rows.items.push_back(std::move(row));
  }
  spec.put_unless_empty("quotas", std::move(rows));
  spec.put("weight", Tree::of_number(queue.weight));
  spec.put("priority", Tree::of_number(queue.priority));
  spec.put("passing", write_enum(queue.passing));
  spec.put("exclusive", write_enum(queue.exclusive));
  spec.put("sharesDevicesAcrossTenants", Tree::of_boolean(queue.shares_devices_across_tenants));
  if (queue.quantum) spec.put("quantum", write_duration(*queue.quantum));
  spec.put("claimBackoff", write_duration(queue.claim_backoff));
  return write_heading("Queue", queue.name).put("spec", std::move(spec));
}

Tree write_pool(const PoolDocument& document) {
  Tree spec = Tree::map();
  spec.put_unless_empty("parent", Tree::of_text(document.parent));
  spec.put_unless_empty("selector", write_text_map(document.pool.selector));
  return write_heading("Pool", document.pool.name).put("spec", std::move(spec));
}

Tree write_class(const ClassDocument& document) {
  const model::WorkloadClass& value = document.workload_class;
  Tree spec = Tree::map();
  spec.put("priority", Tree::of_number(value.priority));
  spec.put("reclaimable", write_enum(value.reclaimable));
  spec.put("preemptible", write_enum(value.preemptible));
  spec.put("minRuntime", write_duration(value.min_runtime));
  spec.put("grace", write_duration(value.grace));
  spec.put("maxRuntime",
           value.max_runtime ? write_duration(*value.max_runtime) : Tree::of_word("unlimited"));
  spec.put("order", write_enum(value.order));
  spec.put("strategy", write_enum(value.strategy));
  spec.put("evictionsPerDay", Tree::of_number(value.evictions_per_day));
  spec.put("retries", Tree::of_number(value.retries));
  spec.put("mayPreempt", write_texts(value.may_preempt));
  spec.put("chargeFactor", written_amount(base::print_milli(value.charge_factor_milli)));
  return write_heading("Class", value.name).put("spec", std::move(spec));
}

Tree write_policy(const PolicyDocument& document) {
  const model::PolicySet& policy = document.policy;
  Tree spec = Tree::map();
  spec.put("sharing", write_enum(policy.sharing));
  spec.put("order", policy.order ? write_enum(*policy.order) : Tree::of_word("by_class"));
  spec.put("usesClassPriority", Tree::of_boolean(policy.uses_class_priority));
  spec.put("allowsReclaim", Tree::of_boolean(policy.allows_reclaim));
  spec.put("allowsPreemption", Tree::of_boolean(policy.allows_preemption));
  spec.put("claimLifetime", write_duration(policy.claim_lifetime));
  spec.put("ageCreditEvery", write_duration(policy.age_credit_every));
  spec.put("ageCreditMax", Tree::of_number(policy.age_credit_max));
  spec.put("keepsFinished", write_duration(policy.keeps_finished));
  spec.put("placement",
           policy.placement ? write_enum(*policy.placement) : Tree::of_word("by_class"));
  return write_heading("Policy", policy.name).put("spec", std::move(spec));
}

Tree write_topology(const TopologyDocument& document) {
  Tree spec = Tree::map();
  spec.put("levels", write_texts(document.topology.levels));
  return write_heading("Topology", document.topology.name).put("spec", std::move(spec));
}

namespace {

struct Writer {
  Tree operator()(const WorkloadDocument& body) const { return write_workload(body); }
  Tree operator()(const QueueDocument& body) const { return write_queue(body); }
  Tree operator()(const PoolDocument& body) const { return write_pool(body); }
  Tree operator()(const ClassDocument& body) const { return write_class(body); }
  Tree operator()(const PolicyDocument& body) const { return write_policy(body); }
  Tree operator()(const TopologyDocument& body) const { return write_topology(body); }
};

}  // namespace

Tree write_document(const Document& document) { return std::visit(Writer{}, document.body); }

}  // namespace manifest
