#include "backends/local/member_environment.h"

#include <set>
#include <string_view>
#include <utility>

#include "devices/catalogue.h"

namespace backends::local {
namespace {

using Environment = std::map<std::string, std::string>;
using model::Device;
using model::DeviceAssignment;

void append(std::string& list, std::string_view item) {
  if (!list.empty()) list += ',';
  list += item;
}

// Place of a device among those of its vendor, which is how vendors' libraries count.
std::size_t place_in_vendor(const std::vector<Device>& devices, std::size_t index) {
  std::size_t place = 0;
  for (std::size_t i = 0; i < index; ++i)
    if (devices[i].vendor == devices[index].vendor) ++place;
  return place;
}

// A probed NVIDIA device goes by its uuid, which no renumbering changes; others by number.
std::string visible_name(const std::vector<Device>& devices, std::size_t index) {
  const Device& device = devices[index];
  if (device.vendor == "nvidia" && device.source == model::DeviceSource::Probed) return device.uuid;
  return std::to_string(place_in_vendor(devices, index));
}

void set_visible_devices(Environment& environment, const std::vector<Device>& devices,
                         const std::vector<DeviceAssignment>& assigned) {
  // Empty means none. Said for every vendor of the node, and for NVIDIA in any case, because
  // libraries take an unset variable for "all".
  for (const std::string_view name : devices::visibility_variables("nvidia"))
    environment[std::string(name)] = "";
  for (const Device& device : devices)
    for (const std::string_view name : devices::visibility_variables(device.vendor))
      environment[std::string(name)] = "";
  std::string indexes, uuids, models;
  std::set<model::DeviceSource> sources;
  for (const DeviceAssignment& part : assigned) {
    const auto index = static_cast<std::size_t>(part.device);
    if (part.device < 0 || index >= devices.size()) continue;
    const Device& device = devices[index];
    for (const std::string_view name : devices::visibility_variables(device.vendor))
      append(environment[std::string(name)], visible_name(devices, index));
    append(indexes, std::to_string(index));
    append(uuids, device.uuid);
    append(models, device.model);
    sources.insert(device.source);
  }
  environment["BERTH_DEVICES"] = indexes;
  environment["BERTH_DEVICE_UUIDS"] = uuids;
  environment["BERTH_DEVICE_MODELS"] = models;
  std::string source;
  for (const model::DeviceSource one : sources)
    append(source, base::name_of(one));
  environment["BERTH_DEVICE_SOURCE"] = source;
  // A share of a device is an agreement that only the member itself can keep.
  if (assigned.size() == 1 && assigned[0].milli < base::kWholeDevice) {
    environment["BERTH_DEVICE_MILLI"] = std::to_string(assigned[0].milli.value);
    environment["BERTH_DEVICE_MEMORY"] = std::to_string(assigned[0].memory.value);
  }
}

void set_ranks(Environment& environment, const MemberContext& member, std::size_t world_size) {
  const std::string rank = std::to_string(member.rank);
  const std::string world = std::to_string(world_size);
  const std::string port = std::to_string(member.master_port);
  const std::pair<const char*, std::string> values[] = {
      {"RANK", rank},
      {"WORLD_SIZE", world},
      {"LOCAL_RANK", "0"},
      {"LOCAL_WORLD_SIZE", "1"},
      {"GROUP_RANK", rank},
      {"GROUP_WORLD_SIZE", world},
      {"NODE_RANK", rank},
      {"MASTER_ADDR", "127.0.0.1"},
      {"MASTER_PORT", port},
      {"PET_NNODES", world},
      {"PET_NODE_RANK", rank},
      {"PET_MASTER_ADDR", "127.0.0.1"},
      {"PET_MASTER_PORT", port},
      {"BERTH_RANK", rank},
      {"BERTH_WORLD_SIZE", world},
  };
  for (const auto& [name, value] : values)
    environment[name] = value;
}

}  // namespace

Environment member_environment(const controller::StartEffect& effect, const MemberContext& member,
                               const Environment& base, const std::vector<Device>& devices) {
  Environment environment = base;
  const model::Workload& workload = effect.workload;
  for (const auto& [name, value] : workload.command.environment)
    environment[name] = value;

  environment["BERTH_WORKLOAD"] = std::to_string(effect.attempt.workload.value);
  environment["BERTH_ATTEMPT"] = model::to_text(effect.attempt);
  environment["BERTH_QUEUE"] = effect.queue;
  environment["BERTH_USER"] = workload.user;
  if (!workload.name.empty()) environment["BERTH_WORKLOAD_NAME"] = workload.name;
  environment["BERTH_CHECKPOINT_DIR"] = member.checkpoint_folder;
  environment["BERTH_CHECKPOINT_SIGNAL"] = workload.checkpoint.signal;
  environment["BERTH_CHECKPOINT_EVERY_S"] = std::to_string(workload.checkpoint.every.millis / 1000);
  environment["BERTH_CHECKPOINT_GRACE_S"] = std::to_string(workload.checkpoint.grace.millis / 1000);

  const auto rank = static_cast<std::size_t>(member.rank);
  const model::MemberPlacement& placed = effect.placement.members[rank];
  if (static_cast<std::size_t>(placed.group) < workload.groups.size())
    environment["BERTH_GROUP"] = workload.groups[static_cast<std::size_t>(placed.group)].name;
  set_ranks(environment, member, effect.placement.members.size());
  set_visible_devices(environment, devices, placed.devices);
  return environment;
}

}  // namespace backends::local
