#include "invariants/internal/protection.h"

#include <algorithm>

#include <fmt/format.h>

#include "invariants/internal/decision_rules.h"

namespace invariants::internal {

using model::Reason;

namespace {

base::Instant protected_until(const Subject& subject, const model::WorkloadRecord& victim) {
  const model::Attempt& attempt = *victim.live_attempt();
  return attempt.running_since.value_or(attempt.decided) +
         subject.state.classes.at(victim.workload.workload_class).min_runtime;
}

bool is_at_limit(const Subject& subject, const model::WorkloadRecord& victim) {
  const auto& rules = subject.state.classes.at(victim.workload.workload_class);
  const auto recent =
      std::count_if(victim.evictions.begin(), victim.evictions.end(),
                    [&](base::Instant t) { return t > subject.now - base::days(1); });
  const auto& by = victim.evicted_by;
  const model::AttemptId next{subject.workload().id,
                              static_cast<std::uint32_t>(subject.record.attempts.size() + 1)};
  return recent >= rules.evictions_per_day || std::find(by.begin(), by.end(), next) != by.end();
}

bool may_preempt(const Subject& subject, const model::WorkloadClass& rules) {
  return subject.policy.allows_preemption && rules.preemptible != model::Preemptible::Never &&
         rules.priority < subject.rules().priority;
}

// The protections that the first part of the rules allows: by route, before time and limits.
bool is_route_barred(const Subject& subject, const model::WorkloadRecord& victim, Reason given) {
  const auto& rules = subject.state.classes.at(victim.workload.workload_class);
  if (victim.workload.queue == subject.workload().queue)
    return given == Reason::NotPreemptible && !may_preempt(subject, rules);
  const auto& list = subject.rules().may_preempt;
  const bool is_listed = std::find(list.begin(), list.end(), rules.name) != list.end();
  const bool never_reclaimed =
      !subject.policy.allows_reclaim || rules.reclaimable == model::Reclaimable::Never;
  // The rest of these rests on entitlements and guarantees, and is taken as given.
  if (given == Reason::NotBorrowing) return !never_reclaimed;
  return given == Reason::NotReclaimable || (given == Reason::NotPreemptible && is_listed);
}

// Certainly barred, whatever the entitlements are.
bool must_be_barred(const Subject& subject, const model::WorkloadRecord& victim) {
  const auto& rules = subject.state.classes.at(victim.workload.workload_class);
  if (victim.workload.queue == subject.workload().queue) return !may_preempt(subject, rules);
  const auto& list = subject.rules().may_preempt;
  const bool is_listed = std::find(list.begin(), list.end(), rules.name) != list.end();
  const bool never_reclaimed =
      !subject.policy.allows_reclaim || rules.reclaimable == model::Reclaimable::Never;
  return never_reclaimed && !(is_listed && may_preempt(subject, rules));
}

}  // namespace

std::string check_protection(const Subject& subject, model::PoolId leaf,
                             const model::Holder& holder) {
  const model::WorkloadRecord* victim = subject.state.workloads.find(holder.workload);
  if (victim == nullptr || victim->live_attempt() == nullptr) return "a holder that holds nothing";
  const auto wrong = [&](std::string_view why) {
    return fmt::format("holder {} has the protection {}: {}", holder.workload.value,
                       base::name_of(holder.protection), why);
  };
  const bool is_stopping = victim->live_attempt()->phase == model::AttemptPhase::Stopping;
  if (is_stopping != (holder.protection == Reason::Stopping))
    return wrong(is_stopping ? "it is stopping" : "it is not stopping");
  if (is_stopping) return {};
  if (is_route_barred(subject, *victim, holder.protection)) return {};
  if (must_be_barred(subject, *victim)) return wrong("its rights bar it");
  const base::Instant until = protected_until(subject, *victim);
  if ((subject.now < until) != (holder.protection == Reason::MinRuntime))
    return wrong(subject.now < until ? "it is inside its min run time"
                                     : "its min run time is over");
  if (holder.protection == Reason::MinRuntime)
    return holder.until == until ? std::string{} : wrong("until is not the end of min run time");
  const bool is_free_of_limits = is_within_guarantee(
      subject.state, subject.workload().queue, ask_in(subject.state, subject.workload(), leaf));
  const bool is_limited = !is_free_of_limits && is_at_limit(subject, *victim);
  if (is_limited != (holder.protection == Reason::EvictionLimit))
    return wrong(is_limited ? "the limit of evictions is reached" : "no limit is reached");
  if (holder.protection != Reason::None && !is_limited) return wrong("not a protection");
  return {};
}

}  // namespace invariants::internal
