#include "scheduling/internal/trial.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "policy/charge.h"
#include "policy/eligibility.h"
#include "scheduling/internal/explaining.h"
#include "scheduling/internal/quick_look.h"
#include "scheduling/internal/victims.h"

namespace scheduling::internal {

using model::Dimension;
using model::Outcome;
using model::PoolId;
using model::QueueId;
using model::Reason;
using model::State;
using model::Step;
using model::Test;
using model::Verdict;
using model::Workload;
using model::WorkloadRecord;

namespace {

void fill_quota_tests(const State& state, const policy::QuotaTable& quotas,
                      const Workload& workload, PoolFacts& facts) {
  const bool is_floor =
      state.classes.at(workload.workload_class).reclaimable == model::Reclaimable::Never;
  for (const auto& a : facts.ask.amounts()) {
    if (!quotas.is_governed(a.dimension)) continue;
    if (a.dimension.pool == facts.pool && quotas.has_keepers(a.dimension)) facts.asks_unlent = true;
    for (const QueueId queue : state.queues.at(workload.queue).path) {
      const policy::QuotaTerms terms = quotas.of(queue, a.dimension);
      std::int64_t limit = terms.max.value_or(std::numeric_limits<std::int64_t>::max());
      if (is_floor) limit = std::min(limit, terms.guarantee);
      if (limit == std::numeric_limits<std::int64_t>::max()) continue;
      facts.quota_tests.push_back(
          {.queue = queue, .dimension = a.dimension, .need = a.amount, .limit = limit});
    }
  }
}

}  // namespace

void refresh_facts(const TrialWorld& world, const Workload& workload, EquivalenceClass& equals) {
  const State& state = world.state;
  if (equals.facts_version == world.cluster_version) return;
  equals.facts_version = world.cluster_version;
  equals.need = policy::min_members(workload);
  equals.could_fit = 0;
  equals.pools.clear();
  for (const PoolId pool : policy::accepted_pools(state, workload.constraints)) {
    PoolFacts facts{.pool = pool,
                    .ask = policy::ask_in(state, workload, pool),
                    .could_fit = policy::could_ever_fit(state, workload, pool),
                    .quota_tests = {},
                    .failed_at = {},
                    .failed_in = 0,
                    .found = {},
                    .room = {},
                    .taking = {}};
    fill_quota_tests(state, world.quotas.table(), workload, facts);
    equals.could_fit = std::max(equals.could_fit, facts.could_fit);
    equals.pools.push_back(std::move(facts));
  }
  const auto fits = std::ranges::find_if(
      equals.pools, [&](const PoolFacts& facts) { return facts.could_fit >= equals.need; });
  equals.count_pool =
      fits == equals.pools.end() ? 0 : static_cast<std::size_t>(fits - equals.pools.begin());
}

namespace {

// One run of the chain in one pool or over all of them; collects steps only when recording.
class Chain {
 public:
  Chain(const TrialWorld& world, const Workload& workload, const WorkloadRecord* record,
        EquivalenceClass& equals, model::WorkloadId head, Depth depth)
      : world_(world),
        workload_(workload),
        record_(record),
        equals_(equals),
        head_(head),
        depth_(depth),
        request_(request_for(world.state, world.policy, workload)) {}

  Trial run() {
    record([] {
      return Step{.test = Test::Eligible,
                  .dimension = {},
                  .queue = {},
                  .limit = {},
                  .holders = {},
                  .rejected = {},
                  .until = {}};
    });
    if (!is_feasible() || !is_next()) return std::move(trial_);
    bool is_always_above_max = true;
    for (trial_.pool = 0; trial_.pool < equals_.pools.size(); ++trial_.pool) {
      if (try_pool(equals_.pools[trial_.pool]) || trial_.is_open) return std::move(trial_);
      if (trial_.reason != Reason::AboveQueueMax) is_always_above_max = false;
    }
    trial_.verdict = is_always_above_max ? Verdict::Infeasible : Verdict::Blocked;
    return std::move(trial_);
  }

 private:
  template <class MakeStep>
  void record(MakeStep&& make_step) {
    if (depth_ == Depth::Recorded) trial_.steps.push_back(make_step());
  }
  void fail(Reason reason) { trial_.reason = reason; }

  bool is_feasible() {
    const bool fits = equals_.need > 0 && equals_.could_fit >= equals_.need;
    if (!fits) fail(infeasible_reason(world_.state, equals_));
    record([&] {
      Step step = feasible_step(world_.state, workload_, equals_);
      step.outcome = fits ? Outcome::Passed : Outcome::Failed;
      step.reason = fits ? Reason::None : trial_.reason;
      return step;
    });
    if (!fits) trial_.verdict = Verdict::Infeasible;
    return fits;
  }

