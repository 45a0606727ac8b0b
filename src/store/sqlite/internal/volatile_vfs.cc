#include "store/sqlite/internal/volatile_vfs.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <new>
#include <string_view>
#include <thread>
#include <utility>

#include "base/assert.h"
#include "platform/fault_point.h"
#include "store/sqlite/internal/vfs_methods.h"

namespace store::sqlite {

// One open file of one process: what stands in the memory that SQLite gives for a sqlite3_file.
class VolatileHandle {
 public:
  VolatileHandle(VolatileVfs& vfs, VolatileFiles::Shared file, std::string deleted_on_close,
                 bool syncs_folder);
  ~VolatileHandle();

  int read(void* into, std::size_t amount, std::size_t offset);
  int write(std::string_view bytes, std::size_t offset);
  int sync();
  int lock(int level);
  int unlock(int level);
  bool is_reserved() const;
  int map_memory(std::size_t region, std::size_t size, bool extends, volatile void** memory);
  int lock_memory(unsigned slots, int flags);
  void unmap_memory();
  VolatileFile& file() { return *file_; }
  VolatileVfs& vfs() { return vfs_; }
  // Of a dead process.
  void drop_locks();

 private:
  VolatileMachine::Use& use() const { return vfs_.machine_.uses[file_.get()]; }
  // Does another handle satisfy it?
  bool has_other(const auto& is_so) const {
    const auto& handles = use().handles;
    return std::ranges::any_of(
        handles, [&](const VolatileHandle* other) { return other != this && is_so(*other); });
  }

