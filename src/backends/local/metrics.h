#pragma once
// What the devices of this node do right now, for tables and metrics. Owner and allocation of a
// device are State; this adds the real use. Thread contract: any thread.

#include <cstdint>
#include <optional>

#include "devices/device_source.h"

namespace backends::local {

class DeviceMetrics {
 public:
  virtual ~DeviceMetrics() = default;
  // `device` indexes model::Node::devices of this node. Nothing: not measured, which is not zero.
  virtual std::optional<devices::DeviceSample> sample(std::int32_t device) = 0;
};

}  // namespace backends::local
