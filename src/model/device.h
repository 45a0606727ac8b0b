#pragma once
// A device (accelerator) as a backend reports it, its health, and the legal partitions of its
// model. Values only: how they were probed is the business of devices/ and backends/.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/amount.h"
#include "base/fields.h"

namespace model {

// Vendor-neutral, from good to worst. From ResetWhenIdle on nothing new is placed on the device.
enum class Health {
  Ok,
  SubHealth,
  RestartRequest,
  RestartWorkload,
  ResetWhenIdle,
  ResetNow,
  NoNewWork,
  Separate
};
inline std::span<const std::string_view> enum_names(Health) {
  static constexpr std::array<std::string_view, 8> kNames{
      "ok",        "sub_health",  "restart_request", "restart_workload", "reset_when_idle",
      "reset_now", "no_new_work", "separate"};
  return kNames;
}
constexpr bool takes_new_work(Health health) { return health < Health::ResetWhenIdle; }

// Where the device's existence is known from; shown with every allocation on it.
enum class DeviceSource { Probed, Declared, Virtual };
inline std::span<const std::string_view> enum_names(DeviceSource) {
  static constexpr std::array<std::string_view, 3> kNames{"probed", "declared", "virtual"};
  return kNames;
}

// How well two owners on one device are kept apart.
enum class Isolation { None, Soft, Hard };
inline std::span<const std::string_view> enum_names(Isolation) {
  static constexpr std::array<std::string_view, 3> kNames{"none", "soft", "hard"};
  return kNames;
}

// A hardware partition profile (MIG 1g.10gb, a vNPU template): how many of the model's memory
// slices it takes and at which of them it may start.
struct SliceProfile {
  std::string name;
  std::int32_t memory_slices = 0;
  base::Bytes memory;
  std::vector<std::int32_t> starts;
  bool operator==(const SliceProfile&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "name", self.name);
    visit(2, "memorySlices", self.memory_slices);
    visit(3, "memory", self.memory);
    visit(4, "starts", self.starts);
  }
};

struct Device {
  std::string uuid;    // unique in the cluster, stable over restarts
  std::string vendor;  // "nvidia", "huawei", …
  std::string model;   // "H800", "910B"
  base::Bytes memory;
  Health health = Health::Ok;
  DeviceSource source = DeviceSource::Probed;
  bool is_shareable = true;        // false: whole devices only
  std::int32_t link_group = 0;     // devices of one NVLink / HCCS ring share it; 0: unknown
  std::int32_t numa_node = -1;     // -1: unknown
  std::int32_t memory_slices = 0;  // axis length for slice profiles; 0: cannot be partitioned
  std::vector<SliceProfile> profiles;
  bool operator==(const Device&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "uuid", self.uuid);
    visit(2, "vendor", self.vendor);
    visit(3, "model", self.model);
    visit(4, "memory", self.memory);
    visit(5, "health", self.health);
    visit(6, "source", self.source);
    visit(7, "isShareable", self.is_shareable);
    visit(8, "linkGroup", self.link_group);
    visit(9, "numaNode", self.numa_node);
    visit(10, "memorySlices", self.memory_slices);
    visit(11, "profiles", self.profiles);
  }
};

}  // namespace model
