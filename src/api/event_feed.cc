#include "api/internal/event_feed.h"

#include <algorithm>
#include <utility>

#include "api/internal/dto.h"
#include "platform/event_stream.h"
#include "platform/log.h"

namespace api {

namespace {

constexpr std::size_t kMaxRecent = 4096;
constexpr std::size_t kMaxRecentBytes = 8 << 20;
constexpr std::size_t kPage = 200;           // events read from the store at once
constexpr std::size_t kPortion = 128 << 10;  // bytes given to a reader at once

std::string stream_text(const model::Event& event) {
  std::string data;
  append_event(data, event);
  return platform::print_stream_event({.id = std::to_string(event.sequence.value),
                                       .name = std::string(model::kind_of(event)),
                                       .data = std::move(data)});
}

struct Mentioned {
  std::set<model::WorkloadId>& found;

  void add(model::WorkloadId id) const {
    if (id) found.insert(id);
  }
  void operator()(const model::AttemptRunning& e) const { add(e.attempt.workload); }
  void operator()(const model::MembersEnded& e) const { add(e.attempt.workload); }
  void operator()(const model::WorkloadSubmitted& e) const { add(e.workload.id); }
  void operator()(const model::WorkloadHeld& e) const { add(e.workload); }
  void operator()(const model::WorkloadReleased& e) const { add(e.workload); }
  void operator()(const model::CancelRequested& e) const { add(e.workload); }
  void operator()(const model::Decided& e) const {
    add(e.decision.explanation.workload);
    std::visit(*this, e.decision.body);
  }
  void operator()(const model::WorkloadsForgotten& e) const {
    for (const model::WorkloadId id : e.workloads)
      add(id);
  }
  void operator()(const model::Start& d) const { add(d.attempt.workload); }
  void operator()(const model::Evict& d) const {
    add(d.owner);
    for (const model::AttemptId victim : d.victims)
      add(victim.workload);
  }
  void operator()(const model::Reserve& d) const { add(d.workload); }
  void operator()(const model::Wait& d) const { add(d.workload); }
  void operator()(const model::Refuse& d) const { add(d.workload); }
  void operator()(const model::Resize& d) const { add(d.attempt.workload); }
  void operator()(const model::Migrate& d) const { add(d.attempt.workload); }
  void operator()(const model::Scale& d) const { add(d.workload); }
  template <class Other>
  void operator()(const Other&) const {}
};

}  // namespace

std::set<model::WorkloadId> workloads_of(const model::Event& event) {
  std::set<model::WorkloadId> found;
  std::visit(Mentioned{found}, event.body);
  return found;
}

bool EventFilter::takes(const model::Event& event) const {
  if (!kinds.empty() && !kinds.contains(std::string(model::kind_of(event)))) return false;
  return !workload || workloads_of(event).contains(*workload);
}

std::shared_ptr<EventFeed> EventFeed::on(LoopPort& port) {
  std::shared_ptr<EventFeed> feed(new EventFeed(port));
  port.subscribe([weak = std::weak_ptr<EventFeed>(feed)](const std::vector<model::Event>& events) {
    if (const auto alive = weak.lock()) alive->committed(events);
  });
  return feed;
}

void EventFeed::committed(const std::vector<model::Event>& events) {
  if (events.empty()) return;
  std::vector<std::shared_ptr<Reader>> readers;
  {
    const std::lock_guard lock(mutex_);
    last_ = std::max(last_, events.back().sequence);
    if (readers_.empty()) return;
    for (const model::Event& event : events) {
      recent_.push_back({.sequence = event.sequence,
                         .kind = std::string(model::kind_of(event)),
                         .workloads = workloads_of(event),
                         .text = stream_text(event)});
      recent_bytes_ += recent_.back().text.size();
    }
    while (recent_.size() > kMaxRecent || (recent_bytes_ > kMaxRecentBytes && recent_.size() > 1)) {
      recent_bytes_ -= recent_.front().text.size();
      recent_.pop_front();
    }
    readers = readers_;
  }
  for (const auto& reader : readers)
    schedule(reader);
}

void EventFeed::open(platform::HttpStream stream, model::Sequence after, EventFilter filter) {
  auto reader =
      std::make_shared<Reader>(Reader{.stream = stream, .at = after, .filter = std::move(filter)});
  // Whatever was committed while nobody listened is known from the store; what is committed from
  // here on tells itself.
  const auto stored = port_.store().last_sequence();
  {
    const std::lock_guard lock(mutex_);
    readers_.push_back(reader);
    if (stored) last_ = std::max(last_, *stored);
  }
  stream.when_gone([self = shared_from_this(), reader] {
    const std::lock_guard lock(self->mutex_);
    std::erase(self->readers_, reader);
    if (!self->readers_.empty()) return;
    self->recent_.clear();
    self->recent_bytes_ = 0;
  });
  schedule(reader);
}

void EventFeed::schedule(const std::shared_ptr<Reader>& reader) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(reader->is_pumping, true)) return;
  }
  reader->stream.after({}, [self = shared_from_this(), reader] { self->pump(reader); });
}

void EventFeed::pump(const std::shared_ptr<Reader>& reader) {
  {
    const std::lock_guard lock(mutex_);
    reader->is_pumping = false;
  }
  while (reader->stream.has_room()) {
    const model::Sequence before = reader->at;
    std::string text = take(*reader);
    if (!text.empty() && !reader->stream.write(std::move(text))) return;
    if (reader->at == before) return;  // up to date; the next commit goes on
  }
  reader->stream.when_drained([self = shared_from_this(), reader] { self->schedule(reader); });
}

std::string EventFeed::take(Reader& reader) {
  {
    const std::lock_guard lock(mutex_);
    if (reader.at >= last_) return {};
    if (!recent_.empty() && recent_.front().sequence.value <= reader.at.value + 1)
      return take_from_memory(reader);
  }
  return take_from_store(reader);
}

std::string EventFeed::take_from_memory(Reader& reader) {
  std::string text;
  const auto next =
      static_cast<std::ptrdiff_t>(reader.at.value + 1 - recent_.front().sequence.value);
  for (auto kept = recent_.begin() + next; kept != recent_.end() && text.size() < kPortion;
       ++kept) {
    reader.at = kept->sequence;
    const bool is_kind = reader.filter.kinds.empty() || reader.filter.kinds.contains(kept->kind);
    if (is_kind && (!reader.filter.workload || kept->workloads.contains(*reader.filter.workload)))
      text += kept->text;
  }
  return text;
}

std::string EventFeed::take_from_store(Reader& reader) {
  std::string text;
  const auto read = port_.store().read(reader.at, kPage, [&](const model::Event& event) {
    reader.at = event.sequence;
    if (reader.filter.takes(event)) text += stream_text(event);
    return text.size() < kPortion;
  });
  if (!read) {
    // Better an end that the reader sees, and resumes from, than a gap that it does not.
    LOG(Error, "event_stream_ended", {"message", base::to_text(read.error())});
    reader.stream.close();
  }
  return text;
}

}  // namespace api
