#include "storm/isolation.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/codec.h"
#include "storm/world.h"

namespace storm {

namespace {

constexpr int kPatienceMillis = 120'000;  // a run that says nothing for so long hangs

void write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) ::_exit(3);  // nobody listens any more
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

Outcome run_here(const Scenario& scenario) {
  World world(scenario);
  return world.run();
}

// A child process that lives through the scenarios of its list, one after the other.
class Worker {
 public:
  explicit Worker(std::vector<Scenario> scenarios) : scenarios_(std::move(scenarios)) { start(); }
  ~Worker() { stop(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  bool is_done() const { return next_ >= scenarios_.size(); }
  int outcomes() const { return outcomes_; }
  // Reads what is there; gives the outcomes that are complete.
  std::vector<Outcome> read();
  // It said nothing for too long.
  Outcome give_up();

 private:
  void start();
  void stop();
  [[noreturn]] void live(int outcomes) const;
  Outcome end_of_process(std::string how);

  std::vector<Scenario> scenarios_;
  std::size_t next_ = 0;  // of scenarios_, whose outcome is awaited
  pid_t child_ = -1;
  int outcomes_ = -1, complaints_ = -1;
  std::string bytes_;
};

void Worker::start() {
  std::array<int, 2> outcomes{}, complaints{};
  ASSERT(::pipe(outcomes.data()) == 0 && ::pipe(complaints.data()) == 0);
  child_ = ::fork();
  ASSERT(child_ >= 0);
  if (child_ == 0) {
    ::close(outcomes[0]);
    ::close(complaints[0]);
    ::dup2(complaints[1], STDERR_FILENO);
    live(outcomes[1]);
  }
  ::close(outcomes[1]);
  ::close(complaints[1]);
  outcomes_ = outcomes[0];
  complaints_ = complaints[0];
}

void Worker::live(int outcomes) const {
  for (std::size_t i = next_; i < scenarios_.size(); ++i) {
    const std::string bytes = base::encode(run_here(scenarios_[i]));
    const auto size = static_cast<std::uint64_t>(bytes.size());
    std::string head(sizeof size, '\0');
    std::memcpy(head.data(), &size, sizeof size);
    write_all(outcomes, head + bytes);
  }
  ::_exit(0);
}

void Worker::stop() {
  if (child_ < 0) return;
  ::kill(child_, SIGKILL);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  ::close(outcomes_);
  ::close(complaints_);
  child_ = -1;
}

std::vector<Outcome> Worker::read() {
  std::array<char, 65536> buffer{};
  const ssize_t got = ::read(outcomes_, buffer.data(), buffer.size());
  if (got < 0) return {};
  std::vector<Outcome> complete;
  bytes_.append(buffer.data(), static_cast<std::size_t>(got));
  std::uint64_t size = 0;
  while (bytes_.size() >= sizeof size) {
    std::memcpy(&size, bytes_.data(), sizeof size);
    if (bytes_.size() - sizeof size < size) break;
    auto outcome = base::decode<Outcome>(std::string_view(bytes_).substr(sizeof size, size));
    ASSERT(outcome.has_value());
    complete.push_back(std::move(*outcome));
    bytes_.erase(0, sizeof size + size);
    ++next_;
  }
  if (got == 0 && !is_done()) complete.push_back(end_of_process("ended by itself"));
  return complete;
}

Outcome Worker::give_up() { return end_of_process("was stuck and had to be killed"); }

// The run whose outcome was awaited is the one that ended the process.
Outcome Worker::end_of_process(std::string how) {
  ::kill(child_, SIGKILL);  // no harm where it is gone
  std::array<char, 4096> text{};
  const ssize_t got = ::read(complaints_, text.data(), text.size());
  int status = 0;
  while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  ::close(outcomes_);
  ::close(complaints_);
  child_ = -1;
  bytes_.clear();
  Outcome outcome;
  outcome.seed = scenarios_[next_].seed.value;
  const std::string said(text.data(), static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  outcome.violation = "the process ended";
  const std::size_t assertion = said.find("assertion failed");
  if (assertion != std::string::npos)
    outcome.violation = said.substr(assertion, said.find('\n', assertion) - assertion);
  if (WIFSIGNALED(status)) how += fmt::format(", signal {}", WTERMSIG(status));
  outcome.report = fmt::format("[the process ended] it {}: {}\n", how, said);
  outcome.violations = 1;
  ++next_;
  if (!is_done()) start();
  return outcome;
}

std::vector<std::vector<Scenario>> shares_of(const Batch& batch) {
  const auto wanted =
      batch.workers > 0
          ? batch.workers
          : static_cast<std::int64_t>(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::vector<Scenario>> shares(
      static_cast<std::size_t>(std::min(wanted, batch.count)));
  for (std::int64_t i = 0; i < batch.count; ++i) {
    Scenario scenario = batch.first;
    scenario.seed.value += static_cast<std::uint64_t>(i);
    shares[static_cast<std::size_t>(i) % shares.size()].push_back(std::move(scenario));
  }
  return shares;
}

}  // namespace

void live_through(const Batch& batch, const std::function<void(const Outcome&)>& seen) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (std::vector<Scenario>& share : shares_of(batch))
    workers.push_back(std::make_unique<Worker>(std::move(share)));
  std::map<std::uint64_t, Outcome> waiting;  // for one with a smaller seed
  std::uint64_t next = batch.first.seed.value;
  const std::uint64_t end = next + static_cast<std::uint64_t>(batch.count);
  while (next != end) {
    std::vector<pollfd> files;
    std::vector<Worker*> asked;
    for (const auto& worker : workers) {
      if (worker->is_done()) continue;
      files.push_back({.fd = worker->outcomes(), .events = POLLIN, .revents = 0});
      asked.push_back(worker.get());
    }
    const int ready = ::poll(files.data(), files.size(), kPatienceMillis);
    if (ready < 0) continue;  // interrupted
    for (std::size_t i = 0; i < files.size(); ++i) {
      std::vector<Outcome> outcomes;
      if (ready == 0)
        outcomes.push_back(asked[i]->give_up());
      else if (files[i].revents != 0)
        outcomes = asked[i]->read();
      for (Outcome& outcome : outcomes)
        waiting.emplace(outcome.seed, std::move(outcome));
    }
    for (; waiting.contains(next); ++next) {
      const Outcome outcome = std::move(waiting.extract(next).mapped());
      seen(outcome);
      const bool is_known = std::ranges::find(batch.known, outcome.violation) != batch.known.end();
      if (batch.stops_at_first && !outcome.is_good() && !is_known) return;
    }
  }
}

Outcome live_through_one(const Scenario& scenario) {
  Outcome outcome;
  live_through({.first = scenario, .count = 1, .workers = 1},
               [&outcome](const Outcome& only) { outcome = only; });
  return outcome;
}

}  // namespace storm
