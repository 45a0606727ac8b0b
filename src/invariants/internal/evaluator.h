#pragma once
// The numbers of single explanation steps, recomputed from State by the definitions of the design
// page. One function a test; each gives the step as it should be.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "invariants/internal/fit.h"
#include "model/explanation.h"
#include "model/policy_set.h"
#include "model/state.h"

namespace invariants::internal {

struct Subject {
  const model::State& state;
  const model::PolicySet& policy;
  const model::WorkloadRecord& record;
  base::Instant now;

  const model::Workload& workload() const { return record.workload; }
  const model::WorkloadClass& rules() const {
    return state.classes.at(record.workload.workload_class);
  }
};

std::int64_t min_members(const model::Workload& workload);
std::int64_t wanted_members(const model::Workload& workload);
// Groups with members.
std::vector<const model::TaskGroup*> real_groups(const model::Workload& workload);
// What is asked of a leaf pool, by dimension, ancestors included.
model::Usage ask_in(const model::State& state, const model::Workload& workload, model::PoolId leaf);

model::Step eligible_step(const Subject& subject);
model::Step claim_step(const Subject& subject);
// By the best single option of each group.
model::Step feasible_step(const Subject& subject);
// A group has several device options, which its members may mix: more may fit than by any of them.
bool mixes_options(const model::Workload& workload);
// A search found places for all minima on an empty, ready and healthy cluster; false also when it
// gave up.
bool fits_when_empty(const Subject& subject);
// The tests of quota, for what is asked or, in a second look, for the charge of the found place.
using Need = std::optional<std::int64_t>;  // nothing: the ask
model::Step queue_max_step(const Subject& subject, model::PoolId leaf, model::QueueId queue,
                           model::Dimension d, Need need = {});
model::Step guarantee_step(const Subject& subject, model::PoolId leaf, model::QueueId queue,
                           model::Dimension d, Need need = {});
model::Step unlent_step(const Subject& subject, model::PoolId leaf, model::Dimension d,
                        Need need = {});
model::Step place_step(const Subject& subject, model::PoolId leaf);

// The rooms of the pool's nodes that the workload may use now.
std::vector<NodeRoom> rooms_now(const Subject& subject, model::PoolId leaf);
// Members that could be placed there at most, each group by itself, capped at what is wanted.
std::int64_t upper_bound(const std::vector<NodeRoom>& rooms, const model::Workload& workload);
// One group, at most one option: then counting by node is exact.
bool is_simple(const model::Workload& workload);

// Largest amount first, then workload, then queue; at most kMaxHolders.
void order_holders(std::vector<model::Holder>& holders);

}  // namespace invariants::internal
