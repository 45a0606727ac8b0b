#pragma once
// An upper bound of the room that taking back could make for a workload, so that a search that must
// fail is not begun: on each node what is free and what those hold who could be stopped by now,
// from each queue only as much as it may lose, whatever the order and the limits that a search also
// keeps.
//
// What is kept is read from State alone, never from the overlay of a plan. It is kept with the
// equivalence class. It stays an upper bound while no queue may lose more than was
// counted with, and the nodes that grew, or whose work became old enough to be stopped, are counted
// again.
//
// Thread contract: none of its own.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "model/ids.h"
#include "model/reason.h"
#include "model/workload.h"

namespace scheduling::internal {

struct TrialWorld;
struct Taker;

// A queue that may lose work to a taker. By reclaim it may be taken from while it holds more than
// it is entitled to: all that is taken before the last victim is less than `excess`.
struct Loser {
  model::QueueId queue;
  bool by_reclaim = false;
  bool by_preemption = false;  // of lower classes
  std::int64_t excess = 0;     // milli-devices; kNoLimit: something else decides
};
inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

// What bars reclaim from whole queues, while nothing changes what queues hold; None: nothing.
using QueueBars = std::map<model::QueueId, model::Reason>;

// Queues with live work in the taker's pool of which some could be taken, by what depends on the
// queue alone: whole queues are passed over without a look at their attempts.
struct Losers {
  std::vector<Loser> queues;  // by id
  QueueBars bars;             // of every queue but the taker's
};

struct TakingBound {
  struct Row {
    std::int64_t members = 0;   // for which there could be room; > 0
    std::uint64_t version = 0;  // of the node when it was counted
  };
  std::vector<Loser> losers;           // by queue, each with some excess to spare
  std::map<model::NodeId, Row> nodes;  // of those that were counted
  std::int64_t members = 0;            // the sum over `nodes`
  std::size_t scanned = 0;             // so many nodes of the pool, shape by shape, were counted
  bool is_complete = false;            // all were; else until it was enough
  std::size_t grown = 0;               // of the pool's growth, what was counted
  std::size_t ripened = 0;             // of the pool's ripened nodes, what was counted
  model::NodeId witness;               // with which it was enough the last time
};

// Whether taking back can certainly not make room for `need` members of the taker now. `losers`:
// those of the taker's pool that may lose work to it, by queue. Brings `bound` up to date.
bool is_hopeless(const TrialWorld& world, const Taker& taker, std::int64_t need,
                 const std::vector<Loser>& losers, TakingBound& bound);

// Whether the questions of this file can be answered for the workload at all.
bool is_countable(const model::Workload& workload);
// The nodes, by id, on which there could be room for a member of the taker now. Brings `bound` up
// to date; the workload must be countable.
std::vector<model::NodeId> reachable_nodes(const TrialWorld& world, const Taker& taker,
                                           std::int64_t need, const std::vector<Loser>& losers,
                                           TakingBound& bound);

}  // namespace scheduling::internal
