#pragma once
// The table of a file's methods that SQLite wants (sqlite.org/vfs.html), of the static functions of
// one type. Version 2: with the shared memory of the log, and without mmap, so that nothing is read
// past them.

#include <sqlite3.h>

namespace store::sqlite {

template <class Calls>
constexpr sqlite3_io_methods methods_of() {
  sqlite3_io_methods methods{};
  methods.iVersion = 2;
  methods.xClose = Calls::close;
  methods.xRead = Calls::read;
  methods.xWrite = Calls::write;
  methods.xTruncate = Calls::truncate;
  methods.xSync = Calls::sync;
  methods.xFileSize = Calls::size;
  methods.xLock = Calls::lock;
  methods.xUnlock = Calls::unlock;
  methods.xCheckReservedLock = Calls::is_reserved;
  methods.xFileControl = Calls::control;
  methods.xSectorSize = Calls::sector_size;
  methods.xDeviceCharacteristics = Calls::characteristics;
  methods.xShmMap = Calls::map_memory;
  methods.xShmLock = Calls::lock_memory;
  methods.xShmBarrier = Calls::memory_barrier;
  methods.xShmUnmap = Calls::unmap_memory;
  return methods;
}

}  // namespace store::sqlite
