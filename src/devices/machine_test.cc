#include "devices/machine.h"

#include <gtest/gtest.h>

namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;

TEST(Machine, MemoryIsReadFromTheKernelsTable) {
  EXPECT_EQ(devices::memory_total("MemTotal:        8024068 kB\nMemFree: 1 kB\n").value,
            8024068LL * 1024);
  EXPECT_EQ(devices::memory_total("MemFree: 1 kB\n").value, 0);
  EXPECT_EQ(devices::memory_total("MemTotal:").value, 0);
  EXPECT_EQ(devices::memory_total("MemTotal: -4000 kB\n").value, 0);
  EXPECT_EQ(devices::memory_total("MemTotal: 9223372036854775807 kB\n").value, 0);
}

TEST(Machine, AReserveStaysWithTheSystem) {
  const auto left = [](std::int64_t memory) {
    return devices::allocatable({.memory = base::Bytes(memory)}).of(model::kMemory);
  };
  EXPECT_EQ(left(64 * kGib), 60 * kGib);      // a sixteenth
  EXPECT_EQ(left(1024 * kGib), 1016 * kGib);  // never above 8 GiB
  EXPECT_EQ(left(kGib), kGib - kGib / 4);     // never below 256 MiB
  EXPECT_EQ(left(0), 0);
}

TEST(Machine, ThisOneHasProcessorsAndMemory) {
  const devices::Machine machine = devices::probe_machine("/");
  EXPECT_FALSE(machine.name.empty());
  EXPECT_GT(machine.cpu.value, 0);
  EXPECT_GT(machine.memory.value, 0);
  EXPECT_EQ(devices::probe_machine("/no/such/folder").scratch.value, 0);
}

}  // namespace
