#include "cli/interrupts.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>

#include "base/assert.h"
#include "platform/system_clock.h"

namespace cli {
namespace {

// Signal handlers can reach nothing but such variables.
std::atomic<bool> is_signalled{false};
std::atomic<int> signal_count{0};
std::atomic<int> wake_fd{-1};

struct Before {
  struct sigaction interrupt, terminate;
  int read_fd = -1, write_fd = -1;
};
Before before;

void on_signal(int) {
  is_signalled.store(true);
  signal_count.fetch_add(1);
  const char byte = 1;
  // A full pipe wakes as well as one more byte would.
  [[maybe_unused]] const ssize_t written = write(wake_fd.load(), &byte, 1);
}

}  // namespace

Interrupts::Interrupts() {
  ASSERT(before.read_fd == -1);
  int ends[2];
  ASSERT(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
  before.read_fd = ends[0];
  before.write_fd = ends[1];
  wake_fd.store(ends[1]);
  is_signalled.store(false);
  signal_count.store(0);
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, &before.interrupt);
  sigaction(SIGTERM, &action, &before.terminate);
}

Interrupts::~Interrupts() {
  sigaction(SIGINT, &before.interrupt, nullptr);
  sigaction(SIGTERM, &before.terminate, nullptr);
  wake_fd.store(-1);
  close(before.read_fd);
  close(before.write_fd);
  before.read_fd = before.write_fd = -1;
}

const std::atomic<bool>* Interrupts::flag() const { return &is_signalled; }

void Interrupts::acknowledge() {
  std::array<char, 64> bytes;
  while (read(before.read_fd, bytes.data(), bytes.size()) > 0) {
  }
  is_signalled.store(false);
}

int Interrupts::count() const { return signal_count.load(); }

bool Interrupts::wait(base::Duration time) {
  const base::Duration end = platform::steady_now() + time;
  while (!is_raised()) {
    const base::Duration left = end - platform::steady_now();
    if (left.millis <= 0) return true;
    pollfd waited{.fd = before.read_fd, .events = POLLIN, .revents = 0};
    poll(&waited, 1, static_cast<int>(left.millis < 60'000 ? left.millis : 60'000));
  }
  return false;
}

}  // namespace cli
