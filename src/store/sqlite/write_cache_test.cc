// A process with a write cache of its own dies: what it said was done is on the disk, and what was
// never synced need not be.

#include "store/sqlite/write_cache.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "platform/file.h"
#include "store/sqlite/sqlite_store.h"
#include "testing/journal_batch.h"

namespace store {
namespace {

using model::Event;
using model::Sequence;
using testkit::batch;
using testkit::kBatch;

// In a process that kills itself when the deed is done; a deed that returns false has failed.
void die_after(const std::function<bool()>& deed) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (deed()) kill(getpid(), SIGKILL);
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the deed failed";
}

class WriteCacheTest : public testing::Test {
 protected:
  platform::TemporaryFolder folder_;
  std::string file_ = folder_.path() / "journal.db";
};

TEST_F(WriteCacheTest, WhatWasAcknowledgedOutlivesTheProcess) {
  std::uint64_t batches = 0;
  for (std::uint64_t life = 1; life <= 12; ++life) {
    die_after([&] {
      WriteCache cache(base::Seed{life});
      auto store = SqliteStore::open({.file = file_, .vfs = cache.vfs()});
      if (!store || !(*store)->acquire_epoch()) return false;
      for (std::uint64_t i = 0; i < life; ++i)
        if (!(*store)->append(batch(batches + i))) return false;
      // Enough pages for SQLite to move the log into the file.
      return (*store)
          ->write_checkpoint({.sequence = Sequence((batches + life) * kBatch),
                              .bytes = std::string(life % 4 == 0 ? 6'000'000 : 9'000, 's')})
          .has_value();
    });
    if (HasFatalFailure()) return;
    batches += life;
    // Another process, without the cache, finds everything.
    const auto store = SqliteStore::open({.file = file_});
    ASSERT_TRUE(store) << base::to_text(store.error());
    std::uint64_t found = 0;
    const auto read = (*store)->read({}, 1'000'000, [&found](const Event& event) {
      EXPECT_EQ(event, batch(found / kBatch)[found % kBatch]);
      ++found;
      return true;
    });
    ASSERT_TRUE(read) << base::to_text(read.error());
    EXPECT_EQ(found, batches * kBatch) << "life " << life;
    const auto checkpoint = (*store)->latest_checkpoint();
    ASSERT_TRUE(checkpoint && *checkpoint);
    EXPECT_EQ((*checkpoint)->sequence, Sequence(found));
  }
}

// Who dies next leaves its connection open: closing it syncs.
enum class After { Dies, Closes };
int run_sql(const std::string& file, const std::string& vfs, const char* sql, After after) {
  sqlite3* connection = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const char* way = vfs.empty() ? nullptr : vfs.c_str();
  if (sqlite3_open_v2(file.c_str(), &connection, flags, way) != SQLITE_OK) return SQLITE_CANTOPEN;
  const int code = sqlite3_exec(connection, sql, nullptr, nullptr, nullptr);
  if (after == After::Closes) sqlite3_close(connection);
  return code;
}

// SQLite itself, told not to sync: the same kill must be able to take what it said was committed.
TEST_F(WriteCacheTest, WhatIsNotSyncedMayBeLost) {
  constexpr int kRounds = 16;
  int lost = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string file = folder_.path() / ("notes" + std::to_string(round) + ".db");
    die_after([&] {
      WriteCache cache(base::Seed{static_cast<std::uint64_t>(round)});
      return run_sql(file, cache.vfs(), "PRAGMA journal_mode = WAL; CREATE TABLE note(x)",
                     After::Dies) == SQLITE_OK &&
             run_sql(file, cache.vfs(), "PRAGMA synchronous = OFF; INSERT INTO note VALUES (1)",
                     After::Dies) == SQLITE_OK;
    });
    if (HasFatalFailure()) return;
    // An error where there is no row.
    constexpr const char* kSql =
        "SELECT CASE count(*) WHEN 0 THEN abs(-9223372036854775808) END FROM note";
    lost += run_sql(file, "", kSql, After::Closes) != SQLITE_OK;
  }
  EXPECT_GT(lost, 0);
}

// One process sees all that it wrote, on a second connection and at any offset, as a disk would
// show it.
TEST_F(WriteCacheTest, AProcessReadsWhatItWroteBeforeItIsSynced) {
  WriteCache cache(base::Seed{3});
  const std::string file = folder_.path() / "notes.db";
  sqlite3* writer = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  ASSERT_EQ(sqlite3_open_v2(file.c_str(), &writer, flags, cache.vfs().c_str()), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(writer,
                         "PRAGMA synchronous = OFF; PRAGMA journal_mode = DELETE;"
                         "CREATE TABLE note(x, text)",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  for (int i = 0; i < 200; ++i)
    ASSERT_EQ(sqlite3_exec(writer,
                           ("INSERT INTO note VALUES (" + std::to_string(i) +
                            ", zeroblob(777)); DELETE FROM note WHERE x % 7 = 3; VACUUM")
                               .c_str(),
                           nullptr, nullptr, nullptr),
              SQLITE_OK)
        << sqlite3_errmsg(writer);
  sqlite3* reader = nullptr;
  ASSERT_EQ(sqlite3_open_v2(file.c_str(), &reader, flags, cache.vfs().c_str()), SQLITE_OK);
  std::string answer;
  const auto take = [](void* into, int, char** values, char**) {
    *static_cast<std::string*>(into) += std::string(values[0]) + " ";
    return 0;
  };
  ASSERT_EQ(sqlite3_exec(reader, "SELECT count(*) FROM note; PRAGMA integrity_check", take, &answer,
                         nullptr),
            SQLITE_OK);
  EXPECT_EQ(answer, "171 ok ");
  sqlite3_close(reader);
  sqlite3_close(writer);
}

}  // namespace
}  // namespace store
