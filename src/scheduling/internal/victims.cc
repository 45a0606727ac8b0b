#include "scheduling/internal/victims.h"

#include <algorithm>

#include "policy/charge.h"

namespace scheduling::internal {

using base::Instant;
using model::Attempt;
using model::AttemptId;
using model::AttemptPhase;
using model::Dimension;
using model::MemberPlacement;
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

// What the taker asks for in the leaf pool itself.
template <class Visit>
bool all_of_ask(const Taker& taker, Visit&& visit) {
  for (const auto& a : taker.ask->amounts())
    if (a.dimension.pool == taker.pool && !visit(a.dimension, a.amount)) return false;
  return true;
}

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

bool borrows_what_is_short(const TrialWorld& world, const Taker& taker, QueueId queue) {
  return !all_of_ask(taker, [&](Dimension d, std::int64_t amount) {
    return !(is_short(world, taker, d, amount) &&
             world.quotas.held(queue, d) > world.quotas.entitlement(queue, d));
  });
}

// With its ask the taker stays inside the guarantees of its whole path, where there are any.
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
      if (world.quotas.held(queue, a.dimension) - a.amount <
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

// Whether the class of some live attempt may give way to the taker's.
bool could_preempt(const TrialWorld& world, const Taker& taker) {
  if (!world.policy.allows_preemption) return false;
  const std::int64_t own = class_of(world, *taker.workload).priority;
  return std::ranges::any_of(world.live.by_class, [&](const auto& entry) {
    const WorkloadClass& other = world.state.classes.at(entry.first);
    return other.preemptible == model::Preemptible::ByHigher && other.priority < own;
  });
}

}  // namespace

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
  const Instant protected_until = attempt.running_since.value_or(attempt.decided) +
                                  class_of(world, victim.workload).min_runtime;
  if (world.now < protected_until)
    return {.reason = Reason::MinRuntime, .route = result.route, .until = protected_until};
  if (is_at_eviction_limit(world, taker, victim) && !within_guarantee(world, taker))
    result.reason = Reason::EvictionLimit;
  return result;
}

bool may_take_back(const TrialWorld& world, const Taker& taker) {
  if (world.policy.allows_reclaim && within_entitlement(world, taker, taker.workload->queue))
    return true;
  return could_preempt(world, taker);
}

namespace {

struct Candidate {
  std::int64_t lost_work = 0;  // milli-device milliseconds since the start
  const WorkloadRecord* record = nullptr;
  model::WorkloadId id;
};

// Whether any attempt of the queue could be taken at all; exact about what depends on the queue
// alone, so that whole queues are passed over without a look at their attempts.
bool may_lose(const TrialWorld& world, const Taker& taker, QueueId queue) {
  const bool lists_others = !class_of(world, *taker.workload).may_preempt.empty();
  const bool preempts = could_preempt(world, taker);
  if (queue == taker.workload->queue) return preempts;
  if (preempts && lists_others) return true;
  return reclaim_bar_of(world, taker, queue) == Reason::None;
}

std::vector<Candidate> candidates_in(const TrialWorld& world, const Taker& taker) {
  std::vector<Candidate> found;
  const auto live = world.live.by_pool.find(taker.pool);
  if (live == world.live.by_pool.end()) return found;
  for (const auto& [queue, workloads] : live->second) {
    if (!may_lose(world, taker, queue)) continue;
    for (const model::WorkloadId id : workloads) {
      const WorkloadRecord& record = world.state.workloads.at(id);
      const Attempt& attempt = record.attempts.back();
      const base::Duration ran = world.now - attempt.running_since.value_or(attempt.decided);
      const std::int64_t milli = attempt.charge.of({taker.pool, model::kDevice});
      found.push_back({.lost_work = milli * ran.millis, .record = &record, .id = id});
    }
  }
  std::ranges::sort(found, [](const Candidate& a, const Candidate& b) {
    return a.lost_work != b.lost_work ? a.lost_work < b.lost_work : a.id < b.id;
  });
  return found;
}

// Victims are chosen on the sums first: nodes are opened (given back in the view) only from the
// moment at which enough would be free in sum, so that a hopeless search touches no node.
class Search {
 public:
  Search(const TrialWorld& world, const Taker& taker, const Request& request, Reason route,
         Depth depth)
      : world_(world),
        taker_(taker),
        request_(request),
        route_(route),
        wants_numbers_(depth == Depth::Recorded),
        mark_(world.view.mark()) {}

