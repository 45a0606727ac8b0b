#pragma once
// The machine's own disk behind a write cache that belongs to this process: what SqliteStore has
// written reaches its files for certain only when it is synced, and until then by chance, in pieces
// of 512 bytes and in any order. So kill -9 does to the journal what a lost power does, and a real
// daemon can be tried for it: whatever it acknowledged must have been synced.
//
//   WriteCache cache(base::Seed{7});
//   auto store = SqliteStore::open({.file = "/data/journal.db", .vfs = cache.vfs()});
//
// Everyone in this process sees what was written; other processes see what is on the disk. A full
// disk may show itself at the sync instead of the write. For tests: the safety of the journal does
// not change, its speed does.
//
// Thread contract: as SQLite's VFS, any thread. Outlives its stores.

#include <memory>
#include <string>

#include "base/random.h"

namespace store {

namespace sqlite {
class WriteCacheVfs;
}

class WriteCache {
 public:
  explicit WriteCache(base::Seed seed);
  ~WriteCache();
  WriteCache(const WriteCache&) = delete;
  WriteCache& operator=(const WriteCache&) = delete;

  // For SqliteOptions::vfs.
  const std::string& vfs() const;

 private:
  std::unique_ptr<sqlite::WriteCacheVfs> vfs_;
};

}  // namespace store
