#pragma once
// What replaying one trace under one policy gave, as numbers. Times in milliseconds of virtual
// time, devices in milli-devices, shares of the cluster's devices in parts per million. Everything
// except `machine` is a function of trace, cluster, policy and seed.

#include <cstdint>
#include <string>
#include <vector>

#include "base/instant.h"

namespace simulator {

// Of a set of durations. Percentiles are members of the set (nearest rank).
struct Distribution {
  std::int64_t count = 0;
  double mean_ms = 0;
  std::int64_t p50_ms = 0, p90_ms = 0, p99_ms = 0, max_ms = 0;
};
Distribution distribution_of(std::vector<std::int64_t> millis);

struct Series {
  base::Instant start;
  base::Duration width;        // of one interval
  std::vector<double> values;  // mean of each interval
};

// Share of jobs that waited at most so long, at fixed waits (kWaitSteps), in parts per million.
struct WaitCurve {
  std::vector<std::int64_t> at_most_ppm;
};
const std::vector<base::Duration>& wait_steps();

struct GroupResult {  // of one class or one queue
  std::string name;
  std::int64_t jobs = 0;
  std::int64_t finished = 0;
  Distribution wait;        // submission to first start, of those that started
  Distribution completion;  // submission to end, of those that completed
};

struct QueueResult {
  GroupResult jobs;
  std::int64_t guarantee_milli = 0;
  double held_milli = 0, entitled_milli = 0, wanted_milli = 0;  // means over the arrivals
  Series held, entitled;
};

struct MachineResult {  // of the machine that ran the simulation
  double wall_seconds = 0;
  double verify_seconds = 0;
  double processor_seconds = 0;  // of the replaying thread, without verifying
  std::int64_t decisions_per_second = 0;
  std::int64_t events_per_second = 0;
};

struct PolicyResult {
  std::string policy;
  std::int64_t jobs = 0, finished = 0, failed = 0, unfinished = 0;
  Distribution wait, completion;
  WaitCurve curve;
  std::int64_t arrivals_ppm = 0;    // devices allocated while jobs arrive, time-weighted
  std::int64_t allocation_ppm = 0;  // the same up to the last end
  base::Duration arrival_span, makespan;
  std::int64_t max_queued = 0;
  std::int64_t starts = 0, evictions = 0, waits = 0, decisions = 0, events = 0, turns = 0;
  std::int64_t evicted_device_ms = 0;  // device time of attempts that were evicted, whole devices
  std::int64_t fragmentation_ppm = 0;  // mean while jobs arrive, of all devices
  Series allocation, queued, fragmentation;  // ppm of devices, jobs, ppm of devices
  std::vector<GroupResult> classes;
  std::vector<QueueResult> queues;
  std::int64_t journal_bytes = 0;
  std::string journal_hash;
  bool is_verified = false;
  MachineResult machine;
};

struct Simulation {
  std::string trace;  // "philly"
  std::string file;   // without its folder
  std::int64_t jobs = 0;
  std::int64_t nodes = 0, devices = 0;
  std::int64_t offered_ppm = 0;  // device time of the trace over capacity and arrival span
  std::string load;              // how arrivals were changed; empty: as recorded
  std::uint64_t seed = 1;
  std::string version;
  base::Duration start_delay, stop_delay, checkpoint;
  std::int64_t peak_memory_bytes = 0;
  std::vector<PolicyResult> policies;
};

}  // namespace simulator
