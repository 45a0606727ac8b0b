#pragma once
// Waits for the member's process, carries out stop requests, and ends only when nothing of the
// member is left: no process in its control group, no descendant of the shim.
//
//   Running --stop--> Checkpointing --its grace--> Terminating --grace--> Killing (until empty)
//   Running --process ended, others left--> Terminating, 2 s --> Killing
//
// A request repeated changes nothing; a further one can only shorten what is left of the grace.

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "backends/local/folder.h"
#include "backends/local/job_record.h"

namespace shim {

// What the member may still do after its own process ended.
inline constexpr base::Duration kLeftoverGrace = base::seconds(2);

class Supervision {
 public:
  // `control` is the FIFO, `signals` a signalfd of SIGCHLD; SIGCHLD is blocked.
  Supervision(const backends::local::Folder& folder, const backends::local::JobSpec& job,
              pid_t leader, int control, int signals);

  // Returns when nothing is left. The record has no end time yet.
  backends::local::ExitRecord run();

 private:
  enum class Stage { Running, Checkpointing, Terminating, Killing };

  void reap();
  bool is_anything_left();
  void wait_for_change();
  void look_for_stop();
  void begin_stop(const backends::local::StopRequest& request);
  void terminate(base::Duration grace);
  void kill_all();
  void send_to_all(int signal) const;
  void ask_for_checkpoint(int signal) const;
  void pass_deadline();
  void shorten_to(base::Duration left);
  backends::local::ExitRecord classify() const;

  const backends::local::Folder& folder_;
  const backends::local::JobSpec& job_;
  const pid_t leader_;
  const int control_;
  const int signals_;

  Stage stage_ = Stage::Running;
  std::optional<base::Duration> deadline_;              // of the stage, on the steady clock
  std::optional<backends::local::StopRequest> stop_;    // in force before the process ended
  base::Duration kill_every_ = base::milliseconds(50);  // grows while a process does not go
  bool has_children_ = true;
  std::optional<int> status_;  // of the leader, once it ended
  rusage usage_{};
};

// The members of the job and the descendants of this process, without this process.
std::vector<std::int32_t> everything_of(const backends::local::JobSpec& job);

}  // namespace shim
