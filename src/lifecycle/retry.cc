#include "lifecycle/retry.h"

#include <algorithm>

#include "base/assert.h"
#include "base/random.h"

namespace lifecycle {

using model::EndClass;
using model::Phase;
using model::RetryAction;

RetryAction default_action(EndClass end_class) {
  switch (end_class) {
    case EndClass::Preempted:
    case EndClass::Reclaimed:
    case EndClass::Rotated:
    case EndClass::NodeLost:
    case EndClass::DeviceFault:
      return RetryAction::NotCounted;
    case EndClass::Infrastructure:
      return RetryAction::Retry;
    case EndClass::Ok:
    case EndClass::UserError:
    case EndClass::ExecError:
    case EndClass::Signal:
    case EndClass::OutOfMemory:
    case EndClass::Timeout:
    case EndClass::IdleStopped:
    case EndClass::Cancelled:
      return RetryAction::Fail;
  }
  ASSERT(false);
  return RetryAction::Fail;
}

namespace {

RetryAction action_for(const model::Workload& workload, const model::Attempt& ended) {
  for (const model::RetryRule& rule : workload.retry.rules) {
    if (rule.on != ended.end_class) continue;
    if (rule.code && *rule.code != ended.exit_code && *rule.code != ended.signal) continue;
    return rule.action;
  }
  return default_action(ended.end_class);
}

}  // namespace

EndClass end_class_of(model::Reason stop_cause) {
  switch (stop_cause) {
    case model::Reason::Reclaim:
      return EndClass::Reclaimed;
    case model::Reason::Preempt:
      return EndClass::Preempted;
    case model::Reason::Rotate:
      return EndClass::Rotated;
    case model::Reason::TimeLimit:
      return EndClass::Timeout;
    case model::Reason::IdleStop:
      return EndClass::IdleStopped;
    case model::Reason::NodeLost:
    case model::Reason::Drained:
      return EndClass::NodeLost;
    default:
      return EndClass::Cancelled;
  }
}

base::Duration back_off(std::int32_t failures, model::AttemptId attempt) {
  const int doublings = std::clamp(failures - 1, 0, 6);  // 60 s * 2^6 is above the hour
  const std::int64_t millis =
      std::min(base::seconds(60).millis << doublings, base::hours(1).millis);
  base::Random random{base::Seed{attempt.workload.value * 1'000'003 + attempt.ordinal}};
  return base::Duration{millis + random.between(0, millis / 4)};
}

Outcome outcome_of(const model::WorkloadRecord& record, const model::WorkloadClass& workload_class,
                   const model::Attempt& ended) {
  if (ended.end_class == EndClass::Ok) return {.phase = Phase::Completed};
  if (record.is_cancel_requested || ended.end_class == EndClass::Cancelled)
    return {.phase = Phase::Cancelled};
  switch (action_for(record.workload, ended)) {
    case RetryAction::Fail:
      return {.phase = Phase::Failed, .is_counted = true};
    case RetryAction::Hold:
      return {.phase = Phase::Queued, .is_held = true, .is_counted = true};
    case RetryAction::NotCounted:
      return {.phase = Phase::Queued};
    case RetryAction::Retry:
    case RetryAction::RetryElsewhere:
      break;
  }
  const std::int32_t allowed = record.workload.retry.max.value_or(workload_class.retries);
  if (record.failures >= allowed) return {.phase = Phase::Failed, .is_counted = true};
  return {.phase = Phase::Queued,
          .is_counted = true,
          .back_off = back_off(record.failures + 1, ended.id)};
}

}  // namespace lifecycle
