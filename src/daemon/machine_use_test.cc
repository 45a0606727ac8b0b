#include "daemon/machine_use.h"

#include <gtest/gtest.h>

namespace berthd {
namespace {

TEST(MachineUse, ReadsTheProcessorTimesOfTheKernel) {
  // user nice system idle iowait irq softirq steal guest guest_nice
  const auto time = processor_time("cpu  100 10 50 800 40 1 2 3 99 9\ncpu0 1 1 1 1 1 1 1 1 0 0\n");
  ASSERT_TRUE(time);
  EXPECT_EQ(time->total, 1006) << "guests are in user already";
  EXPECT_EQ(time->busy, 166) << "waiting for a disk is idle";
  for (const char* wrong : {"", "cpu", "cpu  1 2 3", "cpu  1 2 3 4 5 6 7 x", "intr 1 2 3 4 5 6 7 8",
                            "cpu  1 2 3 -4 5 6 7 8"})
    EXPECT_FALSE(processor_time(wrong)) << wrong;
}

TEST(MachineUse, IsAPartOfTheTimeBetweenTwoReadings) {
  EXPECT_EQ(busy_percent({.busy = 100, .total = 1000}, {.busy = 125, .total = 1100}), 25);
  EXPECT_EQ(busy_percent({.busy = 100, .total = 1000}, {.busy = 100, .total = 1100}), 0);
  EXPECT_FALSE(busy_percent({.busy = 100, .total = 1000}, {.busy = 100, .total = 1000}));
  EXPECT_FALSE(busy_percent({.busy = 100, .total = 1000}, {.busy = 90, .total = 1100}))
      << "iowait may go back in the kernel's own account";
}

TEST(MachineUse, CountsMemoryThatCouldNotBeGivenAway) {
  const auto used = memory_used("MemTotal:  1000 kB\nMemFree:  10 kB\nMemAvailable:   400 kB\n");
  EXPECT_EQ(used, base::Bytes(600 * 1024));
  EXPECT_FALSE(memory_used("MemTotal:  1000 kB\nMemFree:  10 kB\n"));
  EXPECT_FALSE(memory_used(""));
}

}  // namespace
}  // namespace berthd
