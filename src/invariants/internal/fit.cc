#include "invariants/internal/fit.h"

#include <algorithm>
#include <limits>

namespace invariants::internal {

using model::Device;
using model::DeviceRequest;
using model::Exclusive;
using model::NodeRecord;
using model::QueueId;
using model::State;
using model::TaskGroup;
using model::Workload;

namespace {

constexpr int kMaxSearchSteps = 20'000;

const model::SliceProfile* profile_of(const Device& device, const std::string& name) {
  for (const model::SliceProfile& profile : device.profiles)
    if (profile.name == name) return &profile;
  return nullptr;
}

bool is_allowed_model(const DeviceRequest& option, const Device& device) {
  return option.models.empty() ||
         std::find(option.models.begin(), option.models.end(), device.model) != option.models.end();
}

std::int64_t bytes_for(const DeviceRequest& option, const Device& device) {
  if (option.memory_percent > 0) return (device.memory.value * option.memory_percent + 99) / 100;
  return option.memory.value;
}

QueueId tenant_of(const State& state, QueueId queue) { return state.queues.at(queue).path.back(); }

const model::Queue& tenant_queue(const State& state, QueueId queue) {
  return state.queues.at(tenant_of(state, queue)).queue;
}

bool is_free_at(const DeviceRoom& room, int start, int length) {
  return std::all_of(room.slices.begin(), room.slices.end(), [&](const auto& taken) {
    return start + length <= taken.first || taken.first + taken.second <= start;
  });
}

// Takes what one member needs of one device; false when it does not fit.
bool take_part(DeviceRoom& room, const DeviceRequest& option) {
  const Device& device = *room.device;
  if (!room.is_open || !is_allowed_model(option, device)) return false;
  const auto milli = milli_for(option, device);
  if (!milli) return false;
  if (!option.slice.empty()) {
    const model::SliceProfile& profile = *profile_of(device, option.slice);
    if (room.has_parts) return false;
    for (const int start : profile.starts) {
      const std::int64_t taken = 1000 * (start + profile.memory_slices) / device.memory_slices -
                                 1000 * start / device.memory_slices;
      if (start + profile.memory_slices > device.memory_slices || taken > room.milli ||
          !is_free_at(room, start, profile.memory_slices))
        continue;
      room.slices.push_back({start, profile.memory_slices});
      room.milli -= taken;
      room.bytes -= profile.memory.value;
      room.is_untouched = false;
      return true;
    }
    return false;
  }
  const std::int64_t bytes = bytes_for(option, device);
  if (!room.slices.empty() || *milli > room.milli || bytes > room.bytes) return false;
  room.milli -= *milli;
  room.bytes -= bytes;
  room.has_parts = true;
  room.is_untouched = false;
  return true;
}

bool is_whole_here(const DeviceRoom& room, const DeviceRequest& option) {
  return room.is_open && room.is_untouched && is_allowed_model(option, *room.device);
}

}  // namespace

std::optional<std::int64_t> milli_for(const DeviceRequest& option, const Device& device) {
  if (!is_allowed_model(option, device)) return std::nullopt;
  if (option.is_whole()) return 1000 * option.count.value;
  if (!option.slice.empty()) {
    const model::SliceProfile* profile = profile_of(device, option.slice);
    if (profile == nullptr || device.memory_slices <= 0) return std::nullopt;
    return 1000 * profile->memory_slices / device.memory_slices;
  }
  if (!device.is_shareable) return std::nullopt;
  const std::int64_t bytes = bytes_for(option, device);
  if (bytes > device.memory.value) return std::nullopt;
  std::int64_t milli = option.share.value;
  if (bytes > 0)
    milli = std::max(milli, (1000 * bytes + device.memory.value - 1) / device.memory.value);
  if (milli < 1 || milli > 1000) return std::nullopt;
  return milli;
}

NodeRoom room_when_empty(const model::Node& node) {
  NodeRoom room{.id = node.id, .amounts = node.allocatable, .devices = {}};
  for (const Device& device : node.devices)
    room.devices.push_back({.device = &device, .bytes = device.memory.value});
  return room;
}

bool is_kept_apart(const State& state, const NodeRecord& node, const Workload& workload,
                   RoomOptions options) {
  const QueueId own = tenant_of(state, workload.queue);
  const Exclusive own_wish = tenant_queue(state, workload.queue).exclusive;
  // `pool` is kept apart node by node, too.
  const auto is_in_the_way = [&](model::WorkloadId id) {
    const QueueId queue = state.workloads.at(id).workload.queue;
    return tenant_of(state, queue) != own &&
           (own_wish >= Exclusive::Node || tenant_queue(state, queue).exclusive >= Exclusive::Node);
  };
  if (std::any_of(node.attempts.begin(), node.attempts.end(),
                  [&](model::AttemptId id) { return is_in_the_way(id.workload); }))
    return true;
  return options.heeds_claims &&
         std::any_of(node.claims.begin(), node.claims.end(),
                     [&](model::ClaimId id) { return is_in_the_way(state.claims.at(id).owner); });
}

NodeRoom room_now(const State& state, const NodeRecord& node, const Workload& workload,
                  RoomOptions options) {
  NodeRoom room = room_when_empty(node.node);
  for (const auto& whole : node.node.allocatable.amounts()) {
    const std::int64_t secured = options.heeds_claims ? node.secured.of(whole.resource) : 0;
    room.amounts.set(whole.resource, std::max<std::int64_t>(
                                         0, whole.amount - node.used.of(whole.resource) - secured));
  }
  const QueueId own = tenant_of(state, workload.queue);
  const model::Queue& own_rules = tenant_queue(state, workload.queue);
  const auto may_be_neighbours = [&](QueueId queue) {
    const model::Queue& other = tenant_queue(state, queue);
    return tenant_of(state, queue) == own ||
           (own_rules.shares_devices_across_tenants && other.shares_devices_across_tenants &&
            own_rules.exclusive < Exclusive::Device && other.exclusive < Exclusive::Device);
  };
  for (std::size_t i = 0; i < room.devices.size(); ++i) {
    DeviceRoom& device = room.devices[i];
    const model::DeviceUse& use = node.devices[i];
    device.milli = 1000 - use.milli.value;
    device.bytes -= use.memory.value;
    if (options.heeds_claims) {
      device.milli -= use.secured_milli.value;
      device.bytes -= use.secured_memory.value;
    }
    const bool has_claim = options.heeds_claims && use.secured_milli.value > 0;
    device.is_untouched = use.occupants.empty() && !has_claim;
    if (options.heeds_health) device.is_open = takes_new_work(device.device->health);
    for (const model::Occupant& occupant : use.occupants) {
      if (occupant.slice_start >= 0)
        device.slices.push_back({occupant.slice_start, occupant.slice_length});
      else
        device.has_parts = true;
      const QueueId queue = state.workloads.at(occupant.attempt.workload).workload.queue;
      if (options.heeds_tenants && !may_be_neighbours(queue)) device.is_open = false;
    }
    // A claim of slices keeps the whole rest of its device from other slices only by its amount;
    // where it starts is known from its placement.
    if (!options.heeds_claims) continue;
    for (const model::ClaimId id : node.claims)
      for (const auto& member : state.claims.at(id).placement.members)
        for (const auto& part : member.devices)
          if (member.node == node.node.id && part.device == static_cast<std::int32_t>(i)) {
            // A claim is a neighbour before it starts.
            const QueueId queue = state.workloads.at(state.claims.at(id).owner).workload.queue;
            if (options.heeds_tenants && !may_be_neighbours(queue)) device.is_open = false;
            if (const auto* profile = profile_of(*device.device, part.slice))
              device.slices.push_back({part.slice_start, profile->memory_slices});
            else if (!part.slice.empty() || part.milli.value > 0)
              device.has_parts = true;
          }
  }
  return room;
}

std::int64_t members_by(const NodeRoom& room, const TaskGroup& group, const DeviceRequest* option) {
  std::int64_t members = group.members;
  for (const auto& need : group.per_member.amounts())
    members = std::min(members, room.amounts.of(need.resource) / need.amount);
  if (option == nullptr || option->is_none()) return members;
  if (option->is_whole()) {
    const auto whole =
        std::count_if(room.devices.begin(), room.devices.end(),
                      [&](const DeviceRoom& device) { return is_whole_here(device, *option); });
    return std::min<std::int64_t>(members, whole / option->count.value);
  }
  std::int64_t placed = 0;
  for (DeviceRoom device : room.devices)
    while (placed < members && take_part(device, *option))
      ++placed;
  return std::min(members, placed);
}

std::int64_t members_in(const NodeRoom& room, const TaskGroup& group) {
  if (group.device_options.empty()) return members_by(room, group, nullptr);
  std::int64_t best = 0;
  for (const DeviceRequest& option : group.device_options)
    best = std::max(best, members_by(room, group, &option));
  return best;
}

std::int64_t members_at_most(const NodeRoom& room, const TaskGroup& group) {
  if (group.device_options.size() < 2) return members_in(room, group);
  std::int64_t sum = 0;
  for (const DeviceRequest& option : group.device_options)
    sum += members_by(room, group, &option);
  return std::min(sum, members_by(room, group, nullptr));
}

namespace {

// Depth-first over members in the order of groups, then over nodes, options and devices.
class Search {
 public:
  Search(std::vector<NodeRoom> rooms, const Workload& workload) : rooms_(std::move(rooms)) {
    for (const TaskGroup& group : workload.groups)
      for (std::int32_t i = 0; i < (group.members > 0 ? group.min_members : 0); ++i)
        members_.push_back(&group);
  }

