#include "policy/charge.h"

#include <algorithm>
#include <limits>

#include "policy/eligibility.h"

namespace policy {

using model::Constraints;
using model::Device;
using model::DeviceAssignment;
using model::DeviceRequest;
using model::MemberPlacement;
using model::Placement;
using model::PoolId;
using model::PoolRecord;
using model::State;
using model::TaskGroup;
using model::Usage;
using model::Workload;

namespace {

void charge_path(Usage& usage, const PoolRecord& leaf, model::ResourceId resource,
                 std::int64_t amount) {
  for (const PoolId pool : leaf.path)
    usage.add({pool, resource}, amount);
}

}  // namespace

std::int64_t charge_of(const Device& device, const DeviceAssignment& assignment) {
  if (assignment.slice.empty()) return assignment.milli.value;
  const auto profile =
      std::ranges::find(device.profiles, assignment.slice, &model::SliceProfile::name);
  if (profile == device.profiles.end() || device.memory_slices <= 0) return assignment.milli.value;
  const std::int64_t from = assignment.slice_start;
  const std::int64_t to = from + profile->memory_slices;
  return 1000 * to / device.memory_slices - 1000 * from / device.memory_slices;
}

Usage charge_of(const State& state, const Workload& workload, const Placement& placement) {
  Usage usage;
  for (const MemberPlacement& member : placement.members) {
    const model::NodeRecord& node = state.nodes.at(member.node);
    const PoolRecord& leaf = state.pools.at(node.node.pool);
    const TaskGroup& group = workload.groups[static_cast<std::size_t>(member.group)];
    for (const auto& need : group.per_member.amounts())
      charge_path(usage, leaf, need.resource, need.amount);
    std::int64_t milli = 0;
    for (const DeviceAssignment& assignment : member.devices)
      milli +=
          charge_of(node.node.devices[static_cast<std::size_t>(assignment.device)], assignment);
    charge_path(usage, leaf, model::kDevice, milli);
  }
  return usage;
}

namespace {

void add_leaves(const State& state, PoolId pool, std::vector<PoolId>& leaves) {
  const PoolRecord* record = state.pools.find(pool);
  if (record == nullptr) return;
  if (record->children.empty()) {
    if (std::ranges::find(leaves, pool) == leaves.end()) leaves.push_back(pool);
    return;
  }
  for (const PoolId child : record->children)
    add_leaves(state, child, leaves);
}

}  // namespace

std::vector<PoolId> accepted_pools(const State& state, const Constraints& constraints) {
  std::vector<PoolId> leaves;
  if (constraints.pools.empty()) {
    state.pools.each([&leaves](PoolId id, const PoolRecord& record) {
      if (record.children.empty()) leaves.push_back(id);
    });
  }
  for (const PoolId pool : constraints.pools)
    add_leaves(state, pool, leaves);
  return leaves;
}

namespace {

// The smallest charge of the option on any device of the pool; nothing when none can take it.
std::optional<std::int64_t> smallest_charge(const State& state, const PoolRecord& pool,
                                            const DeviceRequest& option) {
  std::optional<std::int64_t> smallest;
  for (const auto& [shape, nodes] : pool.shapes) {
    const model::Node& node = state.nodes.at(nodes.front()).node;
    for (const Device& device : node.devices) {
      std::int64_t charge = 0;
      if (option.is_whole()) {
        if (!accepts_model(option, device)) continue;
        charge = 1000 * option.count.value;
      } else {
        const auto part = part_of(option, device);
        if (!part) continue;
        charge = part->milli.value;
      }
      if (!smallest || charge < *smallest) smallest = charge;
    }
  }
  return smallest;
}

std::int64_t nominal_charge(const DeviceRequest& option) {
  if (option.is_none()) return 0;
  if (option.is_whole()) return 1000 * option.count.value;
  if (option.memory_percent > 0)
    return std::max<std::int64_t>(option.share.value, 10 * option.memory_percent);
  return option.share.value > 0 ? option.share.value : 1000;
}

std::int64_t device_ask(const State& state, const PoolRecord& pool, const TaskGroup& group) {
  if (group.device_options.empty()) return 0;
  for (const DeviceRequest& option : group.device_options) {
    if (option.is_none()) return 0;
    if (const auto charge = smallest_charge(state, pool, option)) return *charge;
  }
  return nominal_charge(group.device_options.front());
}

}  // namespace

Usage ask_in(const State& state, const Workload& workload, PoolId leaf) {
  Usage usage;
  const PoolRecord& pool = state.pools.at(leaf);
  for (const TaskGroup& group : workload.groups) {
    if (group.members == 0) continue;
    for (const auto& need : group.per_member.amounts())
      charge_path(usage, pool, need.resource, need.amount * group.min_members);
    charge_path(usage, pool, model::kDevice, device_ask(state, pool, group) * group.min_members);
  }
  return usage;
}

std::int64_t could_ever_fit(const State& state, const Workload& workload, PoolId leaf) {
  const PoolRecord& pool = state.pools.at(leaf);
  std::int64_t fit = 0;
  for (const TaskGroup& group : workload.groups) {
    if (group.members == 0) continue;
    std::int64_t here = 0;
    for (const auto& [shape, nodes] : pool.shapes) {
      if (here >= group.min_members) break;
      const model::Node& node = state.nodes.at(nodes.front()).node;
      if (node_bar(node, workload.constraints) != model::Reason::None) continue;
      here += members_on_empty(node, group) * static_cast<std::int64_t>(nodes.size());
    }
    fit += std::min<std::int64_t>(here, group.min_members);
  }
  return fit;
}

std::int64_t min_members(const Workload& workload) {
  std::int64_t members = 0;
  for (const TaskGroup& group : workload.groups)
    if (group.members > 0) members += group.min_members;
  return members;
}

Usage ask_of(const State& state, const Workload& workload) {
  const std::vector<PoolId> pools = accepted_pools(state, workload.constraints);
  if (pools.empty()) return {};
  const std::int64_t need = min_members(workload);
  for (const PoolId pool : pools)
    if (could_ever_fit(state, workload, pool) >= need) return ask_in(state, workload, pool);
  return ask_in(state, workload, pools.front());
}

}  // namespace policy
