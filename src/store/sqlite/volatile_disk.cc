#include "store/sqlite/volatile_disk.h"

#include "base/assert.h"
#include "store/sqlite/internal/volatile_vfs.h"

namespace store {

VolatileDisk::VolatileDisk() : machine_(std::make_unique<sqlite::VolatileMachine>()) {}
VolatileDisk::~VolatileDisk() = default;

void VolatileDisk::cut_power(base::Random random) {
  const std::scoped_lock lock(machine_->mutex);
  ASSERT(machine_->uses.empty());
  machine_->files.cut_power(random);
}

DiskProcess::DiskProcess(VolatileDisk& disk)
    : vfs_(std::make_unique<sqlite::VolatileVfs>(*disk.machine_)) {}
DiskProcess::~DiskProcess() = default;

const std::string& DiskProcess::vfs() const { return vfs_->name(); }
void DiskProcess::kill() { vfs_->kill(); }
void DiskProcess::rethrow() const { vfs_->rethrow(); }

}  // namespace store
