#pragma once
// What can be said of a waiting class without placing anything: most classes that could not start a
// moment ago cannot start now, and at every event all of them are looked at. Says no only where the
// chain of tests would say no too. Thread contract: none of its own.

#include <cstdint>
#include <optional>

#include "base/instant.h"
#include "model/reason.h"
#include "model/state.h"
#include "scheduling/internal/pending_index.h"
#include "scheduling/internal/protection.h"
#include "scheduling/internal/trial.h"
#include "scheduling/internal/victims.h"

namespace scheduling::internal {

// True only when placing `need` members of the workload in the pool would certainly fail. Remembers
// in `facts` how far it looked.
bool surely_no_room(const TrialWorld& world, const model::Workload& workload, std::int64_t need,
                    PoolFacts& facts);

// Taking back, short of a search.
struct TakingLook {
  bool is_open = false;  // only a search can tell
  TakingFailure failure;
};
TakingLook look_at_taking(const TrialWorld& world, const Taker& taker, std::int64_t need,
                          PoolFacts& facts);

// Why the head of the class certainly cannot start, for want of room; nothing: the chain must tell.
struct QuickNo {
  model::Reason reason = model::Reason::None;
  std::optional<base::Instant> until;
};
std::optional<QuickNo> quick_look(const TrialWorld& world, const model::WorkloadRecord& head,
                                  EquivalenceClass& equals);

}  // namespace scheduling::internal
