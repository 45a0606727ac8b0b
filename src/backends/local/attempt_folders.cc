#include "backends/local/attempt_folders.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/text.h"

namespace backends::local {
namespace {

using base::Code;
using base::Done;
using base::Result;
using model::AttemptId;

constexpr const char* kEpochFile = "epoch";
constexpr std::int64_t kLogChunkMax = 4 << 20;

std::optional<std::int64_t> positive_number(std::string_view text) {
  const auto number = base::parse_integer(text);
  if (!number || *number < 1 || std::to_string(*number) != text) return std::nullopt;
  return *number;
}

Result<Descriptor> open_log(const Folder& attempts, const controller::LogRequest& request) {
  const Result<Folder> attempt = attempts.open_child(model::to_text(request.attempt));
  if (!attempt) return tl::unexpected(attempt.error());
  const Result<Folder> member = attempt->open_child(std::to_string(request.rank));
  if (!member) return tl::unexpected(member.error());
  const char* name = request.is_error_stream ? kErrorFile : kOutputFile;
  // The member can write here: it may have put a link or a pipe in the place of its log.
  Descriptor file(
      ::openat(member->descriptor(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) return tl::unexpected(system_error("cannot open log", name, errno));
  return file;
}

}  // namespace

std::optional<AttemptId> attempt_from_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto workload = positive_number(name.substr(0, dot));
  const auto ordinal = positive_number(name.substr(dot + 1));
  if (!workload || !ordinal || *ordinal > 0xffffffff) return std::nullopt;
  return AttemptId{.workload = model::WorkloadId(static_cast<std::uint64_t>(*workload)),
                   .ordinal = static_cast<std::uint32_t>(*ordinal)};
}

model::MemberEnd member_end(std::int32_t rank, const ExitRecord& record) {
  return model::MemberEnd{.rank = rank,
                          .end_class = record.end_class,
                          .exit_code = record.exit_code,
                          .signal = record.signal,
                          .note = record.note};
}

Result<AttemptFolders> AttemptFolders::open(const std::string& data_folder) {
  // Absolute, because shims work from another directory.
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(data_folder, error);
  if (data_folder.empty() || error)
    return base::fail(Code::InvalidArgument, "the data folder \"{}\" is not a path", data_folder);
  Result<Folder> data = Folder::make(whole.lexically_normal().string());
  if (!data) return tl::unexpected(data.error());
  Result<Folder> jobs = data->make_child("jobs");
  if (!jobs) return tl::unexpected(jobs.error());
  Result<Folder> finished = data->make_child("finished");
  if (!finished) return tl::unexpected(finished.error());
  return AttemptFolders(std::move(*data), std::move(*jobs), std::move(*finished));
}

std::vector<std::pair<AttemptId, AttemptRecord>> AttemptFolders::accepted() const {
  std::vector<std::pair<AttemptId, AttemptRecord>> found;
  for (const std::string& name : jobs_.entries()) {
    const std::optional<AttemptId> attempt = attempt_from_name(name);
    if (!attempt) continue;
    Result<AttemptRecord> record = find(*attempt);
    if (record) found.emplace_back(*attempt, std::move(*record));
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return found;
}

Result<AttemptRecord> AttemptFolders::find(AttemptId attempt) const {
  const Result<Folder> folder = jobs_.open_child(model::to_text(attempt));
  if (!folder) return tl::unexpected(folder.error());
  return read_attempt(folder->descriptor());
}

Result<Folder> AttemptFolders::member(AttemptId attempt, std::int32_t rank) const {
  const Result<Folder> folder = jobs_.open_child(model::to_text(attempt));
  if (!folder) return tl::unexpected(folder.error());
  return folder->open_child(std::to_string(rank));
}

Result<Done> AttemptFolders::create(const AttemptRecord& record, const std::vector<JobSpec>& jobs,
                                    const std::optional<ExitRecord>& refusal) const {
  const Result<Folder> attempt = jobs_.make_child(record.attempt);
  if (!attempt) return tl::unexpected(attempt.error());
  for (const JobSpec& job : jobs) {
    const Result<Folder> member = attempt->make_child(std::to_string(job.rank));
    if (!member) return tl::unexpected(member.error());
    const Result<Done> written = write_record(member->descriptor(), kJobFile, job);
    if (!written) return written;
    if (!refusal) continue;
    const Result<Done> ended = write_record(member->descriptor(), kExitFile, *refusal);
    if (!ended) return ended;
  }
  const Result<Done> accepted = write_record(attempt->descriptor(), kAttemptFile, record);
  if (!accepted) return accepted;
  if (::fsync(jobs_.descriptor()) != 0)
    return tl::unexpected(system_error("cannot flush", jobs_.path(), errno));
  return Done{};
}

Result<Done> AttemptFolders::bury(AttemptId attempt, const StopRequest& request) const {
  const Result<Folder> folder = jobs_.make_child(model::to_text(attempt));
  if (!folder) return tl::unexpected(folder.error());
  return write_record(folder->descriptor(), kStopFile, request);
}

std::optional<StopRequest> AttemptFolders::tombstone(AttemptId attempt) const {
  const Result<Folder> folder = jobs_.open_child(model::to_text(attempt));
  if (!folder) return std::nullopt;
  const Result<StopRequest> request = read_stop(folder->descriptor());
  if (!request) return std::nullopt;
  return *request;
}

Result<Done> AttemptFolders::forget(AttemptId attempt) const {
  const std::string name = model::to_text(attempt);
  if (::renameat(jobs_.descriptor(), name.c_str(), finished_.descriptor(), name.c_str()) != 0) {
    if (errno == ENOENT) return Done{};
    return tl::unexpected(system_error("cannot move", name, errno));
  }
  // The time of forgetting is what retention counts from.
  ::utimensat(finished_.descriptor(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  return Done{};
}

std::optional<std::vector<model::MemberEnd>> AttemptFolders::forgotten(AttemptId attempt) const {
  const Result<Folder> folder = finished_.open_child(model::to_text(attempt));
  if (!folder) return std::nullopt;
  std::vector<model::MemberEnd> ends;
  const Result<AttemptRecord> record = read_attempt(folder->descriptor());
  if (!record) return ends;
  for (const std::int32_t rank : record->ranks) {
    const Result<Folder> member = folder->open_child(std::to_string(rank));
    if (!member) continue;
    if (const Result<ExitRecord> end = read_exit(member->descriptor()))
      ends.push_back(member_end(rank, *end));
  }
  return ends;
}

void AttemptFolders::prune(base::Instant before) const {
  for (const std::string& name : finished_.entries()) {
    struct stat status{};
    if (!attempt_from_name(name) ||
        ::fstatat(finished_.descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (static_cast<std::int64_t>(status.st_mtim.tv_sec) * 1000 >= before.millis) continue;
    std::error_code ignored;  // what stays is tried again next time; links are not followed
    std::filesystem::remove_all(finished_.path() + "/" + name, ignored);
  }
}

Result<std::string> AttemptFolders::make_checkpoint_folder(model::WorkloadId workload) const {
  const Result<Folder> all = data_.make_child("checkpoints");
  if (!all) return tl::unexpected(all.error());
  const Result<Folder> own = all->make_child(std::to_string(workload.value));
  if (!own) return tl::unexpected(own.error());
  return own->path();
}

std::uint64_t AttemptFolders::newest_epoch() const {
  Result<std::string> text = read_small_file(data_.descriptor(), kEpochFile);
  if (!text) return 0;
  while (!text->empty() && text->back() == '\n')
    text->pop_back();
  return static_cast<std::uint64_t>(positive_number(*text).value_or(0));
}

Result<Done> AttemptFolders::write_epoch(std::uint64_t epoch) const {
  return write_file_durably(data_.descriptor(), kEpochFile, std::to_string(epoch) + "\n");
}

Result<controller::LogChunk> AttemptFolders::read_log(const controller::LogRequest& request) const {
  if (request.rank < 0)
    return base::fail_field(Code::InvalidArgument, "member", "is negative", "members count from 0");
  Result<Descriptor> file = open_log(jobs_, request);
  if (!file) file = open_log(finished_, request);
  const auto describe = [&] {
    return fmt::format("{} of member {} of attempt {}",
                       request.is_error_stream ? "stderr" : "stdout", request.rank,
                       model::to_text(request.attempt));
  };
  struct stat status{};
  if (!file || ::fstat(file->value(), &status) != 0 || !S_ISREG(status.st_mode))
    return base::fail(Code::NotFound, "there is no {}", describe());
  controller::LogChunk chunk{.bytes = {}, .offset = 0, .size = status.st_size};
  const std::int64_t wanted =
      request.offset >= 0 ? request.offset : base::saturating_add(chunk.size, request.offset);
  chunk.offset = std::clamp<std::int64_t>(wanted, 0, chunk.size);
  const std::int64_t limit = std::clamp<std::int64_t>(request.limit, 0, kLogChunkMax);
  chunk.bytes.resize(static_cast<std::size_t>(std::min(limit, chunk.size - chunk.offset)));
  std::size_t done = 0;
  while (done < chunk.bytes.size()) {
    const ssize_t count =
        ::pread(file->value(), chunk.bytes.data() + done, chunk.bytes.size() - done,
                chunk.offset + static_cast<std::int64_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return tl::unexpected(system_error("cannot read", describe(), errno));
    if (count == 0) break;  // cut off meanwhile
    done += static_cast<std::size_t>(count);
  }
  chunk.bytes.resize(done);
  return chunk;
}

}  // namespace backends::local