  bool is_next() {
    if (head_.is_none()) return true;
    fail(Reason::BehindHead);
    record([&] {
      Step step{.test = Test::QueueOrder,
                .dimension = {},
                .queue = workload_.queue,
                .limit = {},
                .holders = {},
                .rejected = {},
                .until = {}};
      step.outcome = Outcome::Failed;
      step.reason = Reason::BehindHead;
      step.holders.push_back({.workload = head_, .queue = workload_.queue, .until = {}});
      return step;
    });
    return false;
  }

  bool try_pool(PoolFacts& facts) {
    fail(Reason::None);
    if (!passes_quota(facts, facts.ask)) return false;
    const std::size_t mark = world_.view.mark();
    PoolTrial placed = surely_fails(facts)
                           ? PoolTrial{.placement = {}, .placed = 0, .short_group = 0}
                           : place(facts);
    if (placed.is_complete() && fits_quota(facts, placed, mark)) {
      record([&] { return place_passed_step(facts, equals_.need, placed.placed); });
      trial_.verdict = Verdict::Starts;
      trial_.placement = std::move(placed.placement);
      trial_.is_open = depth_ == Depth::Quick;
      if (trial_.is_open) world_.view.rollback(mark);
      return true;
    }
    if (trial_.reason != Reason::None) return false;
    world_.view.rollback(mark);
    const Taker taker{
        .workload = &workload_, .record = record_, .ask = &facts.ask, .pool = facts.pool};
    const PlaceFailure failure = place_failure(world_, workload_, facts);
    fail(failure.reason);
    record(
        [&] { return place_failed_step(world_, taker, request_, failure, placed, equals_.need); });
    return may_take_back(world_, taker) && take_back(taker, facts, placed.placed);
  }

  // The place that was found may cost more than was asked for (members above the minimum, a share
  // of memory on a smaller device): then it must pass the tests of quota again, first as it is,
  // then with the minimum alone.
  bool fits_quota(const PoolFacts& facts, PoolTrial& placed, std::size_t mark) {
    const model::Usage charge = charge_of(placed);
    if (charge == facts.ask) return true;
    is_second_look_ = true;
    const Depth depth = std::exchange(depth_, Depth::Full);  // only the last look is recorded
    const bool passes_as_is = passes_quota(facts, charge);
    depth_ = depth;
    is_second_look_ = false;
    if (passes_as_is) return true;
    fail(Reason::None);
    world_.view.rollback(mark);
    request_.growth = Growth::None;
    placed = place_in_pool(world_.state, world_.view, request_, facts.pool);
    request_.growth = Growth::Wanted;
    if (!placed.is_complete()) return false;
    is_second_look_ = true;
    const bool passes = passes_quota(facts, charge_of(placed));
    is_second_look_ = false;
    if (!passes) world_.view.rollback(mark);
    return passes;
  }

  model::Usage charge_of(const PoolTrial& placed) const {
    return policy::charge_of(world_.state, workload_, placed.placement);
  }

  // Known without a search. When recording, the numbers are wanted, so it is never enough.
  bool surely_fails(PoolFacts& facts) {
    return depth_ != Depth::Recorded && surely_no_room(world_, workload_, equals_.need, facts);
  }

  PoolTrial place(PoolFacts& facts) {
    if (facts.found_at == world_.stamp && depth_ == Depth::Full) return place_again(facts);
    const bool was_untouched = world_.view.is_untouched();
    PoolTrial trial = place_in_pool(world_.state, world_.view, request_, facts.pool);
    if (trial.is_complete() && depth_ == Depth::Quick) {
      facts.found_at = world_.stamp;
      facts.found = trial.placement;
    }
    // Failing once means failing until a node grows. Several groups or options may fail on more and
    // fit on less.
    if (!trial.is_complete() && is_filled_node_by_node(workload_, equals_.need)) {
      facts.failed_in = world_.plan;
      if (was_untouched) facts.failed_at = world_.view.pool(facts.pool).growth.size();
    }
    return trial;
  }

  // The quick look found it, and nothing was decided since.
  PoolTrial place_again(const PoolFacts& facts) {
    for (const model::MemberPlacement& member : facts.found.members)
      world_.view.take(workload_, member, request_.tenant);
    return {.placement = facts.found,
            .placed = static_cast<std::int64_t>(facts.found.members.size())};
  }

