#pragma once
// From a run that violates something to a small one that violates the same: fewer actions, faults
// and nodes, less time. Takes parts away by halves, then by ever smaller pieces, and keeps what is
// still needed (delta debugging, Zeller and Hildebrandt, TSE 2002). Every trial is a process of its
// own.

#include <cstdint>
#include <functional>
#include <string>

#include "storm/scenario.h"

namespace storm {

struct Shrunk {
  Scenario scenario;
  std::string violation;  // empty: the run violated nothing, and there is nothing to shrink
  std::int64_t trials = 0;
  std::size_t actions = 0, hits = 0, nodes = 0;
};

// At most so many trials. `seen` is told of progress, a line each.
Shrunk shrink(const Scenario& scenario, std::int64_t most_trials,
              const std::function<void(const std::string&)>& seen);

}  // namespace storm
