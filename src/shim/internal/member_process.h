#pragma once
// Fork and exec of the member's process: own session, own control groups, a clean environment, its
// output appended to files. What fails before exec succeeded is told apart from how the program
// itself ends, through a pipe that exec closes.

#include <sys/types.h>

#include <string>

#include "backends/local/folder.h"
#include "backends/local/job_record.h"
#include "base/result.h"

namespace shim {

struct SpawnFailure {
  std::string note;        // for people: "cannot execute pyton3: No such file or directory"
  int exit_code = 126;     // 127 when the program does not exist, as shells say it
  bool is_of_user = true;  // false: the machine could not do it, the command may be fine
};

using Spawned = tl::expected<pid_t, SpawnFailure>;

// The groups of job.cgroup exist already.
Spawned spawn_member(const backends::local::Folder& folder, const backends::local::JobSpec& job);

}  // namespace shim
