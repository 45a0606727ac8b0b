#pragma once
// The seam to what keeps the journal. Contract, checked by one suite for every implementation:
// append is atomic (all events of the batch or none, also after a crash at any write) and durable
// when it returns; sequences are gap-free; reading gives exactly what was appended, and damage is
// Code::DataLoss, never a wrong event. A failed append leaves the store as it was.
// Thread contract: one writer (the loop's thread); read() may be called from any thread.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "model/event.h"
#include "model/ids.h"

namespace controller {

struct StoredCheckpoint {
  model::Sequence sequence;  // the last event it contains
  std::string bytes;         // lifecycle::encode_checkpoint
};

class Store {
 public:
  virtual ~Store() = default;

  // Takes over the journal: gives an epoch above every earlier one, durably. Appends of a store
  // opened with an older epoch fail with Code::Conflict from then on.
  virtual base::Result<model::Epoch> acquire_epoch() = 0;
  // events[0].sequence must be last_sequence() + 1, else Code::Conflict.
  virtual base::Result<base::Done> append(std::span<const model::Event> events) = 0;
  virtual base::Result<model::Sequence> last_sequence() = 0;
  // Events with sequence > after, in order, until `limit` were given or `visit` returns false.
  virtual base::Result<base::Done> read(model::Sequence after, std::size_t limit,
                                        const std::function<bool(const model::Event&)>& visit) = 0;
  virtual base::Result<std::optional<StoredCheckpoint>> latest_checkpoint() = 0;
  // Replaces older checkpoints once this one is durable.
  virtual base::Result<base::Done> write_checkpoint(const StoredCheckpoint& checkpoint) = 0;
  // Digest of the whole journal: SHA-256 over the chain hash(previous, encoded event), as hex.
  virtual base::Result<std::string> chain_head() = 0;
};

}  // namespace controller
