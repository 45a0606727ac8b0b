// What only a store on a disk can meet: crashes, damage, full disks, other versions. What every
// store promises is in tests/store/store_contract_test.cc.

#include "store/sqlite/sqlite_store.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "platform/fault_point.h"
#include "platform/file.h"

namespace store {
namespace {

using base::Code;
using model::Event;
using model::Sequence;

Event an_event(std::uint64_t sequence) {
  return {.sequence = Sequence(sequence),
          .at = base::Instant{static_cast<std::int64_t>(sequence)},
          .actor = "ann",
          .body = model::CommandRefused{
              .command = "submit", .code = "NotFound", .message = std::string(200, 'm')}};
}

std::vector<Event> events(std::uint64_t first, std::uint64_t last) {
  std::vector<Event> batch;
  for (std::uint64_t i = first; i <= last; ++i)
    batch.push_back(an_event(i));
  return batch;
}

class SqliteStoreTest : public testing::Test {
 protected:
  std::unique_ptr<SqliteStore> open(std::int64_t pages_max = 0) {
    auto opened = SqliteStore::open({.file = file_, .pages_max = pages_max});
    EXPECT_TRUE(opened) << base::to_text(opened.error());
    EXPECT_TRUE((*opened)->acquire_epoch());
    return std::move(*opened);
  }

  // Past the store, as damage or another program would.
  void run_sql(const std::string& sql) {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(file_.c_str(), &connection), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(connection);
    sqlite3_close(connection);
  }

  static std::uint64_t count_readable(controller::Store& store) {
    std::uint64_t count = 0;
    const auto done = store.read(Sequence(0), 1'000'000, [&count](const Event& event) {
      EXPECT_EQ(event, an_event(++count));
      return true;
    });
    EXPECT_TRUE(done) << base::to_text(done.error());
    return count;
  }

  base::Error read_error(Sequence after = {}) {
    auto opened = SqliteStore::open({.file = file_});
    EXPECT_TRUE(opened);
    const auto done = (*opened)->read(after, 1'000'000, [](const Event&) { return true; });
    return done ? base::Error{} : done.error();
  }

  platform::TemporaryFolder folder_;
  std::string file_ = folder_.path() / "journal.db";
};

TEST_F(SqliteStoreTest, RefusesAFileOfALaterVersionAndLeavesItAlone) {
  {
    open();
  }
  run_sql("INSERT INTO migration(version, name) VALUES (999, 'from the future')");
  for (const bool is_read_only : {false, true}) {
    const auto opened = SqliteStore::open({.file = file_, .is_read_only = is_read_only});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Code::FailedPrecondition);
    EXPECT_NE(opened.error().message.find("schema 999"), std::string::npos);
    EXPECT_NE(opened.error().message.find(file_), std::string::npos);
    EXPECT_FALSE(opened.error().hint.empty());
  }
}

TEST_F(SqliteStoreTest, RefusesADatabaseOfAnotherProgramWithoutTouchingIt) {
  run_sql("CREATE TABLE journal(a); PRAGMA user_version = 7");
  const auto before = platform::read_file(file_);
  const auto opened = SqliteStore::open({.file = file_});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::FailedPrecondition);
  EXPECT_EQ(platform::read_file(file_), before);
}

TEST_F(SqliteStoreTest, RefusesAFileThatIsNoDatabase) {
  ASSERT_TRUE(platform::write_file_atomically(file_, std::string(5000, 'z')));
  const auto opened = SqliteStore::open({.file = file_});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::DataLoss);
}

