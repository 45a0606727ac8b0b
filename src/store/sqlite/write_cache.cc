#include "store/sqlite/write_cache.h"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "store/sqlite/internal/unsynced_change.h"
#include "store/sqlite/internal/vfs_methods.h"

namespace store {

namespace sqlite {

namespace {

// What of one file is not synced, in the order in which it was written.
using Unsynced = std::vector<UnsyncedChange>;

std::size_t size_with(const Unsynced& unsynced, std::size_t size) {
  for (const UnsyncedChange& change : unsynced)
    size = change.bytes ? std::max(size, change.end()) : change.at;
  return size;
}

// `bytes`, read from `offset` of the disk, as they are with what is not synced.
void overlay(const Unsynced& unsynced, std::span<char> bytes, std::size_t offset) {
  const std::size_t end = offset + bytes.size();
  for (const UnsyncedChange& change : unsynced) {
    const std::size_t from = std::max(change.at, offset);
    const std::size_t to = change.bytes ? std::min(change.end(), end) : end;
    if (from >= to) continue;
    if (change.bytes)
      std::memcpy(&bytes[from - offset], &(*change.bytes)[from - change.at], to - from);
    else
      std::memset(&bytes[from - offset], 0, to - from);
  }
}

}  // namespace

class WriteCacheVfs {
 public:
  explicit WriteCacheVfs(base::Seed seed);
  ~WriteCacheVfs() { sqlite3_vfs_unregister(&registered_); }
  WriteCacheVfs(const WriteCacheVfs&) = delete;
  WriteCacheVfs& operator=(const WriteCacheVfs&) = delete;

  const std::string& name() const { return name_; }

 private:
  friend struct CacheCalls;
  struct Registered : sqlite3_vfs {
    WriteCacheVfs* owner = nullptr;
  };

  std::mutex mutex_;
  base::Random random_;
  std::string name_;
  sqlite3_vfs* disk_ = nullptr;
  Registered registered_{};
  std::map<std::string, std::shared_ptr<Unsynced>, std::less<>> unsynced_;  // by path
};

// What SQLite calls. The disk's own file lies behind ours in the memory that SQLite gives.
struct CacheCalls {
  struct File {
    sqlite3_file base;
    WriteCacheVfs* owner;
    std::shared_ptr<Unsynced> unsynced;  // null: not of a journal, nothing is held back
  };
  // The disk's file begins where any object may.
  static constexpr std::size_t kBehind = (sizeof(File) + alignof(std::max_align_t) - 1) /
                                         alignof(std::max_align_t) * alignof(std::max_align_t);

  static File& own(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }
  static sqlite3_file* disk(sqlite3_file* file) {
    return reinterpret_cast<sqlite3_file*>(reinterpret_cast<char*>(file) + kBehind);
  }
  static WriteCacheVfs& owner_of(sqlite3_vfs* vfs) {
    return *static_cast<WriteCacheVfs::Registered*>(vfs)->owner;
  }
  // No exception may pass through SQLite.
  static int guarded(const auto& deed) {
    try {
      return deed();
    } catch (const std::bad_alloc&) {
      return SQLITE_IOERR_NOMEM;
    }
  }

