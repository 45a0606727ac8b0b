#pragma once
// A trace as the simulator replays it, whatever file it came from: jobs in the order of their
// submission, the queues they go to, and the nodes they run on. Times of submission are virtual.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "controller/cluster_backend.h"
#include "model/workload.h"

namespace simulator {

struct TraceJob {
  std::string name;  // empty: the trace has none
  base::Instant submitted;
  base::Duration runtime;
  std::string queue;
  std::string class_name;  // "training", …
  std::string user;        // empty: unknown
  std::int32_t members = 1;
  model::Quantities per_member;
  model::DeviceRequest device;  // of one member; none: runs on the CPU alone
  bool operator==(const TraceJob&) const = default;

  // Milli-devices of all members together.
  std::int64_t device_milli() const;
};

struct TraceQueue {
  std::string name;
  std::int64_t weight = 1;
  std::int64_t guarantee_milli = 0;  // of the only pool's devices
  bool operator==(const TraceQueue&) const = default;
};

struct Trace {
  std::string name;            // "philly", "openb", or the file's name
  std::vector<TraceJob> jobs;  // by submission; equal times in the order of the file
  std::vector<TraceQueue> queues;
  bool operator==(const Trace&) const = default;
};

using Nodes = std::vector<controller::NodeReport>;

// Stable: jobs of one instant keep the order of the file.
void sort_by_submission(std::vector<TraceJob>& jobs);

// One queue for each that the jobs name, by name, with weight and guarantee in proportion to its
// device time: guarantees are whole devices and together at most the capacity (largest remainder,
// ties to the first name). A queue without device time has weight 1 and no guarantee.
std::vector<TraceQueue> queues_by_demand(const std::vector<TraceJob>& jobs,
                                         std::int64_t capacity_milli);

// "75x8" or "75x8:A800": that many equal nodes, in one rack of eight each. Devices beyond 64 a
// node, or no node, are refused.
base::Result<Nodes> nodes_of_shape(std::string_view shape);

std::int64_t capacity_milli(const Nodes& nodes);

// What is known of a model's memory; a guess of 16 GiB for others, which nothing in a trace reads.
base::Bytes memory_of_model(std::string_view model);

}  // namespace simulator
