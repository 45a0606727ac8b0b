#include "invariants/internal/recount.h"

#include <algorithm>
#include <tuple>

namespace invariants::internal {

using model::Claim;
using model::Device;
using model::DeviceAssignment;
using model::DeviceUse;
using model::MemberPlacement;
using model::State;
using model::Usage;
using model::Workload;
using model::WorkloadRecord;

namespace {

const model::SliceProfile* profile_of(const Device& device, const std::string& name) {
  for (const model::SliceProfile& profile : device.profiles)
    if (profile.name == name) return &profile;
  return nullptr;
}

const model::TaskGroup& group_of(const Workload& workload, const MemberPlacement& member) {
  return workload.groups.at(static_cast<std::size_t>(member.group));
}

template <class Id>
void add_once(std::vector<Id>& ids, Id id) {
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
}

void count_attempt(const WorkloadRecord& record, const model::Attempt& attempt, const State& state,
                   Recount& sum) {
  for (std::size_t rank = 0; rank < attempt.placement.members.size(); ++rank) {
    const MemberPlacement& member = attempt.placement.members[rank];
    NodeCount& node = sum.nodes[member.node];
    add_once(node.attempts, attempt.id);
    node.used.add(group_of(record.workload, member).per_member);
    for (const DeviceAssignment& part : member.devices) {
      const auto index = static_cast<std::size_t>(part.device);
      DeviceUse& use = node.devices.at(index);
      node.used.add(model::kDevice, part.milli.value);
      use.milli += part.milli;
      use.memory += part.memory;
      model::Occupant occupant{.attempt = attempt.id,
                               .rank = static_cast<std::int32_t>(rank),
                               .milli = part.milli,
                               .memory = part.memory};
      const Device& device = state.nodes.at(member.node).node.devices.at(index);
      if (const auto* profile = profile_of(device, part.slice)) {
        occupant.slice_start = part.slice_start;
        occupant.slice_length = profile->memory_slices;
      }
      use.occupants.push_back(occupant);
    }
  }
}

// What a node still has of `whole` after `used`, at most `wanted`.
std::int64_t set_aside(std::int64_t whole, std::int64_t used, std::int64_t wanted) {
  return std::max<std::int64_t>(0, std::min(wanted, whole - used));
}

// Claims set aside together min(what they need, what is unused).
void secure(const State& state, model::NodeId id, NodeCount& node) {
  const model::Node& shape = state.nodes.at(id).node;
  model::Quantities wanted;
  std::vector<std::int64_t> milli(shape.devices.size()), bytes(shape.devices.size());
  for (const auto& [claim_id, claim] : state.claims) {
    const Workload& owner = state.workloads.at(claim.owner).workload;
    for (const MemberPlacement& member : claim.placement.members) {
      if (member.node != id) continue;
      add_once(node.claims, claim_id);
      wanted.add(group_of(owner, member).per_member);
      for (const DeviceAssignment& part : member.devices) {
        milli.at(static_cast<std::size_t>(part.device)) += part.milli.value;
        bytes.at(static_cast<std::size_t>(part.device)) += part.memory.value;
      }
    }
  }
  node.secured = {};
  for (const auto& amount : wanted.amounts())
    node.secured.set(amount.resource, set_aside(shape.allocatable.of(amount.resource),
                                                node.used.of(amount.resource), amount.amount));
  for (std::size_t i = 0; i < shape.devices.size(); ++i) {
    DeviceUse& use = node.devices[i];
    use.secured_milli = base::MilliDevice(set_aside(1000, use.milli.value, milli[i]));
    use.secured_memory =
        base::Bytes(set_aside(shape.devices[i].memory.value, use.memory.value, bytes[i]));
  }
}

void count_free(const State& state, model::NodeId id, const NodeCount& node, Usage& free) {
  const model::Node& shape = state.nodes.at(id).node;
  if (shape.condition != model::NodeCondition::Ready) return;
  const auto add = [&](model::ResourceId resource, std::int64_t amount) {
    for (const model::PoolId pool : state.pools.at(shape.pool).path)
      free.add({pool, resource}, std::max<std::int64_t>(0, amount));
  };
  for (const auto& whole : shape.allocatable.amounts())
    add(whole.resource,
        whole.amount - node.used.of(whole.resource) - node.secured.of(whole.resource));
  for (std::size_t i = 0; i < shape.devices.size(); ++i) {
    const DeviceUse& use = node.devices[i];
    if (takes_new_work(shape.devices[i].health))
      add(model::kDevice, 1000 - use.milli.value - use.secured_milli.value);
  }
}

void count_secured(const State& state, model::NodeId id, const NodeCount& node, Usage& secured) {
  const model::Node& shape = state.nodes.at(id).node;
  if (shape.condition != model::NodeCondition::Ready) return;
  for (const model::PoolId pool : state.pools.at(shape.pool).path) {
    for (const auto& amount : node.secured.amounts())
      secured.add({pool, amount.resource}, amount.amount);
    for (std::size_t i = 0; i < shape.devices.size(); ++i)
      if (takes_new_work(shape.devices[i].health))
        secured.add({pool, model::kDevice}, node.devices[i].secured_milli.value);
  }
}

void count_queues(const State& state, Recount& sum) {
  const auto along_path = [&](model::QueueId queue, auto&& visit) {
    for (const model::QueueId on_path : state.queues.at(queue).path)
      visit(sum.queues[on_path]);
  };
  each_live(state, [&](const WorkloadRecord& record, const model::Attempt& attempt) {
    const Usage charge = charge_of(state, record.workload, attempt.placement);
    along_path(record.workload.queue, [&](QueueCount& count) { count.held.add(charge); });
    sum.held.add(charge);
  });
  for (const auto& [id, claim] : state.claims) {
    const Workload& owner = state.workloads.at(claim.owner).workload;
    const Usage charge = charge_of(state, owner, claim.placement);
    along_path(owner.queue, [&](QueueCount& count) {
      (claim.victims.empty() ? count.held : count.claimed).add(charge);
    });
  }
  state.workloads.each([&](model::WorkloadId, const WorkloadRecord& record) {
    if (record.phase != model::Phase::Queued || record.is_held || record.claim) return;
    along_path(record.workload.queue, [&](QueueCount& count) { count.pending.add(record.ask); });
  });
}

}  // namespace

std::int64_t milli_of(const Device& device, const DeviceAssignment& part) {
  const auto* profile = part.slice.empty() ? nullptr : profile_of(device, part.slice);
  if (profile == nullptr || device.memory_slices <= 0) return part.milli.value;
  const std::int64_t axis = device.memory_slices;
  return 1000 * (part.slice_start + profile->memory_slices) / axis - 1000 * part.slice_start / axis;
}

Usage charge_of(const State& state, const Workload& workload, const model::Placement& placement) {
  Usage sum;
  for (const MemberPlacement& member : placement.members) {
    const model::Node& node = state.nodes.at(member.node).node;
    model::Quantities cost = group_of(workload, member).per_member;
    for (const DeviceAssignment& part : member.devices)
      cost.add(model::kDevice,
               milli_of(node.devices.at(static_cast<std::size_t>(part.device)), part));
    for (const model::PoolId pool : state.pools.at(node.pool).path)
      for (const auto& amount : cost.amounts())
        sum.add({pool, amount.resource}, amount.amount);
  }
  return sum;
}

Recount recount(const State& state) {
  Recount sum;
  state.nodes.each([&](model::NodeId id, const model::NodeRecord& record) {
    sum.nodes[id].devices.resize(record.node.devices.size());
  });
  state.queues.each([&](model::QueueId id, const model::QueueRecord&) { sum.queues[id]; });
  each_live(state, [&](const WorkloadRecord& record, const model::Attempt& attempt) {
    count_attempt(record, attempt, state, sum);
  });
  for (auto& [id, node] : sum.nodes) {
    secure(state, id, node);
    count_secured(state, id, node, sum.secured);
    count_free(state, id, node, sum.free);
    for (DeviceUse& use : node.devices)
      std::sort(use.occupants.begin(), use.occupants.end(), [](const auto& a, const auto& b) {
        return std::tie(a.attempt, a.rank, a.slice_start) <
               std::tie(b.attempt, b.rank, b.slice_start);
      });
  }
  count_queues(state, sum);
  return sum;
}

}  // namespace invariants::internal
