#include "shim/internal/supervision.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "backends/local/cgroup.h"
#include "backends/local/process_identity.h"
#include "base/text.h"
#include "platform/system_clock.h"

namespace shim {
namespace {

using backends::local::ExitRecord;
using backends::local::Folder;
using backends::local::JobSpec;
using backends::local::StopRequest;
using base::Duration;
using model::EndClass;

// A process that the kernel cannot end (state D) is looked at less and less often.
constexpr Duration kKillEveryMax = base::seconds(5);

std::int64_t millis_of(const timeval& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1000 + time.tv_usec / 1000;
}

void drain(int descriptor) {
  std::array<char, 4096> bytes;
  while (::read(descriptor, bytes.data(), bytes.size()) > 0) {
  }
}

}  // namespace

std::vector<std::int32_t> everything_of(const JobSpec& job) {
  std::vector<std::int32_t> all = backends::local::members_of(job.cgroup);
  for (const std::int32_t pid : backends::local::descendants_of(::getpid()))
    all.push_back(pid);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::erase(all, ::getpid());
  return all;
}

Supervision::Supervision(const Folder& folder, const JobSpec& job, pid_t leader, int control,
                         int signals)
    : folder_(folder), job_(job), leader_(leader), control_(control), signals_(signals) {}

ExitRecord Supervision::run() {
  look_for_stop();
  while (true) {
    reap();
    if (status_ && !is_anything_left()) break;
    wait_for_change();
  }
  return classify();
}

void Supervision::reap() {
  while (true) {
    int status = 0;
    rusage usage{};
    const pid_t pid = ::wait4(-1, &status, WNOHANG, &usage);
    if (pid < 0 && errno == EINTR) continue;
    has_children_ = pid >= 0;
    if (pid <= 0) return;
    if (pid != leader_) continue;
    status_ = status;
    usage_ = usage;
    // What the process leaves behind holds its devices, so it goes too.
    if (stage_ == Stage::Running || stage_ == Stage::Checkpointing) {
      if (is_anything_left()) terminate(kLeftoverGrace);
    } else {
      shorten_to(kLeftoverGrace);
    }
  }
}

bool Supervision::is_anything_left() {
  if (has_children_) {
    // A child that ended a moment ago may not have been waited for yet.
    if (!everything_of(job_).empty()) return true;
    siginfo_t child{};
    return ::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0;
  }
  return !backends::local::members_of(job_.cgroup).empty();
}

void Supervision::wait_for_change() {
  int timeout_ms = -1;
  if (deadline_) {
    const Duration left = *deadline_ - platform::steady_now();
    timeout_ms = static_cast<int>(std::clamp<std::int64_t>(left.millis, 0, 60'000));
  }
  std::array<pollfd, 2> watched{{{.fd = signals_, .events = POLLIN, .revents = 0},
                                 {.fd = control_, .events = POLLIN, .revents = 0}}};
  const int ready = ::poll(watched.data(), watched.size(), timeout_ms);
  if (ready > 0 && watched[0].revents != 0) drain(signals_);
  if (ready > 0 && watched[1].revents != 0) {
    drain(control_);
    look_for_stop();
  }
  if (deadline_ && platform::steady_now() >= *deadline_) pass_deadline();
}

void Supervision::look_for_stop() {
  const auto request = backends::local::read_stop(folder_.descriptor());
  if (request && (!stop_ || *request != *stop_)) begin_stop(*request);
}

void Supervision::begin_stop(const StopRequest& request) {
  const EndClass first_class = stop_ ? stop_->end_class : request.end_class;
  // The process ended by itself before the request: its own end counts.
  if (status_) return shorten_to(request.grace);
  const bool is_first = !stop_;
  stop_ = request;
  stop_->end_class = first_class;
  if (!is_first) {
    if (stage_ == Stage::Checkpointing) return terminate(request.grace);
    return shorten_to(request.grace);
  }
  const auto signal = backends::local::signal_from_name(request.checkpoint_signal);
  if (!signal || request.checkpoint_grace.millis <= 0) return terminate(request.grace);
  ask_for_checkpoint(*signal);
  stage_ = Stage::Checkpointing;
  deadline_ = platform::steady_now() + request.checkpoint_grace;
}

// Only those that catch it: the default action of most signals is to end the process, and a shell
// between us and the training script must survive the question.
void Supervision::ask_for_checkpoint(int signal) const {
  for (const std::int32_t pid : everything_of(job_))
    if (backends::local::catches_signal(pid, signal)) ::kill(pid, signal);
}

void Supervision::terminate(Duration grace) {
  stage_ = Stage::Terminating;
  deadline_ = platform::steady_now() + grace;
  send_to_all(SIGTERM);
  send_to_all(SIGCONT);  // a stopped process would not see the other signal
}

void Supervision::kill_all() {
  stage_ = Stage::Killing;
  backends::local::kill_members(job_.cgroup);
  for (const std::int32_t pid : everything_of(job_))
    ::kill(pid, SIGKILL);
}

void Supervision::send_to_all(int signal) const {
  backends::local::signal_members(job_.cgroup, signal);
  const std::vector<std::int32_t> members = backends::local::members_of(job_.cgroup);
  for (const std::int32_t pid : backends::local::descendants_of(::getpid()))
    if (std::find(members.begin(), members.end(), pid) == members.end()) ::kill(pid, signal);
}

void Supervision::pass_deadline() {
  switch (stage_) {
    case Stage::Running:
      deadline_.reset();
      return;
    case Stage::Checkpointing:
      return terminate(stop_->grace);
    case Stage::Terminating:
      kill_all();
      deadline_ = platform::steady_now() + kill_every_;
      return;
    case Stage::Killing: {
      kill_all();
      // Half as long again each time, from 50 ms up to 5 s.
      static constexpr std::int64_t kGrowth = 3;
      kill_every_ = std::min(Duration{kill_every_.millis * kGrowth / 2}, kKillEveryMax);
      deadline_ = platform::steady_now() + kill_every_;
      return;
    }
  }
}

void Supervision::shorten_to(Duration left) {
  if (stage_ == Stage::Killing) return;
  const Duration end = platform::steady_now() + left;
  if (!deadline_ || end < *deadline_) deadline_ = end;
}

ExitRecord Supervision::classify() const {
  ExitRecord record;
  record.was_started = true;
  record.user_ms = millis_of(usage_.ru_utime);
  record.system_ms = millis_of(usage_.ru_stime);
  record.resident_bytes_max = static_cast<std::int64_t>(usage_.ru_maxrss) * 1024;
  if (WIFSIGNALED(*status_)) {
    record.signal = WTERMSIG(*status_);
    record.exit_code = 128 + record.signal;
  } else {
    record.exit_code = WEXITSTATUS(*status_);
  }
  const bool has_failed = record.exit_code != 0;
  record.is_out_of_memory = has_failed && backends::local::out_of_memory_kills(job_.cgroup) > 0;
  if (record.is_out_of_memory && job_.memory_bytes > 0)
    record.note = fmt::format("memory limit {} reached", base::print_bytes(job_.memory_bytes));
  if (stop_)
    record.end_class = stop_->end_class;
  else if (record.is_out_of_memory)
    record.end_class = EndClass::OutOfMemory;
  else if (record.signal != 0)
    record.end_class = EndClass::Signal;
  else if (has_failed)
    record.end_class = EndClass::UserError;
  else
    record.end_class = EndClass::Ok;
  return record;
}

}  // namespace shim
