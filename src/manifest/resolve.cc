#include "manifest/resolve.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "manifest/internal/field.h"
#include "manifest/internal/read_kinds.h"
#include "policy/default_policy.h"

namespace manifest {

namespace {

using base::Code;

constexpr std::size_t kMaxNamesShown = 10;

template <class Id>
std::vector<std::string_view> names_of(const std::map<std::string, Id, std::less<>>& table) {
  std::vector<std::string_view> names;
  for (const auto& [name, id] : table)
    names.push_back(name);
  return names;
}

// "queues are a, b and c", cut after the first ten.
std::string known_names(std::string_view plural, std::span<const std::string_view> names) {
  if (names.empty()) return fmt::format("there are no {} yet", plural);
  std::string text = fmt::format("{} are ", plural);
  for (std::size_t i = 0; i < names.size() && i < kMaxNamesShown; ++i)
    text += (i == 0 ? "" : ", ") + std::string(names[i]);
  if (names.size() > kMaxNamesShown) text += ", …";
  return text;
}

struct Noun {
  std::string_view one;
  std::string_view several;
};
constexpr Noun kQueue{"queue", "queues"}, kPool{"pool", "pools"}, kClass{"class", "classes"},
    kResource{"resource", "resources"};

tl::unexpected<base::Error> not_found(std::string field, Noun noun, std::string_view name,
                                      std::span<const std::string_view> names) {
  const auto near = base::nearest(name, names);
  return base::fail_field(
      Code::NotFound, std::move(field), fmt::format("there is no {} {}", noun.one, name),
      near ? fmt::format("did you mean {}?", *near) : known_names(noun.several, names));
}

template <class Id>
base::Result<Id> id_of(const std::map<std::string, Id, std::less<>>& table, std::string_view name,
                       Noun noun, std::string field) {
  if (const auto at = table.find(name); at != table.end()) return at->second;
  return not_found(std::move(field), noun, name, names_of(table));
}

// ---- workloads ----

base::Result<model::QueueId> default_queue(const model::State& state) {
  std::vector<std::string_view> leaves;
  model::QueueId last;
  state.queues.each([&](model::QueueId id, const model::QueueRecord& record) {
    if (!record.children.empty()) return;
    leaves.push_back(record.queue.name);
    last = id;
  });
  if (leaves.size() == 1) return last;
  if (const auto at = state.queue_by_name.find("default"); at != state.queue_by_name.end())
    return at->second;
  if (leaves.empty())
    return base::fail_field(Code::FailedPrecondition, "metadata.queue", "there is no queue yet",
                            "apply a document of kind Queue first");
  return base::fail_field(Code::InvalidArgument, "metadata.queue",
                          fmt::format("says no queue, and there are {}", leaves.size()),
                          "name one; " + known_names("queues", leaves));
}

base::Result<model::ClassId> class_of(const WorkloadDocument& document, const model::State& state) {
  const std::string_view name = document.class_name.empty()
                                    ? policy::default_class_of(document.workload.kind)
                                    : std::string_view(document.class_name);
  return id_of(state.class_by_name, name, kClass, "spec.class");
}

// Ids of custom resources by name: the known ones and, after them, the new ones of this document.
class CustomResources {
 public:
  explicit CustomResources(const model::State& state) : next_(model::kFirstCustom.value) {
    for (const auto& [id, name] : state.resources) {
      by_name_.emplace(name, id);
      next_ = std::max(next_, static_cast<std::uint32_t>(id.value) + 1);
    }
  }

  // None when the numbers are used up.
  model::ResourceId id_of(const std::string& name) {
    if (const auto at = by_name_.find(name); at != by_name_.end()) return at->second;
    constexpr std::uint32_t kLast = 0xffff;
    if (next_ > kLast) return model::ResourceId{};
    const model::ResourceId id(static_cast<std::uint16_t>(next_++));
    by_name_.emplace(name, id);
    defined_.push_back(model::ResourceDefined{.resource = id, .name = name});
    return id;
  }
  std::vector<model::ResourceDefined> take_defined() { return std::move(defined_); }