  static int close(sqlite3_file* file) {
    const int code = disk(file)->pMethods->xClose(disk(file));
    own(file).~File();
    return code;
  }
  static int read(sqlite3_file* file, void* into, int amount, sqlite3_int64 offset) {
    const std::scoped_lock lock(own(file).owner->mutex_);
    const int code = disk(file)->pMethods->xRead(disk(file), into, amount, offset);
    const bool is_read = code == SQLITE_OK || code == SQLITE_IOERR_SHORT_READ;
    if (own(file).unsynced == nullptr || own(file).unsynced->empty() || !is_read) return code;
    // A short read has filled the rest with zeros, as SQLite asks of it.
    overlay(*own(file).unsynced, {static_cast<char*>(into), static_cast<std::size_t>(amount)},
            static_cast<std::size_t>(offset));
    sqlite3_int64 there = 0;
    const int sized = size_locked(file, &there);
    if (sized != SQLITE_OK) return sized;
    return offset + amount <= there ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
  }
  static int write(sqlite3_file* file, const void* from, int amount, sqlite3_int64 offset) {
    if (own(file).unsynced == nullptr)
      return disk(file)->pMethods->xWrite(disk(file), from, amount, offset);
    return guarded([&] {
      const std::scoped_lock lock(own(file).owner->mutex_);
      const std::string_view bytes(static_cast<const char*>(from),
                                   static_cast<std::size_t>(amount));
      Unsynced& unsynced = *own(file).unsynced;
      unsynced.push_back({.at = static_cast<std::size_t>(offset), .bytes = std::string(bytes)});
      const int code = write_some(file, bytes, static_cast<std::size_t>(offset));
      if (code != SQLITE_OK) unsynced.pop_back();
      return code;
    });
  }
  // What the disk did of its own accord, before anyone asked for it.
  static int write_some(sqlite3_file* file, std::string_view bytes, std::size_t offset) {
    int code = SQLITE_OK;
    each_piece(offset, bytes, [&](std::size_t at, std::string_view piece) {
      if (own(file).owner->random_.chance(1, 2)) code = write_through(file, piece, at);
      return code == SQLITE_OK;
    });
    return code;
  }
  static int write_through(sqlite3_file* file, std::string_view bytes, std::size_t at) {
    return disk(file)->pMethods->xWrite(disk(file), bytes.data(), static_cast<int>(bytes.size()),
                                        static_cast<sqlite3_int64>(at));
  }
  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    if (own(file).unsynced == nullptr) return disk(file)->pMethods->xTruncate(disk(file), size);
    return guarded([&] {
      const std::scoped_lock lock(own(file).owner->mutex_);
      own(file).unsynced->push_back({.at = static_cast<std::size_t>(size), .bytes = std::nullopt});
      return SQLITE_OK;
    });
  }
  static int sync(sqlite3_file* file, int flags) {
    const std::scoped_lock lock(own(file).owner->mutex_);
    const sqlite3_io_methods& to = *disk(file)->pMethods;
    if (own(file).unsynced != nullptr) {
      for (const UnsyncedChange& change : *own(file).unsynced) {
        const int code = change.bytes
                             ? write_through(file, *change.bytes, change.at)
                             : to.xTruncate(disk(file), static_cast<sqlite3_int64>(change.at));
        if (code != SQLITE_OK) return code;
      }
    }
    const int code = to.xSync(disk(file), flags);
    if (code == SQLITE_OK && own(file).unsynced != nullptr) own(file).unsynced->clear();
    return code;
  }
  static int size_locked(sqlite3_file* file, sqlite3_int64* size) {
    const int code = disk(file)->pMethods->xFileSize(disk(file), size);
    if (code == SQLITE_OK && own(file).unsynced != nullptr)
      *size = static_cast<sqlite3_int64>(
          size_with(*own(file).unsynced, static_cast<std::size_t>(*size)));
    return code;
  }
  static int size(sqlite3_file* file, sqlite3_int64* size) {
    const std::scoped_lock lock(own(file).owner->mutex_);
    return size_locked(file, size);
  }

  // ---- as the disk does them ----
  static int lock(sqlite3_file* file, int level) {
    return disk(file)->pMethods->xLock(disk(file), level);
  }
  static int unlock(sqlite3_file* file, int level) {
    return disk(file)->pMethods->xUnlock(disk(file), level);
  }
  static int is_reserved(sqlite3_file* file, int* answer) {
    return disk(file)->pMethods->xCheckReservedLock(disk(file), answer);
  }
  static int control(sqlite3_file* file, int what, void* with) {
    return disk(file)->pMethods->xFileControl(disk(file), what, with);
  }
  static int sector_size(sqlite3_file* file) {
    return disk(file)->pMethods->xSectorSize(disk(file));
  }
  // Of what a disk may promise only that a write leaves the bytes beside it alone.
  static int characteristics(sqlite3_file* file) {
    return disk(file)->pMethods->xDeviceCharacteristics(disk(file)) &
           SQLITE_IOCAP_POWERSAFE_OVERWRITE;
  }
  static int map_memory(sqlite3_file* file, int region, int size, int extends,
                        void volatile** memory) {
    return disk(file)->pMethods->xShmMap(disk(file), region, size, extends, memory);
  }
  static int lock_memory(sqlite3_file* file, int first, int count, int flags) {
    return disk(file)->pMethods->xShmLock(disk(file), first, count, flags);
  }
  static void memory_barrier(sqlite3_file* file) { disk(file)->pMethods->xShmBarrier(disk(file)); }
  static int unmap_memory(sqlite3_file* file, int deletes) {
    return disk(file)->pMethods->xShmUnmap(disk(file), deletes);
  }

