#include "store/memory/memory_store.h"

#include <mutex>
#include <utility>
#include <vector>

#include "base/codec.h"
#include "controller/journal_chain.h"
#include "platform/fault_point.h"

namespace store {

class MemoryJournal {
 public:
  // An event as it was stored and, once somebody read it, what was read.
  struct Entry {
    std::string bytes;
    std::shared_ptr<const model::Event> event;
  };

  std::mutex mutex;
  std::vector<Entry> events;  // events[i] is the event of sequence i + 1
  std::optional<controller::StoredCheckpoint> checkpoint;
  model::Epoch epoch;
};

std::shared_ptr<MemoryJournal> make_memory_journal() { return std::make_shared<MemoryJournal>(); }

MemoryStore::MemoryStore() : MemoryStore(make_memory_journal()) {}
MemoryStore::MemoryStore(std::shared_ptr<MemoryJournal> journal) : journal_(std::move(journal)) {}
MemoryStore::~MemoryStore() = default;

base::Result<model::Epoch> MemoryStore::acquire_epoch() {
  if (FAULT("store.epoch")) return base::fail(base::Code::Unavailable, "injected: store.epoch");
  const std::scoped_lock lock(journal_->mutex);
  epoch_ = journal_->epoch = model::Epoch(journal_->epoch.value + 1);
  return epoch_;
}

base::Result<base::Done> MemoryStore::append(std::span<const model::Event> events) {
  const std::scoped_lock lock(journal_->mutex);
  if (epoch_ != journal_->epoch)
    return base::fail(base::Code::Conflict,
                      "the journal was taken over: epoch {} appends, but epoch {} owns it",
                      epoch_.value, journal_->epoch.value);
  std::uint64_t expected = journal_->events.size() + 1;
  for (const model::Event& event : events) {
    if (event.sequence.value != expected)
      return base::fail(base::Code::Conflict, "event {} follows event {} in the journal",
                        event.sequence.value, expected - 1);
    ++expected;
  }
  if (FAULT("store.append.before_commit"))
    return base::fail(base::Code::Unavailable, "injected: store.append.before_commit");
  for (const model::Event& event : events)
    journal_->events.push_back({.bytes = base::encode(event), .event = nullptr});
  static_cast<void>(FAULT("store.append.after_commit"));
  return base::Done{};
}

base::Result<model::Sequence> MemoryStore::last_sequence() {
  const std::scoped_lock lock(journal_->mutex);
  return model::Sequence(journal_->events.size());
}

base::Result<base::Done> MemoryStore::read(model::Sequence after, std::size_t limit,
                                           const std::function<bool(const model::Event&)>& visit) {
  if (FAULT("store.read")) return base::fail(base::Code::Unavailable, "injected: store.read");
  for (std::uint64_t next = after.value; limit > 0; ++next, --limit) {
    std::shared_ptr<const model::Event> event;
    {
      // Not held while visiting: the visitor may use the store.
      const std::scoped_lock lock(journal_->mutex);
      if (next >= journal_->events.size()) break;
      MemoryJournal::Entry& entry = journal_->events[next];
      if (entry.event == nullptr) {
        auto decoded = base::decode<model::Event>(entry.bytes);
        if (!decoded)
          return base::fail(base::Code::DataLoss, "event {} is damaged: {}", next + 1,
                            decoded.error().message);
        entry.event = std::make_shared<const model::Event>(*std::move(decoded));
      }
      event = entry.event;
    }
    if (!visit(*event)) break;
  }
  return base::Done{};
}

base::Result<std::optional<controller::StoredCheckpoint>> MemoryStore::latest_checkpoint() {
  if (FAULT("store.checkpoint.read"))
    return base::fail(base::Code::Unavailable, "injected: store.checkpoint.read");
  const std::scoped_lock lock(journal_->mutex);
  return journal_->checkpoint;
}

base::Result<base::Done> MemoryStore::write_checkpoint(
    const controller::StoredCheckpoint& checkpoint) {
  const std::scoped_lock lock(journal_->mutex);
  if (epoch_ != journal_->epoch)
    return base::fail(base::Code::Conflict,
                      "the journal was taken over: epoch {} writes, but epoch {} owns it",
                      epoch_.value, journal_->epoch.value);
  if (checkpoint.sequence.value > journal_->events.size())
    return base::fail(base::Code::Conflict,
                      "a checkpoint of event {} in a journal that ends with event {}",
                      checkpoint.sequence.value, journal_->events.size());
  if (FAULT("store.checkpoint.before_commit"))
    return base::fail(base::Code::Unavailable, "injected: store.checkpoint.before_commit");
  journal_->checkpoint = checkpoint;
  static_cast<void>(FAULT("store.checkpoint.after_commit"));
  return base::Done{};
}

base::Result<std::string> MemoryStore::chain_head() {
  const std::scoped_lock lock(journal_->mutex);
  controller::ChainLink link{};
  for (const MemoryJournal::Entry& entry : journal_->events)
    link = controller::next_link(link, entry.bytes);
  return controller::to_hex(link);
}

}  // namespace store
