#pragma once
// A disk in memory for SqliteStore, with what a real one can do to a journal. What is written and
// not synced lies in the machine's cache: it outlives the process that wrote it, and when the power
// is lost, any part of it is lost, in pieces of 512 bytes and in any order. A new file's name is
// safe when its folder is synced, which SQLite does with the first sync of a log.
//
//   VolatileDisk disk;
//   DiskProcess process(disk);
//   auto store = SqliteStore::open({.file = "journal.db", .vfs = process.vfs()});
//   ...
//   process.kill();              // as kill -9: nothing that the store still does reaches the disk
//   store->reset();
//   disk.cut_power(random);
//
// Passes the fault points disk.open, disk.read, disk.write, disk.full and disk.sync. What one
// throws is the death of the process: SQLite sees I/O errors from there on, and rethrow() gives it
// to the caller once SQLite has returned, because no exception may pass through SQLite.
//
// Thread contract: stores may be used as their own contract says; kill() and cut_power() with no
// call of a store under way. A disk outlives its processes, and a process its stores.

#include <memory>
#include <string>

#include "base/random.h"

namespace store {

namespace sqlite {
struct VolatileMachine;
class VolatileVfs;
}  // namespace sqlite

class VolatileDisk {
 public:
  VolatileDisk();
  ~VolatileDisk();
  VolatileDisk(const VolatileDisk&) = delete;
  VolatileDisk& operator=(const VolatileDisk&) = delete;

  // Every process is dead. `random` decides what of the unsynced is there.
  void cut_power(base::Random random);

 private:
  friend class DiskProcess;
  std::unique_ptr<sqlite::VolatileMachine> machine_;
};

class DiskProcess {
 public:
  explicit DiskProcess(VolatileDisk& disk);
  ~DiskProcess();
  DiskProcess(const DiskProcess&) = delete;
  DiskProcess& operator=(const DiskProcess&) = delete;

  // For SqliteOptions::vfs.
  const std::string& vfs() const;
  void kill();
  // Throws what a fault point threw inside SQLite; does nothing when none did.
  void rethrow() const;

 private:
  std::unique_ptr<sqlite::VolatileVfs> vfs_;
};

}  // namespace store
