// Files on a real file system below a temporary folder; the failures of a disk are injected.
#include "platform/file.h"

#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/fault_point.h"

namespace platform {
namespace {

using base::Code;

mode_t mode_of(const std::filesystem::path& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

std::size_t names_in(const std::filesystem::path& folder) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder))
    ++count;
  return count;
}

TEST(File, WrittenContentIsReadBackWithTheModeThatWasAskedFor) {
  const TemporaryFolder folder;
  const std::string binary("a\0b\n\xff", 5);
  ASSERT_TRUE(write_file_atomically(folder.path() / "x", binary));
  EXPECT_EQ(read_file(folder.path() / "x").value(), binary);
  EXPECT_EQ(mode_of(folder.path() / "x"), 0600u);
  ASSERT_TRUE(write_file_atomically(folder.path() / "y", "", FileMode::WorldReadable));
  EXPECT_EQ(read_file(folder.path() / "y").value(), "");
  EXPECT_EQ(mode_of(folder.path() / "y"), 0644u);
  EXPECT_EQ(names_in(folder.path()), 2u);  // no temporary file is left
}

TEST(File, AFailedWriteLeavesTheOldContentAndNoTemporaryFile) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "x";
  ASSERT_TRUE(write_file_atomically(path, "old"));
  for (const char* fault : {"file.fsync=fail", "file.rename=fail"}) {
    ASSERT_TRUE(arm_faults(fault));
    const auto done = write_file_atomically(path, "new");
    ASSERT_TRUE(arm_faults(""));
    ASSERT_FALSE(done) << fault;
    EXPECT_EQ(read_file(path).value(), "old");
    EXPECT_EQ(names_in(folder.path()), 1u);
  }
  ASSERT_TRUE(arm_faults("file.fsync=fail"));
  const auto full = write_file_atomically(path, "new");
  ASSERT_TRUE(arm_faults(""));
  EXPECT_EQ(full.error().code, Code::Exhausted);
  EXPECT_FALSE(full.error().hint.empty());
}

TEST(File, CreateRefusesANameThatExistsAndLeavesItAsItWas) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "x";
  ASSERT_TRUE(create_file(path, "first"));
  const auto second = create_file(path, "second");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::AlreadyExists);
  EXPECT_EQ(read_file(path).value(), "first");
  EXPECT_EQ(names_in(folder.path()), 1u);
}

TEST(File, ReadingTellsApartWhatIsMissingTooLargeLinkedOrNotAFile) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_file(folder.path() / "none").error().code, Code::NotFound);
  ASSERT_TRUE(write_file_atomically(folder.path() / "x", "12345"));
  EXPECT_TRUE(read_file(folder.path() / "x", 5));
  EXPECT_EQ(read_file(folder.path() / "x", 4).error().code, Code::TooLarge);
  std::filesystem::create_symlink("x", folder.path() / "link");
  EXPECT_EQ(read_file(folder.path() / "link").error().code, Code::PermissionDenied);
  EXPECT_EQ(read_file(folder.path()).error().code, Code::PermissionDenied);
  ASSERT_EQ(::mkfifo((folder.path() / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(read_file(folder.path() / "fifo").error().code, Code::PermissionDenied);  // no hang
}

TEST(File, WritingOverALinkReplacesTheLinkAndNotWhatItPointsTo) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file_atomically(folder.path() / "target", "target"));
  std::filesystem::create_symlink("target", folder.path() / "link");
  ASSERT_TRUE(write_file_atomically(folder.path() / "link", "mine"));
  EXPECT_EQ(read_file(folder.path() / "target").value(), "target");
  EXPECT_EQ(read_file(folder.path() / "link").value(), "mine");
}

TEST(File, ASecretThatOthersCouldReadIsRefusedWithTheCommandThatRepairsIt) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "secret";
  ASSERT_TRUE(write_file_atomically(path, "s"));
  EXPECT_EQ(read_secret_file(path).value(), "s");
  for (const mode_t mode : {0640, 0604, 0620, 0602, 0610, 0601}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    const auto read = read_secret_file(path);
    ASSERT_FALSE(read) << mode;
    EXPECT_EQ(read.error().code, Code::PermissionDenied);
    EXPECT_EQ(read.error().hint, "run: chmod 600 " + path.string());
  }
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
  ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
  EXPECT_EQ(read_secret_file(path).error().code, Code::PermissionDenied);
}

TEST(File, FoldersAreMadeWithTheirParentsForTheOwnerOnly) {
  const TemporaryFolder folder;
  const auto deep = folder.path() / "a" / "b" / "c";
  ASSERT_TRUE(make_folder(deep));
  EXPECT_EQ(mode_of(deep), 0700u);
  EXPECT_TRUE(make_folder(deep));
  ASSERT_TRUE(write_file_atomically(folder.path() / "x", "1"));
  EXPECT_EQ(make_folder(folder.path() / "x").error().code, Code::AlreadyExists);
}

}  // namespace
}  // namespace platform
