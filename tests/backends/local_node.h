#pragma once
// One machine with a local backend in a temporary folder, for tests with real processes. Waits on
// observations, never on time; a test that would wait for ever fails after kPatience. At the end
// whatever still runs below the folder is killed by its recorded identity.
//
//   LocalNode node;
//   node.start(node.attempt(1), {"sh", "-c", "exit 3"});
//   EXPECT_EQ(node.wait_for_end(1).exit_code, 3);

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/local/job_record.h"
#include "backends/local/local_backend.h"
#include "backends/local/process_identity.h"
#include "platform/file.h"

namespace backends_test {

inline constexpr std::chrono::seconds kPatience{60};

inline model::AttemptId attempt_id(std::uint64_t workload, std::uint32_t ordinal = 1) {
  return {.workload = model::WorkloadId(workload), .ordinal = ordinal};
}

// A pipe with a name in the file system: a process of a test tells something, or waits to be told.
class NamedPipe {
 public:
  explicit NamedPipe(std::string path) : path_(std::move(path)) {
    EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
    fd_ = ::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  }
  ~NamedPipe() { ::close(fd_); }
  NamedPipe(const NamedPipe&) = delete;
  NamedPipe& operator=(const NamedPipe&) = delete;

  const std::string& path() const { return path_; }
  void write_line(const std::string& line) const {
    const std::string text = line + "\n";
    EXPECT_EQ(::write(fd_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  // The next line, without its end; empty after kPatience.
  std::string read_line() {
    while (text_.find('\n') == std::string::npos) {
      pollfd watched{.fd = fd_, .events = POLLIN, .revents = 0};
      const auto patience_ms = std::chrono::milliseconds(kPatience).count();
      if (::poll(&watched, 1, static_cast<int>(patience_ms)) <= 0) return {};
      char block[512];
      const ssize_t count = ::read(fd_, block, sizeof block);
      if (count > 0) text_.append(block, static_cast<std::size_t>(count));
    }
    const std::size_t end = text_.find('\n');
    const std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    return line;
  }

 private:
  std::string path_;
  std::string text_;
  int fd_ = -1;
};

// Everything that one backend has reported, in order.
class Observations {
 public:
  controller::ObservationSink sink() {
    return [this](controller::Observation observation) {
      const std::lock_guard lock(mutex_);
      all_.push_back(std::move(observation));
      changed_.notify_all();
    };
  }
  bool wait(const std::function<bool(const std::vector<controller::Observation>&)>& is_there) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return is_there(all_); });
  }
  std::vector<controller::Observation> all() {
    const std::lock_guard lock(mutex_);
    return all_;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    all_.clear();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<controller::Observation> all_;
};

inline const model::MemberEnd* find_end(const std::vector<controller::Observation>& all,
                                        model::AttemptId attempt, std::int32_t rank) {
  for (const controller::Observation& observation : all) {
    const auto* report = std::get_if<controller::EndReport>(&observation);
    if (report == nullptr || report->attempt != attempt) continue;
    for (const model::MemberEnd& end : report->members)
      if (end.rank == rank) return &end;
  }
  return nullptr;
}

inline bool has_running(const std::vector<controller::Observation>& all, model::AttemptId attempt) {
  return std::any_of(all.begin(), all.end(), [&](const controller::Observation& observation) {
    const auto* report = std::get_if<controller::RunningReport>(&observation);
    return report != nullptr && report->attempt == attempt;
  });
}

// Gone, or ended and only waiting for its parent.
inline bool is_gone(std::int32_t pid) {
  const auto status = backends::local::read_process_status(pid);
  return !status || status->state == 'Z';
}

class LocalNode {
 public:
  // `shim_command`: empty for this program itself, see shim/main_test.cc.
  explicit LocalNode(std::vector<std::string> shim_command = {}) {
    options_.data_folder = (folder_.path() / "data").string();
    options_.node_name = "here";
    options_.shim_command = std::move(shim_command);
    options_.default_directory = folder_.path().string();
  }
  ~LocalNode() {
    backend_.reset();
    kill_what_is_left();
  }
  LocalNode(const LocalNode&) = delete;
  LocalNode& operator=(const LocalNode&) = delete;

