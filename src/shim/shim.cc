#include "shim/shim.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

#include "backends/local/cgroup.h"
#include "backends/local/folder.h"
#include "backends/local/job_record.h"
#include "backends/local/process_identity.h"
#include "platform/system_clock.h"
#include "shim/internal/member_process.h"
#include "shim/internal/supervision.h"

namespace shim {
namespace {

using backends::local::Descriptor;
using backends::local::ExitRecord;
using backends::local::Folder;
using backends::local::JobSpec;
using base::Done;
using base::Result;
using model::EndClass;

// A line in shim.log, which standard error is by now.
void note(std::string_view what, std::string_view detail) {
  const std::string line = fmt::format("{} {}: {}\n", platform::system_now().millis, what, detail);
  static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

void wait_ms(int millis) { ::poll(nullptr, 0, millis); }

// Tells the calling process that its work is done; see run().
void report_ready(Descriptor& ready) {
  if (!ready.is_open()) return;
  static_cast<void>(!::write(ready.value(), "r", 1));
  ready.reset();
}

// The end is what the daemon waits for; a disk that is full now may have room later, so it is tried
// until it succeeds. The lock is held meanwhile, hence nobody takes the member for lost.
void record_end(const Folder& folder, ExitRecord record) {
  record.ended_at = platform::system_now();
  while (true) {
    const Result<Done> written =
        backends::local::write_record(folder.descriptor(), backends::local::kExitFile, record);
    if (written) return;
    // Somebody has removed the folder: there is nothing to report to.
    if (written.error().code == base::Code::NotFound) return;
    note("exit_not_recorded", base::to_text(written.error()));
    wait_ms(1000);
  }
}

void detach(const Folder& folder) {
  ::setsid();
  ::prctl(PR_SET_NAME, "berth-shim");
  // Whatever the member leaves without a parent becomes a child of this process.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const Descriptor log(::openat(folder.descriptor(), backends::local::kShimLogFile,
                                O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  ::dup2(null.value(), STDIN_FILENO);
  ::dup2(null.value(), STDOUT_FILENO);
  ::dup2(log.is_open() ? log.value() : null.value(), STDERR_FILENO);
  static_cast<void>(!::chdir("/"));
}

// Nothing but a stop request ends a shim early; children get their own handling back before exec.
Descriptor block_signals() {
  sigset_t blocked;
  ::sigfillset(&blocked);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  sigset_t child;
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  return Descriptor(::signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC));
}

// The daemon may be stopped together with its control group; the shim leaves it.
void leave_group_of_daemon(const JobSpec& job) {
  if (job.cgroup.shims.empty()) return;
  const std::string file = job.cgroup.shims + "/cgroup.procs";
  const Descriptor group(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!group.is_open() || ::write(group.value(), "0", 1) < 0) note("stays_in_group", file);
}

Result<Descriptor> open_control(const Folder& folder) {
  const char* name = backends::local::kControlFile;
  if (::mkfifoat(folder.descriptor(), name, 0600) != 0 && errno != EEXIST)
    return tl::unexpected(backends::local::system_error("cannot make", name, errno));
  // For reading and writing, so that it is never at its end when a writer leaves.
  Descriptor control(
      ::openat(folder.descriptor(), name, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!control.is_open())
    return tl::unexpected(backends::local::system_error("cannot open", name, errno));
  return control;
}

// True: this shim is the first and only one that may fork the member's process.
Result<bool> claim_start(const Folder& folder) {
  const Descriptor marker(::openat(folder.descriptor(), backends::local::kStartedFile,
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!marker.is_open()) {
    if (errno == EEXIST) return false;
    return tl::unexpected(
        backends::local::system_error("cannot create", backends::local::kStartedFile, errno));
  }
  if (::fsync(marker.value()) != 0 || ::fsync(folder.descriptor()) != 0)
    return tl::unexpected(
        backends::local::system_error("cannot flush", backends::local::kStartedFile, errno));
  return true;
}

// Processes of the session that a lost shim's member led, for machines without control groups.
std::vector<std::int32_t> session_of(const Folder& folder) {
  std::vector<std::int32_t> found;
  const auto child =
      backends::local::read_process(folder.descriptor(), backends::local::kChildFile);
  const auto boot = backends::local::read_boot_id();
  if (!child || !boot || *boot != child->boot_id) return found;
  for (const std::int32_t pid : backends::local::descendants_of(1)) {
    const auto status = backends::local::read_process_status(pid);
    // A session keeps its number while it has members, so none of them is older than its leader.
    if (status && status->session == child->pid && status->start_time >= child->start_time)
      found.push_back(pid);
  }
  return found;
}

// The predecessor created `started` and is gone: whatever it forked has nobody who knows its end.
ExitRecord recover_lost(const Folder& folder, const JobSpec& job) {
  int rounds = 0;
  for (;; ++rounds) {
    std::vector<std::int32_t> left = backends::local::members_of(job.cgroup);
    for (const std::int32_t pid : session_of(folder))
      left.push_back(pid);
    if (left.empty()) break;
    backends::local::kill_members(job.cgroup);
    for (const std::int32_t pid : session_of(folder))
      ::kill(pid, SIGKILL);
    wait_ms(rounds < 20 ? 50 : 1000);
  }
  ExitRecord record{.end_class = EndClass::NodeLost, .was_started = true};
  record.note = rounds == 0 ? "its supervisor was lost, nothing of it was left"
                            : "its supervisor was lost; what was left of it was killed";
  const auto stop = backends::local::read_stop(folder.descriptor());
  if (stop) record.end_class = stop->end_class;
  return record;
}

// Runs the member to its end and says how it ended. An error: nothing was started, try again.
Result<ExitRecord> serve(const Folder& folder, const JobSpec& job, int signals, Descriptor& ready) {
  const int at = folder.descriptor();
  const Result<Descriptor> control = open_control(folder);
  if (!control) return tl::unexpected(control.error());
  const auto early_stop = backends::local::read_stop(at);
  const bool was_begun = folder.has(backends::local::kStartedFile);
  if (early_stop && !was_begun)
    return ExitRecord{.end_class = early_stop->end_class, .note = "stopped before it began"};
  const Result<bool> is_first = claim_start(folder);
  if (!is_first) return tl::unexpected(is_first.error());
  if (!*is_first) {
    report_ready(ready);
    return recover_lost(folder, job);
  }

  const Result<Done> grouped = backends::local::make_leaves(job);
  if (!grouped)
    return ExitRecord{.end_class = EndClass::Infrastructure,
                      .note = base::to_text(grouped.error())};
  const Spawned child = spawn_member(folder, job);
  if (!child) {
    const EndClass failed =
        child.error().is_of_user ? EndClass::ExecError : EndClass::Infrastructure;
    return ExitRecord{
        .end_class = failed, .exit_code = child.error().exit_code, .note = child.error().note};
  }
  const auto identity = backends::local::identify(*child, job.cgroup.tracking);
  const Result<Done> told =
      identity ? backends::local::write_record(at, backends::local::kChildFile, *identity)
               : Result<Done>(tl::unexpected(identity.error()));
  if (!told) note("child_not_recorded", base::to_text(told.error()));
  report_ready(ready);
  return Supervision(folder, job, *child, control->value(), signals).run();
}

int supervise(const Folder& folder, Descriptor ready) {
  detach(folder);
  const Descriptor signals = block_signals();
  const auto lock = backends::local::take_lock(folder.descriptor(), backends::local::kLockFile);
  if (!lock) {
    const bool is_served = lock.error().code == base::Code::Conflict;
    if (is_served)
      report_ready(ready);
    else
      note("no_lock", base::to_text(lock.error()));
    return is_served ? 0 : 1;
  }
  if (backends::local::read_exit(folder.descriptor())) {
    report_ready(ready);
    return 0;
  }
  const auto self = backends::local::identify(::getpid(), "");
  const Result<Done> told =
      self ? backends::local::write_record(folder.descriptor(), backends::local::kShimFile, *self)
           : Result<Done>(tl::unexpected(self.error()));
  if (!told || !signals.is_open()) {
    note("cannot_begin", told ? "no signalfd" : base::to_text(told.error()));
    return 1;
  }
  const Result<JobSpec> job = backends::local::read_job(folder.descriptor());
  if (!job) {
    record_end(folder, ExitRecord{.end_class = EndClass::Infrastructure,
                                  .note = base::to_text(job.error())});
    report_ready(ready);
    return 0;
  }
  leave_group_of_daemon(*job);
  const auto end = serve(folder, *job, signals.value(), ready);
  if (!end) {
    note("cannot_begin", base::to_text(end.error()));
    return 1;
  }
  record_end(folder, *end);
  backends::local::remove_leaves(job->cgroup);
  report_ready(ready);
  return 0;
}

}  // namespace

int run(int argc, char** argv) {
  const char* path = nullptr;
  for (int i = 1; i + 1 < argc; ++i)
    if (std::string_view(argv[i]) == "--job") path = argv[i + 1];
  if (path == nullptr) {
    std::fprintf(stderr,
                 "shim: the folder of the member is missing\nusage: berth shim --job DIR\n");
    return 2;
  }
  // What the daemon has open is none of the member's business.
  ::syscall(SYS_close_range, 3U, ~0U, 0U);
  const Result<Folder> folder = Folder::open(path);
  if (!folder) {
    std::fprintf(stderr, "shim: %s\n", base::to_text(folder.error()).c_str());
    return 2;
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return 1;
  Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return 1;
  if (child == 0) {
    reader.reset();
    ::_exit(supervise(*folder, std::move(writer)));
  }
  writer.reset();
  char byte = 0;
  ssize_t count = 0;
  do {
    count = ::read(reader.value(), &byte, 1);
  } while (count < 0 && errno == EINTR);
  return count == 1 ? 0 : 1;
}

}  // namespace shim
