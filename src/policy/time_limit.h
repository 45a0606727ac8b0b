#pragma once
// How long one attempt may run: the workload's own limit or that of its class, whichever is
// shorter. Pure; counted from the moment the attempt runs.

#include <algorithm>
#include <optional>

#include "base/instant.h"
#include "model/workload.h"
#include "model/workload_class.h"

namespace policy {

// Nothing: no limit is enforced.
inline std::optional<base::Duration> enforced_limit(const model::Workload& workload,
                                                    const model::WorkloadClass& own) {
  if (!workload.time_limit) return own.max_runtime;
  return own.max_runtime ? std::min(*workload.time_limit, *own.max_runtime) : workload.time_limit;
}

}  // namespace policy
