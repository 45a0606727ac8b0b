#pragma once
// What is on in a run, drawn from its seed: a random subset of features and of faults, and the
// sizes of everything. Runs in which all is on at once are alike; runs with something left out
// reach places that the others never do (swarm testing, Groce et al., ISSTA 2012).
//
// A profile narrows it: "default" draws from everything, "calm" has clients and nothing that fails,
// "store", "link" and "machine" have the faults of that part alone, "heavy" has all of them, often.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "storm/scenario.h"

namespace storm {

struct Swarm {
  bool has_shares = false, has_slices = false, has_gangs = false, has_elastic = false;
  bool has_groups = false, has_constraints = false, has_time_limits = false, has_deadlines = false;
  bool has_retries = false, has_quotas = false, has_floor = false, has_holds = false;
  bool forgets_early = false;  // finished work is forgotten after half an hour
  bool allows_reclaim = true, allows_preemption = true;
  JournalKind journal = JournalKind::Memory;
  std::int64_t nodes = 1, tenants = 1, submissions = 0, happenings = 0;
  std::int64_t checkpoint_every_events = 0;
  std::int64_t step_budget = 0;  // 0: none
  base::Duration start_delay, stop_delay;
  std::vector<std::int32_t> rates;  // by row of the catalogue, of ten thousand; 0: off
};

std::span<const std::string_view> profile_names();
// The profile must be one of those.
Swarm swarm_of(const Scenario& scenario);

}  // namespace storm