  // ---- names ----
  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* given);
  static int remove(sqlite3_vfs* vfs, const char* name, int syncs_folder) {
    WriteCacheVfs& owner = owner_of(vfs);
    const std::scoped_lock lock(owner.mutex_);
    const auto held = owner.unsynced_.find(std::string_view(name));
    if (held != owner.unsynced_.end()) owner.unsynced_.erase(held);
    return owner.disk_->xDelete(owner.disk_, name, syncs_folder);
  }
  // The disk takes an empty file for none; what was written to it is here.
  static int exists(sqlite3_vfs* vfs, const char* name, int what, int* answer) {
    WriteCacheVfs& owner = owner_of(vfs);
    const std::scoped_lock lock(owner.mutex_);
    const auto held = owner.unsynced_.find(std::string_view(name));
    if (what == SQLITE_ACCESS_EXISTS && held != owner.unsynced_.end() && !held->second->empty()) {
      *answer = 1;
      return SQLITE_OK;
    }
    return owner.disk_->xAccess(owner.disk_, name, what, answer);
  }

  static const sqlite3_io_methods kFiles;
};

const sqlite3_io_methods CacheCalls::kFiles = methods_of<CacheCalls>();

int CacheCalls::open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags,
                     int* given) {
  WriteCacheVfs& owner = owner_of(vfs);
  return guarded([&] {
    std::memset(file, 0, static_cast<std::size_t>(owner.registered_.szOsFile));
    auto opened = std::make_unique<File>();
    opened->owner = &owner;
    const int journal = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL;
    if (name != nullptr && (flags & journal) != 0) {
      const std::scoped_lock lock(owner.mutex_);
      auto& unsynced = owner.unsynced_[name];
      if (unsynced == nullptr) unsynced = std::make_shared<Unsynced>();
      opened->unsynced = unsynced;
    }
    const int code = owner.disk_->xOpen(owner.disk_, name, disk(file), flags, given);
    if (code != SQLITE_OK) return code;  // without methods SQLite does not close it
    opened->base.pMethods = &kFiles;
    new (file) File(std::move(*opened));
    return SQLITE_OK;
  });
}

WriteCacheVfs::WriteCacheVfs(base::Seed seed) : random_(seed), disk_(sqlite3_vfs_find(nullptr)) {
  ASSERT(disk_ != nullptr);
  static std::atomic<std::uint64_t> number{0};
  name_ = "berth-write-cache-" + std::to_string(++number);
  static_cast<sqlite3_vfs&>(registered_) = *disk_;
  registered_.owner = this;
  registered_.pNext = nullptr;
  registered_.zName = name_.c_str();
  registered_.szOsFile = static_cast<int>(CacheCalls::kBehind) + disk_->szOsFile;
  registered_.xOpen = CacheCalls::open;
  registered_.xDelete = CacheCalls::remove;
  registered_.xAccess = CacheCalls::exists;
  ASSERT(sqlite3_vfs_register(&registered_, 0) == SQLITE_OK);
}

}  // namespace sqlite

WriteCache::WriteCache(base::Seed seed) : vfs_(std::make_unique<sqlite::WriteCacheVfs>(seed)) {}
WriteCache::~WriteCache() = default;
const std::string& WriteCache::vfs() const { return vfs_->name(); }

}  // namespace store
