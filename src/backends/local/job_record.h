#pragma once
// The files of one member of one attempt, as records. Everything that daemon and shim tell each
// other goes through these files, so that either may die at any moment and the other still knows
// all.
//
//   <data>/jobs/1042.1/            one attempt
//     attempt.json                 AttemptRecord: the start was accepted, all job.json are complete
//     stop.json                    only for an attempt that was stopped before it began (tombstone)
//     0/                           one member, by rank
//       job.json                   JobSpec: what to run; written before attempt.json
//       lock                       flock held by the shim as long as it lives
//       control                    FIFO: a byte means "look at stop.json again"
//       shim.json                  ProcessRecord of the shim
//       started                    created exclusively, once ever, before the process is forked
//       child.json                 ProcessRecord of the process, written once its exec succeeded
//       stop.json                  StopRequest; the shim obeys it even when the daemon is gone
//       exit.json                  ExitRecord: nothing of the member is left
//       stdout stderr shim.log
//
// Files are replaced whole (temporary file, fsync, rename, fsync of the folder) and private (0600).

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/instant.h"
#include "base/result.h"
#include "model/ids.h"
#include "model/workload.h"

namespace backends::local {

inline constexpr const char* kAttemptFile = "attempt.json";
inline constexpr const char* kJobFile = "job.json";
inline constexpr const char* kLockFile = "lock";
inline constexpr const char* kControlFile = "control";
inline constexpr const char* kShimFile = "shim.json";
inline constexpr const char* kStartedFile = "started";
inline constexpr const char* kChildFile = "child.json";
inline constexpr const char* kStopFile = "stop.json";
inline constexpr const char* kExitFile = "exit.json";
inline constexpr const char* kOutputFile = "stdout";
inline constexpr const char* kErrorFile = "stderr";
inline constexpr const char* kShimLogFile = "shim.log";

// The leaves of a member in the cgroup hierarchies, as absolute folders; empty: not used. With v2
// controllers all are the same folder.
struct CgroupLeaves {
  std::string tracking;  // v2 leaf, or v1 freezer leaf: knows every process of the member
  bool is_tracking_v2 = false;
  std::string memory;
  std::string cpu;
  std::string pids;
  bool are_limits_v2 = false;
  std::string shims;  // where the shim itself goes, away from the daemon's own group
  bool operator==(const CgroupLeaves&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "tracking", self.tracking);
    visit(2, "isTrackingV2", self.is_tracking_v2);
    visit(3, "memory", self.memory);
    visit(4, "cpu", self.cpu);
    visit(5, "pids", self.pids);
    visit(6, "areLimitsV2", self.are_limits_v2);
    visit(7, "shims", self.shims);
  }
};

struct JobSpec {
  std::string attempt;  // "1042.1"
  std::int32_t rank = 0;
  std::uint64_t epoch = 0;
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  // all of it: nothing else is passed on
  std::string directory;
  std::int64_t cpu_milli = 0;      // 0: no limit
  std::int64_t memory_bytes = 0;   // 0: no limit
  std::int64_t processes_max = 0;  // 0: no limit
  CgroupLeaves cgroup;
  bool operator==(const JobSpec&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "attempt", self.attempt);
    visit(2, "rank", self.rank);
    visit(3, "epoch", self.epoch);
    visit(4, "argv", self.argv);
    visit(5, "environment", self.environment);
    visit(6, "directory", self.directory);
    visit(7, "cpuMilli", self.cpu_milli);
    visit(8, "memoryBytes", self.memory_bytes);
    visit(9, "processesMax", self.processes_max);
    visit(10, "cgroup", self.cgroup);
  }
};

struct AttemptRecord {
  std::string attempt;
  std::uint64_t epoch = 0;
  std::vector<std::int32_t> ranks;  // the members that this node runs
  std::int32_t world_size = 0;
  std::int32_t master_port = 0;
  bool operator==(const AttemptRecord&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "attempt", self.attempt);
    visit(2, "epoch", self.epoch);
    visit(3, "ranks", self.ranks);
    visit(4, "worldSize", self.world_size);
    visit(5, "masterPort", self.master_port);
  }
};

// Names one process for ever: a pid is reused, a pid with its start time and boot is not.
struct ProcessRecord {
  std::string boot_id;
  std::int32_t pid = 0;
  std::uint64_t start_time = 0;  // clock ticks since boot, field 22 of /proc/<pid>/stat
  std::string cgroup;            // tracking leaf; empty: none
  bool operator==(const ProcessRecord&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "bootId", self.boot_id);
    visit(2, "pid", self.pid);
    visit(3, "startTime", self.start_time);
    visit(4, "cgroup", self.cgroup);
  }
};

struct StopRequest {
  std::uint64_t epoch = 0;
  base::Duration grace;
  std::string checkpoint_signal;  // "SIGUSR1"; empty: none
  base::Duration checkpoint_grace;
  model::EndClass end_class = model::EndClass::Cancelled;
  bool operator==(const StopRequest&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "epoch", self.epoch);
    visit(2, "graceMs", self.grace);
    visit(3, "checkpointSignal", self.checkpoint_signal);
    visit(4, "checkpointGraceMs", self.checkpoint_grace);
    visit(5, "class", self.end_class);
  }
};

struct ExitRecord {
  model::EndClass end_class = model::EndClass::Ok;
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  bool is_out_of_memory = false;
  bool was_started = false;
  base::Instant ended_at;
  std::int64_t user_ms = 0;
  std::int64_t system_ms = 0;
  std::int64_t resident_bytes_max = 0;
  std::string note;
  bool operator==(const ExitRecord&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "class", self.end_class);
    visit(2, "exitCode", self.exit_code);
    visit(3, "signal", self.signal);
    visit(4, "oom", self.is_out_of_memory);
    visit(5, "wasStarted", self.was_started);
    visit(6, "endedAt", self.ended_at);
    visit(7, "userMs", self.user_ms);
    visit(8, "systemMs", self.system_ms);
    visit(9, "residentBytesMax", self.resident_bytes_max);
    visit(10, "note", self.note);
  }
};

// JSON text and back. Reading is strict: a half-written or foreign file is Code::DataLoss, an
// absent one Code::NotFound. `folder` is an open directory; names are single path components.
base::Result<base::Done> write_record(int folder, const char* name, const JobSpec& record);
base::Result<base::Done> write_record(int folder, const char* name, const AttemptRecord& record);
base::Result<base::Done> write_record(int folder, const char* name, const ProcessRecord& record);
base::Result<base::Done> write_record(int folder, const char* name, const StopRequest& record);
base::Result<base::Done> write_record(int folder, const char* name, const ExitRecord& record);
// The same from the text of a file; `name` is for the error.
template <class T>
base::Result<T> parse_record(std::string_view text, std::string_view name);
base::Result<JobSpec> read_job(int folder);
base::Result<AttemptRecord> read_attempt(int folder);
base::Result<ProcessRecord> read_process(int folder, const char* name);
base::Result<StopRequest> read_stop(int folder);
base::Result<ExitRecord> read_exit(int folder);

}  // namespace backends::local