  bool take_back(const Taker& taker, PoolFacts& facts, std::int64_t placed) {
    if (depth_ == Depth::Quick) {
      const TakingLook look = look_at_taking(world_, taker, equals_.need, facts);
      fail(look.failure.reason);
      note_until(look.failure.until);
      trial_.is_open = look.is_open;
      return false;
    }
    Request least = request_;
    least.growth = Growth::None;
    VictimSearch search = find_victims(world_, taker, least, equals_.need, depth_, &facts.taking);
    const bool is_enough = !search.victims.empty();
    record([&] {
      Step step{.test = Test::Victims,
                .dimension = Dimension{facts.pool, model::kDevice},
                .queue = {},
                .limit = {},
                .holders = {},
                .rejected = {},
                .until = {}};
      if (search.failure == Reason::MinRuntime || search.failure == Reason::ClaimBackoff)
        step.until = search.until;
      step.outcome = is_enough ? Outcome::Passed : Outcome::Failed;
      step.reason = search.failure;
      step.need = equals_.need - placed;
      step.have = search.placeable - placed;
      return step;
    });
    if (is_enough) {
      trial_.verdict = Verdict::Starts;
      trial_.reason = Reason::None;
      trial_.placement = std::move(search.placement);
      trial_.victims = std::move(search.victims);
      trial_.cause = search.cause;
      return true;
    }
    fail(search.wait);
    note_until(search.until);
    return false;
  }

  void note_until(std::optional<base::Instant> until) {
    if (until) trial_.until = std::min(trial_.until.value_or(base::kNever), *until);
  }

  // Calls `visit(queue, dimension, amount asked)` along the queue path until one fails.
  template <class Visit>
  bool on_path(const model::Usage& charge, Visit&& visit) {
    for (const QueueId queue : world_.state.queues.at(workload_.queue).path)
      for (const auto& a : charge.amounts())
        if (world_.quotas.table().is_governed(a.dimension) && !visit(queue, a.dimension, a.amount))
          return false;
    return true;
  }

  bool passes_quota(const PoolFacts& facts, const model::Usage& charge) {
    if (world_.quotas.table().governed().empty()) return true;
    return passes_queue_max(charge) && passes_guarantee(charge) && passes_unlent(facts, charge);
  }

  // A second look records only what it fails: the rest is in the explanation already.
  template <class MakeStep>
  void record_look(bool passes, MakeStep&& make_step) {
    if (!passes || !is_second_look_) record(make_step);
  }

  bool passes_queue_max(const model::Usage& charge) {
    return on_path(charge, [&](QueueId queue, Dimension d, std::int64_t need) {
      const auto max = world_.quotas.table().of(queue, d).max;
      if (!max) return true;
      const std::int64_t have = world_.quotas.held(queue, d);
      const bool passes = have + need <= *max;
      if (!passes) fail(need > *max ? Reason::AboveQueueMax : Reason::QueueMax);
      record_look(passes, [&] {
        Step step = quota_step(Test::QueueMax, trial_.reason, queue, d, need, have, *max);
        if (!passes) step.holders = holders_in_queue(world_.state, queue, d);
        return step;
      });
      return passes;
    });
  }

  bool passes_guarantee(const model::Usage& charge) {
    if (world_.state.classes.at(workload_.workload_class).reclaimable != model::Reclaimable::Never)
      return true;
    return on_path(charge, [&](QueueId queue, Dimension d, std::int64_t need) {
      const std::int64_t limit = world_.quotas.table().of(queue, d).guarantee;
      const std::int64_t have = world_.quotas.held(queue, d);
      const bool passes = have + need <= limit;
      if (!passes) fail(Reason::OutsideGuarantee);
      record_look(passes, [&] {
        return quota_step(Test::Guarantee, trial_.reason, queue, d, need, have, limit);
      });
      return passes;
    });
  }

  bool passes_unlent(const PoolFacts& facts, const model::Usage& charge) {
    for (const auto& a : charge.amounts()) {
      const Dimension d = a.dimension;
      if (d.pool != facts.pool || !world_.quotas.table().is_governed(d)) continue;
      const std::int64_t guarantee = world_.quotas.table().of(workload_.queue, d).guarantee;
      if (world_.quotas.held(workload_.queue, d) + a.amount <= guarantee) continue;
      const std::int64_t kept = world_.quotas.kept_for_others(workload_.queue, d);
      if (kept == 0) continue;
      const std::int64_t free = world_.quotas.free(d);
      const bool passes = free - a.amount >= kept;
      if (!passes) fail(Reason::GuaranteeOfOther);
      record_look(passes, [&] {
        Step step = quota_step(Test::UnlentGuarantee, trial_.reason, workload_.queue, d, a.amount,
                               free, kept);
        if (!passes)
          step.holders = keepers(world_.state, world_.quotas.table(), workload_.queue, d);
        return step;
      });
      if (!passes) return false;
    }
    return true;
  }

  const TrialWorld& world_;
  const Workload& workload_;
  const WorkloadRecord* record_;
  EquivalenceClass& equals_;
  model::WorkloadId head_;
  Depth depth_;
  Request request_;
  Trial trial_;
  bool is_second_look_ = false;
};

}  // namespace

Trial try_workload(const TrialWorld& world, const Workload& workload, const WorkloadRecord* record,
                   EquivalenceClass& equals, model::WorkloadId head, Depth depth) {
  return Chain(world, workload, record, equals, head, depth).run();
}

}  // namespace scheduling::internal
