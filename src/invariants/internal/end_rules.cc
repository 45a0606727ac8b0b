#include "invariants/internal/end_rules.h"

#include <algorithm>
#include <optional>

#include "base/fields.h"

namespace invariants::internal {

using model::Attempt;
using model::EndClass;
using model::Phase;
using model::Reason;
using model::RetryAction;
using model::WorkloadRecord;

namespace {

constexpr base::Duration kLeastBackOff = base::seconds(60);

// The class of an attempt that Berth stopped for a reason of its own; nothing: any.
std::optional<EndClass> class_of(Reason stop_cause) {
  switch (stop_cause) {
    case Reason::Preempt:
      return EndClass::Preempted;
    case Reason::Reclaim:
      return EndClass::Reclaimed;
    case Reason::TimeLimit:
      return EndClass::Timeout;
    case Reason::Drained:
      return EndClass::NodeLost;
    case Reason::Cancelled:
      return EndClass::Cancelled;
    default:
      return std::nullopt;
  }
}

// What is nobody's fault is not counted, what a restart may help is tried again, the rest failed.
RetryAction action_of(const model::Workload& workload, const Attempt& ended) {
  for (const model::RetryRule& rule : workload.retry.rules)
    if (rule.on == ended.end_class &&
        (!rule.code || rule.code == ended.exit_code || rule.code == ended.signal))
      return rule.action;
  const EndClass end = ended.end_class;
  if (end == EndClass::Preempted || end == EndClass::Reclaimed || end == EndClass::Rotated ||
      end == EndClass::NodeLost || end == EndClass::DeviceFault)
    return RetryAction::NotCounted;
  return end == EndClass::Infrastructure ? RetryAction::Retry : RetryAction::Fail;
}

bool has_ended_well(const Attempt& attempt) {
  return std::all_of(attempt.member_ends.begin(), attempt.member_ends.end(),
                     [](const model::MemberEnd& end) { return end.end_class == EndClass::Ok; });
}

void check_class(const Attempt& attempt, Findings& findings) {
  const auto wanted = class_of(attempt.stop_cause);
  const bool is_a_members =
      std::any_of(attempt.member_ends.begin(), attempt.member_ends.end(),
                  [&](const model::MemberEnd& end) { return end.end_class == attempt.end_class; });
  const bool is_right = wanted                               ? attempt.end_class == *wanted
                        : attempt.stop_cause == Reason::None ? is_a_members
                                                             : true;
  if (!is_right)
    findings.add("20 a wrong end class", "attempt {}, stopped for {}, ended as {}",
                 model::to_text(attempt.id), base::name_of(attempt.stop_cause),
                 base::name_of(attempt.end_class));
}

struct Wanted {
  Phase phase = Phase::Queued;
  bool is_held = false;
  bool is_counted = false;
  bool backs_off = false;
};

Wanted wanted_of(const model::State& state, const WorkloadRecord& record,
                 std::int32_t failures_before) {
  const Attempt& ended = record.attempts.back();
  if (has_ended_well(ended)) return {.phase = Phase::Completed};
  if (record.is_cancel_requested || ended.end_class == EndClass::Cancelled)
    return {.phase = Phase::Cancelled};
  switch (action_of(record.workload, ended)) {
    case RetryAction::Fail:
      return {.phase = Phase::Failed, .is_counted = true};
    case RetryAction::Hold:
      return {.is_held = true, .is_counted = true};
    case RetryAction::NotCounted:
      return {};
    default:
      break;
  }
  const auto& rules = state.classes.at(record.workload.workload_class);
  if (failures_before >= record.workload.retry.max.value_or(rules.retries))
    return {.phase = Phase::Failed, .is_counted = true};
  return {.is_counted = true, .backs_off = true};
}

}  // namespace

void check_end(const model::State& state, const WorkloadRecord& record,
               std::int32_t failures_before, Findings& findings) {
  const Attempt& ended = record.attempts.back();
  if (!has_ended_well(ended)) check_class(ended, findings);
  const Wanted wanted = wanted_of(state, record, failures_before);
  const std::string who = model::to_text(ended.id);
  if (record.phase != wanted.phase)
    findings.add("20 an end leads elsewhere", "{} ended as {}: its workload is {} and not {}", who,
                 base::name_of(ended.end_class), base::name_of(record.phase),
                 base::name_of(wanted.phase));
  if (record.failures != failures_before + (wanted.is_counted ? 1 : 0))
    findings.add("20 failures are counted wrongly", "{} ended as {}: {} before, {} after", who,
                 base::name_of(ended.end_class), failures_before, record.failures);
  if (wanted.is_held && !record.is_held)
    findings.add("20 an end leads elsewhere", "{} should be held", who);
  if (wanted.backs_off && record.eligible_at < state.now + kLeastBackOff)
    findings.add("20 tried again at once", "{} backs off for {} ms", who,
                 (record.eligible_at - state.now).millis);
}

}  // namespace invariants::internal
