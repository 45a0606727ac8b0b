#include "scheduling/planner.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/assert.h"
#include "policy/charge.h"
#include "scheduling/internal/candidates.h"
#include "scheduling/internal/explaining.h"
#include "scheduling/internal/index.h"
#include "scheduling/internal/quick_look.h"
#include "scheduling/internal/trial.h"

namespace scheduling {

using base::Instant;
using internal::Candidates;
using internal::Depth;
using internal::Derived;
using internal::EquivalenceClass;
using internal::Trial;
using internal::TrialWorld;
using model::AttemptId;
using model::AttemptPhase;
using model::Claim;
using model::Decision;
using model::Explanation;
using model::Plan;
using model::PolicySet;
using model::QuestionKind;
using model::QueueId;
using model::Reason;
using model::State;
using model::Step;
using model::Test;
using model::Verdict;
using model::Workload;
using model::WorkloadId;
using model::WorkloadRecord;

namespace {

// One RunNow: settle, then passes over the candidates until a pass decides nothing, then the
// explanations of those that wait, all of them in the same final overlay.
class CycleRun {
 public:
  CycleRun(Derived& derived, const PolicySet& policy, const Cycle& cycle)
      : derived_(derived),
        state_(derived.state),
        policy_(policy),
        cycle_(cycle),
        world_(derived.world(cycle.now, stopping_)),
        next_claim_(derived.state.next_claim) {}

  Plan run() {
    derived_.pending.wake(cycle_.now);
    settle_claims();
    settle_time_limits();
    settle_draining();
    if (!plan_.is_cut_short) {
      bool decides = true;
      while (decides && !plan_.is_cut_short)
        decides = pass();
      if (!plan_.is_cut_short) tell_those_that_wait();
    }
    derived_.retry_at.reset();
    for (const auto& [key, equals] : derived_.pending.classes())
      if (equals->until)
        derived_.retry_at = std::min(derived_.retry_at.value_or(base::kNever), *equals->until);
    derived_.view.rollback(0);
    derived_.quotas.rollback(0);
    derived_.pending.restore_hidden();
    const Instant due = derived_.next_due();
    if (due != base::kNever) plan_.wake = std::max(due, cycle_.now);
    return std::move(plan_);
  }

 private:
  void decide(model::DecisionBody body, Explanation explanation) {
    plan_.decisions.push_back({.body = std::move(body), .explanation = std::move(explanation)});
  }
  Explanation explanation_of(WorkloadId id, Verdict verdict, std::vector<Step> steps) const {
    return {.workload = id,
            .at = cycle_.now,
            .question = QuestionKind::RunNow,
            .verdict = verdict,
            .steps = std::move(steps)};
  }
  // Charged as if nothing were cached: every class of every pass in each of its pools. Cut only
  // after a decision, so that every cycle makes progress and the next one goes on from there.
  void charge(const EquivalenceClass& equals) {
    plan_.steps += static_cast<std::int64_t>(equals.pools.size());
  }

  // ---- settle ----

  bool is_startable(const Claim& claim) const {
    const Workload& owner = state_.workloads.at(claim.owner).workload;
    std::map<model::NodeId, model::Quantities> needs;
    for (const model::MemberPlacement& member : claim.placement.members)
      needs[member.node].add(owner.groups[static_cast<std::size_t>(member.group)].per_member);
    // A node may have shrunk since.
    for (const auto& [id, need] : needs) {
      const model::NodeRecord& node = state_.nodes.at(id);
      for (const auto& a : need.amounts())
        if (node.used.of(a.resource) + a.amount > node.node.allocatable.of(a.resource))
          return false;
    }
    for (const model::MemberPlacement& member : claim.placement.members) {
      const model::NodeRecord& node = state_.nodes.at(member.node);
      if (node.node.condition != model::NodeCondition::Ready) return false;
      for (const model::DeviceAssignment& assignment : member.devices) {
        const auto index = static_cast<std::size_t>(assignment.device);
        if (!takes_new_work(node.node.devices[index].health)) return false;
        if (node.devices[index].milli.value + assignment.milli.value > 1000) return false;
      }
    }
    return true;
  }

