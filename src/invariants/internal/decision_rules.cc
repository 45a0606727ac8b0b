#include "invariants/internal/decision_rules.h"

#include <algorithm>
#include <map>
#include <set>

#include "invariants/internal/evaluator.h"
#include "invariants/internal/quota.h"
#include "invariants/internal/recount.h"

namespace invariants::internal {

using model::Attempt;
using model::Dimension;
using model::MemberPlacement;
using model::NodeRecord;
using model::QueueId;
using model::State;
using model::Usage;
using model::WorkloadRecord;

namespace {

const model::WorkloadClass& class_of(const State& state, const WorkloadRecord& record) {
  return state.classes.at(record.workload.workload_class);
}

bool tolerates(const model::Constraints& constraints, const model::Taint& taint) {
  return std::any_of(constraints.tolerations.begin(), constraints.tolerations.end(),
                     [&](const model::Toleration& toleration) {
                       return (toleration.key.empty() || toleration.key == taint.key) &&
                              (toleration.value.empty() || toleration.value == taint.value);
                     });
}

}  // namespace

void check_start_time(const WorkloadRecord& record, const model::Start& start, base::Instant at,
                      Findings& findings) {
  const std::string who = model::to_text(start.attempt);
  if (record.phase != model::Phase::Queued)
    findings.add("8 started twice", "{} while the workload is {}", who,
                 base::name_of(record.phase));
  if (record.is_held) findings.add("4 started although held", "{}", who);
  if (at < record.eligible_at) findings.add("4 started during back-off", "{}", who);
  if (start.attempt.ordinal != record.attempts.size() + 1)
    findings.add("8 attempt id reused", "{} after {} attempts", who, record.attempts.size());
}

void check_start_place(const State& state, const WorkloadRecord& record,
                       const model::Placement& placement, Findings& findings) {
  const auto id = record.workload.id.value;
  const model::Constraints& constraints = record.workload.constraints;
  const std::vector<model::PoolId> pools = accepted_leaves(state, constraints);
  for (const MemberPlacement& member : placement.members) {
    const NodeRecord* found = state.nodes.find(member.node);
    if (found == nullptr) {
      findings.add("4 started on an unknown node", "workload {}", id);
      continue;
    }
    const model::Node& node = found->node;
    if (node.condition != model::NodeCondition::Ready)
      findings.add("4 started on a node that is not ready", "workload {} on {}, {}", id, node.name,
                   base::name_of(node.condition));
    if (std::find(pools.begin(), pools.end(), node.pool) == pools.end())
      findings.add("6 started in another pool", "workload {} on {}", id, node.name);
    for (const auto& [key, value] : constraints.attributes) {
      const auto has = node.attributes.find(key);
      if (has == node.attributes.end() || has->second != value)
        findings.add("6 attribute missing", "workload {} on {}: {}", id, node.name, key);
    }
    for (const model::Taint& taint : node.taints)
      if (!tolerates(constraints, taint))
        findings.add("4 started against a taint", "workload {} on {}: {}", id, node.name,
                     taint.key);
    for (const auto& part : member.devices)
      if (!takes_new_work(node.devices.at(static_cast<std::size_t>(part.device)).health))
        findings.add("7 started on a sick device", "workload {} on {} device {}", id, node.name,
                     part.device);
  }
}

void check_node_amounts(const State& state, const model::Placement& placement, Findings& findings) {
  for (const MemberPlacement& member : placement.members) {
    const model::NodeRecord& node = state.nodes.at(member.node);
    for (const auto& used : node.used.amounts()) {
      if (used.resource == model::kDevice) continue;
      const std::int64_t whole = node.node.allocatable.of(used.resource);
      if (used.amount + node.secured.of(used.resource) > whole)
        findings.add("4 node over-committed", "node {} resource {}: {} and {} set aside of {}",
                     node.node.id.value, used.resource.value, used.amount,
                     node.secured.of(used.resource), whole);
    }
  }
}

void check_tenants(const State& state, const WorkloadRecord& record,
                   const model::Placement& placement, const std::vector<model::AttemptId>& leaving,
                   Findings& findings) {
  const auto tenant_of = [&state](const WorkloadRecord& of) {
    return state.queues.at(of.workload.queue).tenant();
  };
  const auto shares = [&state](QueueId tenant) {
    return state.queues.at(tenant).queue.shares_devices_across_tenants;
  };
  const QueueId own = tenant_of(record);
  for (const MemberPlacement& member : placement.members)
    for (const auto& part : member.devices) {
      const auto& use =
          state.nodes.at(member.node).devices.at(static_cast<std::size_t>(part.device));
      for (const model::Occupant& occupant : use.occupants) {
        if (std::find(leaving.begin(), leaving.end(), occupant.attempt) != leaving.end()) continue;
        const QueueId other = tenant_of(state.workloads.at(occupant.attempt.workload));
        if (other != own && !(shares(own) && shares(other)))
          findings.add("15 tenants on one device", "workload {} beside {} on node {} device {}",
                       record.workload.id.value, model::to_text(occupant.attempt),
                       member.node.value, part.device);
      }
    }
}

void check_start_claim(const State& state, const WorkloadRecord& record, const model::Start& start,
                       Findings& findings) {
  const std::string who = model::to_text(start.attempt);
  if (start.claim) {
    const auto claim = state.claims.find(start.claim);
    if (claim == state.claims.end() || claim->second.owner != record.workload.id)
      findings.add("13 started on another's claim", "{}", who);
    else if (!claim->second.victims.empty())
      findings.add("13 started before the victims left", "{}", who);
    else if (!(claim->second.placement == start.placement))
      findings.add("13 started beside its claim", "{}", who);
    return;
  }
  std::map<std::pair<model::NodeId, std::int32_t>, std::int64_t> milli;
  for (const MemberPlacement& member : start.placement.members)
    for (const auto& part : member.devices)
      milli[{member.node, part.device}] += part.milli.value;
  for (const auto& [key, wanted] : milli) {
    const model::DeviceUse& use =
        state.nodes.at(key.first).devices.at(static_cast<std::size_t>(key.second));
    if (use.milli.value + use.secured_milli.value + wanted > 1000)
      findings.add("13 claimed capacity given away", "{} takes {} milli of node {} device {}", who,
                   wanted, key.first.value, key.second);
  }
}

void check_start_quota(const State& state, const WorkloadRecord& record, const model::Start& start,
                       Findings& findings) {
  // A used-up claim was admitted when it was made, and is part of `held` already.
  if (start.claim) return;
  const QueueId own = record.workload.queue;
  const Usage charge = charge_of(state, record.workload, start.placement);
  const bool is_floor = class_of(state, record).reclaimable == model::Reclaimable::Never;
  for (const auto& [d, amount] : charge.amounts()) {
    if (!is_governed(state, d)) continue;
    for (const QueueId queue : state.queues.at(own).path)
      if (is_floor && admitted(state, queue, d) + amount > guarantee_of(state, queue, d))
        findings.add("9 unreclaimable work on borrowed capacity", "{} in queue {}",
                     model::to_text(start.attempt), state.queues.at(queue).queue.name);
    const bool is_beyond = admitted(state, own, d) + amount > guarantee_of(state, own, d);
    if (is_beyond && state.free.of(d) - amount < kept_for_others(state, own, d))
      findings.add("9 unlent guarantee given away", "{} takes {} of {} free, {} are kept",
                   model::to_text(start.attempt), amount, state.free.of(d),
                   kept_for_others(state, own, d));
  }
}

namespace {

// What the victims but `kept` give back to a queue (to all queues: none) in a dimension.
std::int64_t given_back(const State& state, const std::vector<model::AttemptId>& victims,
                        model::AttemptId kept, QueueId queue, Dimension d) {
  std::int64_t sum = 0;
  for (const model::AttemptId id : victims) {
    const WorkloadRecord& victim = state.workloads.at(id.workload);
    const auto& path = state.queues.at(victim.workload.queue).path;
    const bool counts = queue.is_none() || std::find(path.begin(), path.end(), queue) != path.end();
    if (id != kept && counts) sum += victim.attempts.at(id.ordinal - 1).charge.of(d);
  }
  return sum;
}

}  // namespace

void check_ceilings(const State& state, const WorkloadRecord& record, const Usage& charge,
                    const std::vector<model::AttemptId>& leaving, Findings& findings) {
  // What the victims of a claim hold now, the claim's owner will hold instead of them.
  for (const auto& [d, amount] : charge.amounts())
    for (const QueueId queue : state.queues.at(record.workload.queue).path)
      if (const auto max = max_of(state, queue, d);
          max && admitted(state, queue, d) - given_back(state, leaving, {}, queue, d) > *max)
        findings.add("9 above the ceiling",
                     "queue {} pool {} resource {}: {} of {} with workload {}",
                     state.queues.at(queue).queue.name, d.pool.value, d.resource.value,
                     admitted(state, queue, d), *max, record.workload.id.value);
}

namespace {

// What the queue holds without attempts that are on their way out.
std::int64_t staying(const State& state, QueueId queue, Dimension d) {
  std::int64_t held = state.queues.at(queue).held.of(d);
  each_live(state, [&](const WorkloadRecord& record, const Attempt& attempt) {
    const auto& path = state.queues.at(record.workload.queue).path;
    if (attempt.phase == model::AttemptPhase::Stopping &&
        std::find(path.begin(), path.end(), queue) != path.end())
      held -= attempt.charge.of(d);
  });
  return held;
}

std::int64_t guaranteed_in_all(const State& state, Dimension d) {
  std::int64_t sum = 0;
  state.queues.each([&](QueueId id, const model::QueueRecord& record) {
    if (record.queue.parent.is_none()) sum += guarantee_of(state, id, d);
  });
  return sum;
}

// An entitlement is at least min(guarantee, demand) wherever the guarantees can be honoured, so a
// victim's queues must hold more than their guarantee in a dimension that the victim uses.
void check_borrowing(const State& state, const WorkloadRecord& owner, const WorkloadRecord& victim,
                     Findings& findings) {
  const Attempt& attempt = *victim.live_attempt();
  for (const QueueId queue : below_common(state, victim.workload.queue, owner.workload.queue)) {
    bool is_above = false;
    for (const auto& [d, amount] : attempt.charge.amounts()) {
      const std::int64_t capacity = state.held.of(d) + state.free.of(d) + state.secured.of(d);
      is_above = is_above || staying(state, queue, d) > guarantee_of(state, queue, d) ||
                 guaranteed_in_all(state, d) > capacity;
    }
    if (!is_above)
      findings.add("11 guarantee cut", "{} for {}: queue {} holds no more than its guarantee",
                   model::to_text(attempt.id), owner.workload.id.value,
                   state.queues.at(queue).queue.name);
  }
}

// Across queues no preemption brings a queue below its guarantee, its claims counted.
void check_guarantees_stay(const State& state, const WorkloadRecord& owner,
                           const WorkloadRecord& victim, const model::Evict& evict,
                           Findings& findings) {
  for (const QueueId queue : below_common(state, victim.workload.queue, owner.workload.queue))
    for (const auto& [d, amount] : victim.live_attempt()->charge.amounts()) {
      std::int64_t left = staying(state, queue, d) + state.queues.at(queue).claimed.of(d);
      for (const model::AttemptId id : evict.victims) {
        const WorkloadRecord& other = state.workloads.at(id.workload);
        const auto& path = state.queues.at(other.workload.queue).path;
        const Attempt& attempt = *other.live_attempt();
        if (attempt.phase != model::AttemptPhase::Stopping &&
            std::find(path.begin(), path.end(), queue) != path.end())
          left -= attempt.charge.of(d);
      }
      if (left < guarantee_of(state, queue, d))
        findings.add("11 guarantee cut", "{} for {}: queue {} keeps {} of its {}",
                     model::to_text(victim.live_attempt()->id), owner.workload.id.value,
                     state.queues.at(queue).queue.name, left, guarantee_of(state, queue, d));
    }
}

}  // namespace

Usage ask_at(const State& state, const model::Workload& workload,
             const model::Placement& placement) {
  if (placement.members.empty()) return {};
  return ask_in(state, workload, state.nodes.at(placement.members.front().node).node.pool);
}

bool is_within_guarantee(const State& state, QueueId queue, const Usage& charge,
                         const std::vector<model::AttemptId>& leaving) {
  bool is_any_governed = false;
  for (const auto& [d, amount] : charge.amounts()) {
    if (!state.pools.at(d.pool).children.empty() || !is_governed(state, d)) continue;
    is_any_governed = true;
    for (const QueueId on_path : state.queues.at(queue).path)
      if (admitted(state, on_path, d) - given_back(state, leaving, {}, on_path, d) + amount >
          guarantee_of(state, on_path, d))
        return false;
  }
  return is_any_governed;
}

void check_rights(const State& state, const WorkloadRecord& owner, const WorkloadRecord& victim,
                  const model::Evict& evict, base::Instant at, Findings& findings) {
  const model::WorkloadClass& rules = class_of(state, victim);
  const model::WorkloadClass& taker = class_of(state, owner);
  const Attempt& attempt = *victim.live_attempt();
  const std::string who = model::to_text(attempt.id);
  const bool is_same_queue = owner.workload.queue == victim.workload.queue;
  if (at < attempt.decided + rules.min_runtime)
    findings.add("11 evicted inside its min run time", "{} after {} ms", who,
                 (at - attempt.decided).millis);
  if (evict.cause == model::Reason::Preempt) {
    if (!state.policy.allows_preemption || rules.preemptible == model::Preemptible::Never ||
        taker.priority <= rules.priority)
      findings.add("11 preempted against its rights", "{} by {}", who, owner.workload.id.value);
    const bool is_listed = std::find(taker.may_preempt.begin(), taker.may_preempt.end(),
                                     rules.name) != taker.may_preempt.end();
    if (!is_same_queue && !is_listed)
      findings.add("11 preempted across queues", "{} by {}", who, owner.workload.id.value);
    if (!is_same_queue) check_guarantees_stay(state, owner, victim, evict, findings);
  } else if (evict.cause == model::Reason::Reclaim) {
    if (!state.policy.allows_reclaim || rules.reclaimable == model::Reclaimable::Never)
      findings.add("11 reclaimed against its rights", "{} by {}", who, owner.workload.id.value);
    if (is_same_queue) findings.add("11 reclaimed inside its own queue", "{}", who);
    check_borrowing(state, owner, victim, findings);
  } else {
    findings.add("11 evicted for no allowed cause", "{}: {}", who, base::name_of(evict.cause));
  }
  const auto recent = std::count_if(victim.evictions.begin(), victim.evictions.end(),
                                    [&](base::Instant t) { return t > at - base::days(1); });
  const bool is_bound = !is_within_guarantee(
      state, owner.workload.queue, ask_at(state, owner.workload, evict.placement), evict.victims);
  if (is_bound && recent >= rules.evictions_per_day)
    findings.add("13 evicted too often", "{}: {} times within a day, {} are allowed", who, recent,
                 rules.evictions_per_day);
}

namespace {

// Sums by node and device, and by node and resource, of what stays and of what is claimed.
struct Load {
  std::map<std::pair<model::NodeId, std::int32_t>, std::int64_t> milli, bytes;
  std::map<std::pair<model::NodeId, model::ResourceId>, std::int64_t> amounts;

