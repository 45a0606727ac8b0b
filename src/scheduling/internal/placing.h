#pragma once
// Finding places: one member on one node, and all members of a workload in one pool. Integers only;
// every choice ends in a stable order (node id, device index).

#include <cstdint>
#include <optional>

#include "model/ids.h"
#include "model/placement.h"
#include "model/policy_set.h"
#include "model/reason.h"
#include "model/state.h"
#include "model/workload.h"
#include "model/workload_class.h"
#include "scheduling/internal/cluster_view.h"

namespace scheduling::internal {

// Whether members above the minimum are placed too, where there is room.
enum class Growth { Wanted, None };

// Who asks, with what decides where it may go.
struct Request {
  const model::Workload* workload = nullptr;
  model::QueueId tenant;
  model::Strategy strategy = model::Strategy::Pack;
  model::Exclusive exclusive = model::Exclusive::Nothing;  // of the tenant
  bool shares_across_tenants = false;                      // of the tenant
  Growth growth = Growth::Wanted;
  std::optional<std::size_t> only_option;    // of each group's device options; nothing: any
  std::optional<model::PlacementRule> rule;  // by which nodes are chosen; nothing: the strategy
};
// Of the policy only what says where to look first is read.
Request request_for(const model::State& state, const model::PolicySet& policy,
                    const model::Workload& workload);

// Whether tenants bar each other.
enum class Barriers { All, WithoutTenants };

// The member on this node, on what is free of it now; nothing when it does not fit. A part is taken
// of `device` where it fits, of the device with the least free otherwise.
std::optional<model::MemberPlacement> place_member(const model::State& state, const FreeNode& node,
                                                   const Request& request, std::int32_t group,
                                                   Barriers barriers = Barriers::All,
                                                   std::int32_t device = -1);

// Whether the member could go exactly where `member` says, on what is free of the node now.
bool has_room_for(const model::State& state, const FreeNode& node, const Request& request,
                  const model::MemberPlacement& member);

// Why the node cannot take one member of the group now: the first reason in the order of
// docs/design/0001-first-planner.md; None when it can.
// `never` is policy::never_fits of the node, which is the same for all nodes of a shape.
model::Reason rejection(const model::State& state, const FreeNode& node, const Request& request,
                        std::int32_t group, model::Reason never);

// The same from the numbers of the node alone, where they tell; nothing: look at the node.
std::optional<model::Reason> rejection_at_a_glance(const Glance& glance, const GlanceAsk& ask,
                                                   model::Reason never);

struct PoolTrial {
  model::Placement placement;  // what was placed, minima first; complete when `is_complete`
  std::int64_t placed = 0;
  std::int32_t short_group = -1;  // the first group whose minimum was not reached; -1: none
  bool is_complete() const { return short_group < 0; }
};
// Places the minima of all groups, then what more fits up to the wanted members. Leaves the members
// taken in `view`: the caller rolls back to its own mark when it does not keep them.
PoolTrial place_in_pool(const model::State& state, ClusterView& view, const Request& request,
                        model::PoolId pool);

// Whether each node takes members by itself, whatever the others took: one group, at most one
// device option, and slices only where one member is all that is needed.
bool is_filled_node_by_node(const model::Workload& workload, std::int64_t need);

// A quick no: true only when place_in_pool would certainly fail.
bool surely_too_small(const ClusterView& view, const model::Workload& workload, model::PoolId pool);

}  // namespace scheduling::internal
