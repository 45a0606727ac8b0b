#include "storm/disk.h"

#include <limits>
#include <utility>

#include "platform/fault_point.h"
#include "store/sqlite/sqlite_store.h"

namespace storm {

using base::Code;
using base::Done;
using base::Result;
using controller::StoredCheckpoint;

class DiskStore final : public controller::Store {
 public:
  // `process` is null for the journal in memory.
  DiskStore(Disk& disk, std::unique_ptr<store::DiskProcess> process,
            std::unique_ptr<controller::Store> store)
      : disk_(disk), process_(std::move(process)), store_(std::move(store)) {}
  ~DiskStore() override {
    if (process_ != nullptr) process_->kill();
  }

  Result<model::Epoch> acquire_epoch() override {
    if (disk_.is_full_) return full();
    return alive(store_->acquire_epoch());
  }
  Result<Done> append(std::span<const model::Event> events) override {
    if (const auto call = std::exchange(disk_.before_append_, {})) call();
    if (disk_.is_full_) return full();
    if (disk_.plan_.twists("store.append.slow"))
      disk_.sleep_(base::milliseconds(disk_.plan_.amount(100, 8'000)));
    return alive(store_->append(events));
  }
  Result<model::Sequence> last_sequence() override { return alive(store_->last_sequence()); }
  Result<Done> read(model::Sequence after, std::size_t limit,
                    const std::function<bool(const model::Event&)>& visit) override {
    return alive(store_->read(after, limit, visit));
  }
  Result<std::optional<StoredCheckpoint>> latest_checkpoint() override {
    return alive(store_->latest_checkpoint());
  }
  Result<Done> write_checkpoint(const StoredCheckpoint& checkpoint) override {
    if (disk_.is_full_) return full();
    if (!disk_.plan_.twists("store.checkpoint.torn"))
      return alive(store_->write_checkpoint(checkpoint));
    StoredCheckpoint torn = checkpoint;
    // Cut short: other damage is what a digest finds, which the journal in memory has none of.
    const auto size = static_cast<std::int64_t>(torn.bytes.size());
    torn.bytes.resize(static_cast<std::size_t>(disk_.plan_.amount(0, size - 1)));
    return alive(store_->write_checkpoint(torn));
  }
  Result<std::string> chain_head() override { return alive(store_->chain_head()); }

 private:
  static tl::unexpected<base::Error> full() {
    return base::fail(Code::Exhausted, "injected: the disk is full");
  }
  // What the store says, unless the process died inside of SQLite.
  template <typename T>
  T alive(T said) const {
    if (process_ != nullptr) process_->rethrow();
    return said;
  }

  Disk& disk_;
  std::unique_ptr<store::DiskProcess> process_;
  std::unique_ptr<controller::Store> store_;
};

Disk::Disk(JournalKind kind, FaultPlan& plan, std::function<void(base::Duration)> sleep)
    : kind_(kind), plan_(plan), sleep_(std::move(sleep)) {}

Result<std::unique_ptr<controller::Store>> Disk::open() {
  if (kind_ == JournalKind::Memory)
    return std::make_unique<DiskStore>(*this, nullptr,
                                       std::make_unique<store::MemoryStore>(journal_));
  auto process = std::make_unique<store::DiskProcess>(volatile_disk_);
  auto opened = store::SqliteStore::open({.file = "journal.db", .vfs = process->vfs()});
  process->rethrow();
  if (!opened) return tl::unexpected(std::move(opened.error()));
  return std::make_unique<DiskStore>(*this, std::move(process), std::move(*opened));
}

bool Disk::loses_power() { return kind_ == JournalKind::Sqlite && plan_.twists("disk.power"); }

void Disk::cut_power() {
  const auto drawn = plan_.amount(0, std::numeric_limits<std::int64_t>::max() - 1);
  volatile_disk_.cut_power(base::Random(base::Seed{static_cast<std::uint64_t>(drawn)}));
}

}  // namespace storm