  void add(const model::Workload& workload, const model::Placement& placement,
           std::int64_t times = 1) {
    for (const MemberPlacement& member : placement.members) {
      for (const auto& part : member.devices) {
        milli[{member.node, part.device}] += times * part.milli.value;
        bytes[{member.node, part.device}] += times * part.memory.value;
      }
      const auto& group = workload.groups.at(static_cast<std::size_t>(member.group));
      for (const auto& need : group.per_member.amounts())
        amounts[{member.node, need.resource}] += times * need.amount;
    }
  }

  // Somewhere at the given places there is more than fits.
  bool is_too_much_at(const State& state, const model::Placement& places) const {
    for (const MemberPlacement& member : places.members) {
      const model::Node& node = state.nodes.at(member.node).node;
      for (const auto& part : member.devices) {
        const auto& device = node.devices.at(static_cast<std::size_t>(part.device));
        if (milli.at({member.node, part.device}) > 1000 ||
            bytes.at({member.node, part.device}) > device.memory.value)
          return true;
      }
      for (const auto& [key, sum] : amounts)
        if (key.first == member.node && sum > node.allocatable.of(key.second)) return true;
    }
    return false;
  }
};

// Quota alone would let the owner have its place although `kept` stays.
bool is_admitted_without(const State& state, const WorkloadRecord& owner, const model::Evict& evict,
                         model::AttemptId kept) {
  const QueueId own = owner.workload.queue;
  const Usage charge = charge_of(state, owner.workload, evict.placement);
  for (const auto& [d, amount] : charge.amounts()) {
    if (!is_governed(state, d)) continue;
    for (const QueueId queue : state.queues.at(own).path) {
      const std::int64_t staying =
          admitted(state, queue, d) - given_back(state, evict.victims, kept, queue, d);
      if (const auto max = max_of(state, queue, d); max && staying + amount > *max) return false;
    }
    const std::int64_t free = state.free.of(d) + given_back(state, evict.victims, kept, {}, d);
    const std::int64_t held =
        admitted(state, own, d) - given_back(state, evict.victims, kept, own, d);
    if (held + amount > guarantee_of(state, own, d) &&
        free - amount < kept_for_others(state, own, d))
      return false;
  }
  return true;
}

// With what is free now and what the other victims free, and nothing of what earlier claims hold or
// still wait for: a later claim does not count on their leftovers.
bool fits_now_without(const State& state, const WorkloadRecord& owner, const model::Evict& evict,
                      model::AttemptId kept) {
  Load load;
  for (const MemberPlacement& member : evict.placement.members) {
    const model::NodeRecord& node = state.nodes.at(member.node);
    for (std::size_t i = 0; i < node.devices.size(); ++i) {
      const std::pair key{member.node, static_cast<std::int32_t>(i)};
      load.milli[key] = node.devices[i].milli.value + node.devices[i].secured_milli.value;
      load.bytes[key] = node.devices[i].memory.value + node.devices[i].secured_memory.value;
    }
    for (const auto& whole : node.node.allocatable.amounts())
      load.amounts[{member.node, whole.resource}] =
          node.used.of(whole.resource) + node.secured.of(whole.resource);
  }
  for (const model::AttemptId victim : evict.victims) {
    if (victim == kept) continue;
    const WorkloadRecord& record = state.workloads.at(victim.workload);
    load.add(record.workload, record.live_attempt()->placement, -1);
  }
  load.add(owner.workload, evict.placement);
  return !load.is_too_much_at(state, evict.placement) &&
         is_admitted_without(state, owner, evict, kept);
}

bool has_slices(const model::Placement& placement) {
  for (const MemberPlacement& member : placement.members)
    for (const auto& part : member.devices)
      if (!part.slice.empty()) return true;
  return false;
}

}  // namespace

void check_victims_are_needed(const State& state, const WorkloadRecord& owner,
                              const model::Evict& evict, Findings& findings) {
  std::set<model::AttemptId> leaving(evict.victims.begin(), evict.victims.end());
  for (const auto& [id, claim] : state.claims)
    leaving.insert(claim.victims.begin(), claim.victims.end());
  Load load;
  load.add(owner.workload, evict.placement);
  for (const auto& [id, claim] : state.claims)
    load.add(state.workloads.at(claim.owner).workload, claim.placement);
  each_live(state, [&](const WorkloadRecord& record, const Attempt& attempt) {
    if (!leaving.contains(attempt.id)) load.add(record.workload, attempt.placement);
  });
  if (load.is_too_much_at(state, evict.placement))
    findings.add("12 victims are not enough", "for {}", owner.workload.id.value);
  for (const model::AttemptId victim : evict.victims) {
    const WorkloadRecord& record = state.workloads.at(victim.workload);
    const Attempt& attempt = *record.live_attempt();
    // Of several groups or options another order might have fitted, which only a search could tell.
    if (!is_simple(owner.workload)) continue;
    // A slice and a part, or two tenants, may be in each other's way although the sums fit.
    const bool is_apart = state.queues.at(record.workload.queue).tenant() !=
                          state.queues.at(owner.workload.queue).tenant();
    if (is_apart || has_slices(attempt.placement) || has_slices(evict.placement)) continue;
    if (fits_now_without(state, owner, evict, victim))
      findings.add("12 evicted in vain", "{} for {}", model::to_text(victim),
                   owner.workload.id.value);
  }
}

}  // namespace invariants::internal
