#pragma once
// The counters of a State, counted again from what they are counters of: live attempts, claims and
// pending workloads. Naive: every function walks everything.

#include <map>
#include <vector>

#include "model/placement.h"
#include "model/resources.h"
#include "model/state.h"

namespace invariants::internal {

struct NodeCount {
  model::Quantities used, secured;
  std::vector<model::DeviceUse> devices;  // occupants sorted by attempt, rank
  std::vector<model::AttemptId> attempts;
  std::vector<model::ClaimId> claims;
};

struct QueueCount {
  model::Usage held, claimed, pending;
};

struct Recount {
  std::map<model::NodeId, NodeCount> nodes;
  std::map<model::QueueId, QueueCount> queues;
  model::Usage held;     // by live attempts
  model::Usage free;     // on ready nodes, on devices that take new work
  model::Usage secured;  // there too, for claims of either kind
};

Recount recount(const model::State& state);

// Milli-devices that quota counts for a part of a device.
std::int64_t milli_of(const model::Device& device, const model::DeviceAssignment& part);

// What the members are charged, on the leaf pool of each node and every ancestor.
model::Usage charge_of(const model::State& state, const model::Workload& workload,
                       const model::Placement& placement);

// Visits every attempt that has not ended, in the order of ids.
template <class Visit>
void each_live(const model::State& state, Visit&& visit) {
  state.workloads.each([&](model::WorkloadId, const model::WorkloadRecord& record) {
    for (const model::Attempt& attempt : record.attempts)
      if (attempt.phase != model::AttemptPhase::Ended) visit(record, attempt);
  });
}

}  // namespace invariants::internal
