#include "tests/e2e/installation.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>

#include <gtest/gtest.h>
#include <boost/json.hpp>

namespace e2e {
namespace {

namespace json = boost::json;

constexpr int kPatienceMillis = static_cast<int>(std::chrono::milliseconds(kPatience).count());

std::vector<char*> pointers(const Words& words) {
  std::vector<char*> found;
  for (const std::string& word : words)
    found.push_back(const_cast<char*>(word.c_str()));
  found.push_back(nullptr);
  return found;
}

// Readable once the process has ended; -1 when it is gone already.
int process_descriptor(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

}  // namespace

struct Child::Collected {
  std::mutex mutex;
  std::condition_variable changed;
  std::string out, err;
  bool is_closed = false;
};

Child::Child(const Words& words, const Words& environment)
    : collected_(std::make_shared<Collected>()) {
  int out[2], err[2];
  EXPECT_EQ(::pipe2(out, O_CLOEXEC), 0);
  EXPECT_EQ(::pipe2(err, O_CLOEXEC), 0);
  const std::vector<char*> argv = pointers(words), envp = pointers(environment);
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  ::close(out[1]);
  ::close(err[1]);
  reader_ = std::jthread([collected = collected_, fds = std::array<int, 2>{out[0], err[0]}] {
    pollfd watched[] = {{fds[0], POLLIN, 0}, {fds[1], POLLIN, 0}};
    int open = 2;
    while (open > 0 && ::poll(watched, 2, -1) > 0) {
      for (int i = 0; i < 2; ++i) {
        if (watched[i].revents == 0) continue;
        char block[4096];
        const ssize_t count = ::read(watched[i].fd, block, sizeof block);
        const std::lock_guard lock(collected->mutex);
        if (count > 0)
          (i == 0 ? collected->out : collected->err).append(block, static_cast<std::size_t>(count));
        if (count <= 0) {
          watched[i].fd = -1;
          --open;
        }
        collected->changed.notify_all();
      }
    }
    ::close(fds[0]);
    ::close(fds[1]);
    const std::lock_guard lock(collected->mutex);
    collected->is_closed = true;
    collected->changed.notify_all();
  });
}

Child::~Child() {
  if (!is_reaped_) {
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
  }
}

void Child::signal(int number) const { ::kill(pid_, number); }

bool Child::wait_for_text(const std::string& text) {
  std::unique_lock lock(collected_->mutex);
  const auto is_there = [&] {
    return collected_->out.find(text) != std::string::npos ||
           collected_->err.find(text) != std::string::npos;
  };
  collected_->changed.wait_for(lock, kPatience,
                               [&] { return is_there() || collected_->is_closed; });
  return is_there();
}

Outcome Child::wait() {
  if (is_reaped_) return outcome_;
  const int fd = process_descriptor(pid_);
  pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
  const bool has_ended = fd < 0 || ::poll(&watched, 1, kPatienceMillis) > 0;
  if (fd >= 0) ::close(fd);
  if (!has_ended) ::kill(pid_, SIGKILL);
  int status = 0;
  ::waitpid(pid_, &status, 0);
  is_reaped_ = true;
  reader_.join();
  outcome_.out = collected_->out;
  outcome_.err = collected_->err;
  if (has_ended) outcome_.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome_;
}

Installation::Installation(std::int64_t disk_bytes) {
  const char* named = std::getenv("BERTH_BINARY");
  binary_ = named == nullptr ? "" : named;
  std::ofstream(folder_.path() / "berth.yaml") << "node: {name: node}\nprobeDevices: false\n"
                                                  "devices: [{model: H800, count: 8}]\n";
  if (disk_bytes > 0) {
    std::filesystem::create_directory(data());
    const std::string size = "size=" + std::to_string(disk_bytes);
    has_disk_ = ::mount("berth", data().c_str(), "tmpfs", 0, size.c_str()) == 0;
    if (!has_disk_) return;
  }
  EXPECT_TRUE(start_daemon());
}

Installation::~Installation() {
  if (daemon_) {
    const Outcome active = berth({"queue", "-o", "name"});
    Words cancel{"cancel"};
    std::string number;
    for (const char c : active.out) {
      if (c != '\n')
        number += c;
      else
        cancel.push_back(std::exchange(number, {}));
    }
    if (cancel.size() > 1) {
      berth(cancel);
      for (std::size_t i = 1; i < cancel.size(); ++i)
        if (!show(cancel[i]).at("attempts").as_array().empty()) wait_for(cancel[i], "membersEnded");
    }
    stop_daemon();
  }
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0 || pid == ::getpid()) continue;
    std::ifstream file(entry.path() / "cmdline");
    const std::string line{std::istreambuf_iterator<char>(file), {}};
    if (line.find(folder()) != std::string::npos) ::kill(pid, SIGKILL);
  }
  if (has_disk_) ::umount2(data().c_str(), MNT_DETACH);
}

