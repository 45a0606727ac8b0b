#pragma once
// The journal in one SQLite file: write-ahead log, synchronous=FULL, one transaction a batch, so a
// batch is on disk when append returns and is there whole or not at all after a crash at any write.
//
// Every row carries its link of the chain (controller/journal_chain.h); reading checks it, so
// damage and tampering are Code::DataLoss with the number of the first event that is not what was
// written. A full disk is Code::Exhausted, another I/O failure Code::Unavailable, and both leave
// the journal as it was.
//
// Thread contract: as controller::Store. Each read() has a connection of its own, kept for the
// next one; it sees the journal as it was when it began.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "controller/store.h"
#include "model/event.h"
#include "model/ids.h"

namespace store {

struct SqliteOptions {
  std::string file;
  bool is_read_only = false;   // for looking at a store that a daemon may be using
  std::int64_t pages_max = 0;  // of 4 KiB, as a limit on the file; 0: what the disk has
  std::string vfs;             // of a simulated disk (volatile_disk.h); empty: the machine's own
};

class SqliteStore final : public controller::Store {
 public:
  // Creates the file and brings an older one up to date. Code::FailedPrecondition when the file
  // was written by a later version or is not a store.
  static base::Result<std::unique_ptr<SqliteStore>> open(SqliteOptions options);
  ~SqliteStore() override;

  base::Result<model::Epoch> acquire_epoch() override;
  base::Result<base::Done> append(std::span<const model::Event> events) override;
  base::Result<model::Sequence> last_sequence() override;
  base::Result<base::Done> read(model::Sequence after, std::size_t limit,
                                const std::function<bool(const model::Event&)>& visit) override;
  base::Result<std::optional<controller::StoredCheckpoint>> latest_checkpoint() override;
  base::Result<base::Done> write_checkpoint(
      const controller::StoredCheckpoint& checkpoint) override;
  base::Result<std::string> chain_head() override;

 private:
  struct Parts;
  explicit SqliteStore(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace store