  VolatileVfs& vfs_;
  VolatileFiles::Shared file_;
  std::string deleted_on_close_;  // empty: it stays
  bool syncs_folder_ = false;     // with its first sync
  int level_ = SQLITE_LOCK_NONE;
  bool has_memory_ = false;
  unsigned shared_slots_ = 0, exclusive_slots_ = 0;
};

VolatileHandle::VolatileHandle(VolatileVfs& vfs, VolatileFiles::Shared file,
                               std::string deleted_on_close, bool syncs_folder)
    : vfs_(vfs),
      file_(std::move(file)),
      deleted_on_close_(std::move(deleted_on_close)),
      syncs_folder_(syncs_folder) {
  use().handles.push_back(this);
}

VolatileHandle::~VolatileHandle() {
  unmap_memory();
  std::erase(use().handles, this);
  if (use().handles.empty()) vfs_.machine_.uses.erase(file_.get());
  if (!deleted_on_close_.empty()) vfs_.machine_.files.remove(deleted_on_close_);
}

int VolatileHandle::read(void* into, std::size_t amount, std::size_t offset) {
  if (FAULT("disk.read")) return SQLITE_IOERR_READ;
  const std::string& content = file_->content();
  const std::size_t there =
      offset >= content.size() ? 0 : std::min(amount, content.size() - offset);
  if (there > 0) std::memcpy(into, content.data() + offset, there);
  if (there == amount) return SQLITE_OK;
  std::memset(static_cast<char*>(into) + there, 0, amount - there);
  return SQLITE_IOERR_SHORT_READ;
}

// A write that fails, or in which the process dies, is done up to some place in it.
int VolatileHandle::write(std::string_view bytes, std::size_t offset) {
  const std::size_t torn = (++vfs_.writes_ * 2'654'435'761U) % (bytes.size() + 1);
  try {
    const bool is_failed = FAULT("disk.write"), is_full = FAULT("disk.full");
    if (is_failed || is_full) {
      file_->write(offset, bytes.substr(0, torn));
      return is_failed ? SQLITE_IOERR_WRITE : SQLITE_FULL;
    }
  } catch (...) {
    file_->write(offset, bytes.substr(0, torn));
    throw;
  }
  file_->write(offset, bytes);
  return SQLITE_OK;
}

int VolatileHandle::sync() {
  // What it did not sync may be synced by the next one that succeeds.
  if (FAULT("disk.sync")) return SQLITE_IOERR_FSYNC;
  file_->sync();
  if (std::exchange(syncs_folder_, false)) vfs_.machine_.files.sync_folder();
  return SQLITE_OK;
}

// The five levels of sqlite.org/lockingv3.html.
int VolatileHandle::lock(int level) {
  if (level_ >= level) return SQLITE_OK;
  const auto has_other_from = [this](int least) {
    return has_other([least](const VolatileHandle& other) { return other.level_ >= least; });
  };
  if (level == SQLITE_LOCK_SHARED) {
    if (has_other_from(SQLITE_LOCK_PENDING)) return SQLITE_BUSY;
  } else {
    if (has_other_from(SQLITE_LOCK_RESERVED)) return SQLITE_BUSY;
    if (level == SQLITE_LOCK_EXCLUSIVE && has_other_from(SQLITE_LOCK_SHARED)) {
      level_ = SQLITE_LOCK_PENDING;
      return SQLITE_BUSY;
    }
  }
  level_ = level;
  return SQLITE_OK;
}

int VolatileHandle::unlock(int level) {
  level_ = std::min(level_, level);
  return SQLITE_OK;
}

bool VolatileHandle::is_reserved() const {
  return level_ >= SQLITE_LOCK_RESERVED || has_other([](const VolatileHandle& other) {
           return other.level_ >= SQLITE_LOCK_RESERVED;
         });
}

int VolatileHandle::map_memory(std::size_t region, std::size_t size, bool extends,
                               volatile void** memory) {
  auto& regions = use().memory;
  has_memory_ = true;
  *memory = nullptr;
  if (region >= regions.size() && !extends) return SQLITE_OK;
  while (region >= regions.size())
    regions.push_back(std::make_unique<std::byte[]>(size));
  *memory = regions[region].get();
  return SQLITE_OK;
}

int VolatileHandle::lock_memory(unsigned slots, int flags) {
  if ((flags & SQLITE_SHM_UNLOCK) != 0) {
    shared_slots_ &= ~slots;
    exclusive_slots_ &= ~slots;
    return SQLITE_OK;
  }
  const bool is_exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
  const bool is_taken = has_other([=](const VolatileHandle& other) {
    const unsigned taken = other.exclusive_slots_ | (is_exclusive ? other.shared_slots_ : 0);
    return (taken & slots) != 0;
  });
  if (is_taken) return SQLITE_BUSY;
  (is_exclusive ? exclusive_slots_ : shared_slots_) |= slots;
  return SQLITE_OK;
}

// The last one that leaves takes the memory with it; whoever comes next reads the log anew.
void VolatileHandle::unmap_memory() {
  shared_slots_ = exclusive_slots_ = 0;
  if (!std::exchange(has_memory_, false)) return;
  if (!has_other([](const VolatileHandle& other) { return other.has_memory_; }))
    use().memory.clear();
}

void VolatileHandle::drop_locks() {
  level_ = SQLITE_LOCK_NONE;
  shared_slots_ = exclusive_slots_ = 0;
}

// What SQLite calls. A process that is dead gets I/O errors and changes nothing; giving up locks
// and closing succeed, as they do for whoever cleans up behind it.
struct VfsCalls {
  struct File {
    sqlite3_file base;
    VolatileHandle* handle;
  };

  static VolatileHandle& handle_of(sqlite3_file* file) {
    return *reinterpret_cast<File*>(file)->handle;
  }
  static VolatileVfs& vfs_of(sqlite3_vfs* vfs) { return *static_cast<VolatileVfs*>(vfs->pAppData); }

  // `deed` under the lock; an exception, which must not pass through SQLite, is the death.
  static int alive(VolatileVfs& vfs, const auto& deed) {
    const std::scoped_lock lock(vfs.machine_.mutex);
    if (vfs.is_dead_) return SQLITE_IOERR;
    try {
      return deed();
    } catch (const std::bad_alloc&) {
      return SQLITE_IOERR_NOMEM;
    } catch (...) {
      vfs.die(std::current_exception());
      return SQLITE_IOERR;
    }
  }
  static int alive(sqlite3_file* file, const auto& deed) {
    VolatileHandle& handle = handle_of(file);
    return alive(handle.vfs(), [&] { return deed(handle); });
  }

  // ---- files ----
  static int close(sqlite3_file* file) {
    auto& opened = *reinterpret_cast<File*>(file);
    const std::scoped_lock lock(opened.handle->vfs().machine_.mutex);
    delete std::exchange(opened.handle, nullptr);
    return SQLITE_OK;
  }
  static int read(sqlite3_file* file, void* into, int amount, sqlite3_int64 offset) {
    return alive(file, [&](VolatileHandle& handle) {
      return handle.read(into, static_cast<std::size_t>(amount), static_cast<std::size_t>(offset));
    });
  }
  static int write(sqlite3_file* file, const void* from, int amount, sqlite3_int64 offset) {
    return alive(file, [&](VolatileHandle& handle) {
      const std::string_view bytes(static_cast<const char*>(from),
                                   static_cast<std::size_t>(amount));
      return handle.write(bytes, static_cast<std::size_t>(offset));
    });
  }
  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    return alive(file, [&](VolatileHandle& handle) {
      handle.file().truncate(static_cast<std::size_t>(size));
      return SQLITE_OK;
    });
  }
  static int sync(sqlite3_file* file, int) {
    return alive(file, [](VolatileHandle& handle) { return handle.sync(); });
  }
  static int size(sqlite3_file* file, sqlite3_int64* size) {
    return alive(file, [&](VolatileHandle& handle) {
      *size = static_cast<sqlite3_int64>(handle.file().content().size());
      return SQLITE_OK;
    });
  }
  static int lock(sqlite3_file* file, int level) {
    return alive(file, [&](VolatileHandle& handle) { return handle.lock(level); });
  }
  static int unlock(sqlite3_file* file, int level) {
    const std::scoped_lock lock(handle_of(file).vfs().machine_.mutex);
    return handle_of(file).unlock(level);
  }
  static int is_reserved(sqlite3_file* file, int* answer) {
    return alive(file, [&](VolatileHandle& handle) {
      *answer = handle.is_reserved() ? 1 : 0;
      return SQLITE_OK;
    });
  }
  static int control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int sector_size(sqlite3_file*) { return 4096; }
  // As SQLite takes it for granted of a Unix disk: a write leaves the bytes beside it alone.
  static int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

  // ---- the shared memory of the log ----
  static int map_memory(sqlite3_file* file, int region, int size, int extends,
                        void volatile** memory) {
    return alive(file, [&](VolatileHandle& handle) {
      return handle.map_memory(static_cast<std::size_t>(region), static_cast<std::size_t>(size),
                               extends != 0, memory);
    });
  }
  static int lock_memory(sqlite3_file* file, int first, int count, int flags) {
    const unsigned slots = ((1U << count) - 1U) << first;
    if ((flags & SQLITE_SHM_LOCK) != 0)
      return alive(file, [&](VolatileHandle& handle) { return handle.lock_memory(slots, flags); });
    const std::scoped_lock lock(handle_of(file).vfs().machine_.mutex);
    return handle_of(file).lock_memory(slots, flags);
  }
  static void memory_barrier(sqlite3_file* file) {
    const std::scoped_lock lock(handle_of(file).vfs().machine_.mutex);
  }
  static int unmap_memory(sqlite3_file* file, int) {
    const std::scoped_lock lock(handle_of(file).vfs().machine_.mutex);
    handle_of(file).unmap_memory();
    return SQLITE_OK;
  }

  // ---- names ----
  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* given);
  static int remove(sqlite3_vfs* vfs, const char* name, int syncs_folder) {
    return alive(vfs_of(vfs), [&] {
      VolatileFiles& files = vfs_of(vfs).machine_.files;
      if (!files.remove(name)) return SQLITE_IOERR_DELETE_NOENT;
      if (syncs_folder != 0) files.sync_folder();
      return SQLITE_OK;
    });
  }
  static int exists(sqlite3_vfs* vfs, const char* name, int, int* answer) {
    return alive(vfs_of(vfs), [&] {
      *answer = vfs_of(vfs).machine_.files.find(name) != nullptr ? 1 : 0;
      return SQLITE_OK;
    });
  }
  static int full_name(sqlite3_vfs*, const char* name, int size, char* full) {
    if (std::strlen(name) >= static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
    std::strcpy(full, name);
    return SQLITE_OK;
  }
  static int random(sqlite3_vfs*, int size, char* bytes) {
    std::memset(bytes, 0, static_cast<std::size_t>(size));
    return size;
  }
  // Waiting for another thread's lock, in real time: SQLite counts the tries and gives up ("locking
  // protocol") after as many as a thread that is not let run can miss. A storm, which is one
  // thread, never waits.
  static int pause(sqlite3_vfs*, int micros) {
    const std::chrono::microseconds some(micros);
    std::this_thread::sleep_for(some);  // tidy: allow call because SQLite asks for just this
    return micros;
  }
  static int time(sqlite3_vfs*, sqlite3_int64* millis) {
    *millis = 0;
    return SQLITE_OK;
  }
  static int julian_day(sqlite3_vfs*, double* day) {
    *day = 0;
    return SQLITE_OK;
  }
  static int last_error(sqlite3_vfs*, int, char*) { return 0; }

  static const sqlite3_io_methods kFiles;
};

const sqlite3_io_methods VfsCalls::kFiles = methods_of<VfsCalls>();

int VfsCalls::open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* given) {
  auto& opened = *new (file) File{};
  return alive(vfs_of(vfs), [&] {
    if (FAULT("disk.open")) return SQLITE_CANTOPEN;
    VolatileVfs& own = vfs_of(vfs);
    VolatileFiles& files = own.machine_.files;
    VolatileFiles::Shared found = name == nullptr ? nullptr : files.find(name);
    const bool is_new = found == nullptr;
    if (is_new && name != nullptr && (flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
    if (is_new) found = name == nullptr ? std::make_shared<VolatileFile>() : files.create(name);
    // As on Unix: a log that may be created syncs its folder with its first sync, also where
    // another process made the file and died before it could.
    const bool is_log = (flags & (SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_WAL)) != 0 &&
                        (flags & SQLITE_OPEN_CREATE) != 0;
    const bool is_passing = name != nullptr && (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
    opened.handle = new VolatileHandle(own, std::move(found), is_passing ? name : "", is_log);
    opened.base.pMethods = &kFiles;
    if (given != nullptr) *given = flags;
    return SQLITE_OK;
  });
}

VolatileVfs::VolatileVfs(VolatileMachine& machine) : machine_(machine) {
  static std::atomic<std::uint64_t> number{0};
  name_ = "berth-volatile-" + std::to_string(++number);
  vfs_.iVersion = 2;
  vfs_.szOsFile = sizeof(VfsCalls::File);
  vfs_.mxPathname = 512;
  vfs_.zName = name_.c_str();
  vfs_.pAppData = this;
  vfs_.xOpen = VfsCalls::open;
  vfs_.xDelete = VfsCalls::remove;
  vfs_.xAccess = VfsCalls::exists;
  vfs_.xFullPathname = VfsCalls::full_name;
  vfs_.xRandomness = VfsCalls::random;
  vfs_.xSleep = VfsCalls::pause;
  vfs_.xCurrentTime = VfsCalls::julian_day;
  vfs_.xCurrentTimeInt64 = VfsCalls::time;
  vfs_.xGetLastError = VfsCalls::last_error;
  ASSERT(sqlite3_vfs_register(&vfs_, 0) == SQLITE_OK);
}

VolatileVfs::~VolatileVfs() { sqlite3_vfs_unregister(&vfs_); }

void VolatileVfs::die(std::exception_ptr death) {
  if (std::exchange(is_dead_, true)) return;
  death_ = std::move(death);
  for (auto& [file, use] : machine_.uses)
    for (VolatileHandle* handle : use.handles)
      if (&handle->vfs() == this) handle->drop_locks();
}

void VolatileVfs::kill() {
  const std::scoped_lock lock(machine_.mutex);
  die(nullptr);
}

void VolatileVfs::rethrow() const {
  if (death_ != nullptr) std::rethrow_exception(death_);
}

}  // namespace store::sqlite
