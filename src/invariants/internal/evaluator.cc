#include "invariants/internal/evaluator.h"

#include <algorithm>
#include <map>

#include "invariants/internal/quota.h"
#include "invariants/internal/recount.h"

namespace invariants::internal {

using model::DeviceRequest;
using model::Dimension;
using model::Holder;
using model::NodeRecord;
using model::Outcome;
using model::PoolId;
using model::QueueId;
using model::Reason;
using model::State;
using model::Step;
using model::TaskGroup;
using model::Test;
using model::Usage;
using model::Workload;

std::vector<const TaskGroup*> real_groups(const Workload& workload) {
  std::vector<const TaskGroup*> groups;
  for (const TaskGroup& group : workload.groups)
    if (group.members > 0) groups.push_back(&group);
  return groups;
}

std::int64_t min_members(const Workload& workload) {
  std::int64_t sum = 0;
  for (const TaskGroup* group : real_groups(workload))
    sum += group->min_members;
  return sum;
}

std::int64_t wanted_members(const Workload& workload) {
  std::int64_t sum = 0;
  for (const TaskGroup* group : real_groups(workload))
    sum += group->members;
  return sum;
}

bool is_simple(const Workload& workload) {
  const auto groups = real_groups(workload);
  return groups.size() == 1 && groups[0]->device_options.size() <= 1;
}

namespace {

// Of a request that no device there can take: what it says about itself.
std::int64_t nominal_milli(const DeviceRequest& option) {
  if (option.is_none()) return 0;
  if (option.is_whole()) return 1000 * option.count.value;
  if (option.memory_percent > 0)
    return std::max<std::int64_t>(option.share.value, 10 * option.memory_percent);
  return option.share.value > 0 ? option.share.value : 1000;
}

std::int64_t device_ask(const State& state, PoolId leaf, const TaskGroup& group) {
  for (const DeviceRequest& option : group.device_options) {
    if (option.is_none()) return 0;
    std::optional<std::int64_t> smallest;
    for (const model::NodeId id : state.pools.at(leaf).nodes)
      for (const model::Device& device : state.nodes.at(id).node.devices)
        if (const auto milli = milli_for(option, device))
          smallest = smallest ? std::min(*smallest, *milli) : *milli;
    if (smallest) return *smallest;
  }
  return group.device_options.empty() ? 0 : nominal_milli(group.device_options.front());
}

bool has_attributes(const model::Node& node, const model::Constraints& constraints) {
  return std::all_of(constraints.attributes.begin(), constraints.attributes.end(),
                     [&](const auto& wanted) {
                       const auto found = node.attributes.find(wanted.first);
                       return found != node.attributes.end() && found->second == wanted.second;
                     });
}

bool tolerates_all(const model::Node& node, const model::Constraints& constraints) {
  return std::all_of(node.taints.begin(), node.taints.end(), [&](const model::Taint& taint) {
    return std::any_of(constraints.tolerations.begin(), constraints.tolerations.end(),
                       [&](const model::Toleration& t) {
                         return (t.key.empty() || t.key == taint.key) &&
                                (t.value.empty() || t.value == taint.value);
                       });
  });
}

bool needs_device(const Workload& workload) {
  for (const TaskGroup* group : real_groups(workload))
    for (const DeviceRequest& option : group->device_options)
      if (!option.is_none()) return true;
  return false;
}

Step failed(Step step, Reason reason) {
  step.outcome = Outcome::Failed;
  step.reason = reason;
  return step;
}

// Reasons that depend on the node's shape alone, shared by Feasible and Place.
Reason shape_bar(const model::Node& node, const TaskGroup& group,
                 const model::Constraints& constraints) {
  if (!has_attributes(node, constraints)) return Reason::AttributeMismatch;
  if (!tolerates_all(node, constraints)) return Reason::TaintNotTolerated;
  bool has_model = group.device_options.empty();
  bool has_slice = group.device_options.empty();
  for (const DeviceRequest& option : group.device_options) {
    has_model = has_model || option.is_none();
    has_slice = has_slice || option.slice.empty();
    for (const model::Device& device : node.devices) {
      has_model = has_model || option.models.empty() ||
                  std::find(option.models.begin(), option.models.end(), device.model) !=
                      option.models.end();
      has_slice = has_slice || milli_for(option, device).has_value();
    }
  }
  if (!has_model) return Reason::WrongModel;
  return has_slice ? Reason::None : Reason::UnknownSlice;
}

Reason short_of(const model::Quantities& room, const TaskGroup& group) {
  for (const auto& need : group.per_member.amounts()) {
    if (room.of(need.resource) >= need.amount) continue;
    if (need.resource == model::kCpu) return Reason::NotEnoughCpu;
    if (need.resource == model::kMemory) return Reason::NotEnoughMemory;
    return Reason::NotEnoughOther;
  }
  return Reason::None;
}

Reason never_fits(const model::Node& node, const TaskGroup& group,
                  const model::Constraints& constraints) {
  if (const Reason bar = shape_bar(node, group, constraints); bar != Reason::None) return bar;
  if (const Reason bar = short_of(node.allocatable, group); bar != Reason::None) return bar;
  return members_in(room_when_empty(node), group) > 0 ? Reason::None : Reason::NotEnoughFree;
}

Reason cannot_take_now(const Subject& subject, const NodeRecord& node, const TaskGroup& group) {
  if (node.node.condition != model::NodeCondition::Ready) return Reason::NodeNotReady;
  const Workload& workload = subject.workload();
  if (const Reason bar = shape_bar(node.node, group, workload.constraints); bar != Reason::None)
    return bar;
  const auto fits = [&](RoomOptions options) {
    if (options.heeds_tenants && is_kept_apart(subject.state, node, workload, options))
      return false;
    return members_in(room_now(subject.state, node, workload, options), group) > 0;
  };
  if (fits({})) return Reason::None;
  if (const Reason bar = short_of(room_now(subject.state, node, workload).amounts, group);
      bar != Reason::None)
    return bar;
  NodeRoom empty = room_when_empty(node.node);
  if (members_in(empty, group) == 0) return Reason::NotEnoughFree;
  for (DeviceRoom& device : empty.devices)
    device.is_open = takes_new_work(device.device->health);
  if (members_in(empty, group) == 0) return Reason::DeviceUnhealthy;
  if (fits({.heeds_tenants = false})) return Reason::TenantIsolation;
  if (fits({.heeds_claims = false})) return Reason::ClaimedByOther;
  return Reason::DevicesBusy;
}

// Nodes by reason, in the order of reasons; None is left out.
template <class ReasonOf>
std::vector<model::Rejection> rejections(const State& state, const std::vector<PoolId>& pools,
                                         ReasonOf&& reason_of) {
  std::map<Reason, std::vector<model::NodeId>> by_reason;
  for (const PoolId pool : pools)
    for (const model::NodeId id : state.pools.at(pool).nodes)
      if (const Reason reason = reason_of(state.nodes.at(id)); reason != Reason::None)
        by_reason[reason].push_back(id);
  std::vector<model::Rejection> rejected;
  for (auto& [reason, nodes] : by_reason) {
    std::sort(nodes.begin(), nodes.end());
    model::Rejection row{
        .reason = reason, .count = static_cast<std::int64_t>(nodes.size()), .examples = nodes};
    if (row.examples.size() > 3) row.examples.resize(3);
    rejected.push_back(std::move(row));
  }
  return rejected;
}

// Live attempts of the queue and below (none: of all) that are charged there.
std::vector<Holder> holders_in(const State& state, QueueId queue, Dimension d) {
  std::vector<Holder> holders;
  each_live(state, [&](const model::WorkloadRecord& record, const model::Attempt& attempt) {
    const auto& path = state.queues.at(record.workload.queue).path;
    const std::int64_t amount = charge_of(state, record.workload, attempt.placement).of(d);
    if (amount > 0 && (queue.is_none() || std::find(path.begin(), path.end(), queue) != path.end()))
      holders.push_back(
          {.workload = record.workload.id, .queue = record.workload.queue, .amount = amount});
  });
  order_holders(holders);
  return holders;
}

}  // namespace

void order_holders(std::vector<Holder>& holders) {
  std::sort(holders.begin(), holders.end(), [](const Holder& a, const Holder& b) {
    if (a.amount != b.amount) return a.amount > b.amount;
    if (a.workload != b.workload) return a.workload < b.workload;
    return a.queue < b.queue;
  });
  if (holders.size() > model::kMaxHolders) holders.resize(model::kMaxHolders);
}

Usage ask_in(const State& state, const Workload& workload, PoolId leaf) {
  Usage ask;
  for (const TaskGroup* group : real_groups(workload)) {
    model::Quantities member = group->per_member;
    member.add(model::kDevice, device_ask(state, leaf, *group));
    for (const PoolId pool : state.pools.at(leaf).path)
      for (const auto& amount : member.amounts())
        ask.add({pool, amount.resource}, amount.amount * group->min_members);
  }
  return ask;
}

Step eligible_step(const Subject& subject) {
  Step step{.test = Test::Eligible};
  if (subject.record.is_held) return failed(step, Reason::Held);
  if (subject.now < subject.record.eligible_at) {
    step.until = subject.record.eligible_at;
    return failed(step, Reason::BackOff);
  }
  return step;
}

Step claim_step(const Subject& subject) {
  Step step{.test = Test::Claim};
  const auto found = subject.state.claims.find(subject.record.claim);
  if (found == subject.state.claims.end() || found->second.victims.empty()) return step;
  const model::Claim& claim = found->second;
  step.need = static_cast<std::int64_t>(claim.victims.size());
  step.until = claim.expires;
  const auto& first = claim.placement.members.front();
  const Dimension d{subject.state.nodes.at(first.node).node.pool, model::kDevice};
  for (const model::AttemptId victim : claim.victims) {
    const auto& record = subject.state.workloads.at(victim.workload);
    step.holders.push_back({.workload = victim.workload,
                            .queue = record.workload.queue,
                            .amount = record.attempts.back().charge.of(d)});
  }
  order_holders(step.holders);
  return failed(step, Reason::WaitingForVictims);
}

bool mixes_options(const Workload& workload) {
  const auto groups = real_groups(workload);
  return std::any_of(groups.begin(), groups.end(),
                     [](const TaskGroup* group) { return group->device_options.size() > 1; });
}

bool fits_when_empty(const Subject& subject) {
  const State& state = subject.state;
  const model::Constraints& constraints = subject.workload().constraints;
  const std::vector<PoolId> pools = accepted_leaves(state, constraints);
  return std::any_of(pools.begin(), pools.end(), [&](PoolId pool) {
    std::vector<NodeRoom> rooms;
    for (const model::NodeId id : state.pools.at(pool).nodes) {
      const model::Node& node = state.nodes.at(id).node;
      if (has_attributes(node, constraints) && tolerates_all(node, constraints))
        rooms.push_back(room_when_empty(node));
    }
    return minima_fit(rooms, subject.workload()).value_or(false);
  });
}

Step feasible_step(const Subject& subject) {
  const State& state = subject.state;
  const Workload& workload = subject.workload();
  const auto groups = real_groups(workload);
  const std::vector<PoolId> pools = accepted_leaves(state, workload.constraints);
  Step step{.test = Test::Feasible, .need = min_members(workload)};
  bool has_nodes = false;
  for (const PoolId pool : pools) {
    std::int64_t here = 0;
    for (const TaskGroup* group : groups) {
      std::int64_t members = 0;
      for (const model::NodeId id : state.pools.at(pool).nodes) {
        has_nodes = true;
        const model::Node& node = state.nodes.at(id).node;
        if (never_fits(node, *group, workload.constraints) == Reason::None)
          members += members_in(room_when_empty(node), *group);
      }
      here += std::min<std::int64_t>(members, group->min_members);
    }
    step.have = std::max(step.have, here);
  }
  if (step.have >= step.need) return step;
  step.rejected = rejections(state, pools, [&](const NodeRecord& node) {
    return never_fits(node.node, *groups.front(), workload.constraints);
  });
  if (!has_nodes) return failed(step, Reason::NoSuchPool);
  return failed(step, step.have == 0 ? Reason::NoNodeFits : Reason::TooFewNodesFit);
}

Step queue_max_step(const Subject& subject, PoolId leaf, QueueId queue, Dimension d, Need need) {
  Step step{.test = Test::QueueMax, .dimension = d, .queue = queue};
  step.need = need.value_or(ask_in(subject.state, subject.workload(), leaf).of(d));
  step.have = admitted(subject.state, queue, d);
  step.limit = max_of(subject.state, queue, d);
  if (!step.limit || step.have + step.need <= *step.limit) return step;
  step.holders = holders_in(subject.state, queue, d);
  return failed(step, step.need > *step.limit ? Reason::AboveQueueMax : Reason::QueueMax);
}

Step guarantee_step(const Subject& subject, PoolId leaf, QueueId queue, Dimension d, Need need) {
  Step step{.test = Test::Guarantee, .dimension = d, .queue = queue};
  step.need = need.value_or(ask_in(subject.state, subject.workload(), leaf).of(d));
  step.have = admitted(subject.state, queue, d);
  step.limit = guarantee_of(subject.state, queue, d);
  return step.have + step.need <= *step.limit ? step : failed(step, Reason::OutsideGuarantee);
}

Step unlent_step(const Subject& subject, PoolId leaf, Dimension d, Need need) {
  const QueueId own = subject.workload().queue;
  Step step{.test = Test::UnlentGuarantee, .dimension = d, .queue = own};
  step.need = need.value_or(ask_in(subject.state, subject.workload(), leaf).of(d));
  step.have = subject.state.free.of(d);
  step.limit = kept_for_others(subject.state, own, d);
  const bool is_beyond =
      admitted(subject.state, own, d) + step.need > guarantee_of(subject.state, own, d);
  if (!is_beyond || *step.limit == 0 || step.have - step.need >= *step.limit) return step;
  subject.state.queues.each([&](QueueId id, const model::QueueRecord& record) {
    if (id == own || !record.children.empty()) return;
    const std::int64_t kept =
        guarantee_of(subject.state, id, d) - lend_of(subject.state, id, d) - record.held.of(d);
    if (kept > 0) step.holders.push_back({.queue = id, .amount = kept});
  });
  order_holders(step.holders);
  return failed(step, Reason::GuaranteeOfOther);
}

std::vector<NodeRoom> rooms_now(const Subject& subject, PoolId leaf) {
  std::vector<NodeRoom> rooms;
  for (const model::NodeId id : subject.state.pools.at(leaf).nodes) {
    const NodeRecord& node = subject.state.nodes.at(id);
    const model::Constraints& constraints = subject.workload().constraints;
    if (node.node.condition == model::NodeCondition::Ready &&
        has_attributes(node.node, constraints) && tolerates_all(node.node, constraints) &&
        !is_kept_apart(subject.state, node, subject.workload()))
      rooms.push_back(room_now(subject.state, node, subject.workload()));
  }
  return rooms;
}

std::int64_t upper_bound(const std::vector<NodeRoom>& rooms, const Workload& workload) {
  std::int64_t sum = 0;
  for (const TaskGroup* group : real_groups(workload)) {
    std::int64_t members = 0;
    for (const NodeRoom& room : rooms)
      members += members_at_most(room, *group);
    sum += std::min<std::int64_t>(members, group->members);
  }
  return sum;
}

namespace {

// The first resource of which more is asked than is free in the pool, and the reason that it gives.
struct Shortage {
  model::ResourceId resource;
  Reason reason = Reason::DeviceFragmented;
};

Shortage shortage_in(const Subject& subject, PoolId leaf) {
  const Usage ask = ask_in(subject.state, subject.workload(), leaf);
  const auto is_short = [&](model::ResourceId resource) {
    return ask.of({leaf, resource}) > subject.state.free.of({leaf, resource});
  };
  if (is_short(model::kDevice)) return {model::kDevice, Reason::NotEnoughFree};
  if (is_short(model::kCpu)) return {model::kCpu, Reason::NotEnoughCpu};
  if (is_short(model::kMemory)) return {model::kMemory, Reason::NotEnoughMemory};
  for (const auto& amount : ask.amounts())
    if (amount.dimension.pool == leaf && is_short(amount.dimension.resource))
      return {amount.dimension.resource, Reason::NotEnoughOther};
  const bool is_level_required = !subject.workload().constraints.topology.required.empty();
  return {needs_device(subject.workload()) ? model::kDevice : model::kCpu,
          is_level_required ? Reason::TopologyTooSmall : Reason::DeviceFragmented};
}

}  // namespace

// Several groups or options are placed one after another, which may miss what a search finds; then
// only an upper bound is known, and failing is not contradicted.
Step place_step(const Subject& subject, PoolId leaf) {
  const Workload& workload = subject.workload();
  Step step{.test = Test::Place, .need = min_members(workload)};
  const std::vector<NodeRoom> rooms = rooms_now(subject, leaf);
  step.have = upper_bound(rooms, workload);
  bool fits = step.have >= step.need;
  if (!is_simple(workload) && fits) fits = minima_fit(rooms, workload).value_or(true);
  const Shortage shortage = shortage_in(subject, leaf);
  step.dimension = Dimension{leaf, shortage.resource};
  if (fits) return step;
  step.holders = holders_in(subject.state, {}, *step.dimension);
  const TaskGroup& group = *real_groups(workload).front();
  step.rejected = rejections(subject.state, {leaf}, [&](const NodeRecord& node) {
    return cannot_take_now(subject, node, group);
  });
  return failed(step, shortage.reason);
}

}  // namespace invariants::internal
