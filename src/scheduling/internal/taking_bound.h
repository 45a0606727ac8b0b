#pragma once
// An upper bound of the room that taking back could make for a workload, so that a search that must
// fail is not begun: on each node what is free and what everybody holds who could be stopped by
// now, whatever the order, the limits and the sums that a search also keeps. Read from State alone,
// never from the overlay of a plan.
//
// Kept with the equivalence class. It stays an upper bound while nobody outside `queues` may lose
// work and the nodes that grew, or whose work became old enough to be stopped, are counted again.
//
// Thread contract: none of its own.

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "model/ids.h"

namespace scheduling::internal {

struct TrialWorld;
struct Taker;

struct TakingBound {
  std::vector<model::QueueId> queues;           // that may lose work, sorted
  std::map<model::NodeId, std::int64_t> nodes;  // members for which there could be room; > 0
  std::int64_t members = 0;                     // the sum over `nodes`
  bool is_complete = false;                     // over all nodes; else counted until it was enough
  std::size_t grown = 0;                        // of the pool's growth, what was counted
  std::size_t ripened = 0;                      // of the pool's ripened nodes, what was counted
};

// Whether taking back can certainly not make room for `need` members of the taker now. `queues`:
// those of the taker's pool that may lose work to it, sorted. Brings `bound` up to date.
bool is_hopeless(const TrialWorld& world, const Taker& taker, std::int64_t need,
                 const std::vector<model::QueueId>& queues, TakingBound& bound);

}  // namespace scheduling::internal
