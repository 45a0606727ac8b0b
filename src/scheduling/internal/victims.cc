#include "scheduling/internal/victims.h"

#include <algorithm>

#include "base/assert.h"
#include "policy/charge.h"
#include "scheduling/internal/room.h"
#include "scheduling/internal/victim_order.h"

namespace scheduling::internal {

using model::Attempt;
using model::AttemptId;
using model::Dimension;
using model::QueueId;
using model::Reason;
using model::WorkloadRecord;

namespace {

// One member is looked for node by node, that with the least lost work first. Several are looked
// for over the pool, on the sums first: nodes are opened only from the moment at which enough would
// be free in sum, so that a hopeless search touches no node.
class Search {
 public:
  Search(const TrialWorld& world, const Taker& taker, const Request& request, std::int64_t need,
         const Losers& losers, Reason route, TakingBound* bound)
      : world_(world),
        taker_(taker),
        losers_(losers),
        bound_(bound),
        is_single_(need == 1 && is_filled_node_by_node(*taker.workload, need)),
        has_max_(is_any_max()),
        route_(route),
        room_(world.state, world.view, world.room, request, taker.pool, need),
        held_mark_(world.quotas.mark()),
        bars_(losers.bars) {}

  // `failure` stays None where there is simply not enough.
  VictimSearch run(Depth depth) {
    VictimSearch result;
    if ((is_single_ && collect_on_a_node()) || ((!is_single_ || is_unlent_short_) && collect())) {
      prune();
      finish(result);
    } else {
      if (is_unlent_short_)
        result.failure = Reason::GuaranteeOfOther;
      else if (is_above_max_)
        result.failure = Reason::QueueMax;
      open_chosen();
      if (depth == Depth::Recorded) result.placeable = room_.place(chosen_).placed;
    }
    world_.quotas.rollback(held_mark_);
    return result;
  }

 private:
  bool fits_now() {
    if (!room_.fits()) return false;
    if (!keeps_unlent())
      is_unlent_short_ = true;
    else if (has_max_ && !keeps_max(room_.place(chosen_).placement))
      is_above_max_ = true;
    else
      return true;
    return false;
  }

  // The place may cost more than was asked for (another device option, a share of memory on a
  // smaller device): its charge must stay below the ceilings of the path, too. What the victims
  // hold is the taker's then.
  bool keeps_max(const model::Placement& placement) const {
    const model::Usage charge = policy::charge_of(world_.state, *taker_.workload, placement);
    for (const QueueId queue : path())
      for (const auto& a : charge.amounts()) {
        const auto max = world_.quotas.table().of(queue, a.dimension).max;
        if (max && world_.quotas.held(queue, a.dimension) + a.amount > *max) return false;
      }
    return true;
  }

  const std::vector<QueueId>& path() const {
    return world_.state.queues.at(taker_.workload->queue).path;
  }

  bool is_any_max() const {
    const auto& table = world_.quotas.table();
    return std::ranges::any_of(table.governed(), [&](Dimension d) {
      return std::ranges::any_of(path(), [&](QueueId q) { return table.of(q, d).max.has_value(); });
    });
  }

  // With several device options the ask is that of one of them, and no lower bound.
  bool is_enough_in_sum() const {
    for (const model::TaskGroup& group : taker_.workload->groups)
      if (group.device_options.size() > 1) return true;
    return all_of_ask(taker_, [&](Dimension d, std::int64_t amount) {
      return world_.quotas.free(d) + freed_.of(d) >= amount;
    });
  }

