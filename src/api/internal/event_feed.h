#pragma once
// Committed events to any number of readers, each at its own position in the journal. A reader that
// is behind is fed from the store, one that is up to date from a short memory of what was committed
// last; both go by sequence, so nothing is missed or given twice, whatever the reader resumes from.
// While nobody reads, a commit costs nothing here.
//
// Thread contract: open() on the I/O thread; commits arrive on the loop's thread.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/loop_port.h"
#include "model/event.h"
#include "platform/http_server.h"

namespace api {

// What a reader wants; empty or nothing means everything.
struct EventFilter {
  std::set<std::string> kinds;
  std::optional<model::WorkloadId> workload;
  bool takes(const model::Event& event) const;
};

// The workloads that an event is about, those of its attempts included.
std::set<model::WorkloadId> workloads_of(const model::Event& event);

class EventFeed : public std::enable_shared_from_this<EventFeed> {
 public:
  // Subscribes to the port.
  static std::shared_ptr<EventFeed> on(LoopPort& port);

  // Gives the stream every event with a sequence above `after`, for as long as it lasts.
  void open(platform::HttpStream stream, model::Sequence after, EventFilter filter);

 private:
  struct Kept {
    model::Sequence sequence;
    std::string kind;
    std::set<model::WorkloadId> workloads;
    std::string text;  // as sent
  };
  struct Reader {
    platform::HttpStream stream;
    model::Sequence at;  // everything up to here was given
    EventFilter filter;
    bool is_pumping = false;  // guarded by the mutex: a pump is posted
  };

  explicit EventFeed(LoopPort& port) : port_(port) {}
  void committed(const std::vector<model::Event>& events);
  void schedule(const std::shared_ptr<Reader>& reader);
  void pump(const std::shared_ptr<Reader>& reader);
  // Texts after the reader's position; moves it. Nothing: it is up to date.
  std::string take(Reader& reader);
  std::string take_from_memory(Reader& reader);
  std::string take_from_store(Reader& reader);

  LoopPort& port_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Reader>> readers_;
  std::deque<Kept> recent_;  // without gaps, up to last_; empty while nobody reads
  std::size_t recent_bytes_ = 0;
  model::Sequence last_;
};

}  // namespace api