Words Installation::environment() const {
  return {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + folder(), "XDG_DATA_HOME=" + folder(),
          "LANG=C.UTF-8"};
}

Words Installation::words_of(const Words& words) const {
  Words all{binary_};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

bool Installation::start_daemon(int port) {
  std::filesystem::remove(folder_.path() / "berth" / "server.json");
  daemon_ = in_background({"serve", "--config", folder() + "/berth.yaml", "--listen",
                           "127.0.0.1:" + std::to_string(port)});
  if (daemon_->wait_for_text("listening")) return true;
  ADD_FAILURE() << "the daemon did not start: " << daemon_->wait().err;
  daemon_.reset();
  return false;
}

void Installation::kill_daemon() {
  daemon_->signal(SIGKILL);
  daemon_->wait();
  daemon_.reset();
}

void Installation::stop_daemon() {
  daemon_->signal(SIGTERM);
  EXPECT_EQ(daemon_->wait().code, 0);
  daemon_.reset();
}

int Installation::port() const {
  std::ifstream file(folder_.path() / "berth" / "server.json");
  const json::value value = json::parse(std::string{std::istreambuf_iterator<char>(file), {}});
  const std::string address(value.at("address").as_string());
  return std::atoi(address.substr(address.rfind(':') + 1).c_str());
}

std::unique_ptr<Child> Installation::in_background(const Words& words) const {
  return std::make_unique<Child>(words_of(words), environment());
}

Outcome Installation::berth(const Words& words) const { return in_background(words)->wait(); }

std::string Installation::submit(const Words& flags) const {
  Words words{"submit", "-o", "name"};
  words.insert(words.end(), flags.begin(), flags.end());
  const Outcome outcome = berth(words);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.out.substr(0, outcome.out.find('\n'));
}

void Installation::wait_for(const std::string& number, const std::string& kind) const {
  if (number.empty()) {
    ADD_FAILURE() << "nothing was submitted, so there is no " << kind << " to wait for";
    return;
  }
  const Outcome outcome = berth({"events", "-f", "--after", "0", "--workload", number, "--kinds",
                                 kind, "--limit", "1", "-o", "name"});
  EXPECT_EQ(outcome.code, 0) << "no event " << kind << " about " << number << ": " << outcome.err;
}

json::value Installation::show(const std::string& number) const {
  const Outcome outcome = berth({"show", number, "-o", "json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  boost::system::error_code broken;
  json::value value = json::parse(outcome.out, broken);
  EXPECT_FALSE(broken) << outcome.out;
  return value;
}

std::string Installation::state_of(const std::string& number) const {
  const json::value value = show(number);
  return value.is_object() ? std::string(value.at("state").as_string()) : "";
}

Gate::Gate(std::string path) : path_(std::move(path)) {
  EXPECT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  fd_ = ::open(path_.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
}
Gate::~Gate() { ::close(fd_); }
void Gate::open() const { EXPECT_EQ(::write(fd_, "go\n", 3), 3); }

bool is_alive(pid_t pid) { return ::kill(pid, 0) == 0; }

bool is_gone_soon(pid_t pid) {
  const int fd = process_descriptor(pid);
  if (fd < 0) return true;
  pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
  const bool is_gone = ::poll(&watched, 1, kPatienceMillis) > 0;
  ::close(fd);
  return is_gone;
}

}  // namespace e2e
