#include <algorithm>
#include <set>

#include "invariants/internal/recount.h"
#include "invariants/internal/state_rules.h"

namespace invariants::internal {

using model::Device;
using model::DeviceUse;
using model::MemberPlacement;
using model::NodeRecord;
using model::Occupant;
using model::State;
using model::WorkloadRecord;

namespace {

bool is_slice(const Occupant& occupant) { return occupant.slice_start >= 0; }

// Legal: a profile of the device of that length that may start there, inside the axis.
bool is_legal_slice(const Device& device, const Occupant& occupant) {
  if (occupant.slice_start + occupant.slice_length > device.memory_slices) return false;
  return std::any_of(device.profiles.begin(), device.profiles.end(), [&](const auto& profile) {
    return profile.memory_slices == occupant.slice_length &&
           std::find(profile.starts.begin(), profile.starts.end(), occupant.slice_start) !=
               profile.starts.end();
  });
}

void check_layout(const NodeRecord& node, std::size_t index, Findings& findings) {
  const DeviceUse& use = node.devices[index];
  const Device& device = node.node.devices[index];
  std::set<int> taken;
  for (const Occupant& occupant : use.occupants) {
    if (!is_slice(occupant)) continue;
    if (!is_legal_slice(device, occupant))
      findings.add("2 illegal layout", "node {} device {}: no profile of {} slices starts at {}",
                   node.node.id.value, index, occupant.slice_length, occupant.slice_start);
    for (int slice = 0; slice < occupant.slice_length; ++slice)
      if (!taken.insert(occupant.slice_start + slice).second)
        findings.add("2 illegal layout", "node {} device {}: memory slice {} has two owners",
                     node.node.id.value, index, occupant.slice_start + slice);
  }
  const bool is_mixed =
      !taken.empty() && !std::all_of(use.occupants.begin(), use.occupants.end(), is_slice);
  if (is_mixed)
    findings.add("2 illegal layout", "node {} device {} is partitioned and shared at once",
                 node.node.id.value, index);
}

void check_device(const NodeRecord& node, std::size_t index, Findings& findings) {
  const DeviceUse& use = node.devices[index];
  const Device& device = node.node.devices[index];
  if (use.milli.value < 0 || use.milli.value > 1000)
    findings.add("1 device over-committed", "node {} device {}: {} of 1000 milli are taken",
                 node.node.id.value, index, use.milli.value);
  if (use.memory.value < 0 || use.memory > device.memory)
    findings.add("1 device over-committed", "node {} device {}: {} of {} bytes are taken",
                 node.node.id.value, index, use.memory.value, device.memory.value);
  std::set<std::pair<model::AttemptId, std::int32_t>> owners, sharers;
  bool has_whole = false;
  for (const Occupant& occupant : use.occupants) {
    owners.insert({occupant.attempt, occupant.rank});
    // A hardware slice is a device of its own; sharing is what happens without one.
    if (!is_slice(occupant)) sharers.insert({occupant.attempt, occupant.rank});
    has_whole = has_whole || (occupant.milli.value >= 1000 && !is_slice(occupant));
  }
  if (has_whole && owners.size() > 1)
    findings.add("1 device over-committed", "node {} device {} is whole for one of {} owners",
                 node.node.id.value, index, owners.size());
  if (!device.is_shareable && sharers.size() > 1)
    findings.add("1 device over-committed", "node {} device {} is not shareable but has {} owners",
                 node.node.id.value, index, sharers.size());
  check_layout(node, index, findings);
}

// Amounts of a node are checked at each start (decision_rules.h): a node may shrink under running
// work, and then nobody took too much.
void check_node(const NodeRecord& node, Findings& findings) {
  for (std::size_t i = 0; i < node.devices.size(); ++i)
    check_device(node, i, findings);
}

bool is_part_of(const model::DeviceRequest& request, const Device& device,
                const model::DeviceAssignment& part) {
  const bool fits_model =
      request.models.empty() ||
      std::find(request.models.begin(), request.models.end(), device.model) != request.models.end();
  if (!fits_model || request.slice != part.slice) return false;
  if (request.is_whole()) return part.milli.value == 1000;
  if (!request.slice.empty()) return true;
  const std::int64_t bytes = request.memory_percent > 0
                                 ? (device.memory.value * request.memory_percent + 99) / 100
                                 : request.memory.value;
  return device.is_shareable && part.memory.value == bytes &&
         part.milli.value >= request.share.value &&
         static_cast<__int128>(part.milli.value) * device.memory.value >=
             static_cast<__int128>(bytes) * 1000;
}

// The member has exactly what one of its group's options asks for.
bool has_what_it_asked(const model::TaskGroup& group, const model::Node& node,
                       const MemberPlacement& member) {
  if (group.device_options.empty()) return member.devices.empty();
  std::set<std::int32_t> distinct;
  for (const auto& part : member.devices)
    distinct.insert(part.device);
  if (distinct.size() != member.devices.size()) return false;
  return std::any_of(
      group.device_options.begin(), group.device_options.end(),
      [&](const model::DeviceRequest& option) {
        const std::int64_t wanted = option.is_none()    ? 0
                                    : option.is_whole() ? option.count.value
                                                        : 1;
        return static_cast<std::int64_t>(member.devices.size()) == wanted &&
               std::all_of(member.devices.begin(), member.devices.end(), [&](const auto& part) {
                 return is_part_of(option, node.devices[static_cast<std::size_t>(part.device)],
                                   part);
               });
      });
}

// Groups have 0 or min..members members; a live attempt or a claim has every group.
void check_gang(const State& state, const WorkloadRecord& record, const model::Placement& placement,
                const std::string& who, Findings& findings) {
  std::vector<std::int64_t> placed(record.workload.groups.size());
  for (const MemberPlacement& member : placement.members) {
    const auto group = static_cast<std::size_t>(member.group);
    if (group >= placed.size()) {
      findings.add("5 gang broken", "{} has a member of the unknown group {}", who, member.group);
      return;
    }
    ++placed[group];
    const model::Node& node = state.nodes.at(member.node).node;
    if (!has_what_it_asked(record.workload.groups[group], node, member))
      findings.add("3 allocation differs from the request", "{} on node {}", who,
                   member.node.value);
  }
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const model::TaskGroup& group = record.workload.groups[i];
    if (group.members == 0 ? placed[i] != 0
                           : placed[i] < group.min_members || placed[i] > group.members)
      findings.add("5 gang broken", "{} group {}: {} members placed, {}..{} wanted", who, i,
                   placed[i], group.min_members, group.members);
  }
}

}  // namespace

void check_node_allocations(const NodeRecord& node, Findings& findings) {
  check_node(node, findings);
}

void check_attempt_allocations(const State& state, const WorkloadRecord& record,
                               const model::Attempt& attempt, Findings& findings) {
  check_gang(state, record, attempt.placement, "attempt " + model::to_text(attempt.id), findings);
}

void check_allocations(const State& state, Findings& findings) {
  state.nodes.each(
      [&](model::NodeId, const NodeRecord& node) { check_node_allocations(node, findings); });
  each_live(state, [&](const WorkloadRecord& record, const model::Attempt& attempt) {
    check_attempt_allocations(state, record, attempt, findings);
  });
  for (const auto& [id, claim] : state.claims)
    check_gang(state, state.workloads.at(claim.owner), claim.placement,
               fmt::format("claim {}", id.value), findings);
}

}  // namespace invariants::internal