  VictimSearch run() {
    if (taker_.record != nullptr && world_.now < taker_.record->claim_allowed_at) {
      result_.failure = Reason::ClaimBackoff;
      result_.until = taker_.record->claim_allowed_at;
      if (wants_numbers_) result_.placeable = trial_now().placed;
      return result_;
    }
    if (collect()) {
      prune();
      finish();
    } else {
      fail();
    }
    restore();
    return result_;
  }

 private:
  PoolTrial trial_now() {
    const std::size_t mark = world_.view.mark();
    PoolTrial trial = place_in_pool(world_.state, world_.view, request_, taker_.pool);
    world_.view.rollback(mark);
    return trial;
  }

  bool fits_now() {
    if (surely_too_small(world_.view, *taker_.workload, taker_.pool)) return false;
    const PoolTrial trial = trial_now();
    return trial.is_complete() && keeps_unlent() && keeps_max(trial.placement);
  }

  // The place may cost more than was asked for (another device option): its charge must stay below
  // the ceilings of the path, too. What the victims hold is the taker's then.
  bool keeps_max(const model::Placement& placement) const {
    const auto& table = world_.quotas.table();
    if (table.governed().empty()) return true;
    const model::Usage charge = policy::charge_of(world_.state, *taker_.workload, placement);
    for (const QueueId queue : world_.state.queues.at(taker_.workload->queue).path)
      for (const auto& a : charge.amounts()) {
        if (!table.is_governed(a.dimension)) continue;
        const auto max = table.of(queue, a.dimension).max;
        if (max && world_.quotas.held(queue, a.dimension) + a.amount > *max) return false;
      }
    return true;
  }

  // With several device options the ask is that of one of them, and no lower bound.
  bool is_enough_in_sum() const {
    for (const model::TaskGroup& group : taker_.workload->groups)
      if (group.device_options.size() > 1) return true;
    return all_of_ask(taker_, [&](Dimension d, std::int64_t amount) {
      return world_.quotas.free(d) + freed_.of(d) >= amount;
    });
  }

  // Rule 4 holds for taking back too: what others keep of their guarantees is not for us.
  bool keeps_unlent() const {
    return all_of_ask(taker_, [&](Dimension d, std::int64_t amount) {
      const std::int64_t kept = world_.quotas.kept_for_others(taker_.workload->queue, d);
      if (kept == 0 || !world_.quotas.table().is_governed(d)) return true;
      return world_.quotas.free(d) + freed_.of(d) - amount >= kept;
    });
  }

  bool is_above_max_only() {
    give_all_chosen();
    const PoolTrial trial = trial_now();
    return trial.is_complete() && !keeps_max(trial.placement);
  }

  static const Attempt& attempt_of(const WorkloadRecord& record) { return record.attempts.back(); }
  QueueId tenant_of(const WorkloadRecord& record) const {
    return world_.state.queues.at(record.workload.queue).tenant();
  }

  void choose(const WorkloadRecord& victim) {
    chosen_.push_back(&victim);
    freed_.add(attempt_of(victim).charge);
    world_.quotas.hold_only(victim.workload.queue, attempt_of(victim).charge, -1);
    bars_.clear();  // what its queue holds has changed
  }
  void give(const WorkloadRecord& victim) {
    for (const MemberPlacement& member : attempt_of(victim).placement.members)
      world_.view.give(victim.workload, member, tenant_of(victim));
  }
  void take_again(const WorkloadRecord& victim) {
    for (const MemberPlacement& member : attempt_of(victim).placement.members)
      world_.view.take(victim.workload, member, tenant_of(victim));
  }
  void give_all_chosen() {
    for (; given_ < chosen_.size(); ++given_)
      give(*chosen_[given_]);
  }

