#include "backends/local/cgroup.h"

#include <gtest/gtest.h>

namespace {

using backends::local::CgroupLadder;

TEST(Cgroup, MountsAreReadFromTheKernelsTable) {
  const auto mounts = backends::local::parse_cgroup_mounts(
      "24 1 0:22 / /proc rw - proc proc rw\n"
      "30 25 0:26 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
      "31 25 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
      "32 25 0:28 / /sys/fs/cgroup/unified rw master:2 propagate_from:3 - cgroup2 cgroup2 rw\n"
      "broken line\n");
  ASSERT_EQ(mounts.size(), 3U);
  EXPECT_EQ(mounts[0].path, "/sys/fs/cgroup/memory");
  EXPECT_EQ(mounts[1].controllers, (std::vector<std::string>{"rw", "cpu", "cpuacct"}));
  EXPECT_TRUE(mounts[2].is_v2);
  EXPECT_FALSE(mounts[0].is_v2);
}

TEST(Cgroup, WithoutAnyNothingIsPromised) {
  const CgroupLadder ladder = CgroupLadder::probe("test", "");
  EXPECT_EQ(ladder.enforcement().at("memory"), "not enforced");
  EXPECT_EQ(ladder.enforcement().at("cpu"), "not enforced");
  EXPECT_EQ(ladder.enforcement().at("stop"), "process tree");
  const auto leaves = ladder.leaves("1.1.0");
  EXPECT_EQ(leaves, backends::local::CgroupLeaves{});
  EXPECT_TRUE(backends::local::entry_files(leaves).empty());
  EXPECT_TRUE(backends::local::members_of(leaves).empty());
  EXPECT_TRUE(backends::local::make_leaves({}));
}

TEST(Cgroup, OneFolderForAllIsEnteredOnce) {
  backends::local::CgroupLeaves leaves;
  leaves.tracking = leaves.memory = leaves.cpu = "/x/leaf";
  leaves.pids = "/y/leaf";
  EXPECT_EQ(backends::local::entry_files(leaves),
            (std::vector<std::string>{"/x/leaf/cgroup.procs", "/y/leaf/cgroup.procs"}));
}

TEST(Cgroup, ALimitThatCannotBeSetIsAnError) {
  backends::local::JobSpec job;
  job.memory_bytes = 1 << 20;
  job.cgroup.memory = "/proc/no-such-group";
  EXPECT_FALSE(backends::local::make_leaves(job));
}

}  // namespace
