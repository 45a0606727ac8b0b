#include "policy/checks.h"

#include <algorithm>

#include "policy/charge.h"
#include "policy/quota.h"

namespace policy {

using base::Code;
using base::Done;
using base::fail;
using base::fail_field;
using base::Result;
using model::DeviceRequest;
using model::Pool;
using model::PoolRecord;
using model::Queue;
using model::QueueId;
using model::QueueRecord;
using model::Quota;
using model::State;
using model::TaskGroup;
using model::Workload;

namespace {

std::string where(const State& state, model::Dimension dimension) {
  const PoolRecord* pool = state.pools.find(dimension.pool);
  return fmt::format("{} in pool {}", model::resource_name(state, dimension.resource),
                     pool == nullptr ? "?" : pool->pool.name);
}

}  // namespace

Result<Done> check_pool(const State& state, const Pool& pool) {
  if (const PoolRecord* known = state.pools.find(pool.id);
      known != nullptr && known->pool.parent != pool.parent)
    return fail_field(Code::FailedPrecondition, "spec.parent",
                      fmt::format("pool {} cannot move to another parent", pool.name),
                      "define a new pool there and move the nodes to it");
  if (pool.parent.is_none()) return Done{};
  const PoolRecord* parent = state.pools.find(pool.parent);
  if (parent == nullptr)
    return fail_field(Code::NotFound, "spec.parent", "the parent pool does not exist",
                      "define the parent first");
  if (pool.parent == pool.id)
    return fail_field(Code::InvalidArgument, "spec.parent", "a pool cannot be its own parent");
  if (!parent->nodes.empty())
    return fail_field(Code::FailedPrecondition, "spec.parent",
                      fmt::format("pool {} has {} nodes of its own; nodes are only in leaf pools",
                                  parent->pool.name, parent->nodes.size()),
                      "move its nodes to a leaf pool first");
  if (parent->path.size() >= kMaxTreeDepth)
    return fail_field(Code::TooLarge, "spec.parent",
                      fmt::format("pools nest at most {} deep", kMaxTreeDepth));
  return Done{};
}

namespace {

Result<Done> check_row(const State& state, const Queue& queue, const Quota& row,
                       std::int64_t children_guarantee, bool has_children) {
  const std::string what = where(state, row.dimension);
  const std::int64_t guarantee = row.guarantee.value_or(children_guarantee);
  const std::pair<const char*, std::optional<std::int64_t>> amounts[] = {
      {"guarantee", row.guarantee}, {"lend", row.lend}, {"max", row.max}};
  for (const auto& [name, amount] : amounts)
    if (amount && *amount < 0)
      return fail_field(Code::InvalidArgument, fmt::format("spec.quotas.{}", name),
                        fmt::format("{} of {} is negative", name, what));
  if (has_children && guarantee < children_guarantee)
    return fail_field(Code::FailedPrecondition, "spec.quotas.guarantee",
                      fmt::format("queue {} guarantees {} of {}, its children together {}",
                                  queue.name, guarantee, what, children_guarantee),
                      "raise it, or lower the children's first");
  if (row.max && *row.max < guarantee)
    return fail_field(
        Code::InvalidArgument, "spec.quotas.max",
        fmt::format("max {} of {} is below the guarantee {}", *row.max, what, guarantee));
  if (row.lend && *row.lend > guarantee)
    return fail_field(
        Code::InvalidArgument, "spec.quotas.lend",
        fmt::format("lend {} of {} is above the guarantee {}", *row.lend, what, guarantee));
  const PoolRecord* pool = state.pools.find(row.dimension.pool);
  if (pool == nullptr)
    return fail_field(Code::NotFound, "spec.quotas.pool", "the pool does not exist");
  if (!pool->children.empty() && row.guarantee)
    return fail_field(Code::Unsupported, "spec.quotas.guarantee",
                      fmt::format("pool {} is not a leaf", pool->pool.name),
                      "guarantee on its leaf pools; a max may stand on any pool");
  return Done{};
}

// The parent's explicit guarantee must still cover its children's with this one among them.
Result<Done> check_parent(const State& state, const Queue& queue, const QuotaTable& quotas) {
  const QueueRecord* parent = state.queues.find(queue.parent);
  if (parent == nullptr)
    return fail_field(Code::NotFound, "metadata.name",
                      fmt::format("the parent of queue {} does not exist", queue.name),
                      "define the queues of the path from the top");
  if (parent->path.size() >= kMaxTreeDepth)
    return fail_field(Code::TooLarge, "metadata.name",
                      fmt::format("queues nest at most {} deep", kMaxTreeDepth));
  for (const Quota& row : parent->queue.quotas) {
    if (!row.guarantee) continue;
    std::int64_t children = 0;
    for (const QueueId child : parent->children)
      if (child != queue.id) children += quotas.of(child, row.dimension).guarantee;
    const auto own = std::ranges::find(queue.quotas, row.dimension, &Quota::dimension);
    if (own != queue.quotas.end()) children += own->guarantee.value_or(0);
    if (children > *row.guarantee)
      return fail_field(
          Code::FailedPrecondition, "spec.quotas.guarantee",
          fmt::format("with this, the children of {} guarantee {} of {}, the queue itself only {}",
                      parent->queue.name, children, where(state, row.dimension), *row.guarantee),
          "raise the parent's guarantee first");
  }
  return Done{};
}

bool has_workloads(const State& state, QueueId queue) {
  const QueueRecord& record = state.queues.at(queue);
  return !record.held.empty() || !record.pending.empty() || !record.claimed.empty();
}

}  // namespace

Result<Done> check_queue(const State& state, const Queue& queue) {
  if (queue.weight < 0 || queue.weight > 1'000'000)
    return fail_field(Code::InvalidArgument, "spec.weight",
                      fmt::format("weight {} is outside 0..1000000", queue.weight));
  const QuotaTable quotas(state);
  const QueueRecord* known = state.queues.find(queue.id);
  const bool has_children = known != nullptr && !known->children.empty();
  for (const Quota& row : queue.quotas) {
    std::int64_t children_guarantee = 0;
    if (has_children)
      for (const QueueId child : known->children)
        children_guarantee += quotas.of(child, row.dimension).guarantee;
    if (auto checked = check_row(state, queue, row, children_guarantee, has_children); !checked)
      return checked;
  }
  if (queue.parent.is_none()) return Done{};
  if (auto checked = check_parent(state, queue, quotas); !checked) return checked;
  const QueueRecord& parent = state.queues.at(queue.parent);
  if (known == nullptr && parent.children.empty() && has_workloads(state, queue.parent))
    return fail_field(
        Code::FailedPrecondition, "metadata.name",
        fmt::format("queue {} has workloads of its own; only leaf queues may", parent.queue.name),
        "let them end or cancel them first");
  return Done{};
}

Result<Done> check_class(const State& state, const model::WorkloadClass& workload_class) {
  for (const std::string& other : workload_class.may_preempt)
    if (other != workload_class.name && !state.class_by_name.contains(other))
      return fail_field(Code::NotFound, "spec.mayPreempt",
                        fmt::format("there is no class {}", other));
  if (workload_class.evictions_per_day < 0 || workload_class.retries < 0)
    return fail_field(Code::InvalidArgument, "spec", "a count is negative");
  return Done{};
}

namespace {

Result<Done> check_request(const DeviceRequest& request, const std::string& field) {
  const int forms =
      (request.count.value != 0) + (!request.slice.empty()) +
      (request.share.value != 0 || request.memory.value != 0 || request.memory_percent != 0);
  if (forms > 1)
    return fail_field(Code::InvalidArgument, field,
                      "asks for whole devices, a share and a slice at once",
                      "use one form; list alternatives in order of preference");
  if (request.count.value < 0 || request.share.value < 0 || request.share.value > 1000 ||
      request.memory.value < 0 || request.memory_percent < 0 || request.memory_percent > 100)
    return fail_field(Code::InvalidArgument, field, "an amount of devices is out of range",
                      "whole devices from 1, shares up to 1, percent up to 100");
  return Done{};
}

Result<Done> check_groups(const Workload& workload) {
  std::int64_t members = 0;
  for (std::size_t i = 0; i < workload.groups.size(); ++i) {
    const TaskGroup& group = workload.groups[i];
    const std::string field = fmt::format("spec.groups[{}]", i);
    if (group.parent < -1 || group.parent >= static_cast<std::int32_t>(i))
      return fail_field(Code::InvalidArgument, field + ".parent",
                        fmt::format("group {} stands before its parent or in a cycle", group.name));
    if (group.members < 0 || group.min_members < 0 || group.min_members > group.members)
      if (group.members != 0 || group.min_members < 0)
        return fail_field(Code::InvalidArgument, field + ".replicas",
                          fmt::format("needs 1 <= min <= max, has min {} and max {}",
                                      group.min_members, group.members));
    members += group.members;
    for (const DeviceRequest& option : group.device_options)
      if (auto checked = check_request(option, field + ".resources.gpu"); !checked) return checked;
  }
  if (members < 1)
    return fail_field(Code::InvalidArgument, "spec.replicas", "a workload needs a member");
  if (members > kMaxMembers)
    return fail_field(Code::TooLarge, "spec.replicas",
                      fmt::format("{} members, at most {}", members, kMaxMembers));
  return Done{};
}

bool is_level(const State& state, const std::string& level) {
  return std::ranges::any_of(state.topologies, [&](const auto& entry) {
    return std::ranges::find(entry.second.levels, level) != entry.second.levels.end();
  });
}

// Sums over everything queued must stay exact: 2^53 of one tenant in one dimension leave room for
// 1024 tenants in 63 bits.
constexpr std::int64_t kMaxDemand = std::int64_t{1} << 53;

Result<Done> check_demand(const State& state, const Workload& workload) {
  const QueueRecord& tenant = state.queues.at(state.queues.at(workload.queue).tenant());
  const model::Usage ask = ask_of(state, workload);
  for (const auto& a : ask.amounts()) {
    const std::int64_t already = tenant.pending.of(a.dimension) + tenant.held.of(a.dimension);
    if (a.amount <= kMaxDemand - already) continue;
    return fail_field(Code::TooLarge, "spec.resources",
                      fmt::format("tenant {} would ask for more than {} of {}", tenant.queue.name,
                                  kMaxDemand, where(state, a.dimension)),
                      "ask for less, or cancel queued work");
  }
  return Done{};
}

}  // namespace

Result<Done> check_workload(const State& state, const Workload& workload) {
  const QueueRecord* queue = state.queues.find(workload.queue);
  if (queue == nullptr)
    return fail_field(Code::NotFound, "metadata.queue", "the queue does not exist");
  if (!queue->children.empty())
    return fail_field(Code::FailedPrecondition, "metadata.queue",
                      fmt::format("queue {} has queues below it", queue->queue.name),
                      fmt::format("submit to one of them, such as {}",
                                  state.queues.at(queue->children.front()).queue.name));
  if (state.classes.find(workload.workload_class) == nullptr)
    return fail_field(Code::NotFound, "spec.class", "the class does not exist");
  if (!workload.name.empty() && state.workload_by_name.contains({workload.queue, workload.name}))
    return fail_field(
        Code::AlreadyExists, "metadata.name",
        fmt::format("queue {} has an unfinished workload {}", queue->queue.name, workload.name),
        "choose another name, or cancel that one");
  for (const std::string& level :
       {workload.constraints.topology.required, workload.constraints.topology.preferred})
    if (!level.empty() && !is_level(state, level))
      return fail_field(Code::NotFound, "spec.topology",
                        fmt::format("no topology has a level {}", level));
  if (auto checked = check_groups(workload); !checked) return checked;
  return check_demand(state, workload);
}

}  // namespace policy
