#pragma once
// Replays a trace under one policy: the same controller::Controller as in the daemon, driven in
// virtual time against a simulated backend, its journal streamed to a file. Nothing in the journal
// comes from the machine: equal trace, nodes and options give equal bytes.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/instant.h"
#include "base/random.h"
#include "base/result.h"
#include "model/policy_set.h"
#include "simulator/results.h"
#include "simulator/trace.h"

namespace simulator {

struct ReplayOptions {
  model::PolicySet policy;
  base::Seed seed{1};
  std::string version;            // recorded in the journal
  std::filesystem::path journal;  // file to create
  base::Duration start_delay = base::seconds(2);
  base::Duration stop_delay = base::seconds(5);
  base::Duration checkpoint = base::minutes(30);        // of class training; zero: none
  bool is_verified = true;                              // replay the journal and compare the States
  std::function<void(std::int64_t finished)> progress;  // may be empty; called now and then
};

// The trace must have jobs and queues. Code::FailedPrecondition when the controller refuses a job
// or a queue (the message is its own), Code::Internal when virtual time stands still or the journal
// does not replay to the same State.
base::Result<PolicyResult> replay(const Trace& trace, const Nodes& nodes,
                                  const ReplayOptions& options);

}  // namespace simulator