TEST_F(SqliteStoreTest, SaysWhichFolderIsMissing) {
  const auto opened = SqliteStore::open({.file = folder_.path() / "none" / "journal.db"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Code::Unavailable);
  EXPECT_NE(opened.error().message.find("none"), std::string::npos);
}

TEST_F(SqliteStoreTest, AReaderOfAStoreInUseSeesWhatIsCommittedAndCannotWrite) {
  const auto writer = open();
  ASSERT_TRUE(writer->append(events(1, 2)));
  const auto reader = SqliteStore::open({.file = file_, .is_read_only = true});
  ASSERT_TRUE(reader) << base::to_text(reader.error());
  EXPECT_EQ(count_readable(**reader), 2u);
  ASSERT_TRUE(writer->append(events(3, 3)));
  EXPECT_EQ(count_readable(**reader), 3u);
  EXPECT_FALSE((*reader)->acquire_epoch());
  EXPECT_FALSE((*reader)->append(events(4, 4)));
}

TEST_F(SqliteStoreTest, NamesTheFirstEventThatIsNotWhatWasWritten) {
  {
    ASSERT_TRUE(open()->append(events(1, 5)));
  }
  run_sql("UPDATE journal SET bytes = zeroblob(length(bytes)) WHERE sequence = 3");
  const auto error = read_error();
  EXPECT_EQ(error.code, Code::DataLoss);
  EXPECT_NE(error.message.find("event 3 "), std::string::npos) << error.message;
}

TEST_F(SqliteStoreTest, NoticesAnEventThatWasReplacedTogetherWithItsLink) {
  {
    ASSERT_TRUE(open()->append(events(1, 5)));
  }
  run_sql(
      "UPDATE journal SET bytes = (SELECT bytes FROM journal WHERE sequence = 2), chain ="
      " (SELECT chain FROM journal WHERE sequence = 2) WHERE sequence = 3");
  EXPECT_NE(read_error().message.find("event 3 "), std::string::npos);
}

TEST_F(SqliteStoreTest, NoticesAMissingEvent) {
  {
    ASSERT_TRUE(open()->append(events(1, 5)));
  }
  run_sql("DELETE FROM journal WHERE sequence = 3");
  EXPECT_EQ(read_error().code, Code::DataLoss);
  EXPECT_NE(read_error().message.find("event 3 is missing"), std::string::npos);
  EXPECT_NE(read_error(Sequence(3)).message.find("event 3 is missing"), std::string::npos);
  EXPECT_EQ(read_error(Sequence(4)).code, base::Error{}.code) << "the tail is sound";
}

TEST_F(SqliteStoreTest, NoticesADamagedCheckpointAndOneThatTheJournalDoesNotReach) {
  {
    const auto store = open();
    ASSERT_TRUE(store->append(events(1, 5)));
    ASSERT_TRUE(store->write_checkpoint({.sequence = Sequence(5), .bytes = "state"}));
  }
  run_sql("UPDATE checkpoint SET bytes = CAST('stale' AS BLOB)");
  EXPECT_EQ(open()->latest_checkpoint().error().code, Code::DataLoss);
  {
    ASSERT_TRUE(open()->write_checkpoint({.sequence = Sequence(5), .bytes = "state"}));
  }
  run_sql("DELETE FROM journal WHERE sequence = 5");
  EXPECT_EQ(open()->latest_checkpoint().error().code, Code::DataLoss);
}

TEST_F(SqliteStoreTest, AFullDiskIsExhaustedAndChangesNothingAndIsOverWhenThereIsRoom) {
  std::uint64_t written = 0;
  std::string head;
  {
    const auto store = open(40);
    while (true) {
      const auto appended = store->append(events(written + 1, written + 20));
      if (!appended) {
        EXPECT_EQ(appended.error().code, Code::Exhausted) << base::to_text(appended.error());
        EXPECT_FALSE(appended.error().hint.empty());
        break;
      }
      written += 20;
      head = *store->chain_head();
      ASSERT_LT(written, 10'000u) << "the limit was never met";
    }
    ASSERT_GT(written, 0u);
    EXPECT_EQ(store->last_sequence(), Sequence(written));
    EXPECT_EQ(store->chain_head(), head);
    EXPECT_EQ(count_readable(*store), written);
  }
  const auto store = open();
  EXPECT_TRUE(store->append(events(written + 1, written + 20)));
  EXPECT_EQ(count_readable(*store), written + 20);
}

TEST_F(SqliteStoreTest, AFailureBeforeTheCommitLeavesTheJournalAsItWas) {
  const auto store = open();
  ASSERT_TRUE(store->append(events(1, 2)));
  ASSERT_TRUE(platform::arm_faults("store.append.before_commit=fail"));
  EXPECT_EQ(store->append(events(3, 4)).error().code, Code::Exhausted);
  ASSERT_TRUE(platform::arm_faults(""));
  EXPECT_EQ(count_readable(*store), 2u);
  EXPECT_TRUE(store->append(events(3, 4)));
  EXPECT_EQ(count_readable(*store), 4u);
}

TEST_F(SqliteStoreTest, ACrashInAnAppendLeavesAllOfItsBatchOrNothing) {
  const std::vector<std::pair<std::string, std::uint64_t>> cases{
      {"store.append.before_commit=abort@3", 10}, {"store.append.after_commit=abort@3", 15}};
  for (const auto& [fault, survivors] : cases) {
    std::filesystem::remove(file_);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto store = open();
      static_cast<void>(platform::arm_faults(fault));
      for (std::uint64_t i = 0; i < 10; ++i)
        if (!store->append(events(i * 5 + 1, i * 5 + 5))) _exit(1);
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_EQ(WEXITSTATUS(status), 137) << "the fault never fired: " << fault;
    EXPECT_EQ(count_readable(*open()), survivors) << fault;
    std::filesystem::remove(file_ + "-wal");
    std::filesystem::remove(file_ + "-shm");
  }
}

// The child tells each append that returned; whatever moment it is killed at, all of those are
// there, and of the batch in flight all or nothing.
TEST_F(SqliteStoreTest, NothingAcknowledgedIsLostByAKill) {
  constexpr std::uint64_t kBatch = 7;
  for (int round = 1; round <= 8; ++round) {
    std::filesystem::remove(file_);
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto store = open();
      for (std::uint64_t i = 0;; ++i) {
        if (!store->append(events(i * kBatch + 1, (i + 1) * kBatch))) _exit(1);
        if (write(pipe_ends[1], "k", 1) != 1) _exit(1);
      }
    }
    close(pipe_ends[1]);
    std::uint64_t acknowledged = 0;
    char byte = 0;
    while (acknowledged < static_cast<std::uint64_t>(round * 3) &&
           read(pipe_ends[0], &byte, 1) == 1)
      ++acknowledged;
    kill(child, SIGKILL);
    while (read(pipe_ends[0], &byte, 1) == 1)
      ++acknowledged;
    close(pipe_ends[0]);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    const std::uint64_t found = count_readable(*open());
    EXPECT_GE(found, acknowledged * kBatch);
    EXPECT_EQ(found % kBatch, 0u);
    std::filesystem::remove(file_ + "-wal");
    std::filesystem::remove(file_ + "-shm");
  }
}

// A power loss may leave any prefix of the log: each must open and give a prefix of whole batches.
TEST_F(SqliteStoreTest, ATruncatedLogRecoversToAPrefixOfWholeBatches) {
  constexpr std::uint64_t kBatch = 6, kBatches = 5;
  const std::string copy = folder_.path() / "copy.db";
  const auto store = open();
  for (std::uint64_t i = 0; i < kBatches; ++i)
    ASSERT_TRUE(store->append(events(i * kBatch + 1, (i + 1) * kBatch)));
  const auto size = std::filesystem::file_size(file_ + "-wal");
  ASSERT_GT(size, 4096u);
  std::uint64_t most = 0, least = kBatch * kBatches;
  for (std::uintmax_t step = 0; step <= 41; ++step) {
    const std::uintmax_t cut = size * step / 41;
    for (const char* suffix : {"", "-wal", "-shm"})
      std::filesystem::remove(copy + suffix);
    std::filesystem::copy_file(file_, copy);
    std::filesystem::copy_file(file_ + "-wal", copy + "-wal");
    std::filesystem::resize_file(copy + "-wal", cut);
    auto opened = SqliteStore::open({.file = copy});
    ASSERT_TRUE(opened) << base::to_text(opened.error());
    const std::uint64_t found = count_readable(**opened);
    EXPECT_EQ(found % kBatch, 0u) << "log cut at " << cut;
    EXPECT_GE(found, most) << "a longer log holds no less";
    most = std::max(most, found);
    least = std::min(least, found);
    ASSERT_TRUE((*opened)->acquire_epoch());
    EXPECT_TRUE((*opened)->append(events(found + 1, found + 1))) << "it goes on from there";
  }
  EXPECT_EQ(least, 0u);
  EXPECT_EQ(most, kBatch * kBatches);
}

}  // namespace
}  // namespace store
