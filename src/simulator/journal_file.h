#pragma once
// A journal that a simulation leaves behind: encoded events streamed to one file, each preceded by
// its length as a varint, and the chain's head kept as they pass. Two equal runs give equal bytes.
//
// It keeps the promises of controller::Store except durability: a simulation that is cut short is
// simply run again, so nothing is fsync'ed and there is one writer and no second life. Checkpoints
// are kept in memory only, the latest one.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "controller/journal_chain.h"
#include "controller/store.h"
#include "model/event.h"
#include "model/ids.h"

namespace simulator {

class JournalFile final : public controller::Store {
 public:
  // Creates the file, or empties it.
  static base::Result<std::unique_ptr<JournalFile>> create(std::filesystem::path path);
  ~JournalFile() override;

  base::Result<model::Epoch> acquire_epoch() override;
  base::Result<base::Done> append(std::span<const model::Event> events) override;
  base::Result<model::Sequence> last_sequence() override;
  // Reads the file from its beginning: O(bytes).
  base::Result<base::Done> read(model::Sequence after, std::size_t limit,
                                const std::function<bool(const model::Event&)>& visit) override;
  base::Result<std::optional<controller::StoredCheckpoint>> latest_checkpoint() override;
  base::Result<base::Done> write_checkpoint(
      const controller::StoredCheckpoint& checkpoint) override;
  base::Result<std::string> chain_head() override;

  std::int64_t bytes() const { return bytes_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  JournalFile(std::filesystem::path path, std::FILE* file);

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Closer> file_;
  model::Sequence last_;
  model::Epoch epoch_;
  controller::ChainLink head_{};
  std::int64_t bytes_ = 0;
  std::optional<controller::StoredCheckpoint> checkpoint_;
  std::string batch_, encoded_;  // reused from one append to the next
};

// Every event of such a file in order, until `visit` returns false, and the chain's head over those
// that were read. Code::DataLoss on damage or a gap.
base::Result<std::string> read_journal_file(const std::filesystem::path& path,
                                            const std::function<bool(const model::Event&)>& visit);

}  // namespace simulator
