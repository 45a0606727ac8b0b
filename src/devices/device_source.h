#pragma once
// Where a node's devices come from: a vendor's library, or what the configuration declares. One
// class a vendor, in one folder a vendor. A source lists its devices in a stable order and can say
// what one of them does right now; what it cannot measure stays empty, because absent is not zero.
//
// Thread contract: devices() from one thread; sample() from any.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/amount.h"
#include "model/device.h"

namespace devices {

// A momentary reading.
struct DeviceSample {
  std::optional<std::int32_t> busy_percent;  // of the last sample period of the driver, 0..100
  std::optional<base::Bytes> memory_used;    // of everybody on the device
  std::optional<std::int64_t> power_mw;
  std::optional<std::int32_t> temperature_c;
  bool is_empty() const { return !busy_percent && !memory_used && !power_mw && !temperature_c; }
  bool operator==(const DeviceSample&) const = default;
};

class DeviceSource {
 public:
  virtual ~DeviceSource() = default;
  // The same devices at the same places each time; one that stopped answering stays, with
  // Health::Separate.
  virtual std::vector<model::Device> devices() = 0;
  // `index` in devices(); nothing when it is not measured.
  virtual std::optional<DeviceSample> sample(std::size_t index) = 0;
};

}  // namespace devices
