#include "scheduling/internal/taking_bound.h"

#include <algorithm>

#include "policy/eligibility.h"
#include "scheduling/internal/trial.h"
#include "scheduling/internal/victims.h"

namespace scheduling::internal {

using model::AttemptId;
using model::NodeId;
using model::NodeRecord;
using model::QueueId;
using model::TaskGroup;
using model::WorkloadRecord;

namespace {

// Longer placements are not searched for their members on one node: their processors then count as
// free, which an upper bound may do.
constexpr std::size_t kMostMembersRead = 64;

// Counts one group on single nodes.
class Count {
 public:
  Count(const TrialWorld& world, const Taker& taker, std::int64_t need,
        const std::vector<QueueId>& queues)
      : world_(world),
        constraints_(taker.workload->constraints),
        group_(taker.workload->groups.front()),
        need_(need),
        queues_(queues) {}

  bool could_ever_fit(const model::Node& node) const {
    return policy::never_fits(node, group_, constraints_) == model::Reason::None;
  }

  std::int64_t on(const NodeRecord& record) const {
    if (record.node.condition != model::NodeCondition::Ready || !could_ever_fit(record.node))
      return 0;
    std::int64_t members = std::min(need_, by_devices(record));
    if (members > 0) members = std::min(members, by_quantities(record));
    return members;
  }

 private:
  bool may_go(AttemptId id) const {
    const WorkloadRecord& record = world_.state.workloads.at(id.workload);
    if (record.attempts.back().phase == model::AttemptPhase::Stopping) return false;
    return std::ranges::binary_search(queues_, record.workload.queue) &&
           protected_until(world_.state, record) <= world_.now;
  }

  // What of the device is in the hands of those who stay, or set aside.
  std::int64_t kept_of(const model::DeviceUse& use) const {
    std::int64_t kept = use.secured_milli.value;
    for (const model::Occupant& occupant : use.occupants)
      if (!may_go(occupant.attempt)) kept += occupant.milli.value;
    return kept;
  }

  std::int64_t by_devices(const NodeRecord& record) const {
    if (group_.device_options.empty() || group_.device_options.front().is_none()) return need_;
    const model::DeviceRequest& option = group_.device_options.front();
    std::int64_t parts = 0;
    for (std::size_t i = 0; i < record.devices.size(); ++i) {
      const model::Device& device = record.node.devices[i];
      if (!takes_new_work(device.health)) continue;
      if (option.is_whole()) {
        if (policy::accepts_model(option, device) && kept_of(record.devices[i]) == 0) ++parts;
      } else if (const auto part = policy::part_of(option, device); part) {
        parts += (1000 - kept_of(record.devices[i])) / std::max<std::int64_t>(1, part->milli.value);
      }
    }
    return option.is_whole() ? parts / option.count.value : parts;
  }

  std::int64_t by_quantities(const NodeRecord& record) const {
    model::Quantities kept = record.secured;
    for (const AttemptId id : record.attempts) {
      const WorkloadRecord& owner = world_.state.workloads.at(id.workload);
      const auto& placed = owner.attempts.back().placement.members;
      if (placed.size() > kMostMembersRead || may_go(id)) continue;
      for (const model::MemberPlacement& member : placed)
        if (member.node == record.node.id)
          kept.add(owner.workload.groups[static_cast<std::size_t>(member.group)].per_member);
    }
    std::int64_t members = need_;
    for (const auto& a : group_.per_member.amounts()) {
      const std::int64_t left = record.node.allocatable.of(a.resource) - kept.of(a.resource);
      members = std::min(members, std::max<std::int64_t>(0, left) / a.amount);
    }
    return members;
  }

  const TrialWorld& world_;
  const model::Constraints& constraints_;
  const TaskGroup& group_;
  std::int64_t need_;
  const std::vector<QueueId>& queues_;
};

void set_count(TakingBound& bound, NodeId node, std::int64_t members) {
  const auto found = bound.nodes.find(node);
  if (found != bound.nodes.end()) {
    bound.members += members - found->second;
    if (members > 0)
      found->second = members;
    else
      bound.nodes.erase(found);
  } else if (members > 0) {
    bound.nodes.emplace(node, members);
    bound.members += members;
  }
}

void count_all(const TrialWorld& world, const Taker& taker, std::int64_t need, const Count& count,
               TakingBound& bound) {
  bound.nodes.clear();
  bound.members = 0;
  bound.is_complete = false;
  for (const auto& [shape, nodes] : world.state.pools.at(taker.pool).shapes) {
    if (nodes.empty() || !count.could_ever_fit(world.state.nodes.at(nodes.front()).node)) continue;
    for (const NodeId id : nodes) {
      set_count(bound, id, count.on(world.state.nodes.at(id)));
      if (bound.members >= need) return;
    }
  }
  bound.is_complete = true;
}

bool is_countable(const model::Workload& workload) {
  return workload.groups.size() == 1 && workload.groups.front().device_options.size() <= 1;
}

}  // namespace

bool is_hopeless(const TrialWorld& world, const Taker& taker, std::int64_t need,
                 const std::vector<QueueId>& queues, TakingBound& bound) {
  if (!is_countable(*taker.workload)) return false;
  const Count count(world, taker, need, queues);
  const auto& growth = world.view.pool(taker.pool).growth;
  const auto& ripened = world.live.ripened_in(taker.pool);
  const bool covers = std::ranges::includes(bound.queues, queues);
  if (bound.is_complete && covers) {
    for (std::size_t i = bound.grown; i < growth.size(); ++i)
      set_count(bound, growth[i], count.on(world.state.nodes.at(growth[i])));
    for (std::size_t i = bound.ripened; i < ripened.size(); ++i)
      set_count(bound, ripened[i], count.on(world.state.nodes.at(ripened[i])));
  } else if (!bound.is_complete && !bound.nodes.empty()) {
    // It was enough on these nodes: while it still is, nothing else need be counted.
    std::vector<NodeId> witnesses;
    for (const auto& [node, members] : bound.nodes)
      witnesses.push_back(node);
    for (const NodeId node : witnesses)
      set_count(bound, node, count.on(world.state.nodes.at(node)));
    if (bound.members >= need) return false;
  }
  if (!bound.is_complete || !covers || bound.members >= need) {
    bound.queues = queues;
    count_all(world, taker, need, count, bound);
  }
  bound.grown = growth.size();
  bound.ripened = ripened.size();
  return bound.members < need;
}

}  // namespace scheduling::internal