  // The shortest prefix of the candidates that is enough.
  bool collect() {
    for (const Candidate& candidate : candidates_in(world_, taker_)) {
      const Protection protection = protection_of(world_, taker_, *candidate.record, &bars_);
      if (protection.route != route_) continue;
      if (protection.reason == Reason::MinRuntime && protection.until)
        min_runtime_until_ = std::min(min_runtime_until_.value_or(base::kNever), *protection.until);
      if (protection.reason != Reason::None) continue;
      choose(*candidate.record);
      if (!is_enough_in_sum()) continue;
      give_all_chosen();
      if (fits_now()) return true;
    }
    return false;
  }

  // One of the others is at its limit of evictions, which binds outside of the guarantee only.
  bool needs_guarantee_without(std::size_t dropped) const {
    if (within_guarantee(world_, taker_)) return false;
    for (std::size_t i = 0; i < chosen_.size(); ++i)
      if (i != dropped && is_at_eviction_limit(world_, taker_, *chosen_[i])) return true;
    return false;
  }

  // Drops from the costly end whatever is not needed; the last one collected is needed.
  void prune() {
    // The rights to the others were judged with this one gone, where that frees the taker's
    // guarantee.
    const bool was_inside = within_guarantee(world_, taker_);
    for (std::size_t i = chosen_.size() - 1; i-- > 0;) {
      const WorkloadRecord& victim = *chosen_[i];
      take_again(victim);
      freed_.add(attempt_of(victim).charge, -1);
      world_.quotas.hold_only(victim.workload.queue, attempt_of(victim).charge, +1);
      if (fits_now() && !(was_inside && needs_guarantee_without(i))) {
        chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        give(victim);
        freed_.add(attempt_of(victim).charge);
        world_.quotas.hold_only(victim.workload.queue, attempt_of(victim).charge, -1);
      }
    }
  }

  void finish() {
    PoolTrial trial = trial_now();
    result_.cause = route_;
    result_.placeable = trial.placed;
    result_.placement = std::move(trial.placement);
    for (const WorkloadRecord* victim : chosen_)
      result_.victims.push_back(attempt_of(*victim).id);
    std::ranges::sort(result_.victims);
  }

  void fail() {
    result_.failure = min_runtime_until_ ? Reason::MinRuntime : Reason::NotEnoughVictims;
    result_.until = min_runtime_until_;
    if (!min_runtime_until_ && is_enough_in_sum() && !keeps_unlent())
      result_.failure = Reason::GuaranteeOfOther;
    else if (!min_runtime_until_ && is_enough_in_sum() && is_above_max_only())
      result_.failure = Reason::QueueMax;
    if (!wants_numbers_) return;
    give_all_chosen();
    result_.placeable = trial_now().placed;
  }

  void restore() {
    world_.view.rollback(mark_);
    for (const WorkloadRecord* victim : chosen_)
      world_.quotas.hold_only(victim->workload.queue, attempt_of(*victim).charge, +1);
  }

  const TrialWorld& world_;
  const Taker& taker_;
  const Request& request_;
  Reason route_;
  bool wants_numbers_;
  std::size_t mark_;
  std::vector<const WorkloadRecord*> chosen_;
  std::size_t given_ = 0;  // of chosen_, those that are out of the view
  model::Usage freed_;     // charges of chosen_
  QueueBars bars_;
  std::optional<Instant> min_runtime_until_;
  VictimSearch result_;
};

}  // namespace

VictimSearch find_victims(const TrialWorld& world, const Taker& taker, const Request& request,
                          Depth depth) {
  // One eviction has one cause: what is borrowed is taken back first, else a lower class gives way.
  VictimSearch reclaim = Search(world, taker, request, Reason::Reclaim, depth).run();
  if (!reclaim.victims.empty() || reclaim.failure == Reason::ClaimBackoff ||
      !could_preempt(world, taker))
    return reclaim;
  VictimSearch preempt = Search(world, taker, request, Reason::Preempt, depth).run();
  if (!preempt.victims.empty()) return preempt;
  preempt.placeable = std::max(preempt.placeable, reclaim.placeable);
  if (reclaim.until && (!preempt.until || *reclaim.until < *preempt.until)) {
    preempt.until = reclaim.until;
    preempt.failure = reclaim.failure;
  }
  return preempt;
}

}  // namespace scheduling::internal
