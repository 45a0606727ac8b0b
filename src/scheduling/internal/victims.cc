#include "scheduling/internal/victims.h"

#include <algorithm>

#include "base/assert.h"
#include "scheduling/internal/room.h"

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
  const Instant until = protected_until(world.state, victim);
  if (world.now < until)
    return {.reason = Reason::MinRuntime, .route = result.route, .until = until};
  if (is_at_eviction_limit(world, taker, victim) && !within_guarantee(world, taker))
    result.reason = Reason::EvictionLimit;
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

struct Candidate {
  std::int64_t lost_work = 0;  // milli-device milliseconds since the start
  const WorkloadRecord* record = nullptr;
  model::WorkloadId id;
};

// Queues with live work in the taker's pool of which some could be taken, by what depends on the
// queue alone: whole queues are passed over without a look at their attempts.
struct Losers {
  std::vector<Loser> queues;  // by id
  QueueBars bars;
};

// What the queue holds beyond its entitlement, where devices alone decide whether it may lose more.
std::int64_t excess_of(const TrialWorld& world, const Taker& taker, QueueId queue) {
  std::int64_t excess = 0;
  const bool only_devices = all_of_ask(taker, [&](Dimension d, std::int64_t amount) {
    const std::int64_t beyond = world.quotas.held(queue, d) - world.quotas.entitlement(queue, d);
    if (beyond <= 0 || !is_short(world, taker, d, amount)) return true;
    excess = beyond;
    return d.resource == model::kDevice;
  });
  return only_devices ? excess : kNoLimit;
}

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
    if (preempts && (lists_others || is_own))
      losers.queues.push_back({.queue = queue, .excess = kNoLimit});
    else if (bar == Reason::None)
      losers.queues.push_back({.queue = queue, .excess = excess_of(world, taker, queue)});
  }
  return losers;
}