  void settle_claims() {
    for (const auto& [id, claim] : state_.claims) {
      if (!claim.victims.empty()) {
        if (claim.expires > cycle_.now) continue;
        end_claim(claim, Reason::ClaimExpired);
      } else if (is_startable(claim)) {
        const WorkloadRecord& owner = state_.workloads.at(claim.owner);
        Step step = plain_step(Test::Claim);
        decide(
            model::Start{.attempt = next_attempt(owner), .placement = claim.placement, .claim = id},
            explanation_of(claim.owner, Verdict::Starts, {std::move(step)}));
      } else {
        end_claim(claim, Reason::NodeLost);
      }
    }
  }

  // What the claim held is free only after the decision was applied: the rest waits until then.
  void end_claim(const Claim& claim, Reason cause) {
    Step step = plain_step(Test::Claim);
    step.outcome = model::Outcome::Failed;
    step.reason = cause;
    step.need = static_cast<std::int64_t>(claim.victims.size());
    decide(model::EndClaim{.claim = claim.id, .cause = cause},
           explanation_of(claim.owner, Verdict::Blocked, {std::move(step)}));
    plan_.is_cut_short = true;
  }

  void settle_time_limits() {
    for (const auto& [deadline, attempt] : derived_.deadlines) {
      if (deadline > cycle_.now) break;
      const WorkloadRecord& record = state_.workloads.at(attempt.workload);
      if (record.attempts.back().phase == AttemptPhase::Stopping) continue;
      evict(attempt, Reason::TimeLimit);
    }
  }

  // A draining node gives its work back, whatever its class: a person asked for it.
  void settle_draining() {
    std::map<AttemptId, WorkloadId> leaving;
    for (const model::NodeId id : derived_.draining)
      for (const AttemptId& attempt : state_.nodes.at(id).attempts)
        leaving[attempt] = attempt.workload;
    for (const auto& [attempt, workload] : leaving) {
      const WorkloadRecord& record = state_.workloads.at(workload);
      if (record.attempts.back().phase == AttemptPhase::Stopping || stopping_.contains(attempt))
        continue;
      evict(attempt, Reason::Drained);
    }
  }

  void stop(AttemptId attempt) {
    if (!stopping_.insert(attempt).second) return;
    const WorkloadRecord& record = state_.workloads.at(attempt.workload);
    derived_.quotas.leave(record.workload.queue, record.attempts.back().charge);
  }

  // For its own sake: nobody else gains by it, so there is no claim.
  void evict(AttemptId attempt, Reason cause) {
    stop(attempt);
    ++world_.stamp;
    decide(model::Evict{.victims = {attempt},
                        .cause = cause,
                        .owner = {},
                        .claim = {},
                        .placement = {},
                        .expires = {}},
           explanation_of(attempt.workload, Verdict::Finished, {}));
  }

  // ---- passes ----

  // One look at every class; true when something was decided.
  bool pass() {
    Candidates open(state_, policy_, derived_.quotas);
    heads_.clear();
    for (const auto& [key, equals] : derived_.pending.classes()) {
      equals->until.reset();  // who stands behind a head is not looked at, and has none
      if (equals->members.empty()) continue;
      if (may_be_head(*equals))
        note_head(*equals);
      else
        consider(*equals, open);
    }
    for (const auto& [queue, head] : heads_)
      consider(*head, open);
    const std::size_t before = plan_.decisions.size();
    while (EquivalenceClass* equals = open.take_next()) {
      if (!try_head(*equals)) continue;
      plan_.is_cut_short = plan_.steps > cycle_.budget.steps;
      if (plan_.is_cut_short) break;
      // Its next member, or in a strict queue the next head, may go too.
      if (is_strict(equals->queue))
        reconsider_strict(equals->queue, open);
      else if (!equals->members.empty())
        consider(*equals, open);
    }
    return plan_.decisions.size() > before;
  }

  bool is_strict(QueueId queue) const {
    return state_.queues.at(queue).queue.passing == model::Passing::Strict;
  }

  // What can never run holds up nobody.
  bool may_be_head(EquivalenceClass& equals) {
    if (!is_strict(equals.queue)) return false;
    refresh_facts(world_, head_of(equals).workload, equals);
    return equals.could_fit >= equals.need;
  }

  void note_head(EquivalenceClass& equals) {
    EquivalenceClass*& head = heads_[equals.queue];
    if (head == nullptr || *equals.members.begin() < *head->members.begin()) head = &equals;
  }