  std::optional<bool> run() {
    const bool is_found = place(0);
    if (steps_ > kMaxSearchSteps) return std::nullopt;
    return is_found;
  }

 private:
  bool place(std::size_t index) {
    if (index == members_.size()) return true;
    const TaskGroup& group = *members_[index];
    for (NodeRoom& node : rooms_) {
      if (++steps_ > kMaxSearchSteps) return false;
      const NodeRoom before = node;
      if (!take_amounts(node, group)) continue;
      if (place_devices(node, group, index)) return true;
      node = before;
    }
    return false;
  }

  static bool take_amounts(NodeRoom& node, const TaskGroup& group) {
    for (const auto& need : group.per_member.amounts())
      if (node.amounts.of(need.resource) < need.amount) return false;
    for (const auto& need : group.per_member.amounts())
      node.amounts.add(need.resource, -need.amount);
    return true;
  }

  bool place_devices(NodeRoom& node, const TaskGroup& group, std::size_t index) {
    if (group.device_options.empty()) return place(index + 1);
    for (const DeviceRequest& option : group.device_options) {
      const NodeRoom before = node;
      if (option.is_none() && place(index + 1)) return true;
      if (option.is_whole()) {
        // Fewest sharing chances lost first: any untouched devices are alike but for the model.
        std::int64_t left = option.count.value;
        for (DeviceRoom& device : node.devices)
          if (left > 0 && is_whole_here(device, option)) {
            device.is_untouched = false;
            device.milli = 0;
            device.bytes = 0;
            device.has_parts = true;
            --left;
          }
        if (left == 0 && place(index + 1)) return true;
        node = before;
        continue;
      }
      for (std::size_t i = 0; i < node.devices.size(); ++i) {
        if (++steps_ > kMaxSearchSteps) return false;
        if (take_part(node.devices[i], option) && place(index + 1)) return true;
        node = before;
      }
    }
    return false;
  }

  std::vector<NodeRoom> rooms_;
  std::vector<const TaskGroup*> members_;
  int steps_ = 0;
};

}  // namespace

std::optional<bool> minima_fit(const std::vector<NodeRoom>& rooms, const Workload& workload) {
  return Search(rooms, workload).run();
}

}  // namespace invariants::internal
