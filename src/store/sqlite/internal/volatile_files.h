#pragma once
// The files of a VolatileDisk: what the machine sees, what is durable, and the changes in between.
// Knows nothing of SQLite. Thread contract: none; whoever uses it holds a lock.

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "store/sqlite/internal/unsynced_change.h"

namespace store::sqlite {

class VolatileFile {
 public:
  const std::string& content() const { return content_; }
  void write(std::size_t offset, std::string_view bytes);
  void truncate(std::size_t size);
  // All that was written is durable.
  void sync();
  // Content is what is durable and, of each change that is not, the pieces that `random` grants.
  void lose_unsynced(base::Random& random);

 private:
  std::string content_, durable_;
  std::vector<UnsyncedChange> unsynced_;
};

// Names are durable apart from what is in the files.
class VolatileFiles {
 public:
  using Shared = std::shared_ptr<VolatileFile>;

  // Null when there is none.
  Shared find(const std::string& name) const;
  Shared create(const std::string& name);
  // False: there is none. Who has it open goes on with it.
  bool remove(const std::string& name);
  void sync_folder();
  void cut_power(base::Random& random);

 private:
  std::map<std::string, Shared> names_, durable_names_;
};

}  // namespace store::sqlite