  void reconsider_strict(QueueId queue, Candidates& open) {
    heads_.erase(queue);
    for (const auto& [key, equals] : derived_.pending.classes())
      if (equals->queue == queue && !equals->members.empty() && may_be_head(*equals))
        note_head(*equals);
    const auto head = heads_.find(queue);
    if (head != heads_.end()) consider(*head->second, open);
  }

  const WorkloadRecord& head_of(const EquivalenceClass& equals) const {
    return state_.workloads.at(equals.members.begin()->id);
  }

  void consider(EquivalenceClass& equals, Candidates& open) {
    const WorkloadRecord& record = head_of(equals);
    refresh_facts(world_, record.workload, equals);
    charge(equals);
    if (const auto look = internal::quick_look(world_, record, equals)) {
      equals.failure = look->reason;
      equals.until = look->until;
      return;
    }
    const Trial trial =
        try_workload(world_, record.workload, &record, equals, WorkloadId{}, Depth::Quick);
    equals.failure = trial.reason;
    equals.until = trial.until;
    if (trial.is_open) open.add(equals);
  }

  bool try_head(EquivalenceClass& equals) {
    const WorkloadRecord& record = head_of(equals);
    Trial trial = try_workload(world_, record.workload, &record, equals, WorkloadId{}, Depth::Full);
    if (trial.verdict != Verdict::Starts) {
      equals.failure = trial.reason;
      equals.until = trial.until;
      return false;
    }
    if (trial.victims.empty())
      start(record, equals, std::move(trial));
    else
      take_back(record, equals, std::move(trial));
    return true;
  }

  static AttemptId next_attempt(const WorkloadRecord& record) {
    return {record.workload.id, static_cast<std::uint32_t>(record.attempts.size() + 1)};
  }

  void start(const WorkloadRecord& record, EquivalenceClass& equals, Trial trial) {
    const internal::PoolFacts& facts = equals.pools[trial.pool];
    Step feasible = plain_step(Test::Feasible);
    feasible.need = equals.need;
    feasible.have = equals.could_fit;
    Step placed = plain_step(Test::Place);
    placed.dimension = model::Dimension{facts.pool, model::kDevice};
    placed.need = equals.need;
    placed.have = static_cast<std::int64_t>(trial.placement.members.size());
    derived_.quotas.hold(record.workload.queue,
                         policy::charge_of(state_, record.workload, trial.placement), +1);
    derived_.pending.hide(record.workload.id);
    ++world_.stamp;
    decide(
        model::Start{
            .attempt = next_attempt(record), .placement = std::move(trial.placement), .claim = {}},
        explanation_of(record.workload.id, Verdict::Starts,
                       {std::move(feasible), std::move(placed)}));
  }

  // The victims stop, and everything the owner needs is held for it from now on.
  void take_back(const WorkloadRecord& record, EquivalenceClass& equals, Trial trial) {
    Trial recorded =
        try_workload(world_, record.workload, &record, equals, WorkloadId{}, Depth::Recorded);
    const QueueId tenant = state_.queues.at(record.workload.queue).tenant();
    // What of it is free today is not free for the next: it is set aside.
    for (const model::MemberPlacement& member : trial.placement.members)
      derived_.quotas.set_aside(state_.nodes.at(member.node).node.pool,
                                derived_.view.secure(record.workload, member, tenant));
    derived_.quotas.hold_only(record.workload.queue,
                              policy::charge_of(state_, record.workload, trial.placement), +1);
    for (const AttemptId victim : trial.victims)
      stop(victim);
    derived_.pending.hide(record.workload.id);
    ++world_.stamp;
    decide(model::Evict{.victims = std::move(trial.victims),
                        .cause = trial.cause,
                        .owner = record.workload.id,
                        .claim = next_claim_,
                        .placement = std::move(trial.placement),
                        .expires = cycle_.now + policy_.claim_lifetime},
           explanation_of(record.workload.id, Verdict::Waiting, std::move(recorded.steps)));
    next_claim_ = model::ClaimId(next_claim_.value + 1);
  }

  // ---- those that wait ----

