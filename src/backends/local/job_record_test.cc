#include "backends/local/job_record.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "backends/local/folder.h"
#include "platform/file.h"

namespace {

using backends::local::ExitRecord;
using backends::local::Folder;
using backends::local::JobSpec;
using base::Code;

class JobRecord : public ::testing::Test {
 protected:
  void write_raw(const char* name, const std::string& text) const {
    std::ofstream(temporary_.path() / name) << text;
  }

  platform::TemporaryFolder temporary_;
  Folder folder_ = std::move(*Folder::open(temporary_.path().string()));
};

JobSpec a_job() {
  JobSpec job;
  job.attempt = "1042.2";
  job.rank = 3;
  job.epoch = 7;
  job.argv = {"sh", "-c", "echo \"ü\n\" '\\'", ""};
  job.environment = {{"A", "1=2"}, {"EMPTY", ""}};
  job.directory = "/tmp";
  job.memory_bytes = std::int64_t{1} << 40;
  job.cgroup.tracking = "/sys/fs/cgroup/x";
  job.cgroup.is_tracking_v2 = true;
  return job;
}

TEST_F(JobRecord, WhatIsWrittenIsRead) {
  ASSERT_TRUE(write_record(folder_.descriptor(), backends::local::kJobFile, a_job()));
  const auto read = backends::local::read_job(folder_.descriptor());
  ASSERT_TRUE(read) << base::to_text(read.error());
  EXPECT_EQ(*read, a_job());

  const ExitRecord end{.end_class = model::EndClass::OutOfMemory,
                       .exit_code = 137,
                       .signal = 9,
                       .is_out_of_memory = true,
                       .was_started = true,
                       .ended_at = base::Instant{1'700'000'000'123},
                       .note = "memory limit 64Mi reached"};
  ASSERT_TRUE(write_record(folder_.descriptor(), backends::local::kExitFile, end));
  EXPECT_EQ(*backends::local::read_exit(folder_.descriptor()), end);
}

TEST_F(JobRecord, EveryPrefixOfARecordIsDataLossAndNeverARecord) {
  ASSERT_TRUE(write_record(folder_.descriptor(), backends::local::kJobFile, a_job()));
  const auto whole = backends::local::read_small_file(folder_.descriptor(), "job.json");
  ASSERT_TRUE(whole);
  // Without its newline the record is still whole.
  for (std::size_t size = 0; size + 1 < whole->size(); ++size) {
    write_raw("job.json", whole->substr(0, size));
    const auto read = backends::local::read_job(folder_.descriptor());
    ASSERT_FALSE(read) << size;
    EXPECT_EQ(read.error().code, Code::DataLoss);
  }
}

TEST_F(JobRecord, WrongTypesAndUnknownNamesAreDataLoss) {
  for (const char* text :
       {R"([])", R"({"exitCode":"3"})", R"({"exitCode":99999999999})", R"({"class":"no_such"})",
        R"({"endedAt":"yesterday"})", R"({"oom":1})", R"({"exitCode":1.5})"}) {
    write_raw("exit.json", text);
    const auto read = backends::local::read_exit(folder_.descriptor());
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::DataLoss) << text;
  }
}

TEST_F(JobRecord, FilesArePrivateAndNoLinkIsFollowed) {
  EXPECT_EQ(backends::local::read_exit(folder_.descriptor()).error().code, Code::NotFound);
  ASSERT_TRUE(write_record(folder_.descriptor(), backends::local::kExitFile, ExitRecord{}));
  struct stat status{};
  ASSERT_EQ(::stat((temporary_.path() / "exit.json").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);

  write_raw("elsewhere", R"({"class":"ok"})");
  std::filesystem::remove(temporary_.path() / "exit.json");
  std::filesystem::create_symlink("elsewhere", temporary_.path() / "exit.json");
  EXPECT_FALSE(backends::local::read_exit(folder_.descriptor()));
  std::filesystem::create_directory_symlink("/", temporary_.path() / "root");
  EXPECT_FALSE(folder_.open_child("root"));
}

TEST_F(JobRecord, ALockIsHeldByOne) {
  const auto first = backends::local::take_lock(folder_.descriptor(), "lock");
  ASSERT_TRUE(first);
  const auto second = backends::local::take_lock(folder_.descriptor(), "lock");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::Conflict);
}

}  // namespace
