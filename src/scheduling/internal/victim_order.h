#pragma once
// In which order a search for victims looks at what could be stopped: over the whole pool, or node
// by node where one member is all that is wanted. Least lost work first, then id. Thread contract:
// none of its own.

#include <cstdint>
#include <vector>

#include "model/ids.h"
#include "model/state.h"
#include "scheduling/internal/protection.h"
#include "scheduling/internal/trial.h"

namespace scheduling::internal {

struct Candidate {
  std::int64_t lost_work = 0;  // milli-device milliseconds since the start
  const model::WorkloadRecord* record = nullptr;
  model::WorkloadId id;
};

// Live attempts in the taker's pool of queues that may lose work, old enough to be stopped.
std::vector<Candidate> candidates_in_pool(const TrialWorld& world, const Taker& taker,
                                          const Losers& losers);
std::vector<Candidate> candidates_on_node(const TrialWorld& world, const Taker& taker,
                                          const Losers& losers, model::NodeId node);

// Nodes of the pool on which the candidates hold, in sum, what one member of the taker's only group
// is short of there; by the lost work of those that would be taken up to that, then by id. Looks at
// each node that could ever take the member: O(nodes of fitting shapes * attempts on a node).
// `only`: no others need be looked at; null: all nodes of the pool.
std::vector<model::NodeId> nodes_by_lost_work(const TrialWorld& world, const Taker& taker,
                                              const Losers& losers,
                                              const std::vector<model::NodeId>* only);

}  // namespace scheduling::internal
