#pragma once
// What fits where, found by trying: the evaluator's own idea of room, written apart from the
// planner. Exact for groups of identical members with one device option; several groups or options
// together are searched exhaustively within a step limit, beyond which the answer is "unknown".

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "model/placement.h"
#include "model/reason.h"
#include "model/state.h"
#include "model/workload.h"

namespace invariants::internal {

struct DeviceRoom {
  const model::Device* device = nullptr;
  std::int64_t milli = 1000;
  std::int64_t bytes = 0;
  bool is_open = true;                      // healthy and no other tenant in the way
  bool is_untouched = true;                 // nobody on it and nothing set aside
  bool has_parts = false;                   // in use, but not as slices
  std::vector<std::pair<int, int>> slices;  // taken on the memory axis: start, length
};

struct NodeRoom {
  model::NodeId id;
  model::Quantities amounts;
  std::vector<DeviceRoom> devices;
};

// Empty, ready and healthy.
NodeRoom room_when_empty(const model::Node& node);

struct RoomOptions {
  bool heeds_health = true;
  bool heeds_tenants = true;
  bool heeds_claims = true;
};
// What `workload` may use there now, besides the claim of its own that it may have.
NodeRoom room_now(const model::State& state, const model::NodeRecord& node,
                  const model::Workload& workload, RoomOptions options = {});
// Another tenant's exclusive node, or one's own wish to be alone: nothing of it may be used. A
// claim keeps apart before it starts.
bool is_kept_apart(const model::State& state, const model::NodeRecord& node,
                   const model::Workload& workload, RoomOptions options = {});

// Members of the group that fit by this one option (nullptr: no device).
std::int64_t members_by(const NodeRoom& room, const model::TaskGroup& group,
                        const model::DeviceRequest* option);
// By the best single option; at most the group's members.
std::int64_t members_in(const NodeRoom& room, const model::TaskGroup& group);
// Members may take different options, so that more of them fit than by any single one: never less
// than what fits, at most the group's members.
std::int64_t members_at_most(const NodeRoom& room, const model::TaskGroup& group);

// All groups' minima at once; nothing when the search gave up.
std::optional<bool> minima_fit(const std::vector<NodeRoom>& rooms, const model::Workload& workload);

// Milli-devices that this option takes from the device; nothing when it never can.
std::optional<std::int64_t> milli_for(const model::DeviceRequest& option,
                                      const model::Device& device);

}  // namespace invariants::internal
