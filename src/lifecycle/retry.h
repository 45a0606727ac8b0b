#pragma once
// What becomes of a workload whose attempt ended: finished, or back into its queue and when. First
// matching rule of the workload, else the defaults below; back-off 60 s, doubled with every failure
// up to 1 h, plus up to a quarter of itself of jitter that comes from the attempt's id, so that
// replay gives the same.

#include <optional>

#include "base/instant.h"
#include "model/attempt.h"
#include "model/reason.h"
#include "model/state.h"
#include "model/workload.h"
#include "model/workload_class.h"

namespace lifecycle {

// Without a rule of the workload's own: taken-away work (preempted, reclaimed, rotated, node lost,
// device fault) is tried again and not counted; infrastructure errors are tried again; everything a
// user or limit caused fails.
model::RetryAction default_action(model::EndClass end_class);

struct Outcome {
  model::Phase phase = model::Phase::Failed;  // Completed, Failed, Cancelled, or Queued again
  bool is_held = false;                       // queued again, but held for a person
  bool is_counted = false;                    // one more failure
  base::Duration back_off;                    // from the end to the next try
};
Outcome outcome_of(const model::WorkloadRecord& record, const model::WorkloadClass& workload_class,
                   const model::Attempt& ended);

// How a member that ends because of this stop is counted; Cancelled for a cause that is no stop.
model::EndClass end_class_of(model::Reason stop_cause);

base::Duration back_off(std::int32_t failures, model::AttemptId attempt);

}  // namespace lifecycle
