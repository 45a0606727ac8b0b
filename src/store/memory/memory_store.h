#pragma once
// The journal in memory, for tests and simulation. The bytes live in a MemoryJournal that outlives
// the stores opened on it, so that "the process died and another one opened the journal" is: drop
// the store, make a new one. Events are kept encoded, so that what is read has been through the
// codec, and as read, because a storm reads its journal some twenty times.
//
//   auto journal = make_memory_journal();
//   MemoryStore store(journal);
//
// Thread contract: as controller::Store; a journal may be shared by stores of several threads.

#include <cstddef>
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

class MemoryJournal;
std::shared_ptr<MemoryJournal> make_memory_journal();

class MemoryStore final : public controller::Store {
 public:
  // An empty journal of its own.
  MemoryStore();
  explicit MemoryStore(std::shared_ptr<MemoryJournal> journal);
  ~MemoryStore() override;

  base::Result<model::Epoch> acquire_epoch() override;
  base::Result<base::Done> append(std::span<const model::Event> events) override;
  base::Result<model::Sequence> last_sequence() override;
  base::Result<base::Done> read(model::Sequence after, std::size_t limit,
                                const std::function<bool(const model::Event&)>& visit) override;
  base::Result<std::optional<controller::StoredCheckpoint>> latest_checkpoint() override;
  base::Result<base::Done> write_checkpoint(
      const controller::StoredCheckpoint& checkpoint) override;
  // Hashes the whole journal at each call: O(bytes), so that appends cost no hashing.
  base::Result<std::string> chain_head() override;

 private:
  std::shared_ptr<MemoryJournal> journal_;
  model::Epoch epoch_;
};

}  // namespace store
