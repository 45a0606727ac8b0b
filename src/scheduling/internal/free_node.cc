#include "scheduling/internal/free_node.h"

#include <algorithm>

#include "scheduling/internal/seats.h"

namespace scheduling::internal {

using model::DeviceAssignment;
using model::DeviceUse;
using model::MemberPlacement;
using model::NodeRecord;
using model::QueueId;
using model::State;
using model::Workload;

namespace {

FreeDevice free_device(const NodeRecord& record, std::size_t index) {
  const model::Device& device = record.node.devices[index];
  const DeviceUse& use = record.devices[index];
  FreeDevice free;
  free.is_usable = takes_new_work(device.health);
  free.milli = static_cast<std::int32_t>(
      std::max<std::int64_t>(0, 1000 - use.milli.value - use.secured_milli.value));
  free.memory =
      std::max<std::int64_t>(0, device.memory.value - use.memory.value - use.secured_memory.value);
  free.secured_milli = static_cast<std::int32_t>(use.secured_milli.value);
  free.occupants = static_cast<std::int32_t>(use.occupants.size());
  for (const model::Occupant& occupant : use.occupants) {
    if (occupant.slice_length == 0) {
      ++free.parts;
      continue;
    }
    free.slices |= ((1U << occupant.slice_length) - 1U) << occupant.slice_start;
  }
  return free;
}

std::uint32_t slice_mask(const model::Device& device, const DeviceAssignment& assignment) {
  const auto profile =
      std::ranges::find(device.profiles, assignment.slice, &model::SliceProfile::name);
  if (profile == device.profiles.end()) return 0;
  return ((1U << profile->memory_slices) - 1U) << assignment.slice_start;
}

void seat_claimant(FreeNode& node, const MemberPlacement& member, QueueId tenant) {
  node.claimants.push_back(tenant);
  for (const DeviceAssignment& assignment : member.devices) {
    const auto index = static_cast<std::size_t>(assignment.device);
    FreeDevice& device = node.devices[index];
    ++device.claimants;
    node.device_tenants.push_back(
        {.device = assignment.device, .tenant = tenant, .is_claim = true});
    if (assignment.slice.empty()) {
      ++device.parts;
      ++device.claimed_parts;
    }
    device.claimed_slices |= slice_mask(node.node->devices[index], assignment);
  }
}

void count_whole(FreeNode& node) {
  node.whole = static_cast<std::int32_t>(
      std::ranges::count_if(node.devices, [](const FreeDevice& d) { return d.is_whole(); }));
}

// A claim is a neighbour before it starts: its tenant is on the node and its devices already.
void load_claims(FreeNode& node, const State& state, const NodeRecord& record) {
  for (const model::ClaimId id : record.claims) {
    const model::Claim& claim = state.claims.at(id);
    const Workload& owner = state.workloads.at(claim.owner).workload;
    const QueueId tenant = state.queues.at(owner.queue).tenant();
    for (const MemberPlacement& member : claim.placement.members)
      if (member.node == record.node.id) seat_claimant(node, member, tenant);
  }
}

const model::Quantities& per_member(const Workload& workload, const MemberPlacement& member) {
  return workload.groups[static_cast<std::size_t>(member.group)].per_member;
}

void erase_one(std::vector<QueueId>& tenants, QueueId tenant) {
  const auto at = std::ranges::find(tenants, tenant);
  if (at != tenants.end()) tenants.erase(at);
}

}  // namespace

void count_member(MemberSizes& sizes, const MemberPlacement& member, std::int16_t by) {
  if (member.devices.empty()) return;
  const bool is_part = member.devices.front().milli < base::kWholeDevice;
  std::int16_t& count =
      sizes[is_part ? 0 : std::min<std::size_t>(member.devices.size(), sizes.size() - 1)];
  count = static_cast<std::int16_t>(count + by);
}

GlanceAsk glance_ask(const model::TaskGroup& group) {
  GlanceAsk ask{.cpu = group.per_member.of(model::kCpu),
                .memory = group.per_member.of(model::kMemory)};
  for (const auto& a : group.per_member.amounts())
    ask.has_other = ask.has_other || (a.resource != model::kCpu && a.resource != model::kMemory);
  if (group.device_options.size() != 1) return ask;
  const model::DeviceRequest& option = group.device_options.front();
  if (option.is_whole())
    ask.devices = static_cast<std::int32_t>(option.count.value);
  else
    ask.milli = static_cast<std::int32_t>(option.share.value);
  return ask;
}

Glance glance_at_free(const FreeNode& node) {
  Glance free{.cpu = node.free.of(model::kCpu),
              .memory = node.free.of(model::kMemory),
              .devices = node.whole,
              .is_plain = node.is_ready};
  for (const FreeDevice& device : node.devices) {
    if (device.is_usable) free.most_milli = std::max(free.most_milli, device.milli);
    free.is_plain = free.is_plain && device.is_usable && device.claimants == 0;
  }
  return free;
}

FreeNode free_node(const State& state, const NodeRecord& record, const Seats& row) {
  FreeNode node;
  node.node = &record.node;
  node.is_ready = record.node.condition == model::NodeCondition::Ready;
  for (const auto& a : record.node.allocatable.amounts()) {
    const std::int64_t rest = a.amount - record.used.of(a.resource) - record.secured.of(a.resource);
    node.free.set(a.resource, std::max<std::int64_t>(0, rest));
    node.lack.set(a.resource, std::max<std::int64_t>(0, -rest));
  }
  node.devices.reserve(record.devices.size());
  for (std::size_t i = 0; i < record.devices.size(); ++i)
    node.devices.push_back(free_device(record, i));
  for (const Seat& seat : row.seats) {
    node.tenants.insert(node.tenants.end(), static_cast<std::size_t>(seat.members), seat.tenant);
    for (std::size_t k = 0; k < node.sizes.size(); ++k)
      node.sizes[k] = static_cast<std::int16_t>(node.sizes[k] + seat.sizes[k]);
  }
  node.device_tenants.reserve(row.parts.size());
  for (const SeatPart& part : row.parts)
    node.device_tenants.push_back(
        {.device = part.device, .tenant = row.seats[static_cast<std::size_t>(part.seat)].tenant});
  load_claims(node, state, record);
  count_whole(node);
  return node;
}

void occupy(FreeNode& node, const Workload& workload, const MemberPlacement& member,
            QueueId tenant) {
  for (const auto& a : per_member(workload, member).amounts()) {
    const std::int64_t rest = node.free.of(a.resource) - a.amount;
    node.free.set(a.resource, std::max<std::int64_t>(0, rest));
    node.lack.add(a.resource, std::max<std::int64_t>(0, -rest));
  }
  node.tenants.push_back(tenant);
  count_member(node.sizes, member, +1);
  for (const DeviceAssignment& assignment : member.devices) {
    const auto index = static_cast<std::size_t>(assignment.device);
    FreeDevice& device = node.devices[index];
    device.milli -= static_cast<std::int32_t>(assignment.milli.value);
    device.memory -= assignment.memory.value;
    ++device.occupants;
    node.device_tenants.push_back({.device = assignment.device, .tenant = tenant});
    if (assignment.slice.empty()) ++device.parts;
    device.slices |= slice_mask(node.node->devices[index], assignment);
  }
  count_whole(node);
}

void vacate(FreeNode& node, const Workload& workload, const MemberPlacement& member,
            QueueId tenant) {
  // A node that shrank below its use shows zero free; what is given back pays what it lacks first.
  for (const auto& a : per_member(workload, member).amounts()) {
    const std::int64_t paid = std::min(node.lack.of(a.resource), a.amount);
    node.lack.add(a.resource, -paid);
    node.free.add(a.resource, a.amount - paid);
  }
  erase_one(node.tenants, tenant);
  count_member(node.sizes, member, -1);
  for (const DeviceAssignment& assignment : member.devices) {
    const auto index = static_cast<std::size_t>(assignment.device);
    FreeDevice& device = node.devices[index];
    device.milli = std::min<std::int32_t>(
        1000, device.milli + static_cast<std::int32_t>(assignment.milli.value));
    device.memory =
        std::min(node.node->devices[index].memory.value, device.memory + assignment.memory.value);
    --device.occupants;
    const auto seat = std::ranges::find(
        node.device_tenants, DeviceTenant{.device = assignment.device, .tenant = tenant});
    if (seat != node.device_tenants.end()) node.device_tenants.erase(seat);
    if (assignment.slice.empty()) --device.parts;
    device.slices &= ~slice_mask(node.node->devices[index], assignment);
  }
  count_whole(node);
}

model::Quantities set_aside(FreeNode& node, const Workload& workload, const MemberPlacement& member,
                            QueueId tenant) {
  model::Quantities secured;
  for (const auto& a : per_member(workload, member).amounts()) {
    secured.add(a.resource, std::min(node.free.of(a.resource), a.amount));
    node.free.set(a.resource, std::max<std::int64_t>(0, node.free.of(a.resource) - a.amount));
  }
  for (const DeviceAssignment& assignment : member.devices) {
    FreeDevice& device = node.devices[static_cast<std::size_t>(assignment.device)];
    const auto part = std::min(device.milli, static_cast<std::int32_t>(assignment.milli.value));
    device.milli -= part;
    device.secured_milli += part;
    secured.add(model::kDevice, part);
    device.memory = std::max<std::int64_t>(0, device.memory - assignment.memory.value);
  }
  seat_claimant(node, member, tenant);
  count_whole(node);
  return secured;
}

}  // namespace scheduling::internal
