#include "invariants/explanation_check.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "invariants/internal/evaluator.h"
#include "invariants/internal/order_rules.h"
#include "invariants/internal/protection.h"
#include "invariants/internal/quota.h"

namespace invariants {

using internal::Subject;
using model::Dimension;
using model::Explanation;
using model::Outcome;
using model::PoolId;
using model::QueueId;
using model::Reason;
using model::State;
using model::Step;
using model::Test;
using model::Verdict;

namespace {

using Differences = std::vector<std::string>;

std::string name(const Step& step) {
  std::string text{base::name_of(step.test)};
  if (step.dimension)
    text += fmt::format(" (pool {}, resource {})", step.dimension->pool.value,
                        step.dimension->resource.value);
  if (step.queue) text += fmt::format(" of queue {}", step.queue->value);
  return text;
}

template <class T>
void compare(Differences& out, const Step& step, std::string_view what, const T& given,
             const T& computed) {
  if (given != computed)
    out.push_back(
        fmt::format("{}: {} is given as {}, computed as {}", name(step), what, given, computed));
}

void compare_verdict(Differences& out, const Step& given, const Step& computed) {
  compare(out, given, "outcome", base::name_of(given.outcome), base::name_of(computed.outcome));
  compare(out, given, "reason", base::name_of(given.reason), base::name_of(computed.reason));
}

void compare_numbers(Differences& out, const Step& given, const Step& computed) {
  compare(out, given, "need", given.need, computed.need);
  compare(out, given, "have", given.have, computed.have);
  compare(out, given, "limit", given.limit.value_or(-1), computed.limit.value_or(-1));
}

std::string holders_text(const Step& step) {
  std::string text;
  for (const model::Holder& holder : step.holders)
    text += fmt::format("{}/{}:{} ", holder.workload.value, holder.queue.value, holder.amount);
  return text;
}

// Up to three examples are all nodes of a row, whatever their order.
std::string rejected_text(const Step& step) {
  std::string text;
  for (const model::Rejection& row : step.rejected) {
    text += fmt::format("{}:{}[", base::name_of(row.reason), row.count);
    std::vector<model::NodeId> nodes = row.examples;
    std::sort(nodes.begin(), nodes.end());
    if (row.count <= static_cast<std::int64_t>(nodes.size()))
      for (const model::NodeId node : nodes)
        text += fmt::format("{} ", node.value);
    text += "] ";
  }
  return text;
}

void compare_holders(Differences& out, const Step& given, const Step& computed) {
  compare(out, given, "holders", holders_text(given), holders_text(computed));
}

void compare_rejected(Differences& out, const Step& given, const Step& computed) {
  Step sorted = given;
  std::sort(sorted.rejected.begin(), sorted.rejected.end(),
            [](const auto& a, const auto& b) { return a.reason < b.reason; });
  compare(out, given, "rejected", rejected_text(sorted), rejected_text(computed));
}

void compare_until(Differences& out, const Step& given, const Step& computed) {
  compare(out, given, "until", given.until.value_or(base::kNever).millis,
          computed.until.value_or(base::kNever).millis);
}

Differences check_eligible(const Subject& subject, const Step& given) {
  Differences out;
  const Step computed = internal::eligible_step(subject);
  compare_verdict(out, given, computed);
  if (computed.reason == Reason::BackOff) compare_until(out, given, computed);
  return out;
}

Differences check_claim(const Subject& subject, const Step& given) {
  Differences out;
  if (subject.record.claim.is_none()) return {"claim: the workload owns no claim"};
  const Step computed = internal::claim_step(subject);
  compare_verdict(out, given, computed);
  if (computed.outcome == Outcome::Passed) return out;
  compare(out, given, "need", given.need, computed.need);
  compare_holders(out, given, computed);
  compare_until(out, given, computed);
  return out;
}

// With several options only bounds are known: from below what one option gives, and what a search
// finds.
Differences check_mixed(const Subject& subject, const Step& given, const Step& computed) {
  Differences out;
  compare(out, given, "need", given.need, computed.need);
  if (given.have < computed.have || given.have > given.need ||
      (given.have == 0) != (computed.have == 0))
    out.push_back(fmt::format("{}: have is given as {}, one option alone gives {}", name(given),
                              given.have, computed.have));
  const bool is_failed = given.outcome == Outcome::Failed;
  if (is_failed != (given.have < given.need))
    out.push_back(fmt::format("{}: outcome {} with {} of {}", name(given),
                              base::name_of(given.outcome), given.have, given.need));
  if (!is_failed) return out;
  compare(out, given, "reason", base::name_of(given.reason), base::name_of(computed.reason));
  if (internal::fits_when_empty(subject))
    out.push_back(name(given) + ": all members fit on an empty cluster");
  return out;
}

Differences check_feasible(const Subject& subject, const Step& given) {
  Differences out;
  const Step computed = internal::feasible_step(subject);
  if (internal::mixes_options(subject.workload())) return check_mixed(subject, given, computed);
  compare_verdict(out, given, computed);
  compare_numbers(out, given, computed);
  const bool is_single = internal::real_groups(subject.workload()).size() == 1;
  if (is_single && computed.outcome == Outcome::Failed) compare_rejected(out, given, computed);
  return out;
}

// The three quota tests have one shape; holders only tell something when the test failed.
Differences check_quota(const Subject& subject, PoolId leaf, const Step& given) {
  Differences out;
  const QueueId queue = given.queue.value_or(subject.workload().queue);
  const Dimension d = *given.dimension;
  // A failure with more than was asked is the second look, at the charge of the found place.
  internal::Need need;
  const std::int64_t asked = internal::ask_in(subject.state, subject.workload(), leaf).of(d);
  if (given.outcome == Outcome::Failed && given.need > asked) need = given.need;
  const Step computed =
      given.test == Test::QueueMax    ? internal::queue_max_step(subject, leaf, queue, d, need)
      : given.test == Test::Guarantee ? internal::guarantee_step(subject, leaf, queue, d, need)
                                      : internal::unlent_step(subject, leaf, d, need);
  compare_verdict(out, given, computed);
  compare_numbers(out, given, computed);
  const bool tells_holders =
      computed.reason == Reason::QueueMax || computed.reason == Reason::GuaranteeOfOther;
  if (tells_holders) compare_holders(out, given, computed);
  return out;
}

Differences check_place(const Subject& subject, const Step& given) {
  Differences out;
  const Step computed = internal::place_step(subject, given.dimension->pool);
  const bool is_exact = internal::is_simple(subject.workload());
  compare(out, given, "need", given.need, computed.need);
  if (is_exact || given.outcome == Outcome::Passed) compare_verdict(out, given, computed);
  if (is_exact)
    compare(out, given, "have", given.have, computed.have);
  else if (given.have > computed.have)
    out.push_back(fmt::format("{}: have is given as {}, at most {} fit", name(given), given.have,
                              computed.have));
  if (given.outcome == Outcome::Passed || computed.outcome == Outcome::Passed) return out;
  compare(out, given, "dimension", given.dimension->resource.value,
          computed.dimension->resource.value);
  compare_holders(out, given, computed);
  for (const model::Holder& holder : given.holders)
    if (const std::string wrong =
            internal::check_protection(subject, given.dimension->pool, holder);
        !wrong.empty())
      out.push_back(name(given) + ": " + wrong);
  if (is_exact) compare_rejected(out, given, computed);
  return out;
}

Differences check_order(const Subject& subject, const Step& given) {
  const model::Workload& workload = subject.workload();
  if (given.outcome == Outcome::Passed) return {};
  Differences out;
  if (subject.state.queues.at(workload.queue).queue.passing != model::Passing::Strict)
    out.push_back("queue_order: the queue is not strict");
  compare(out, given, "reason", base::name_of(given.reason), base::name_of(Reason::BehindHead));
  const auto* head = given.holders.empty()
                         ? nullptr
                         : subject.state.workloads.find(given.holders.front().workload);
  if (head == nullptr) return {"queue_order: no head is named"};
  if (head->workload.queue != workload.queue || head->phase != model::Phase::Queued ||
      !internal::goes_first(subject.state, subject.policy, *head, subject.record))
    out.push_back(fmt::format("queue_order: {} does not go first", head->workload.id.value));
  return out;
}

Differences check_victims(const Explanation& explanation, std::size_t index) {
  Differences out;
  const Step& given = explanation.steps[index];
  const bool is_after_place = index > 0 && explanation.steps[index - 1].test == Test::Place;
  if (!is_after_place) return {"victims: does not follow a place that failed"};
  const Step& place = explanation.steps[index - 1];
  compare(out, given, "need", given.need, place.need - place.have);
  // Enough of them, but what they free is kept for others or above a ceiling: a failure with
  // enough.
  const bool is_kept = given.reason == Reason::GuaranteeOfOther || given.reason == Reason::QueueMax;
  if ((given.outcome == Outcome::Failed) != (given.have < given.need || is_kept))
    out.push_back(fmt::format("victims: {} of {} members, outcome {}", given.have, given.need,
                              base::name_of(given.outcome)));
  if ((given.outcome == Outcome::Failed) == (given.reason == Reason::None))
    out.push_back("victims: a failure has a reason, a success has none");
  return out;
}

Differences check_step(const Subject& subject, const Explanation& explanation, std::size_t index) {
  const Step& step = explanation.steps[index];
  switch (step.test) {
    case Test::Eligible:
      return check_eligible(subject, step);
    case Test::Claim:
      return check_claim(subject, step);
    case Test::Feasible:
      return check_feasible(subject, step);
    case Test::QueueOrder:
      return check_order(subject, step);
    case Test::Victims:
      return check_victims(explanation, index);
    case Test::Topology:
      return {};  // its planner part is left for later
    case Test::Place:
      if (!step.dimension) return {"place: no pool is named"};
      return check_place(subject, step);
    default:
      break;
  }
  if (!step.dimension) return {name(step) + ": no dimension is named"};
  // The pool tried is a leaf at or below the dimension's pool; several may stand below one.
  Differences first;
  for (const PoolId leaf :
       internal::accepted_leaves(subject.state, subject.workload().constraints)) {
    const auto& path = subject.state.pools.at(leaf).path;
    if (std::find(path.begin(), path.end(), step.dimension->pool) == path.end()) continue;
    Differences here = check_quota(subject, leaf, step);
    if (here.empty()) return {};
    if (first.empty()) first = std::move(here);
  }
  if (first.empty()) return {name(step) + ": not a pool that the workload accepts"};
  return first;
}

// Where Place was reached, no quota test before it may have failed, given or not.
void check_nothing_skipped(const Subject& subject, PoolId leaf, Differences& out) {
  const State& state = subject.state;
  const model::Usage ask = internal::ask_in(state, subject.workload(), leaf);
  const auto note = [&](const Step& step) {
    if (step.outcome == Outcome::Failed)
      out.push_back(
          fmt::format("{} fails in pool {} but place was reached", name(step), leaf.value));
  };
  const bool is_floor = subject.rules().reclaimable == model::Reclaimable::Never;
  for (const auto& [d, amount] : ask.amounts()) {
    for (const QueueId queue : state.queues.at(subject.workload().queue).path) {
      note(internal::queue_max_step(subject, leaf, queue, d));
      if (is_floor && internal::is_governed(state, d))
        note(internal::guarantee_step(subject, leaf, queue, d));
    }
    if (d.pool == leaf && internal::is_governed(state, d))
      note(internal::unlent_step(subject, leaf, d));
  }
}

bool fits_verdict(const Explanation& explanation) {
  const Step& last = explanation.steps.back();
  switch (explanation.verdict) {
    case Verdict::Starts:
      return last.outcome == Outcome::Passed;
    case Verdict::Waiting:
      return last.outcome == Outcome::Failed && last.test == Test::Claim;
    case Verdict::Infeasible:
      return last.outcome == Outcome::Failed &&
             (last.test == Test::Feasible || last.reason == Reason::AboveQueueMax);
    case Verdict::Blocked:
      return last.outcome == Outcome::Failed && last.test != Test::Feasible;
    default:
      return false;
  }
}

}  // namespace

std::vector<std::string> check_explanation(const State& state, const model::PolicySet& policy,
                                           const model::WorkloadRecord& record,
                                           const Explanation& explanation, base::Instant now) {
  const Subject subject{state, policy, record, now};
  if (explanation.verdict == Verdict::Running || explanation.verdict == Verdict::Finished)
    return {};
  if (explanation.steps.empty()) return {"there is no step"};
  Differences out;
  if (explanation.at != now)
    out.push_back(fmt::format("made at {} ms, it is {} ms", explanation.at.millis, now.millis));
  if (!fits_verdict(explanation))
    out.push_back(fmt::format("verdict {} does not follow from the last step, {}",
                              base::name_of(explanation.verdict), name(explanation.steps.back())));
  std::set<PoolId> placed;
  for (std::size_t i = 0; i < explanation.steps.size(); ++i) {
    const Differences here = check_step(subject, explanation, i);
    out.insert(out.end(), here.begin(), here.end());
    const Step& step = explanation.steps[i];
    if (step.test == Test::Place && step.dimension) placed.insert(step.dimension->pool);
  }
  for (const PoolId leaf : placed)
    check_nothing_skipped(subject, leaf, out);
  return out;
}

}  // namespace invariants
