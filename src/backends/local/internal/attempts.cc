// The life of the members that exist: watched, looked at again, launched again, ended.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backends/local/internal/worker.h"
#include "backends/local/process_identity.h"
#include "platform/fault_point.h"
#include "platform/log.h"
#include "platform/system_clock.h"

namespace backends::local {

using base::Result;
using model::AttemptId;

namespace {

// A shim that could not be started this often, each time after a longer pause, will not be.
constexpr int kLaunchesMax = 6;
constexpr base::Duration kLookAgain = base::milliseconds(100);
constexpr base::Duration kRetryFileAfter = base::seconds(1);

// 0, 100 ms, 200 ms, 400 ms … 10 s.
base::Duration pause_before_launch(int launches) {
  if (launches == 0) return {};
  return base::Duration{
      std::min<std::int64_t>(std::int64_t{100} << std::min(launches - 1, 10), 10'000)};
}

// Tells the shim to look at stop.json. Nobody listening is fine: a shim looks before it begins.
void poke(const Folder& folder) {
  const Descriptor control(
      ::openat(folder.descriptor(), kControlFile, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (control.is_open()) static_cast<void>(!::write(control.value(), "s", 1));
}

}  // namespace

LocalBackend::Worker::Member* LocalBackend::Worker::find_member(AttemptId id, std::int32_t rank) {
  const auto attempt = attempts_.find(id);
  if (attempt == attempts_.end()) return nullptr;
  for (Member& member : attempt->second.members)
    if (member.rank == rank) return &member;
  return nullptr;
}

void LocalBackend::Worker::adopt(AttemptId id, AttemptRecord record) {
  Attempt attempt;
  for (const std::int32_t rank : record.ranks) {
    Result<Folder> folder = folders_.member(id, rank);
    if (!folder) {
      LOG(Error, "local_member_unreadable", {"attempt", model::to_text(id)}, {"rank", rank},
          {"error", base::to_text(folder.error())});
      continue;
    }
    attempt.members.push_back(Member{.rank = rank, .folder = std::move(*folder)});
  }
  attempt.record = std::move(record);
  Attempt& kept = attempts_.insert_or_assign(id, std::move(attempt)).first->second;
  for (Member& member : kept.members) {
    refresh(id, kept, member);
    // The daemon may have died between writing the request and telling the shim.
    if (!member.end && member.folder.has(kStopFile)) poke(member.folder);
  }
}

void LocalBackend::Worker::refresh(AttemptId id, Attempt& attempt, Member& member) {
  if (member.end) return;
  if (!member.is_started && member.folder.has(kChildFile)) member.is_started = true;
  if (!member.shim.is_open() && !member.launch) watch_shim(id, member);
  // Read after looking for the shim: one that is gone by now has written its record before.
  const Result<ExitRecord> end = read_exit(member.folder.descriptor());
  if (end) return finish(id, attempt, member, *end);
  announce_running(id, attempt);
  if (member.launch || member.is_retry_due) return;  // there will be another look
  if (member.shim.is_open()) {
    // Adopted, or served by a shim of somebody else: nothing tells when its process runs.
    if (!member.is_started) refresh_later(id, member, kLookAgain);
    return;
  }
  if (member.launches == 0) return launch(id, attempt, member);
  if (member.launches >= kLaunchesMax && !member.folder.has(kStartedFile))
    return end_unbegun(id, attempt, member, "its supervisor cannot be started on this node");
  refresh_later(id, member, pause_before_launch(member.launches));
}

void LocalBackend::Worker::refresh_later(AttemptId id, Member& member, base::Duration delay) {
  member.is_retry_due = true;
  later(delay, [this, id, rank = member.rank] {
    Member* again = find_member(id, rank);
    if (again == nullptr) return;
    again->is_retry_due = false;
    Attempt& attempt = attempts_.at(id);
    const bool has_nobody = !again->shim.is_open() && !again->launch && !again->end;
    if (has_nobody && !watch_shim(id, *again) && !read_exit(again->folder.descriptor()))
      return launch(id, attempt, *again);
    refresh(id, attempt, *again);
  });
}

bool LocalBackend::Worker::watch_shim(AttemptId id, Member& member) {
  const Result<ProcessRecord> record = read_process(member.folder.descriptor(), kShimFile);
  if (!record) return false;
  Result<Descriptor> process = open_process(*record);
  if (!process) return false;
  if (!watch_descriptor(*process, {.attempt = id, .rank = member.rank, .is_launch = false}))
    return false;
  member.shim = std::move(*process);
  return true;
}

void LocalBackend::Worker::launch(AttemptId id, Attempt& attempt, Member& member) {
  ++member.launches;
  Result<Launch> launched = FAULT("local.launch")
                                ? Result<Launch>(base::fail(base::Code::Exhausted, "injected"))
                                : launch_shim(options_.shim_command, member.folder.path());
  if (launched && watch_descriptor(launched->process,
                                   {.attempt = id, .rank = member.rank, .is_launch = true})) {
    member.launch = std::move(*launched);
    static_cast<void>(FAULT("local.launched"));
    return;
  }
  if (launched) take_exit_code(*launched);
  if (!launched)
    LOG(Warning, "local_launch_failed", {"attempt", model::to_text(id)}, {"rank", member.rank},
        {"error", base::to_text(launched.error())});
  refresh(id, attempt, member);
}

// Ends a member that never began, in the place of the shim that could not: under its lock, so that
// no shim begins it meanwhile or later.
void LocalBackend::Worker::end_unbegun(AttemptId id, Attempt& attempt, Member& member,
                                       const std::string& note) {
  const int at = member.folder.descriptor();
  const Result<Descriptor> lock = take_lock(at, kLockFile);
  if (!lock && lock.error().code == base::Code::NotFound)
    return finish(id, attempt, member,
                  ExitRecord{.end_class = model::EndClass::NodeLost,
                             .note = "its folder was removed: " + member.folder.path()});
  if (!lock || member.folder.has(kStartedFile)) return refresh_later(id, member, kRetryFileAfter);
  ExitRecord end{.end_class = model::EndClass::Infrastructure, .note = note};
  if (const Result<StopRequest> stop = read_stop(at)) end.end_class = stop->end_class;
  end.ended_at = platform::system_now();
  if (!write_record(at, kExitFile, end)) return refresh_later(id, member, kRetryFileAfter);
  finish(id, attempt, member, end);
}

void LocalBackend::Worker::finish(AttemptId id, Attempt& attempt, Member& member,
                                  const ExitRecord& end) {
  member.end = end;
  member.is_started = member.is_started || end.was_started;
  announce_running(id, attempt);
  emit(controller::EndReport{.attempt = id, .members = {member_end(member.rank, end)}});
}

void LocalBackend::Worker::announce_running(AttemptId id, Attempt& attempt) {
  if (attempt.is_running_reported || attempt.members.empty()) return;
  for (const Member& member : attempt.members)
    if (!member.is_started) return;
  attempt.is_running_reported = true;
  emit(controller::RunningReport{.attempt = id});
}

void LocalBackend::Worker::report_ends_again(AttemptId id, const Attempt& attempt) {
  controller::EndReport report{.attempt = id, .members = {}};
  for (const Member& member : attempt.members)
    if (member.end) report.members.push_back(member_end(member.rank, *member.end));
  if (!report.members.empty()) emit(std::move(report));
}

std::vector<controller::AttemptReport> LocalBackend::Worker::reports() {
  adopt_once();
  std::vector<controller::AttemptReport> reports;
  for (const auto& [id, attempt] : attempts_) {
    controller::AttemptReport& report = reports.emplace_back();
    report.attempt = id;
    report.is_running = std::all_of(attempt.members.begin(), attempt.members.end(),
                                    [](const Member& member) { return member.is_started; });
    for (const Member& member : attempt.members)
      if (member.end) report.ended.push_back(member_end(member.rank, *member.end));
  }
  return reports;
}

void LocalBackend::Worker::stop_member(AttemptId id, std::int32_t rank,
                                       const StopRequest& request) {
  Member* member = find_member(id, rank);
  if (member == nullptr || member->end) return;
  const int at = member->folder.descriptor();
  const Result<StopRequest> before = read_stop(at);
  if (!before || *before != request) {
    const Result<base::Done> written = write_record(at, kStopFile, request);
    if (!written) {
      LOG(Warning, "local_stop_not_written", {"attempt", model::to_text(id)}, {"rank", rank},
          {"error", base::to_text(written.error())});
      later(kRetryFileAfter, [this, id, rank, request] { stop_member(id, rank, request); });
      return;
    }
  }
  static_cast<void>(FAULT("local.stop.written"));
  poke(member->folder);
  refresh(id, attempts_.at(id), *member);
}

void LocalBackend::Worker::stop(const controller::StopEffect& effect) {
  if (!admit(effect.epoch)) return;
  adopt_once();
  const StopRequest request{.epoch = effect.epoch.value,
                            .grace = effect.grace,
                            .checkpoint_signal = effect.checkpoint_signal,
                            .checkpoint_grace = effect.checkpoint_grace,
                            .end_class = effect.end_class};
  const auto found = attempts_.find(effect.attempt);
  if (found == attempts_.end()) return bury(effect.attempt, request);
  report_ends_again(effect.attempt, found->second);
  std::vector<std::int32_t> ranks;
  for (const Member& member : found->second.members)
    ranks.push_back(member.rank);
  for (const std::int32_t rank : ranks)
    stop_member(effect.attempt, rank, request);
}

void LocalBackend::Worker::forget(AttemptId id) {
  adopt_once();
  const auto found = attempts_.find(id);
  if (found != attempts_.end()) {
    const auto& members = found->second.members;
    const bool is_over = std::all_of(members.begin(), members.end(),
                                     [](const Member& member) { return member.end.has_value(); });
    if (!is_over) {
      LOG(Error, "local_forget_refused", {"attempt", model::to_text(id)},
          {"reason", "members of it exist"});
      return;
    }
    for (Member& member : found->second.members)
      if (member.launch) take_exit_code(*member.launch);
    attempts_.erase(found);
    std::erase_if(watches_, [&](const auto& watch) { return watch.second.attempt == id; });
  }
  buried_.erase(id);
  const Result<base::Done> moved = folders_.forget(id);
  if (!moved)
    LOG(Warning, "local_forget_failed", {"attempt", model::to_text(id)},
        {"error", base::to_text(moved.error())});
}

}  // namespace backends::local
