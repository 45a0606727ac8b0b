#include "lifecycle/internal/occupancy.h"

#include <algorithm>

#include "base/assert.h"
#include "policy/eligibility.h"

namespace lifecycle::internal {

using model::Attempt;
using model::Claim;
using model::Device;
using model::DeviceAssignment;
using model::DeviceUse;
using model::MemberPlacement;
using model::Node;
using model::NodeId;
using model::NodeRecord;
using model::Occupant;
using model::Quantities;
using model::State;
using model::TaskGroup;
using model::Workload;

Contribution contribution_of(const NodeRecord& node) {
  Contribution sum;
  if (node.node.condition != model::NodeCondition::Ready) return sum;
  for (const auto& a : node.node.allocatable.amounts()) {
    const std::int64_t secured = node.secured.of(a.resource);
    // A node may shrink below what is used of it; then nothing is free, and nothing is owed.
    sum.free.set(a.resource,
                 std::max<std::int64_t>(0, a.amount - node.used.of(a.resource) - secured));
    sum.secured.set(a.resource, secured);
  }
  std::int64_t free_milli = 0;
  std::int64_t secured_milli = 0;
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    if (!takes_new_work(node.node.devices[i].health)) continue;
    const DeviceUse& use = node.devices[i];
    free_milli += std::max<std::int64_t>(0, 1000 - use.milli.value - use.secured_milli.value);
    secured_milli += use.secured_milli.value;
  }
  sum.free.set(model::kDevice, free_milli);
  sum.secured.set(model::kDevice, secured_milli);
  return sum;
}

namespace {

void spread(State& state, const NodeRecord& node, std::int64_t sign) {
  const Contribution sum = contribution_of(node);
  for (const model::PoolId pool : state.pools.at(node.node.pool).path) {
    for (const auto& a : sum.free.amounts())
      state.free.add({pool, a.resource}, sign * a.amount);
    for (const auto& a : sum.secured.amounts())
      state.secured.add({pool, a.resource}, sign * a.amount);
  }
}

// Sets aside on the node, claim by claim in the order of their ids, as much of what each needs as
// is neither used nor set aside already.
void secure_claims(const State& state, NodeRecord& node) {
  node.secured = {};
  for (DeviceUse& use : node.devices) {
    use.secured_milli = {};
    use.secured_memory = {};
  }
  for (const model::ClaimId id : node.claims) {
    const Claim& claim = state.claims.at(id);
    const Workload& owner = state.workloads.at(claim.owner).workload;
    for (const MemberPlacement& member : claim.placement.members) {
      if (member.node != node.node.id) continue;
      const TaskGroup& group = owner.groups[static_cast<std::size_t>(member.group)];
      for (const auto& need : group.per_member.amounts()) {
        const std::int64_t left = node.node.allocatable.of(need.resource) -
                                  node.used.of(need.resource) - node.secured.of(need.resource);
        node.secured.add(need.resource, std::clamp<std::int64_t>(left, 0, need.amount));
      }
      for (const DeviceAssignment& assignment : member.devices) {
        const auto index = static_cast<std::size_t>(assignment.device);
        DeviceUse& use = node.devices[index];
        const std::int64_t left = 1000 - use.milli.value - use.secured_milli.value;
        use.secured_milli +=
            base::MilliDevice(std::clamp<std::int64_t>(left, 0, assignment.milli.value));
        const std::int64_t bytes_left =
            node.node.devices[index].memory.value - use.memory.value - use.secured_memory.value;
        use.secured_memory +=
            base::Bytes(std::clamp<std::int64_t>(bytes_left, 0, assignment.memory.value));
      }
    }
  }
}

// Takes the node out of the sums, lets `change` work on it, and puts it back in.
template <class Change>
void change_node(State& state, NodeId id, Change&& change) {
  NodeRecord& node = state.nodes.at(id);
  spread(state, node, -1);
  change(node);
  secure_claims(state, node);
  spread(state, node, +1);
}

// The nodes of a placement with their members, each node once, so that a node is changed once.
std::vector<NodeId> nodes_of(const model::Placement& placement) {
  std::vector<NodeId> nodes;
  nodes.reserve(placement.members.size());
  for (const MemberPlacement& member : placement.members)
    nodes.push_back(member.node);
  std::ranges::sort(nodes);
  const auto doubles = std::ranges::unique(nodes);
  nodes.erase(doubles.begin(), doubles.end());
  return nodes;
}

Occupant occupant_of(const Device& device, const DeviceAssignment& assignment,
                     model::AttemptId attempt, std::int32_t rank) {
  Occupant occupant{
      .attempt = attempt, .rank = rank, .milli = assignment.milli, .memory = assignment.memory};
  if (assignment.slice.empty()) return occupant;
  const auto profile =
      std::ranges::find(device.profiles, assignment.slice, &model::SliceProfile::name);
  if (profile == device.profiles.end()) return occupant;
  occupant.slice_start = assignment.slice_start;
  occupant.slice_length = profile->memory_slices;
  return occupant;
}

void seat_members(NodeRecord& node, const Workload& workload, const Attempt& attempt) {
  for (std::size_t rank = 0; rank < attempt.placement.members.size(); ++rank) {
    const MemberPlacement& member = attempt.placement.members[rank];
    if (member.node != node.node.id) continue;
    node.used.add(workload.groups[static_cast<std::size_t>(member.group)].per_member);
    for (const DeviceAssignment& assignment : member.devices) {
      const auto index = static_cast<std::size_t>(assignment.device);
      DeviceUse& use = node.devices[index];
      use.milli += assignment.milli;
      use.memory += assignment.memory;
      use.occupants.push_back(occupant_of(node.node.devices[index], assignment, attempt.id,
                                          static_cast<std::int32_t>(rank)));
      node.used.add(model::kDevice, assignment.milli.value);
    }
  }
}

void unseat_members(NodeRecord& node, const Workload& workload, const Attempt& attempt) {
  for (const MemberPlacement& member : attempt.placement.members) {
    if (member.node != node.node.id) continue;
    node.used.add(workload.groups[static_cast<std::size_t>(member.group)].per_member, -1);
    for (const DeviceAssignment& assignment : member.devices) {
      DeviceUse& use = node.devices[static_cast<std::size_t>(assignment.device)];
      use.milli -= assignment.milli;
      use.memory -= assignment.memory;
      std::erase_if(use.occupants,
                    [&](const Occupant& occupant) { return occupant.attempt == attempt.id; });
      node.used.add(model::kDevice, -assignment.milli.value);
    }
  }
}

template <class Id>
void insert_sorted(std::vector<Id>& ids, Id id) {
  const auto at = std::ranges::lower_bound(ids, id);
  if (at == ids.end() || *at != id) ids.insert(at, id);
}

}  // namespace

