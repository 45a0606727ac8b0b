#include "scheduling/internal/taking_bound.h"

#include <algorithm>
#include <span>

#include "policy/eligibility.h"
#include "scheduling/internal/protection.h"
#include "scheduling/internal/trial.h"

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

enum class Seen { State, Overlay };

// Counts one group on single nodes, as State has them or with what the plan decided so far.
class Count {
 public:
  Count(const TrialWorld& world, const Taker& taker, std::int64_t need,
        const std::vector<Loser>& losers, Seen seen = Seen::State)
      : seen_(seen),
        world_(world),
        taker_(taker),
        constraints_(taker.workload->constraints),
        group_(taker.workload->groups.front()),
        need_(need),
        losers_(losers) {}

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
  // The queue that may lose the attempt by now; null: it stays.
  const Loser* loser_of(AttemptId id) const {
    const WorkloadRecord& record = world_.state.workloads.at(id.workload);
    if (record.attempts.back().phase == model::AttemptPhase::Stopping) return nullptr;
    if (seen_ == Seen::Overlay && world_.stopping.contains(id)) return nullptr;
    const auto loser = std::ranges::lower_bound(losers_, record.workload.queue, {}, &Loser::queue);
    const bool is_loser = loser != losers_.end() && loser->queue == record.workload.queue;
    return is_loser && protected_until(world_.state, record) <= world_.now &&
                   may_lose(world_, taker_, *loser, record)
               ? &*loser
               : nullptr;
  }

  // What of the device is in the hands of those who stay, or set aside.
  std::int64_t kept_of(const NodeRecord& record, std::size_t device) const {
    const model::DeviceUse& use = record.devices[device];
    std::int64_t kept = use.secured_milli.value;
    if (seen_ == Seen::Overlay)
      kept = std::max<std::int64_t>(
          kept, 1000 - use.milli.value - world_.view.node(record.node.id).devices[device].milli);
    for (const model::Occupant& occupant : use.occupants)
      if (loser_of(occupant.attempt) == nullptr) kept += occupant.milli.value;
    return kept;
  }

  std::int64_t by_devices(const NodeRecord& record) const {
    if (group_.device_options.empty() || group_.device_options.front().is_none()) return need_;
    const model::DeviceRequest& option = group_.device_options.front();
    if (option.is_whole()) return whole_devices(record, option) / option.count.value;
    std::int64_t parts = 0;
    for (std::size_t i = 0; i < record.devices.size(); ++i) {
      const model::Device& device = record.node.devices[i];
      const auto part = policy::part_of(option, device);
      if (!takes_new_work(device.health) || !part) continue;
      parts += (1000 - kept_of(record, i)) / std::max<std::int64_t>(1, part->milli.value);
    }
    return parts;
  }

  // Devices whose first occupant is the attempt.
  struct Lost {
    const Loser* loser = nullptr;
    AttemptId attempt;
    std::int64_t devices = 0;
  };
  void lose(AttemptId attempt) const {
    const auto row = std::ranges::find(lost_, attempt, &Lost::attempt);
    if (row != lost_.end())
      ++row->devices;
    else
      lost_.push_back({.loser = loser_of(attempt), .attempt = attempt, .devices = 1});
  }

  // All that one queue loses before its last victim is less than its excess; the last may be the
  // one with the most devices here.
  std::int64_t lost_by(const Loser* loser) const {
    std::int64_t devices = 0;
    std::int64_t most = 0;
    for (const Lost& row : lost_) {
      if (row.loser != loser) continue;
      devices += row.devices;
      most = std::max(most, row.devices);
    }
    if (loser->excess == kNoLimit) return devices;
    return std::min(devices, (loser->excess - 1) / 1000 + most);
  }

  std::int64_t whole_devices(const NodeRecord& record, const model::DeviceRequest& option) const {
    std::int64_t devices = 0;
    lost_.clear();
    for (std::size_t i = 0; i < record.devices.size(); ++i) {
      const model::DeviceUse& use = record.devices[i];
      const model::Device& device = record.node.devices[i];
      if (!takes_new_work(device.health) || !policy::accepts_model(option, device)) continue;
      if (kept_of(record, i) > 0) continue;
      if (use.occupants.empty())
        ++devices;
      else
        lose(use.occupants.front().attempt);
    }
    for (std::size_t i = 0; i < lost_.size(); ++i) {
      const auto earlier = std::span(lost_).first(i);
      if (std::ranges::find(earlier, lost_[i].loser, &Lost::loser) == earlier.end())
        devices += lost_by(lost_[i].loser);
    }
    return devices;
  }

