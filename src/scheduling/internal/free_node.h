#pragma once
// What is free on one node, in the form in which the planner searches, and what a member changes in
// it when it comes or goes. A value: the planner edits copies of it. Thread contract: none of its
// own.

#include <array>
#include <cstdint>
#include <vector>

#include "model/ids.h"
#include "model/placement.h"
#include "model/resources.h"
#include "model/state.h"
#include "model/workload.h"

namespace scheduling::internal {

struct Seats;

// Members by how many devices they take: [0] a part of one, [n] n whole ones, the last that many or
// more. Members without a device are not counted.
using MemberSizes = std::array<std::int16_t, 9>;
void count_member(MemberSizes& sizes, const model::MemberPlacement& member, std::int16_t by);

struct FreeDevice {
  std::int32_t milli = 0;  // neither occupied nor set aside
  std::int64_t memory = 0;
  std::int32_t secured_milli = 0;    // set aside for claims
  std::uint32_t slices = 0;          // memory slices of occupants, bit by bit
  std::uint32_t claimed_slices = 0;  // the same that claims will take
  bool is_usable = false;            // healthy enough for new work
  std::int32_t occupants = 0;
  std::int32_t claimants = 0;      // who will take something of it by a claim
  std::int32_t parts = 0;          // of the occupants and claimants, those without a hardware slice
  std::int32_t claimed_parts = 0;  // of the claimants

  // A device is partitioned or shared, never both; claims count as if they were there already.
  bool is_sliced() const { return (slices | claimed_slices) != 0; }

  bool is_whole() const { return is_usable && occupants == 0 && claimants == 0 && milli == 1000; }
};

// One occupant or claimant of a device, by its tenant: who comes later must get on with both. Kept
// in one list a node, so that a node is copied with a handful of allocations.
struct DeviceTenant {
  std::int32_t device = 0;
  model::QueueId tenant;
  bool is_claim = false;
  bool operator==(const DeviceTenant&) const = default;
};

struct FreeNode {
  const model::Node* node = nullptr;  // in State; static facts
  bool is_ready = false;
  model::Quantities free;  // allocatable - used - set aside, never negative
  model::Quantities lack;  // what a node that shrank is used beyond that: paid before free grows
  std::vector<FreeDevice> devices;
  std::int32_t whole = 0;                    // devices that are whole and free
  MemberSizes sizes{};                       // who is there; claims not counted
  std::vector<model::QueueId> tenants;       // one entry per member
  std::vector<model::QueueId> claimants;     // the same of the members that claims will bring
  std::vector<DeviceTenant> device_tenants;  // in no order
};

// What one member of a group needs at least, in the numbers of a glance.
struct GlanceAsk {
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::int32_t devices = 0;
  std::int32_t milli = 0;
  bool has_other = false;  // needs what a glance does not show
};
GlanceAsk glance_ask(const model::TaskGroup& group);

// A node in a few numbers, all nodes in one row, so that a search passes most of them over.
struct Glance {
  std::int64_t cpu = 0;
  std::int64_t memory = 0;
  std::int32_t devices = 0;     // whole ones
  std::int32_t most_milli = 0;  // of one usable device
  // Ready, no device sick, nothing of it claimed: what it lacks is in use.
  bool is_plain = false;

  // Whether one member might go there: false only when it certainly cannot.
  bool could_take(const GlanceAsk& ask) const {
    return ask.cpu <= cpu && ask.memory <= memory && ask.devices <= devices &&
           ask.milli <= most_milli;
  }
};
// What is free.
Glance glance_at_free(const FreeNode& node);

// The node as State has it now; `row` is who sits there, up to date.
FreeNode free_node(const model::State& state, const model::NodeRecord& record, const Seats& row);

// A member of `workload` takes what is free here.
void occupy(FreeNode& node, const model::Workload& workload, const model::MemberPlacement& member,
            model::QueueId tenant);
// What a member of a live attempt holds becomes free.
void vacate(FreeNode& node, const model::Workload& workload, const model::MemberPlacement& member,
            model::QueueId tenant);
// Sets aside what is free of what the member needs, as a claim does; gives how much that is.
model::Quantities set_aside(FreeNode& node, const model::Workload& workload,
                            const model::MemberPlacement& member, model::QueueId tenant);

}  // namespace scheduling::internal
