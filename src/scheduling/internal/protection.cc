#include "scheduling/internal/protection.h"

#include <algorithm>

namespace scheduling::internal {

using base::Instant;
using model::Attempt;
using model::AttemptId;
using model::AttemptPhase;
using model::Dimension;
using model::QueueId;
using model::Reason;
using model::WorkloadClass;
using model::WorkloadRecord;

namespace {

const WorkloadClass& class_of(const TrialWorld& world, const model::Workload& workload) {
  return world.state.classes.at(workload.workload_class);
}

bool contains(const std::vector<QueueId>& path, QueueId queue) {
  return std::ranges::find(path, queue) != path.end();
}

// The part of `path` below the deepest queue that is on both paths.
std::vector<QueueId> below_common(const std::vector<QueueId>& path,
                                  const std::vector<QueueId>& other) {
  std::vector<QueueId> below;
  for (const QueueId queue : path) {
    if (contains(other, queue)) break;
    below.push_back(queue);
  }
  return below;
}

}  // namespace

bool within_entitlement(const TrialWorld& world, const Taker& taker, QueueId queue) {
  return all_of_ask(taker, [&](Dimension d, std::int64_t amount) {
    return world.quotas.held(queue, d) + amount <= world.quotas.entitlement(queue, d);
  });
}

bool is_short(const TrialWorld& world, const Taker& taker, Dimension dimension,
              std::int64_t asked) {
  const std::int64_t kept = world.quotas.kept_for_others(taker.workload->queue, dimension);
  return world.quotas.free(dimension) - kept < asked;
}

namespace {

bool borrows_what_is_short(const TrialWorld& world, const Taker& taker, QueueId queue) {
  return !all_of_ask(taker, [&](Dimension d, std::int64_t amount) {
    return !(is_short(world, taker, d, amount) &&
             world.quotas.staying(queue, d) > world.quotas.entitlement(queue, d));
  });
}

}  // namespace

bool within_guarantee(const TrialWorld& world, const Taker& taker) {
  bool is_governed = false;
  for (const QueueId queue : world.state.queues.at(taker.workload->queue).path) {
    const bool is_inside = all_of_ask(taker, [&](Dimension d, std::int64_t amount) {
      if (!world.quotas.table().is_governed(d)) return true;
      is_governed = true;
      return world.quotas.held(queue, d) + amount <= world.quotas.table().of(queue, d).guarantee;
    });
    if (!is_inside) return false;
  }
  return is_governed;
}

namespace {

// What bars reclaim from a queue as a whole; the victim's class comes on top.
Reason reclaim_bar_of(const TrialWorld& world, const Taker& taker, QueueId victim_queue) {
  if (!world.policy.allows_reclaim) return Reason::NotReclaimable;
  const auto& own_path = world.state.queues.at(taker.workload->queue).path;
  const auto& victim_path = world.state.queues.at(victim_queue).path;
  for (const QueueId queue : own_path) {
    if (contains(victim_path, queue)) break;  // the deepest common queue
    if (!within_entitlement(world, taker, queue)) return Reason::NotReclaimable;
  }
  for (const QueueId queue : victim_path) {
    if (contains(own_path, queue)) break;
    if (!borrows_what_is_short(world, taker, queue)) return Reason::NotBorrowing;
  }
  return Reason::None;
}

Reason reclaim_bar(const TrialWorld& world, const Taker& taker, const WorkloadRecord& victim,
                   QueueBars* bars) {
  const bool is_never = class_of(world, victim.workload).reclaimable == model::Reclaimable::Never;
  if (!world.policy.allows_reclaim || is_never) return Reason::NotReclaimable;
  if (bars == nullptr) return reclaim_bar_of(world, taker, victim.workload.queue);
  const auto known = bars->find(victim.workload.queue);
  if (known != bars->end()) return known->second;
  const Reason bar = reclaim_bar_of(world, taker, victim.workload.queue);
  bars->emplace(victim.workload.queue, bar);
  return bar;
}

bool keeps_guarantees(const TrialWorld& world, const Taker& taker, const WorkloadRecord& victim) {
  const auto& own_path = world.state.queues.at(taker.workload->queue).path;
  const auto& victim_path = world.state.queues.at(victim.workload.queue).path;
  for (const QueueId queue : below_common(victim_path, own_path))
    for (const auto& a : victim.attempts.back().charge.amounts())
      if (world.quotas.staying(queue, a.dimension) - a.amount <
          world.quotas.table().of(queue, a.dimension).guarantee)
        return false;
  return true;
}

Reason preempt_bar(const TrialWorld& world, const Taker& taker, const WorkloadRecord& victim) {
  const WorkloadClass& own = class_of(world, *taker.workload);
  const WorkloadClass& other = class_of(world, victim.workload);
  const bool is_allowed = world.policy.allows_preemption &&
                          other.preemptible == model::Preemptible::ByHigher &&
                          other.priority < own.priority;
  if (!is_allowed) return Reason::NotPreemptible;
  if (victim.workload.queue == taker.workload->queue) return Reason::None;
  return keeps_guarantees(world, taker, victim) ? Reason::None : Reason::NotPreemptible;
}

std::int64_t recent_evictions(const WorkloadRecord& victim, Instant now) {
  const Instant day_ago = now - base::days(1);
  return std::ranges::count_if(victim.evictions, [&](Instant t) { return t > day_ago; });
}

bool is_at_eviction_limit(const TrialWorld& world, const Taker& taker,
                          const WorkloadRecord& victim) {
  if (recent_evictions(victim, world.now) >= class_of(world, victim.workload).evictions_per_day)
    return true;
  if (taker.record == nullptr) return false;
  const AttemptId next{taker.workload->id,
                       static_cast<std::uint32_t>(taker.record->attempts.size() + 1)};
  return std::ranges::find(victim.evicted_by, next) != victim.evicted_by.end();
}

}  // namespace

bool could_preempt(const TrialWorld& world, const Taker& taker) {
  if (!world.policy.allows_preemption) return false;
  const std::int64_t own = class_of(world, *taker.workload).priority;
  return std::ranges::any_of(world.live.by_class, [&](const auto& entry) {
    const WorkloadClass& other = world.state.classes.at(entry.first);
    return other.preemptible == model::Preemptible::ByHigher && other.priority < own;
  });
}

Protection protection_of(const TrialWorld& world, const Taker& taker, const WorkloadRecord& victim,
                         QueueBars* bars) {
  const Attempt& attempt = victim.attempts.back();
  if (attempt.phase == AttemptPhase::Stopping || world.stopping.contains(attempt.id))
    return {.reason = Reason::Stopping, .until = {}};
  Protection result;
  if (victim.workload.queue == taker.workload->queue) {
    result.route = Reason::Preempt;
    result.reason = preempt_bar(world, taker, victim);
  } else {
    result.reason = reclaim_bar(world, taker, victim, bars);
    const auto& lists = class_of(world, *taker.workload).may_preempt;
    const std::string& victim_class = class_of(world, victim.workload).name;
    if (result.reason != Reason::None && std::ranges::find(lists, victim_class) != lists.end()) {
      const Reason preempt = preempt_bar(world, taker, victim);
      if (preempt == Reason::None)
        result = {.reason = preempt, .route = Reason::Preempt, .until = {}};
    }
  }
  if (result.reason != Reason::None) return result;
  const Instant until = protected_until(world.state, victim);
  if (world.now < until)
    return {.reason = Reason::MinRuntime, .route = result.route, .until = until};
  if (is_at_eviction_limit(world, taker, victim)) {
    const bool is_inside =
        taker.is_within_guarantee ? *taker.is_within_guarantee : within_guarantee(world, taker);
    if (!is_inside) result.reason = Reason::EvictionLimit;
  }
  return result;
}

Instant protected_until(const model::State& state, const WorkloadRecord& victim) {
  const Attempt& attempt = victim.attempts.back();
  return attempt.running_since.value_or(attempt.decided) +
         state.classes.at(victim.workload.workload_class).min_runtime;
}

bool may_take_back(const TrialWorld& world, const Taker& taker) {
  if (world.policy.allows_reclaim && within_entitlement(world, taker, taker.workload->queue))
    return true;
  return could_preempt(world, taker);
}

namespace {

// What the queue holds beyond its entitlement, where devices alone decide whether it may lose more.
std::int64_t excess_of(const TrialWorld& world, const Taker& taker, QueueId queue) {
  std::int64_t excess = 0;
  const bool only_devices = all_of_ask(taker, [&](Dimension d, std::int64_t amount) {
    const std::int64_t beyond = world.quotas.staying(queue, d) - world.quotas.entitlement(queue, d);
    if (beyond <= 0 || !is_short(world, taker, d, amount)) return true;
    excess = beyond;
    return d.resource == model::kDevice;
  });
  return only_devices ? excess : kNoLimit;
}

}  // namespace

Losers losers_to(const TrialWorld& world, const Taker& taker) {
  Losers losers;
  const auto live = world.live.by_pool.find(taker.pool);
  if (live == world.live.by_pool.end()) return losers;
  const bool preempts = could_preempt(world, taker);
  const bool lists_others = !class_of(world, *taker.workload).may_preempt.empty();
  for (const auto& [queue, attempts] : live->second) {
    const bool is_own = queue == taker.workload->queue;
    const Reason bar = is_own ? Reason::NotReclaimable : reclaim_bar_of(world, taker, queue);
    if (!is_own) losers.bars.emplace(queue, bar);
    Loser loser{.queue = queue,
                .by_reclaim = bar == Reason::None,
                .by_preemption = preempts && (is_own || lists_others)};
    if (!loser.by_reclaim && !loser.by_preemption) continue;
    loser.excess = loser.by_preemption ? kNoLimit : excess_of(world, taker, queue);
    losers.queues.push_back(loser);
  }
  return losers;
}

bool may_lose(const TrialWorld& world, const Taker& taker, const Loser& loser,
              model::ClassId victim) {
  const WorkloadClass& other = world.state.classes.at(victim);
  if (loser.by_reclaim && other.reclaimable != model::Reclaimable::Never) return true;
  if (!loser.by_preemption) return false;
  const WorkloadClass& own = class_of(world, *taker.workload);
  if (other.preemptible != model::Preemptible::ByHigher || other.priority >= own.priority)
    return false;
  return loser.queue == taker.workload->queue ||
         std::ranges::find(own.may_preempt, other.name) != own.may_preempt.end();
}

}  // namespace scheduling::internal
