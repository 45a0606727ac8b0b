#pragma once
// The facts and actions of a scenario, done to a World. Errors say what cannot be understood.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "testing/scenario_text.h"
#include "testing/world.h"

namespace testkit {

// "start_delay=5s stop_delay=30s" of the line `world`.
base::Result<WorldOptions> world_options_of(const std::vector<ScenarioLine>& lines);

// Takes part in a World's beginning: collects all facts, gives ids in the order of the text, then
// records them; shuffled, where they do not depend on each other.
base::Result<base::Done> establish(World& world, const std::vector<Phrase>& facts,
                                   std::optional<std::uint64_t> shuffle);

// "submit a …", "cancel a", "end a code=1", "node n1 lost", "device n1:0 no_new_work", or a fact.
base::Result<base::Done> act(World& world, const Phrase& action);

// The workload that "submit NAME k=v…" or "ask fits k=v…" describes.
base::Result<WorkloadBuilder> workload_of(const std::string& name, const Phrase& phrase);

}  // namespace testkit
