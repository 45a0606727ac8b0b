#pragma once
// The rules of invariants/state_check.h that one event can break, checked right after it: for the
// workload, the nodes and the queues that it touches, and for all sums that are kept. The end of a
// claim touches nothing here: the whole check, which is made now and then, sees it. Cheap enough
// for every event of a long simulation.
//
//   lifecycle::apply(state, event);
//   for (Violation& violation : events.after(state, event)) …
//
// Remembers what is final (finished, cancelled), and that it stays so.

#include <set>
#include <vector>

#include "invariants/violation.h"
#include "model/event.h"
#include "model/state.h"

namespace invariants {

class EventCheck {
 public:
  // `state` is what the event made of it.
  std::vector<Violation> after(const model::State& state, const model::Event& event);

 private:
  std::set<model::WorkloadId> finished_;   // and not forgotten
  std::set<model::WorkloadId> cancelled_;  // asked to be, and not forgotten
};

}  // namespace invariants
