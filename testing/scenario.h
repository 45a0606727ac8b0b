#pragma once
// Text scenarios: one fact or one expectation a line, readable by an operator. docs are in
// tests/scenarios/README.md; the shape is
//
//   pool   h800  nodes=2 gpus=8
//   queue  vision guarantee=8   queue nlp guarantee=8
//   at 0s  submit a queue=nlp gpus=8 members=2    => started, borrowed=8 from=vision
//   at 60s submit b queue=vision gpus=8           => blocked reason=NotEnoughVictims holder=a
//                                                 => running a
//   ask    why b                                  => blocked need=1 have=0
//
// A run also stands under a Witness, so every scenario checks the invariants, too.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/reason.h"

namespace testkit {

struct ScenarioOptions {
  // Facts that do not depend on each other enter State in another order, with the same ids.
  std::optional<std::uint64_t> shuffle;
  bool has_witness = true;
};

struct ScenarioRun {
  std::vector<std::string> failures;  // "line 7: …"
  std::vector<std::string> digests;   // of each plan that decided something, in order
  std::set<model::Reason> reasons;    // every reason that an explanation or decision gave
};

// Code::InvalidArgument with the line for text that cannot be understood.
base::Result<ScenarioRun> run_scenario(std::string_view text, ScenarioOptions options = {});

}  // namespace testkit