  void tell_those_that_wait() {
    for (const auto& [key, equals] : derived_.pending.classes()) {
      if (equals->members.empty()) continue;
      const auto head = heads_.find(equals->queue);
      if (head == heads_.end() || equals->could_fit < equals->need) {
        tell(*equals, equals->failure, WorkloadId{}, WorkloadId{});
        continue;
      }
      const WorkloadId first = head->second->members.begin()->id;
      if (head->second == equals.get()) tell(*equals, equals->failure, WorkloadId{}, first);
      tell(*equals, Reason::BehindHead, first, WorkloadId{});
    }
  }

  // Tells the members (all, or only `only`) that were told something else before. `head` is the one
  // that goes first; it is never told that it is behind itself.
  void tell(EquivalenceClass& equals, Reason reason, WorkloadId head, WorkloadId only) {
    std::vector<WorkloadId> news;
    for (const auto& [told, members] : equals.by_told) {
      if (model::is_same_wait(told, reason)) continue;
      if (!only.is_none()) {
        if (members.contains(only)) news.push_back(only);
        continue;
      }
      for (const WorkloadId id : members)
        if (id != head) news.push_back(id);
    }
    if (news.empty()) return;
    const WorkloadRecord& example = state_.workloads.at(news.front());
    refresh_facts(world_, example.workload, equals);
    const std::size_t mark = derived_.view.mark();
    const Trial trial =
        try_workload(world_, example.workload, &example, equals, head, Depth::Recorded);
    derived_.view.rollback(mark);
    if (trial.verdict == Verdict::Starts) return;
    for (const WorkloadId id : news) {
      if (model::is_same_wait(state_.workloads.at(id).wait_reason, trial.reason)) continue;
      Explanation explanation = explanation_of(id, trial.verdict, trial.steps);
      if (trial.verdict == Verdict::Infeasible)
        decide(model::Refuse{.workload = id, .reason = trial.reason}, std::move(explanation));
      else
        decide(model::Wait{.workload = id, .reason = trial.reason}, std::move(explanation));
    }
  }

  static Step plain_step(Test test) {
    return {.test = test,
            .dimension = {},
            .queue = {},
            .limit = {},
            .holders = {},
            .rejected = {},
            .until = {}};
  }

  Derived& derived_;
  const State& state_;
  const PolicySet& policy_;
  const Cycle& cycle_;
  std::set<AttemptId> stopping_;
  TrialWorld world_;
  model::ClaimId next_claim_;
  std::map<QueueId, EquivalenceClass*> heads_;  // of strict queues
  Plan plan_;
};

// Why and Fits: the chain for one workload, recorded, on the State as it is.
class Answer {
 public:
  Answer(Derived& derived, Instant now)
      : derived_(derived),
        state_(derived.state),
        world_(derived.world(now, stopping_)),
        now_(now) {}

  std::optional<Explanation> why(WorkloadId id) {
    const WorkloadRecord* record = state_.workloads.find(id);
    if (record == nullptr) return std::nullopt;
    explanation_ = {.workload = id,
                    .at = now_,
                    .question = QuestionKind::Why,
                    .verdict = Verdict::Blocked,
                    .steps = {}};
    if (is_finished(record->phase))
      explanation_.verdict = Verdict::Finished;
    else if (record->phase != model::Phase::Queued)
      explanation_.verdict = Verdict::Running;
    else if (!record->claim.is_none())
      waiting_for_victims(state_.claims.at(record->claim));
    else if (is_eligible(*record))
      run_chain(record->workload, record, head_of_queue(*record));
    return std::move(explanation_);
  }

  Explanation fits(const Workload& workload) {
    explanation_ = {.workload = {},
                    .at = now_,
                    .question = QuestionKind::Fits,
                    .verdict = Verdict::Blocked,
                    .steps = {}};
    run_chain(workload, nullptr, WorkloadId{});
    return std::move(explanation_);
  }

 private:
  bool is_eligible(const WorkloadRecord& record) {
    Step step{.test = Test::Eligible,
              .outcome = model::Outcome::Failed,
              .dimension = {},
              .queue = {},
              .limit = {},
              .holders = {},
              .rejected = {},
              .until = {}};
    if (record.is_held) {
      step.reason = Reason::Held;
    } else if (now_ < record.eligible_at) {
      step.reason = Reason::BackOff;
      step.until = record.eligible_at;
    } else {
      return true;
    }
    explanation_.steps.push_back(std::move(step));
    return false;
  }