// Least lost work first.
std::vector<Candidate> candidates_of(const TrialWorld& world, const Taker& taker,
                                     const Losers& losers) {
  std::vector<Candidate> found;
  if (losers.queues.empty()) return found;
  const auto& live = world.live.by_pool.at(taker.pool);
  for (const auto& [queue, excess] : losers.queues) {
    for (const auto& [ripe_at, id] : live.at(queue)) {
      if (ripe_at > world.now) break;
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

// When the first of those that only their min run time protects will have run long enough, as
// things are held now.
std::optional<Instant> first_to_ripen(const TrialWorld& world, const Taker& taker, Losers& losers) {
  std::optional<Instant> first;
  for (const auto& [queue, excess] : losers.queues) {
    const auto& live = world.live.by_pool.at(taker.pool).at(queue);
    for (auto at = live.upper_bound({world.now, model::WorkloadId(~std::uint64_t{0})});
         at != live.end() && (!first || at->first < *first); ++at) {
      const WorkloadRecord& record = world.state.workloads.at(at->second);
      if (protection_of(world, taker, record, &losers.bars).reason == Reason::MinRuntime)
        first = at->first;
    }
  }
  return first;
}

// Victims are chosen on the sums first: nodes are opened only from the moment at which enough would
// be free in sum, so that a hopeless search touches no node.
class Search {
 public:
  Search(const TrialWorld& world, const Taker& taker, const Request& request, std::int64_t need,
         const Losers& losers, Reason route)
      : world_(world),
        taker_(taker),
        losers_(losers),
        route_(route),
        room_(world.state, world.view, world.room, request, taker.pool, need),
        held_mark_(world.quotas.mark()),
        bars_(losers.bars) {}

  // `failure` stays None where there is simply not enough.
  VictimSearch run(Depth depth) {
    VictimSearch result;
    if (collect()) {
      prune();
      finish(result);
    } else {
      if (is_enough_in_sum() && room_.fits()) result.failure = Reason::GuaranteeOfOther;
      if (depth == Depth::Recorded) result.placeable = room_.place(chosen_).placed;
    }
    world_.quotas.rollback(held_mark_);
    return result;
  }

 private:
  bool fits_now() { return room_.fits() && keeps_unlent(); }

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

  static const Attempt& attempt_of(const WorkloadRecord& record) { return record.attempts.back(); }

  void choose(const WorkloadRecord& victim) {
    chosen_.push_back(&victim);
    freed_.add(attempt_of(victim).charge);
    world_.quotas.hold_only(victim.workload.queue, attempt_of(victim).charge, -1);
    bars_.clear();  // what its queue holds has changed
  }

  // The shortest prefix of the candidates that is enough.
  bool collect() {
    std::size_t opened = 0;
    for (const Candidate& candidate : candidates_of(world_, taker_, losers_)) {
      const Protection protection = protection_of(world_, taker_, *candidate.record, &bars_);
      if (protection.route != route_ || protection.reason != Reason::None) continue;
      choose(*candidate.record);
      if (!is_enough_in_sum()) continue;
      for (; opened < chosen_.size(); ++opened)
        room_.open(*chosen_[opened]);
      if (fits_now()) return true;
    }
    return false;
  }

  // Drops from the costly end whatever is not needed; the last one collected is needed.
  void prune() {
    for (std::size_t i = chosen_.size() - 1; i-- > 0;) {
      const WorkloadRecord& victim = *chosen_[i];
      room_.close(victim);
      freed_.add(attempt_of(victim).charge, -1);
      if (fits_now()) {
        world_.quotas.hold_only(victim.workload.queue, attempt_of(victim).charge, +1);
        chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        room_.open(victim);
        freed_.add(attempt_of(victim).charge);
      }
    }
  }

  void finish(VictimSearch& result) {
    PoolTrial trial = room_.place(chosen_);
    ASSERT(trial.is_complete());
    result.cause = route_;
    result.placeable = trial.placed;
    result.placement = std::move(trial.placement);
    for (const WorkloadRecord* victim : chosen_)
      result.victims.push_back(attempt_of(*victim).id);
    std::ranges::sort(result.victims);
  }

  const TrialWorld& world_;
  const Taker& taker_;
  const Losers& losers_;
  Reason route_;
  Room room_;
  std::size_t held_mark_;
  std::vector<const WorkloadRecord*> chosen_;
  model::Usage freed_;  // charges of chosen_
  QueueBars bars_;
};

}  // namespace

VictimSearch find_victims(const TrialWorld& world, const Taker& taker, const Request& request,
                          std::int64_t need, Depth depth, TakingBound& bound) {
  VictimSearch result;
  if (taker.record != nullptr && world.now < taker.record->claim_allowed_at) {
    result.failure = Reason::ClaimBackoff;
    result.until = taker.record->claim_allowed_at;
    if (depth == Depth::Recorded)
      result.placeable =
          Room(world.state, world.view, world.room, request, taker.pool, need).place({}).placed;
    return result;
  }
  Losers losers = losers_to(world, taker);
  const bool wants_numbers = depth == Depth::Recorded;
  if (wants_numbers || !is_hopeless(world, taker, need, losers.queues, bound)) {
    // One eviction has one cause: what is borrowed is taken back first, else a lower class gives
    // way.
    result = Search(world, taker, request, need, losers, Reason::Reclaim).run(depth);
    if (!result.victims.empty()) return result;
    if (could_preempt(world, taker)) {
      VictimSearch preempt =
          Search(world, taker, request, need, losers, Reason::Preempt).run(depth);
      if (!preempt.victims.empty()) return preempt;
      result.placeable = std::max(result.placeable, preempt.placeable);
      if (result.failure == Reason::None) result.failure = preempt.failure;
    }
  }
  result.until = first_to_ripen(world, taker, losers);
  if (result.until)
    result.failure = Reason::MinRuntime;
  else if (result.failure == Reason::None)
    result.failure = Reason::NotEnoughVictims;
  return result;
}

}  // namespace scheduling::internal
