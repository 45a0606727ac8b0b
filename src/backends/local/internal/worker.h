#pragma once
// The one thread of the local backend: takes what was asked for in order, and watches shims by
// their pidfds. All state of LocalBackend is here and touched by this thread only; the public
// methods post closures to it. The files are the truth: what is kept in memory can be rebuilt by
// adopt().

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/local/attempt_folders.h"
#include "backends/local/cgroup.h"
#include "backends/local/internal/launcher.h"
#include "backends/local/local_backend.h"

namespace backends::local {

class LocalBackend::Worker {
 public:
  Worker(LocalOptions options, AttemptFolders folders);
  ~Worker();

  // Any thread: run `task` on the worker's thread, after what was posted before.
  void post(std::function<void()> task);

  // The worker's thread only, through post().
  void set_sink(controller::ObservationSink sink);
  std::vector<controller::AttemptReport> reports();
  void start(const controller::StartEffect& effect);
  void stop(const controller::StopEffect& effect);
  void forget(model::AttemptId attempt);

  // Any thread.
  const AttemptFolders& folders() const { return folders_; }
  std::optional<devices::DeviceSample> sample(std::int32_t device) const;

 private:
  struct Member {
    std::int32_t rank = 0;
    Folder folder;
    std::optional<Launch> launch;  // in flight
    Descriptor shim;               // pidfd of the shim; open while it lives
    int launches = 0;              // since it last had a shim
    bool is_retry_due = false;     // a later look at it is planned
    bool is_started = false;       // its process ran, now or before
    std::optional<ExitRecord> end;
  };
  struct Attempt {
    AttemptRecord record;
    std::vector<Member> members;
    bool is_running_reported = false;
  };
  struct Watch {
    model::AttemptId attempt;
    std::int32_t rank = 0;
    bool is_launch = false;
  };

  // worker.cc
  void run();
  void run_posted();
  void run_due();
  int timeout_ms() const;
  void later(base::Duration delay, std::function<void()> task);
  bool watch_descriptor(const Descriptor& descriptor, Watch watch);
  void handle_watch(std::uint64_t token);
  void emit(controller::Observation observation);
  void report_node();
  controller::NodeReport describe_node() const;

  // attempts.cc
  void adopt_once();
  void adopt(model::AttemptId id, AttemptRecord record);
  void refresh(model::AttemptId id, Attempt& attempt, Member& member);
  void refresh_later(model::AttemptId id, Member& member, base::Duration delay);
  bool watch_shim(model::AttemptId id, Member& member);
  void launch(model::AttemptId id, Attempt& attempt, Member& member);
  void end_unbegun(model::AttemptId id, Attempt& attempt, Member& member, const std::string& note);
  void finish(model::AttemptId id, Attempt& attempt, Member& member, const ExitRecord& end);
  void announce_running(model::AttemptId id, Attempt& attempt);
  void report_ends_again(model::AttemptId id, const Attempt& attempt);
  void stop_member(model::AttemptId id, std::int32_t rank, const StopRequest& request);
  Member* find_member(model::AttemptId id, std::int32_t rank);

  // starts.cc
  bool admit(model::Epoch epoch);
  bool was_ended_before(const controller::StartEffect& effect);
  void report_ends(const controller::StartEffect& effect, std::vector<model::MemberEnd> ends,
                   const ExitRecord& otherwise);
  std::vector<std::int32_t> own_ranks(const controller::StartEffect& effect) const;
  base::Result<AttemptRecord> accept(const controller::StartEffect& effect);
  std::int32_t choose_port(model::AttemptId attempt) const;
  void bury(model::AttemptId attempt, const StopRequest& request);

  const LocalOptions options_;
  const AttemptFolders folders_;
  CgroupLadder ladder_;
  std::vector<std::pair<devices::DeviceSource*, std::size_t>>
      device_places_;  // source, index there

  controller::ObservationSink sink_;
  std::vector<controller::Observation> unsent_;  // from before watch()
  std::optional<model::Node> reported_node_;
  std::map<model::AttemptId, Attempt> attempts_;
  std::map<model::AttemptId, StopRequest> buried_;  // tombstones that could not be written yet
  std::uint64_t epoch_ = 0;
  bool is_adopted_ = false;

  Descriptor epoll_;
  Descriptor wake_;
  std::map<std::uint64_t, Watch> watches_;
  std::uint64_t next_token_ = 1;                              // 0 is wake_
  std::multimap<base::Duration, std::function<void()>> due_;  // by the steady clock

  std::mutex mutex_;
  std::deque<std::function<void()>> posted_;  // guarded by mutex_
  bool is_ending_ = false;                    // guarded by mutex_
  std::thread thread_;                        // last: it uses everything above
};

}  // namespace backends::local
