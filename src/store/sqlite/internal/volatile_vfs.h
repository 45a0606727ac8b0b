#pragma once
// SQLite's way to a VolatileDisk: a VFS (sqlite.org/vfs.html, methods of version 2) for each
// process of the simulated machine, registered under a name of its own. Locks and the shared memory
// of the write-ahead log are those of one machine: processes see each other's, and a dead one holds
// none.
//
// Thread contract: SQLite may call from any thread; one lock of the machine covers every call.

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "store/sqlite/internal/volatile_files.h"

namespace store::sqlite {

class VolatileHandle;

// What the processes of a machine share.
struct VolatileMachine {
  struct Use {
    std::vector<VolatileHandle*> handles;              // all that are open on the file
    std::vector<std::unique_ptr<std::byte[]>> memory;  // regions of the log's index
  };
  std::mutex mutex;
  VolatileFiles files;
  std::map<const VolatileFile*, Use> uses;
};

class VolatileVfs {
 public:
  explicit VolatileVfs(VolatileMachine& machine);
  ~VolatileVfs();
  VolatileVfs(const VolatileVfs&) = delete;
  VolatileVfs& operator=(const VolatileVfs&) = delete;

  const std::string& name() const { return name_; }
  void kill();
  void rethrow() const;

 private:
  friend struct VfsCalls;
  friend class VolatileHandle;
  void die(std::exception_ptr death);

  VolatileMachine& machine_;
  std::string name_;
  sqlite3_vfs vfs_{};
  std::uint64_t writes_ = 0;  // so that torn writes end at different places
  std::exception_ptr death_;
  bool is_dead_ = false;
};

}  // namespace store::sqlite