  void waiting_for_victims(const Claim& claim) {
    Step step{.test = Test::Claim,
              .dimension = {},
              .queue = {},
              .limit = {},
              .holders = {},
              .rejected = {},
              .until = claim.expires};
    step.need = static_cast<std::int64_t>(claim.victims.size());
    explanation_.verdict = claim.victims.empty() ? Verdict::Starts : Verdict::Waiting;
    if (!claim.victims.empty()) {
      step.outcome = model::Outcome::Failed;
      step.reason = Reason::WaitingForVictims;
      const model::PoolId pool = state_.nodes.at(claim.placement.members.front().node).node.pool;
      step.dimension = model::Dimension{pool, model::kDevice};
      for (const AttemptId& victim : claim.victims) {
        const WorkloadRecord& record = state_.workloads.at(victim.workload);
        step.holders.push_back({.workload = victim.workload,
                                .queue = record.workload.queue,
                                .amount = record.attempts.back().charge.of(*step.dimension),
                                .protection = Reason::Stopping,
                                .until = {}});
      }
    }
    internal::keep_largest(step.holders);
    explanation_.steps.push_back(std::move(step));
  }

  // In a strict queue the first of those that can run at all; none when it is this one.
  WorkloadId head_of_queue(const WorkloadRecord& record) {
    if (state_.queues.at(record.workload.queue).queue.passing != model::Passing::Strict) return {};
    std::optional<internal::OrderKey> first;
    for (const auto& [key, equals] : derived_.pending.classes()) {
      if (equals->queue != record.workload.queue) continue;
      const Workload& example = state_.workloads.at(equals->example).workload;
      refresh_facts(world_, example, *equals);
      if (equals->could_fit < equals->need) continue;
      if (!first || *equals->members.begin() < *first) first = *equals->members.begin();
    }
    return !first || first->id == record.workload.id ? WorkloadId{} : first->id;
  }

  void run_chain(const Workload& workload, const WorkloadRecord* record, WorkloadId head) {
    EquivalenceClass equals;
    equals.queue = workload.queue;
    refresh_facts(world_, workload, equals);
    Trial trial = try_workload(world_, workload, record, equals, head, Depth::Recorded);
    derived_.view.rollback(0);
    explanation_.verdict = trial.verdict;
    explanation_.steps = std::move(trial.steps);
  }

  Derived& derived_;
  const State& state_;
  std::set<AttemptId> stopping_;
  TrialWorld world_;
  Instant now_;
  Explanation explanation_;
};

}  // namespace

class Planner::Index {
 public:
  explicit Index(const State& state) : state_(state) { rebuild(state.policy); }

  void observe(const model::Event& event) { derived_->observe(event); }

  Derived& fresh(const PolicySet& policy) {
    if (derived_->is_stale || derived_->policy != policy) rebuild(policy);
    return *derived_;
  }
  const Derived& derived() const { return *derived_; }

 private:
  void rebuild(const PolicySet& policy) { derived_ = std::make_unique<Derived>(state_, policy); }

  const State& state_;
  std::unique_ptr<Derived> derived_;
};

Planner::Planner(const State& state) : index_(std::make_unique<Index>(state)) {}
Planner::~Planner() = default;
Planner::Planner(Planner&&) noexcept = default;
Planner& Planner::operator=(Planner&&) noexcept = default;

void Planner::observe(const model::Event& event) { index_->observe(event); }

Plan Planner::plan(const PolicySet& policy, const Cycle& cycle) const {
  Derived& derived = index_->fresh(policy);
  derived.begin(cycle.now);
  if (std::holds_alternative<RunNow>(cycle.question)) return CycleRun(derived, policy, cycle).run();
  Plan plan;
  Answer answer(derived, cycle.now);
  if (const auto* why = std::get_if<Why>(&cycle.question))
    plan.answer = answer.why(why->workload);
  else
    plan.answer = answer.fits(std::get<Fits>(cycle.question).workload);
  return plan;
}

Instant Planner::next_due(Instant now) const {
  const Instant due = index_->derived().next_due();
  return due == base::kNever ? due : std::max(due, now);
}

}  // namespace scheduling