  std::int64_t by_quantities(const NodeRecord& record) const {
    model::Quantities kept = record.secured;
    if (seen_ == Seen::Overlay)
      for (const auto& a : record.node.allocatable.amounts())
        kept.set(a.resource, std::max<std::int64_t>(
                                 0, a.amount - record.used.of(a.resource) -
                                        world_.view.node(record.node.id).free.of(a.resource)));
    for (const AttemptId id : record.attempts) {
      const WorkloadRecord& owner = world_.state.workloads.at(id.workload);
      const auto& placed = owner.attempts.back().placement.members;
      if (placed.size() > kMostMembersRead || loser_of(id) != nullptr) continue;
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

  Seen seen_;
  const TrialWorld& world_;
  const Taker& taker_;
  const model::Constraints& constraints_;
  const TaskGroup& group_;
  std::int64_t need_;
  const std::vector<Loser>& losers_;
  mutable std::vector<Lost> lost_;  // kept between nodes for its memory
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
  const TaskGroup& group = taker.workload->groups.front();
  for (const auto& [shape, nodes] : world.state.pools.at(taker.pool).shapes) {
    if (nodes.empty() || !count.could_ever_fit(world.state.nodes.at(nodes.front()).node)) continue;
    for (const NodeId id : nodes) {
      if (!world.view.unpinned_at(id).could_take(group)) continue;
      set_count(bound, id, count.on(world.state.nodes.at(id)));
      if (bound.members >= need) return;
    }
  }
  bound.is_complete = true;
}

// Slices are charged by where they start: their number does not follow from sums.
bool is_countable(const model::Workload& workload) {
  if (workload.groups.size() != 1) return false;
  const auto& options = workload.groups.front().device_options;
  return options.empty() || (options.size() == 1 && options.front().slice.empty());
}

// Whether nobody may lose more than was counted with.
bool covers(const std::vector<Loser>& counted, const std::vector<Loser>& losers) {
  return std::ranges::all_of(losers, [&](const Loser& loser) {
    const auto known = std::ranges::lower_bound(counted, loser.queue, {}, &Loser::queue);
    return known != counted.end() && known->queue == loser.queue &&
           loser.by_reclaim <= known->by_reclaim && loser.by_preemption <= known->by_preemption &&
           loser.excess <= known->excess;
  });
}

// What queues may lose moves with every start and end: a quarter to spare keeps a count longer.
std::vector<Loser> with_spare(std::vector<Loser> losers) {
  for (Loser& loser : losers)
    if (loser.excess != kNoLimit) loser.excess += loser.excess / 4;
  return losers;
}

bool is_hopeless_in_state(const TrialWorld& world, const Taker& taker, std::int64_t need,
                          const std::vector<Loser>& losers, TakingBound& bound) {
  const auto& growth = world.view.pool(taker.pool).growth;
  const auto& ripened = world.live.ripened_in(taker.pool);
  const auto recount = [&](NodeId node, const std::vector<Loser>& with) {
    set_count(bound, node, Count(world, taker, need, with).on(world.state.nodes.at(node)));
  };
  bool is_known = bound.is_complete && covers(bound.losers, losers);
  if (is_known) {
    for (std::size_t i = bound.grown; i < growth.size(); ++i)
      recount(growth[i], bound.losers);
    for (std::size_t i = bound.ripened; i < ripened.size(); ++i)
      recount(ripened[i], bound.losers);
    is_known = bound.members < need;
  } else if (!bound.is_complete && !bound.nodes.empty()) {
    // It was enough on these nodes: while it still is, nothing else need be counted.
    std::vector<NodeId> witnesses;
    for (const auto& [node, members] : bound.nodes)
      witnesses.push_back(node);
    for (const NodeId node : witnesses)
      recount(node, losers);
    if (bound.members >= need) return false;
  }
  if (!is_known) {
    bound.losers = with_spare(losers);
    count_all(world, taker, need, Count(world, taker, need, bound.losers), bound);
    if (bound.members >= need) {  // perhaps only because of what was spared
      bound.losers = losers;
      count_all(world, taker, need, Count(world, taker, need, losers), bound);
    }
  }
  bound.grown = growth.size();
  bound.ripened = ripened.size();
  return bound.members < need;
}

}  // namespace

bool is_hopeless(const TrialWorld& world, const Taker& taker, std::int64_t need,
                 const std::vector<Loser>& losers, TakingBound& bound) {
  if (!is_countable(*taker.workload)) return false;
  if (is_hopeless_in_state(world, taker, need, losers, bound)) return true;
  if (world.view.is_untouched() && world.stopping.empty()) return false;
  // What the plan decided so far may have taken the room that State still shows.
  TakingBound now;
  count_all(world, taker, need, Count(world, taker, need, losers, Seen::Overlay), now);
  return now.members < need;
}

}  // namespace scheduling::internal
