#pragma once
// A queue of messages from many threads to one: how everything reaches the loop. Messages of one
// sender keep their order. The receiver takes all that is there at once, so a burst costs one turn.
//
//   Mailbox<Message> mailbox;                     // any thread: mailbox.post(message)
//   while (!mailbox.is_closed()) {
//     for (Message& message : mailbox.wait_until(controller.next_due())) ...
//   }
//
// Thread contract: every method may be called from any thread; take and wait from one at a time.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "platform/system_clock.h"

namespace platform {

template <class T>
class Mailbox {
 public:
  // Posts beyond `capacity` waiting messages are refused, so that a stuck receiver cannot make the
  // process grow without end.
  explicit Mailbox(std::size_t capacity = std::numeric_limits<std::size_t>::max())
      : capacity_(capacity) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // False when closed or full: the message was dropped, the sender tells its caller.
  [[nodiscard]] bool post(T message) {
    {
      const std::lock_guard lock(mutex_);
      if (is_closed_ || messages_.size() >= capacity_) return false;
      messages_.push_back(std::move(message));
    }
    changed_.notify_one();
    return true;
  }

  // What is there now, oldest first; does not wait.
  std::vector<T> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(messages_, {});
  }

  // Waits for a message, for wake(), for close() or for `until` by the wall clock (base::kNever:
  // for ever), then gives what is there, perhaps nothing. Looks at the wall clock at least once a
  // minute, so that a clock that was set is noticed.
  std::vector<T> wait_until(base::Instant until) {
    std::unique_lock lock(mutex_);
    while (messages_.empty() && !is_closed_ && !is_woken_) {
      const base::Duration left = until - system_now();
      if (left.millis <= 0) break;
      changed_.wait_for(lock,
                        std::chrono::milliseconds(std::min<std::int64_t>(left.millis, 60'000)));
    }
    is_woken_ = false;
    return std::exchange(messages_, {});
  }

  // The present or next wait_until returns at once.
  void wake() {
    {
      const std::lock_guard lock(mutex_);
      is_woken_ = true;
    }
    changed_.notify_one();
  }

  // Nothing is accepted from now on; what is inside can still be taken.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      is_closed_ = true;
    }
    changed_.notify_all();
  }
  bool is_closed() const {
    const std::lock_guard lock(mutex_);
    return is_closed_;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return messages_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<T> messages_;
  const std::size_t capacity_;
  bool is_closed_ = false;
  bool is_woken_ = false;
};

}  // namespace platform