void occupy(State& state, const Workload& workload, const Attempt& attempt) {
  for (const NodeId id : nodes_of(attempt.placement)) {
    change_node(state, id, [&](NodeRecord& node) {
      seat_members(node, workload, attempt);
      insert_sorted(node.attempts, attempt.id);
    });
  }
}

void vacate(State& state, const Workload& workload, const Attempt& attempt) {
  for (const NodeId id : nodes_of(attempt.placement)) {
    change_node(state, id, [&](NodeRecord& node) {
      unseat_members(node, workload, attempt);
      std::erase(node.attempts, attempt.id);
    });
  }
}

void add_claim_to_nodes(State& state, const Claim& claim) {
  for (const NodeId id : nodes_of(claim.placement))
    change_node(state, id, [&](NodeRecord& node) { insert_sorted(node.claims, claim.id); });
}

void remove_claim_from_nodes(State& state, const Claim& claim) {
  for (const NodeId id : nodes_of(claim.placement))
    change_node(state, id, [&](NodeRecord& node) { std::erase(node.claims, claim.id); });
}

namespace {

void remove_from_shapes(model::PoolRecord& pool, const std::string& shape, NodeId id) {
  const auto found = pool.shapes.find(shape);
  if (found == pool.shapes.end()) return;
  std::erase(found->second, id);
  if (found->second.empty()) pool.shapes.erase(found);
}

// Devices that a report no longer shows are kept, separated, behind the reported ones: somebody may
// still sit on them, and a device that vanished must never come back as free by itself.
Node with_vanished_devices(const NodeRecord& before, Node after) {
  for (std::size_t i = after.devices.size(); i < before.node.devices.size(); ++i) {
    after.devices.push_back(before.node.devices[i]);
    after.devices.back().health = model::Health::Separate;
  }
  return after;
}

}  // namespace

void replace_node(State& state, const Node& node) {
  ASSERT(state.pools.find(node.pool) != nullptr);
  if (state.nodes.find(node.id) == nullptr) {
    NodeRecord record;
    record.node = node;
    record.devices.resize(node.devices.size());
    state.nodes.insert(node.id, std::move(record));
    state.node_by_name[node.name] = node.id;
    model::PoolRecord& pool = state.pools.at(node.pool);
    insert_sorted(pool.nodes, node.id);
    insert_sorted(pool.shapes[policy::node_shape(node)], node.id);
    spread(state, state.nodes.at(node.id), +1);
    return;
  }
  const NodeRecord& before = state.nodes.at(node.id);
  model::PoolRecord& old_pool = state.pools.at(before.node.pool);
  std::erase(old_pool.nodes, node.id);
  remove_from_shapes(old_pool, policy::node_shape(before.node), node.id);
  change_node(state, node.id, [&](NodeRecord& record) {
    record.node = with_vanished_devices(record, node);
    record.devices.resize(record.node.devices.size());
  });
  model::PoolRecord& new_pool = state.pools.at(node.pool);
  insert_sorted(new_pool.nodes, node.id);
  insert_sorted(new_pool.shapes[policy::node_shape(state.nodes.at(node.id).node)], node.id);
}

void set_condition(State& state, NodeId id, model::NodeCondition condition,
                   const std::string& note) {
  change_node(state, id, [&](NodeRecord& node) {
    node.node.condition = condition;
    node.node.condition_note = note;
  });
}

void set_health(State& state, NodeId id, std::int32_t device, model::Health health) {
  change_node(state, id, [&](NodeRecord& node) {
    if (device >= 0 && static_cast<std::size_t>(device) < node.node.devices.size())
      node.node.devices[static_cast<std::size_t>(device)].health = health;
  });
}

}  // namespace lifecycle::internal