  // Rule 4 holds for taking back too: beyond its own guarantee, what others keep of theirs is not
  // for the taker.
  bool keeps_unlent() const {
    const QueueId own = taker_.workload->queue;
    const auto& table = world_.quotas.table();
    return all_of_ask(taker_, [&](Dimension d, std::int64_t amount) {
      if (!table.is_governed(d)) return true;
      if (world_.quotas.held(own, d) + amount <= table.of(own, d).guarantee) return true;
      const std::int64_t kept = world_.quotas.kept_for_others(own, d);
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

  bool may_choose(const Candidate& candidate) {
    const Protection protection = protection_of(world_, taker_, *candidate.record, &bars_);
    return protection.route == route_ && protection.reason == Reason::None;
  }

  // The shortest prefix of the candidates of one node that makes room, on the first node on which
  // one does.
  bool collect_on_a_node() {
    std::optional<std::vector<model::NodeId>> reachable;
    if (bound_ != nullptr && is_countable(*taker_.workload))
      reachable = reachable_nodes(world_, taker_, 1, losers_.queues, *bound_);
    for (const model::NodeId node :
         nodes_by_lost_work(world_, taker_, losers_, reachable ? &*reachable : nullptr)) {
      for (const Candidate& candidate : candidates_on_node(world_, taker_, losers_, node)) {
        if (!may_choose(candidate)) continue;
        choose(*candidate.record);
        open_chosen();
        if (fits_now()) return true;
      }
      for (const WorkloadRecord* victim : chosen_)
        room_.close(*victim);
      chosen_.clear();
      opened_ = 0;
      freed_ = {};
      world_.quotas.rollback(held_mark_);
      bars_ = losers_.bars;
    }
    return false;
  }

  // The shortest prefix of all candidates that is enough.
  bool collect() {
    for (const Candidate& candidate : candidates_in_pool(world_, taker_, losers_)) {
      if (!may_choose(candidate)) continue;
      choose(*candidate.record);
      if (!is_enough_in_sum()) continue;
      open_chosen();
      if (fits_now()) return true;
    }
    return false;
  }

  void open_chosen() {
    for (; opened_ < chosen_.size(); ++opened_)
      room_.open(*chosen_[opened_]);
  }

  void leave_out(std::size_t i) {
    const WorkloadRecord& victim = *chosen_[i];
    room_.close(victim);
    freed_.add(attempt_of(victim).charge, -1);
    world_.quotas.hold_only(victim.workload.queue, attempt_of(victim).charge, +1);
    chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  void put_back(std::size_t i, const WorkloadRecord& victim) {
    chosen_.insert(chosen_.begin() + static_cast<std::ptrdiff_t>(i), &victim);
    room_.open(victim);
    freed_.add(attempt_of(victim).charge);
    world_.quotas.hold_only(victim.workload.queue, attempt_of(victim).charge, -1);
  }

  // Drops from the costly end whatever is not needed; the last one collected is needed.
  void prune() {
    for (std::size_t i = chosen_.size() - 1; i-- > 0;) {
      const WorkloadRecord& victim = *chosen_[i];
      leave_out(i);
      if (!fits_now()) put_back(i, victim);
    }
  }

  // With one victim fewer the place found first may be a dearer one, above a ceiling; the place
  // that was found with all of them gone may still do without that victim.
  void spare(const model::Placement& placement) {
    for (std::size_t i = chosen_.size(); i-- > 0 && chosen_.size() > 1;) {
      const WorkloadRecord& victim = *chosen_[i];
      leave_out(i);
      if (!room_.has_room_at(placement, chosen_) || !keeps_unlent() || !keeps_max(placement))
        put_back(i, victim);
    }
  }

  void finish(VictimSearch& result) {
    PoolTrial trial = room_.place(chosen_);
    ASSERT(trial.is_complete());
    if (has_max_) spare(trial.placement);
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
  TakingBound* bound_;
  bool is_single_;
  bool has_max_;                  // a queue of the taker's path has a ceiling
  bool is_unlent_short_ = false;  // there was room, but others keep it for their guarantees
  bool is_above_max_ = false;     // there was room, but at a charge above a ceiling
  Reason route_;
  Room room_;
  std::size_t held_mark_;
  std::vector<const WorkloadRecord*> chosen_;
  std::size_t opened_ = 0;  // of chosen_, those that are open in the room
  model::Usage freed_;      // charges of chosen_
  QueueBars bars_;
};

}  // namespace

TakingFailure taking_failure(const TrialWorld& world, const Taker& taker, LosersEntry& entry) {
  if (taker.record != nullptr && world.now < taker.record->claim_allowed_at)
    return {.reason = Reason::ClaimBackoff, .until = taker.record->claim_allowed_at};
  const auto first = first_to_ripen(world, taker, entry);
  return {.reason = first ? Reason::MinRuntime : Reason::NotEnoughVictims, .until = first};
}

VictimSearch find_victims(const TrialWorld& world, const Taker& taker, const Request& request,
                          std::int64_t need, Depth depth, TakingBound* bound) {
  VictimSearch result;
  LosersEntry& entry = losers_entry(world, taker);
  const TakingFailure failure = taking_failure(world, taker, entry);
  const bool wants_numbers = depth == Depth::Recorded;
  if (failure.reason == Reason::ClaimBackoff) {
    if (wants_numbers)
      result.placeable =
          Room(world.state, world.view, world.room, request, taker.pool, need).place({}).placed;
  } else if (wants_numbers || bound == nullptr ||
             !is_hopeless(world, taker, need, entry.losers.queues, *bound)) {
    // One eviction has one cause: what is borrowed is taken back first, else a lower class gives
    // way.
    Taker judged = taker;
    judged.is_within_guarantee = within_guarantee(world, taker);
    result = Search(world, judged, request, need, entry.losers, Reason::Reclaim, bound).run(depth);
    if (!result.victims.empty()) return result;
    if (std::ranges::any_of(entry.losers.queues, &Loser::by_preemption)) {
      VictimSearch preempt =
          Search(world, judged, request, need, entry.losers, Reason::Preempt, bound).run(depth);
      if (!preempt.victims.empty()) return preempt;
      result.placeable = std::max(result.placeable, preempt.placeable);
      if (result.failure == Reason::None) result.failure = preempt.failure;
    }
  }
  result.until = failure.until;
  result.wait = failure.reason;
  if (result.failure == Reason::None) result.failure = failure.reason;
  return result;
}

}  // namespace scheduling::internal
