#include "storm/disk.h"

#include <utility>

namespace storm {

using base::Code;
using base::Done;
using base::Result;
using controller::StoredCheckpoint;

class DiskStore final : public controller::Store {
 public:
  DiskStore(Disk& disk, std::unique_ptr<controller::Store> store)
      : disk_(disk), store_(std::move(store)) {}

  Result<model::Epoch> acquire_epoch() override {
    if (disk_.is_full_) return full();
    return store_->acquire_epoch();
  }
  Result<Done> append(std::span<const model::Event> events) override {
    if (disk_.is_full_) return full();
    if (disk_.plan_.twists("store.append.slow"))
      disk_.sleep_(base::milliseconds(disk_.plan_.amount(100, 8'000)));
    return store_->append(events);
  }
  Result<model::Sequence> last_sequence() override { return store_->last_sequence(); }
  Result<Done> read(model::Sequence after, std::size_t limit,
                    const std::function<bool(const model::Event&)>& visit) override {
    return store_->read(after, limit, visit);
  }
  Result<std::optional<StoredCheckpoint>> latest_checkpoint() override {
    return store_->latest_checkpoint();
  }
  Result<Done> write_checkpoint(const StoredCheckpoint& checkpoint) override {
    if (disk_.is_full_) return full();
    if (!disk_.plan_.twists("store.checkpoint.torn")) return store_->write_checkpoint(checkpoint);
    StoredCheckpoint torn = checkpoint;
    // Cut short: other damage is what a digest finds, which the journal in memory has none of.
    const auto size = static_cast<std::int64_t>(torn.bytes.size());
    torn.bytes.resize(static_cast<std::size_t>(disk_.plan_.amount(0, size - 1)));
    return store_->write_checkpoint(torn);
  }
  Result<std::string> chain_head() override { return store_->chain_head(); }

 private:
  static tl::unexpected<base::Error> full() {
    return base::fail(Code::Exhausted, "injected: the disk is full");
  }

  Disk& disk_;
  std::unique_ptr<controller::Store> store_;
};

Disk::Disk(FaultPlan& plan, std::function<void(base::Duration)> sleep)
    : plan_(plan), sleep_(std::move(sleep)) {}

Result<std::unique_ptr<controller::Store>> Disk::open() {
  return std::make_unique<DiskStore>(*this, std::make_unique<store::MemoryStore>(journal_));
}

}  // namespace storm
