#pragma once
// Who sits on a node, in rows that stand together: what a search for victims reads of every live
// attempt of every node, without a way through the records of their workloads. A reading of State,
// never of the overlay of a plan. Thread contract: none of its own.

#include <cstdint>
#include <vector>

#include "base/instant.h"
#include "model/ids.h"
#include "model/resources.h"
#include "model/state.h"
#include "scheduling/internal/free_node.h"

namespace scheduling::internal {

// A live attempt with members on the node.
struct Seat {
  model::AttemptId attempt;
  model::QueueId queue;
  model::ClassId workload_class;
  model::QueueId tenant;
  std::int32_t members = 0;  // here
  MemberSizes sizes{};       // of them
  bool is_stopping = false;
  base::Instant since;      // it runs, or was decided on
  base::Instant ripe_at;    // it will have run long enough to be stopped
  std::int64_t milli = 0;   // devices charged in the node's pool, wherever they are
  model::Quantities holds;  // of its members here
};

struct SeatPart {
  std::int32_t device = 0;
  std::int32_t seat = 0;  // index
  std::int32_t milli = 0;
};

struct Seats {
  bool is_ready = false;
  std::vector<Seat> seats;      // by attempt
  std::vector<SeatPart> parts;  // by device, then by arrival
  // Of each device, what no victim frees: set aside for claims; all of it where it takes no work.
  std::vector<std::int32_t> barred;
  model::Quantities left;  // allocatable and not set aside for claims
};

// Brings the row of the node up to date. Who sat there already is not read again, except `changed`;
// none: nobody has changed.
void refresh_seats(Seats& row, const model::State& state, const model::NodeRecord& record,
                   model::AttemptId changed);

// What would be left without everybody whose class lets him be stopped at all.
Glance glance_at_unpinned(const model::State& state, const Seats& seats);

}  // namespace scheduling::internal
