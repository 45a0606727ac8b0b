#pragma once
// What could ever run where, whatever is in use at the moment: attributes, taints, models, sizes.
// Tested once per shape of equal nodes, not once per node.

#include <cstdint>
#include <optional>
#include <string>

#include "model/device.h"
#include "model/node.h"
#include "model/placement.h"
#include "model/reason.h"
#include "model/workload.h"

namespace policy {

// Equal for nodes that are equal in everything these tests read.
std::string node_shape(const model::Node& node);

// Attributes and taints only; Reason::None when the node is allowed.
model::Reason node_bar(const model::Node& node, const model::Constraints& constraints);

bool accepts_model(const model::DeviceRequest& request, const model::Device& device);

// What a part of `device` would take for `request` (not a whole-device request): milli and memory,
// and for a slice the profile. Nothing when this device can never give it.
struct DevicePart {
  base::MilliDevice milli;
  base::Bytes memory;
  const model::SliceProfile* profile = nullptr;
};
std::optional<DevicePart> part_of(const model::DeviceRequest& request, const model::Device& device);

// How many members of the group fit on the node when it is empty, ready and healthy; at most the
// group's `members`. Exact with up to one device option; with several, which members may mix, never
// less than what fits.
std::int64_t members_on_empty(const model::Node& node, const model::TaskGroup& group);

// Why not even one member fits on the empty node: the first in the order AttributeMismatch,
// TaintNotTolerated, WrongModel, UnknownSlice, NotEnoughCpu, NotEnoughMemory, NotEnoughOther,
// NotEnoughFree. None when one fits.
model::Reason never_fits(const model::Node& node, const model::TaskGroup& group,
                         const model::Constraints& constraints);

// The first resource of which `per_member` asks more than `available`, as a reason; None: enough.
model::Reason short_resource(const model::Quantities& per_member,
                             const model::Quantities& available);

}  // namespace policy
