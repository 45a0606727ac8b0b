#pragma once
// What people, machines and fate do in a run, drawn beforehand: a list of actions in the order of
// time, each with a seed of its own, so that any of them can be left out without changing the rest.
// What an action is about (which workload, which node) is settled when it happens. The script has
// several acts, each as long as the scenario; the next one is played only where too little has
// happened to mean something.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/random.h"
#include "storm/swarm.h"

namespace storm {

inline constexpr std::int64_t kActs = 3;

enum class Deed { Submit, Cancel, Hold, Release, AskDryRun, Fault };

struct Action {
  std::int64_t number = 0;  // from 1, in the order of time; what a scenario keeps
  base::Duration after;     // since the beginning
  Deed deed = Deed::Submit;
  std::string_view fault;  // of Deed::Fault: the happening's name
  base::Seed seed;
};

// Only those that the scenario keeps.
std::vector<Action> script_of(const Scenario& scenario, const Swarm& swarm);

}  // namespace storm
