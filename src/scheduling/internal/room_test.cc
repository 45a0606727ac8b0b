// Counting node by node says what placing the whole workload anew would say, whatever comes and
// goes.

#include "scheduling/internal/room.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "policy/charge.h"
#include "scheduling/internal/index.h"
#include "testing/random_world.h"

namespace {

using scheduling::internal::ClusterView;
using scheduling::internal::Growth;
using scheduling::internal::Request;
using scheduling::internal::Room;
using scheduling::internal::RoomMemory;

struct Tally {
  int yes = 0;
  int no = 0;
};

bool fits_without(const model::State& state, const Request& request, model::PoolId pool,
                  const std::vector<const model::WorkloadRecord*>& gone) {
  ClusterView view(state);
  for (const model::WorkloadRecord* record : gone)
    for (const model::MemberPlacement& member : record->attempts.back().placement.members)
      view.give(record->workload, member, state.queues.at(record->workload.queue).tenant());
  return place_in_pool(state, view, request, pool).is_complete();
}

std::int64_t minimum_of(const model::Workload& workload) {
  std::int64_t members = 0;
  for (const model::TaskGroup& group : workload.groups)
    members += group.min_members;
  return members;
}

// Live attempts leave in a random order, and some come back, while the room is asked.
void open_and_close(const model::State& state, ClusterView& view, RoomMemory& memory,
                    const Request& request, model::PoolId pool, base::Random& random,
                    Tally& tally) {
  Room room(state, view, memory, request, pool, minimum_of(*request.workload));
  std::vector<const model::WorkloadRecord*> gone;
  state.workloads.each([&](model::WorkloadId, const model::WorkloadRecord& record) {
    if (record.live_attempt() == nullptr || random.chance(1, 3)) return;
    room.open(record);
    gone.push_back(&record);
    if (random.chance(1, 4)) {
      room.close(*gone.front());
      gone.erase(gone.begin());
    }
    const bool fits = fits_without(state, request, pool, gone);
    EXPECT_EQ(room.fits(), fits) << "workload " << request.workload->id.value;
    ++(fits ? tally.yes : tally.no);
  });
}

TEST(Room, SaysWhatPlacingAnewWouldSay) {
  base::Random random{base::Seed{21}};
  Tally tally;
  for (int run = 0; run < 2500; ++run) {
    testkit::RandomWorld small(testkit::random_numbers(random, 60),
                               testkit::random_numbers(random, 60));
    small.set_up();
    while (small.step()) {
      small.world().settle();
      const model::State& state = small.world().state();
      ClusterView view(state);
      RoomMemory memory;
      state.workloads.each([&](model::WorkloadId, const model::WorkloadRecord& record) {
        if (record.phase != model::Phase::Queued || !random.chance(1, 3)) return;
        if (minimum_of(record.workload) == 0) return;
        Request request = scheduling::internal::request_for(state, state.policy, record.workload);
        request.growth = Growth::None;
        for (const model::PoolId pool :
             policy::accepted_pools(state, record.workload.constraints)) {
          // A room begins where there is none yet.
          if (fits_without(state, request, pool, {})) continue;
          open_and_close(state, view, memory, request, pool, random, tally);
        }
      });
    }
  }
  EXPECT_GT(tally.yes, 40);
  EXPECT_GT(tally.no, 100);
}

}  // namespace
