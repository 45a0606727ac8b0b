#pragma once
// Many runs in processes of their own, a worker for each processor: a failed ASSERT, a crash or a
// loop without end is the outcome of its seed and not the end of all. Outcomes come back in the
// order of seeds, whatever the workers' order was, so that totals are the same every time.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "storm/outcome.h"
#include "storm/scenario.h"

namespace storm {

struct Batch {
  Scenario first;  // further ones have the next seeds
  std::int64_t count = 1;
  std::int64_t workers = 0;     // 0: one for each processor
  bool stops_at_first = false;  // at one that fails with a label that is not known
  std::vector<std::string> known;
};

// `seen` is told of each outcome, in the order of seeds.
void live_through(const Batch& batch, const std::function<void(const Outcome&)>& seen);
// One run in a process of its own.
Outcome live_through_one(const Scenario& scenario);

}  // namespace storm