  backends::local::LocalOptions& options() { return options_; }
  Observations& observations() { return observations_; }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string member_path(model::AttemptId attempt, std::int32_t rank = 0) const {
    return options_.data_folder + "/jobs/" + model::to_text(attempt) + "/" + std::to_string(rank);
  }

  backends::local::LocalBackend& backend() {
    if (backend_ == nullptr) {
      auto made = backends::local::LocalBackend::make(options_);
      EXPECT_TRUE(made) << base::to_text(made.error());
      backend_ = std::move(*made);
      backend_->watch(observations_.sink());
    }
    return *backend_;
  }
  // As when the daemon ends and the next one begins; it hears everything anew.
  void close() {
    backend_.reset();
    observations_.clear();
  }

  controller::StartEffect effect(std::uint64_t workload, std::vector<std::string> argv,
                                 std::size_t members = 1) const {
    controller::StartEffect effect;
    effect.attempt = attempt_id(workload);
    effect.epoch = model::Epoch(1);
    effect.queue = "team/project";
    effect.workload.id = model::WorkloadId(workload);
    effect.workload.user = "ada";
    effect.workload.groups.resize(1);
    effect.workload.groups[0].members = static_cast<std::int32_t>(members);
    effect.workload.command.argv = std::move(argv);
    effect.placement.members.resize(members);
    effect.node_names.assign(members, options_.node_name);
    return effect;
  }
  controller::StopEffect stop_effect(std::uint64_t workload) const {
    controller::StopEffect effect;
    effect.attempt = attempt_id(workload);
    effect.epoch = model::Epoch(1);
    effect.grace = base::milliseconds(200);
    effect.end_class = model::EndClass::Cancelled;
    return effect;
  }
  void start(std::uint64_t workload, const std::string& script) {
    backend().start(effect(workload, {"sh", "-c", script}));
  }

  model::MemberEnd wait_for_end(std::uint64_t workload, std::int32_t rank = 0) {
    model::MemberEnd found{.rank = -1};
    observations_.wait([&](const auto& all) {
      const model::MemberEnd* end = find_end(all, attempt_id(workload), rank);
      if (end != nullptr) found = *end;
      return end != nullptr;
    });
    EXPECT_EQ(found.rank, rank) << "no end was reported: " << shim_log(workload, rank);
    return found;
  }
  void wait_for_running(std::uint64_t workload) {
    EXPECT_TRUE(observations_.wait([&](const auto& all) {
      return has_running(all, attempt_id(workload));
    })) << "never running: "
        << shim_log(workload, 0);
  }

  std::string log(std::uint64_t workload, std::int32_t rank = 0, bool is_error_stream = false) {
    const auto chunk = backend().read_log(
        {.attempt = attempt_id(workload), .rank = rank, .is_error_stream = is_error_stream});
    return chunk ? chunk->bytes : base::to_text(chunk.error());
  }
  static std::string text_of(const std::string& file) {
    const std::ifstream stream(file);
    return std::string(std::istreambuf_iterator<char>(stream.rdbuf()), {});
  }

 private:
  std::string shim_log(std::uint64_t workload, std::int32_t rank) const {
    return text_of(member_path(attempt_id(workload), rank) + "/shim.log");
  }
  void kill_what_is_left() const {
    std::error_code error;
    const std::filesystem::recursive_directory_iterator files(options_.data_folder, error);
    if (error) return;
    for (const auto& file : files) {
      const std::string name = file.path().filename();
      if (name != backends::local::kShimFile && name != backends::local::kChildFile) continue;
      const auto folder = backends::local::Folder::open(file.path().parent_path());
      if (!folder) continue;
      const auto record = backends::local::read_process(folder->descriptor(), name.c_str());
      if (!record) continue;
      const auto process = backends::local::open_process(*record);
      if (process) ::syscall(SYS_pidfd_send_signal, process->value(), SIGKILL, nullptr, 0);
    }
  }

  platform::TemporaryFolder folder_;
  backends::local::LocalOptions options_;
  Observations observations_;
  std::unique_ptr<backends::local::LocalBackend> backend_;
};

}  // namespace backends_test
