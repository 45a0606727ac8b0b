#pragma once
// Where the members of a workload are, or would be: the answer of the planner, the content of a
// start effect and of a claim. Members are ranked: rank 0 comes first, groups in their order.

#include <cstdint>
#include <string>
#include <vector>

#include "base/amount.h"
#include "base/fields.h"
#include "model/device.h"
#include "model/ids.h"
#include "model/resources.h"

namespace model {

// A part of one device of a node. `charge` is what quota counts, `milli` what the device gives.
struct DeviceAssignment {
  std::int32_t device = 0;        // index in Node::devices
  base::MilliDevice milli;        // 1000: the whole device
  base::Bytes memory;             // device memory granted; the device's own for a whole one
  std::string slice;              // profile name; empty: no hardware partition
  std::int32_t slice_start = -1;  // on the memory axis
  bool operator==(const DeviceAssignment&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "device", self.device);
    visit(2, "milli", self.milli);
    visit(3, "memory", self.memory);
    visit(4, "slice", self.slice);
    visit(5, "sliceStart", self.slice_start);
  }
};

struct MemberPlacement {
  std::int32_t group = 0;  // index in Workload::groups
  NodeId node;
  std::vector<DeviceAssignment> devices;
  bool operator==(const MemberPlacement&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "group", self.group);
    visit(2, "node", self.node);
    visit(3, "devices", self.devices);
  }
};

struct Placement {
  std::vector<MemberPlacement> members;   // by rank
  Isolation isolation = Isolation::Hard;  // the weakest of its devices
  bool operator==(const Placement&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "members", self.members);
    visit(2, "isolation", self.isolation);
  }
};

}  // namespace model
