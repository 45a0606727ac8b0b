#include "backends/local/attempt_folders.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "platform/file.h"

namespace {

using backends::local::attempt_from_name;
using backends::local::AttemptFolders;
using backends::local::AttemptRecord;
using backends::local::JobSpec;

model::AttemptId id(std::uint64_t workload, std::uint32_t ordinal) {
  return {.workload = model::WorkloadId(workload), .ordinal = ordinal};
}

TEST(AttemptFolders, OnlyWholeAttemptNumbersAreNamesOfAttempts) {
  EXPECT_EQ(attempt_from_name("1042.2"), id(1042, 2));
  for (const char* name : {"", "1042", "1042.", ".2", "0.1", "1.0", "01.1", "1.1.1", "-1.1", "+1.1",
                           "1.4294967296", "1.1 ", "../1.1", "99999999999999999999.1"})
    EXPECT_FALSE(attempt_from_name(name)) << name;
}

TEST(AttemptFolders, AnAttemptExistsOnceItsRecordIsThere) {
  const platform::TemporaryFolder temporary;
  const auto folders = AttemptFolders::open(temporary.path() / "data");
  ASSERT_TRUE(folders) << base::to_text(folders.error());
  // A crash before the last write leaves job files only.
  std::filesystem::create_directories(temporary.path() / "data/jobs/9.1/0");
  EXPECT_TRUE(folders->accepted().empty());

  JobSpec job;
  job.attempt = "9.1";
  const AttemptRecord record{.attempt = "9.1", .epoch = 1, .ranks = {0}, .world_size = 1};
  ASSERT_TRUE(folders->create(record, {job}, std::nullopt));
  const auto accepted = folders->accepted();
  ASSERT_EQ(accepted.size(), 1U);
  EXPECT_EQ(accepted[0].first, id(9, 1));
  EXPECT_EQ(accepted[0].second, record);
  EXPECT_TRUE(folders->member(id(9, 1), 0));
  EXPECT_FALSE(folders->member(id(9, 1), 1));
}

TEST(AttemptFolders, AFolderThatCannotBeMadeIsNamed) {
  const platform::TemporaryFolder temporary;
  std::ofstream(temporary.path() / "file") << "x";
  const auto folders = AttemptFolders::open(temporary.path() / "file" / "data");
  ASSERT_FALSE(folders);
  EXPECT_NE(folders.error().message.find("file"), std::string::npos);
  EXPECT_FALSE(AttemptFolders::open(""));
}

TEST(AttemptFolders, TheNewestEpochIsKept) {
  const platform::TemporaryFolder temporary;
  const auto folders = AttemptFolders::open(temporary.path().string());
  EXPECT_EQ(folders->newest_epoch(), 0U);
  ASSERT_TRUE(folders->write_epoch(12));
  EXPECT_EQ(folders->newest_epoch(), 12U);
}

}  // namespace
