#include "policy/eligibility.h"

#include <algorithm>
#include <limits>

#include "base/codec.h"

namespace policy {

using model::Constraints;
using model::Device;
using model::DeviceRequest;
using model::Node;
using model::Quantities;
using model::Reason;
using model::SliceProfile;
using model::TaskGroup;

std::string node_shape(const Node& node) {
  Node shape;
  shape.allocatable = node.allocatable;
  shape.attributes = node.attributes;
  shape.taints = node.taints;
  shape.devices = node.devices;
  for (Device& device : shape.devices) {
    device.uuid.clear();
    device.health = model::Health::Ok;
    device.link_group = 0;
    device.numa_node = -1;
  }
  return base::encode(shape);
}

Reason node_bar(const Node& node, const Constraints& constraints) {
  for (const auto& [key, value] : constraints.attributes) {
    const auto found = node.attributes.find(key);
    if (found == node.attributes.end() || found->second != value) return Reason::AttributeMismatch;
  }
  for (const model::Taint& taint : node.taints) {
    const bool is_tolerated =
        std::ranges::any_of(constraints.tolerations, [&taint](const model::Toleration& toleration) {
          return (toleration.key.empty() || toleration.key == taint.key) &&
                 (toleration.value.empty() || toleration.value == taint.value);
        });
    if (!is_tolerated) return Reason::TaintNotTolerated;
  }
  return Reason::None;
}

bool accepts_model(const DeviceRequest& request, const Device& device) {
  return request.models.empty() ||
         std::ranges::find(request.models, device.model) != request.models.end();
}

namespace {

// ceil(1000 * bytes / whole) without overflow for bytes <= whole < 2^53.
std::int64_t milli_of(std::int64_t bytes, std::int64_t whole) {
  return static_cast<std::int64_t>((static_cast<__int128>(bytes) * 1000 + whole - 1) / whole);
}

}  // namespace

std::optional<DevicePart> part_of(const DeviceRequest& request, const Device& device) {
  if (!accepts_model(request, device)) return std::nullopt;
  if (!request.slice.empty()) {
    const auto profile = std::ranges::find(device.profiles, request.slice, &SliceProfile::name);
    if (profile == device.profiles.end() || device.memory_slices <= 0) return std::nullopt;
    // What one slice takes depends on where it starts; the charge of start 0 stands for all here.
    return DevicePart{
        .milli = base::MilliDevice(1000 * profile->memory_slices / device.memory_slices),
        .memory = profile->memory,
        .profile = &*profile};
  }
  if (!device.is_shareable) return std::nullopt;
  std::int64_t bytes = request.memory.value;
  if (request.memory_percent > 0)
    bytes = static_cast<std::int64_t>(
        (static_cast<__int128>(device.memory.value) * request.memory_percent + 99) / 100);
  if (bytes > device.memory.value) return std::nullopt;
  std::int64_t milli = request.share.value;
  if (bytes > 0) milli = std::max(milli, milli_of(bytes, device.memory.value));
  if (milli <= 0 || milli > 1000) return std::nullopt;
  return DevicePart{.milli = base::MilliDevice(milli), .memory = base::Bytes(bytes)};
}

namespace {

std::int64_t slices_on_empty(const SliceProfile& profile, std::int32_t axis) {
  std::int64_t count = 0;
  std::int32_t free_from = 0;
  for (const std::int32_t start : profile.starts) {
    if (start < free_from || start + profile.memory_slices > axis) continue;
    ++count;
    free_from = start + profile.memory_slices;
  }
  return count;
}

std::int64_t members_by_devices(const Node& node, const DeviceRequest& request) {
  if (request.is_none()) return std::numeric_limits<std::int64_t>::max();
  if (request.is_whole()) {
    const auto matching = std::ranges::count_if(
        node.devices, [&](const Device& device) { return accepts_model(request, device); });
    return matching / request.count.value;
  }
  std::int64_t members = 0;
  for (const Device& device : node.devices) {
    const auto part = part_of(request, device);
    if (!part) continue;
    if (part->profile != nullptr) {
      members += slices_on_empty(*part->profile, device.memory_slices);
      continue;
    }
    std::int64_t here = 1000 / part->milli.value;
    if (part->memory.value > 0) here = std::min(here, device.memory.value / part->memory.value);
    members += here;
  }
  return members;
}

// One member, in the parts in which what a device gives is counted: 1/n of it are a whole number of
// parts for every n up to 16.
constexpr std::int64_t kMemberParts = 720'720;

// What one empty device gives to members that may take any of the options, in member parts: 1/n of
// a member that wants n whole devices, as many as fit of those that want a piece.
std::int64_t member_parts(const Device& device, const std::vector<DeviceRequest>& options) {
  std::int64_t whole = 0;
  std::int64_t slices = 0;
  std::int64_t least_slices = device.memory_slices;
  std::int64_t least_milli = 0;
  std::int64_t least_bytes = device.memory.value;
  for (const DeviceRequest& option : options) {
    if (option.is_whole()) {
      if (accepts_model(option, device))
        whole = std::max(whole, (kMemberParts + option.count.value - 1) / option.count.value);
      continue;
    }
    const auto part = part_of(option, device);
    if (!part) continue;
    if (part->profile != nullptr) {
      slices += slices_on_empty(*part->profile, device.memory_slices);
      least_slices = std::min<std::int64_t>(least_slices, part->profile->memory_slices);
      continue;
    }
    least_milli = least_milli == 0 ? part->milli.value : std::min(least_milli, part->milli.value);
    least_bytes = std::min(least_bytes, part->memory.value);
  }
  std::int64_t pieces = slices == 0 ? 0 : std::min(slices, device.memory_slices / least_slices);
  if (least_milli > 0) {
    std::int64_t shares = 1000 / least_milli;
    if (least_bytes > 0) shares = std::min(shares, device.memory.value / least_bytes);
    pieces = std::max(pieces, shares);
  }
  return std::max(whole, pieces * kMemberParts);
}

// Members of one node may take different options, so the best of them alone is too little; this is
// never less than what can be placed.
std::int64_t members_by_options(const Node& node, const std::vector<DeviceRequest>& options) {
  if (std::ranges::any_of(options, &DeviceRequest::is_none))
    return std::numeric_limits<std::int64_t>::max();
  std::int64_t parts = 0;
  for (const Device& device : node.devices)
    parts += member_parts(device, options);
  return parts / kMemberParts;
}

}  // namespace

std::int64_t members_on_empty(const Node& node, const TaskGroup& group) {
  std::int64_t members = group.members;
  for (const auto& need : group.per_member.amounts())
    members = std::min(members, node.allocatable.of(need.resource) / need.amount);
  if (group.device_options.empty()) return members;
  if (group.device_options.size() == 1)
    return std::min(members, members_by_devices(node, group.device_options.front()));
  return std::min(members, members_by_options(node, group.device_options));
}

Reason short_resource(const Quantities& per_member, const Quantities& available) {
  for (const auto& need : per_member.amounts()) {
    if (need.amount <= available.of(need.resource)) continue;
    if (need.resource == model::kCpu) return Reason::NotEnoughCpu;
    if (need.resource == model::kMemory) return Reason::NotEnoughMemory;
    return Reason::NotEnoughOther;
  }
  return Reason::None;
}

Reason never_fits(const Node& node, const TaskGroup& group, const Constraints& constraints) {
  if (const Reason bar = node_bar(node, constraints); bar != Reason::None) return bar;
  const auto any_option = [&](auto&& test) {
    return group.device_options.empty() || std::ranges::any_of(group.device_options, test);
  };
  const bool has_model = any_option([&](const DeviceRequest& option) {
    return option.is_none() || std::ranges::any_of(node.devices, [&](const Device& d) {
             return accepts_model(option, d);
           });
  });
  if (!has_model) return Reason::WrongModel;
  const bool has_profile = any_option([&](const DeviceRequest& option) {
    return option.slice.empty() || std::ranges::any_of(node.devices, [&](const Device& d) {
             return part_of(option, d).has_value();
           });
  });
  if (!has_profile) return Reason::UnknownSlice;
  if (const Reason reason = short_resource(group.per_member, node.allocatable);
      reason != Reason::None)
    return reason;
  const bool has_devices =
      any_option([&](const DeviceRequest& option) { return members_by_devices(node, option) > 0; });
  return has_devices ? Reason::None : Reason::NotEnoughFree;
}

}  // namespace policy
