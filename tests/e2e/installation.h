#pragma once
// The real program as a user has it: a daemon in a folder of its own on a free port, and the
// command line beside it. Nothing waits on time: for the daemon on what it says, for work on its
// events, each with a deadline after which the test fails. At the end all work is cancelled, the
// daemon is stopped, and whatever still names the folder is killed.
//
//   Installation berth;
//   const std::string number = berth.submit({"--", "sh", "-c", "exit 3"});
//   berth.wait_for(number, "membersEnded");

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <boost/json/value.hpp>

#include "platform/file.h"

namespace e2e {

using Words = std::vector<std::string>;

inline constexpr std::chrono::seconds kPatience{60};

struct Outcome {
  int code = -1;  // 128 + n for signal n; -1: it had to be killed
  std::string out, err;
};

// A program that runs in the background, its output collected.
class Child {
 public:
  // Environment entries are "NAME=value" and all that it gets.
  Child(const Words& words, const Words& environment);
  ~Child();  // kills it if it still runs
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  // True once `text` was written to either stream; false when it ended without, or took too long.
  bool wait_for_text(const std::string& text);
  // Waits for its end; killed after kPatience.
  Outcome wait();

 private:
  struct Collected;
  pid_t pid_ = -1;
  std::shared_ptr<Collected> collected_;
  std::jthread reader_;
  bool is_reaped_ = false;
  Outcome outcome_;
};

class Installation {
 public:
  // With eight declared devices. BERTH_BINARY names the program. With `disk_bytes` the data folder
  // is a file system of that size in memory; where that cannot be had, no daemon is started.
  explicit Installation(std::int64_t disk_bytes = 0);
  ~Installation();

  // False with a recorded failure when it does not come up. Port 0: any; else that one.
  bool start_daemon(int port = 0);
  void kill_daemon();  // SIGKILL
  void stop_daemon();  // SIGTERM, and its end
  bool has_disk() const { return has_disk_; }
  int port() const;
  std::string data() const { return (folder_.path() / "berth").string(); }
  std::string folder() const { return folder_.path().string(); }

  Outcome berth(const Words& words) const;
  std::unique_ptr<Child> in_background(const Words& words) const;
  // The number of the workload.
  std::string submit(const Words& flags) const;
  // Until the journal has an event of that kind about the workload. The kinds of decisions are
  // their own: "start", "evict".
  void wait_for(const std::string& number, const std::string& kind) const;
  boost::json::value show(const std::string& number) const;
  std::string state_of(const std::string& number) const;

 private:
  Words words_of(const Words& words) const;
  Words environment() const;

  platform::TemporaryFolder folder_;
  std::string binary_;
  std::unique_ptr<Child> daemon_;
  bool has_disk_ = false;
};

// A named pipe that a process of a test waits at, and tells something through.
class Gate {
 public:
  explicit Gate(std::string path);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  const std::string& path() const { return path_; }
  // Lets one reader of a line go on.
  void open() const;

 private:
  std::string path_;
  int fd_ = -1;
};

bool is_alive(pid_t pid);
// True when the process is gone before kPatience is over.
bool is_gone_soon(pid_t pid);

}  // namespace e2e