 private:
  std::map<std::string, model::ResourceId> by_name_;
  std::uint32_t next_;
  std::vector<model::ResourceDefined> defined_;
};

base::Result<Resolved> resolve_workload(const WorkloadDocument& document,
                                        const model::State& state) {
  model::Workload workload = document.workload;
  workload.id = state.next_workload;
  const auto queue = document.queue.empty()
                         ? default_queue(state)
                         : id_of(state.queue_by_name, document.queue, kQueue, "metadata.queue");
  if (!queue) return tl::unexpected(queue.error());
  workload.queue = *queue;
  const auto workload_class = class_of(document, state);
  if (!workload_class) return tl::unexpected(workload_class.error());
  workload.workload_class = *workload_class;
  for (std::size_t i = 0; i < document.pools.size(); ++i) {
    const auto pool =
        id_of(state.pool_by_name, document.pools[i], kPool, fmt::format("spec.pools[{}]", i));
    if (!pool) return tl::unexpected(pool.error());
    workload.constraints.pools.push_back(*pool);
  }
  CustomResources resources(state);
  for (const WorkloadDocument::Custom& row : document.custom) {
    const model::ResourceId id = resources.id_of(row.resource);
    if (id.is_none())
      return base::fail_field(Code::Exhausted, "spec.resources.custom",
                              fmt::format("resource {} would be one too many", row.resource),
                              "use the name of a resource that is known");
    workload.groups[static_cast<std::size_t>(row.group)].per_member.set(id, row.amount);
  }
  return Resolved{
      .value = std::move(workload), .resources = resources.take_defined(), .is_replacement = false};
}

// ---- queues ----

base::Result<model::PoolId> only_pool(const model::State& state, const std::string& field) {
  std::vector<std::string_view> leaves;
  model::PoolId last;
  state.pools.each([&](model::PoolId id, const model::PoolRecord& record) {
    if (!record.children.empty()) return;
    leaves.push_back(record.pool.name);
    last = id;
  });
  if (leaves.size() == 1) return last;
  if (leaves.empty())
    return base::fail_field(Code::FailedPrecondition, field,
                            "there is no pool yet that a quota could be about",
                            "apply a document of kind Pool first");
  return base::fail_field(
      Code::InvalidArgument, field, fmt::format("says no pool, and there are {}", leaves.size()),
      "write quotas: [{pool: …, resource: …, guarantee: …}]; " + known_names("pools", leaves));
}

base::Result<model::ResourceId> resource_of(const std::string& name, const model::State& state,
                                            const std::string& field) {
  std::vector<std::string_view> names;
  for (const model::ResourceId id : {model::kCpu, model::kMemory, model::kScratch, model::kDevice,
                                     model::kDeviceMemory, model::kNetwork}) {
    if (model::resource_name(state, id) == name) return id;
    names.push_back(model::resource_name(state, id));
  }
  for (const auto& [id, custom] : state.resources) {
    if (custom == name) return id;
    names.push_back(custom);
  }
  return not_found(field, kResource, name, names);
}

base::Result<base::Done> check_inner_pool(const QuotaRow& row, const model::PoolRecord& pool,
                                          const model::State& state, const std::string& field) {
  if (pool.children.empty() || (!row.guarantee && !row.lend)) return base::Done{};
  std::vector<std::string_view> leaves;
  state.pools.each([&](model::PoolId, const model::PoolRecord& record) {
    const bool is_below =
        std::find(record.path.begin(), record.path.end(), pool.pool.id) != record.path.end();
    if (is_below && record.children.empty()) leaves.push_back(record.pool.name);
  });
  return base::fail_field(
      Code::InvalidArgument, field + (row.guarantee ? ".guarantee" : ".lend"),
      fmt::format("pool {} has pools below it, and guarantees stand on those", pool.pool.name),
      "give the guarantee on its leaf pools; " + known_names("they", leaves));
}

base::Result<model::Quota> resolve_row(const QuotaRow& row, const model::State& state,
                                       const std::string& field) {
  const auto pool = row.pool.empty() ? only_pool(state, field)
                                     : id_of(state.pool_by_name, row.pool, kPool, field + ".pool");
  if (!pool) return tl::unexpected(pool.error());
  const auto resource = resource_of(row.resource, state, field + ".resource");
  if (!resource) return tl::unexpected(resource.error());
  const auto checked = check_inner_pool(row, state.pools.at(*pool), state, field);
  if (!checked) return tl::unexpected(checked.error());
  return model::Quota{.dimension = {.pool = *pool, .resource = *resource},
                      .guarantee = row.guarantee,
                      .lend = row.lend,
                      .max = row.max};
}

base::Result<Resolved> resolve_queue(const QueueDocument& document, const model::State& state) {
  model::Queue queue = document.queue;
  const auto existing = state.queue_by_name.find(queue.name);
  const bool is_replacement = existing != state.queue_by_name.end();
  queue.id = is_replacement ? existing->second : state.queues.next_id();
  queue.parent = model::QueueId{};
  if (const std::size_t slash = queue.name.rfind('/'); slash != std::string::npos) {
    const std::string parent = queue.name.substr(0, slash);
    const auto at = state.queue_by_name.find(parent);
    if (at == state.queue_by_name.end())
      return base::fail_field(
          Code::NotFound, "metadata.name",
          fmt::format("queue {} would hang below {}, which does not exist", queue.name, parent),
          fmt::format("apply a Queue named {} first", parent));
    queue.parent = at->second;
  }
  queue.quotas.clear();
  for (std::size_t i = 0; i < document.quotas.size(); ++i) {
    const std::string field = fmt::format("spec.quotas[{}]", i);
    auto quota = resolve_row(document.quotas[i], state, field);
    if (!quota) return tl::unexpected(quota.error());
    const bool is_double =
        std::any_of(queue.quotas.begin(), queue.quotas.end(),
                    [&](const model::Quota& other) { return other.dimension == quota->dimension; });
    if (is_double)
      return base::fail_field(
          Code::InvalidArgument, field,
          fmt::format("a second row for {} in pool {}", document.quotas[i].resource,
                      state.pools.at(quota->dimension.pool).pool.name),
          "keep one of the two");
    queue.quotas.push_back(*std::move(quota));
  }
  std::sort(queue.quotas.begin(), queue.quotas.end(),
            [](const model::Quota& a, const model::Quota& b) { return a.dimension < b.dimension; });
  return Resolved{.value = std::move(queue), .resources = {}, .is_replacement = is_replacement};
}

// ---- the rest ----

base::Result<Resolved> resolve_pool(const PoolDocument& document, const model::State& state) {
  model::Pool pool = document.pool;
  const auto existing = state.pool_by_name.find(pool.name);
  const bool is_replacement = existing != state.pool_by_name.end();
  pool.id = is_replacement ? existing->second : state.pools.next_id();
  pool.parent = model::PoolId{};
  if (!document.parent.empty()) {
    const auto parent = id_of(state.pool_by_name, document.parent, kPool, "spec.parent");
    if (!parent) return tl::unexpected(parent.error());
    // From the parent to its root; to meet this pool there closes a circle.
    std::string circle = pool.name;
    for (const model::PoolId above : state.pools.at(*parent).path) {
      circle += " -> " + state.pools.at(above).pool.name;
      if (above == pool.id)
        return base::fail_field(Code::InvalidArgument, "spec.parent",
                                "the parents of the pools would form a circle: " + circle,
                                "name a pool that is not below this one");
    }
    pool.parent = *parent;
  }
  return Resolved{.value = std::move(pool), .resources = {}, .is_replacement = is_replacement};
}

base::Result<Resolved> resolve_class(const ClassDocument& document, const model::State& state) {
  model::WorkloadClass value = document.workload_class;
  const auto existing = state.class_by_name.find(value.name);
  const bool is_replacement = existing != state.class_by_name.end();
  value.id = is_replacement ? existing->second : state.classes.next_id();
  for (std::size_t i = 0; i < value.may_preempt.size(); ++i) {
    if (value.may_preempt[i] == value.name) continue;
    const auto other = id_of(state.class_by_name, value.may_preempt[i], kClass,
                             fmt::format("spec.mayPreempt[{}]", i));
    if (!other) return tl::unexpected(other.error());
  }
  return Resolved{.value = std::move(value), .resources = {}, .is_replacement = is_replacement};
}

struct Resolver {
  const model::State& state;

  base::Result<Resolved> operator()(const WorkloadDocument& body) const {
    return resolve_workload(body, state);
  }
  base::Result<Resolved> operator()(const QueueDocument& body) const {
    return resolve_queue(body, state);
  }
  base::Result<Resolved> operator()(const PoolDocument& body) const {
    return resolve_pool(body, state);
  }
  base::Result<Resolved> operator()(const ClassDocument& body) const {
    return resolve_class(body, state);
  }
  // There is one policy, and each replaces it.
  base::Result<Resolved> operator()(const PolicyDocument& body) const {
    return Resolved{.value = body.policy, .resources = {}, .is_replacement = true};
  }
  base::Result<Resolved> operator()(const TopologyDocument& body) const {
    return Resolved{.value = body.topology,
                    .resources = {},
                    .is_replacement = state.topologies.contains(body.topology.name)};
  }
};

}  // namespace

base::Result<Resolved> resolve(const Document& document, const model::State& state) {
  auto resolved = std::visit(Resolver{state}, document.body);
  if (resolved || document.source.empty()) return resolved;
  base::Error error = resolved.error();
  error.field = error.field.empty() ? document.source : document.source + ": " + error.field;
  return tl::unexpected(error);
}

}  // namespace manifest
