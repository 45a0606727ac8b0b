// The journal on a disk that loses what was not synced: whatever write or sync the process dies in,
// with or without the power, what was acknowledged is there and a batch is there whole or not at
// all.

#include "store/sqlite/volatile_disk.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>
#include <string_view>
#include <vector>

#include "platform/fault_point.h"
#include "store/sqlite/internal/volatile_files.h"
#include "store/sqlite/sqlite_store.h"
#include "testing/journal_batch.h"

namespace store {
namespace {

using model::Event;
using model::Sequence;
using testkit::batch;
using testkit::kBatch;

struct Death {};

// Dies, or fails, at one passage of one point.
class OneFault final : public platform::FaultDecider {
 public:
  OneFault(std::string_view name, std::int64_t passage, bool kills)
      : name_(name), left_(passage), kills_(kills) {}
  bool decides_to_fail(std::string_view name) override {
    if (name != name_ || --left_ != 0) return false;
    has_happened = true;
    if (kills_) throw Death{};
    return true;
  }
  bool has_happened = false;

 private:
  std::string_view name_;
  std::int64_t left_;
  bool kills_;
};

// Opens the journal and appends; gives how many batches were acknowledged.
struct Life {
  std::uint64_t acknowledged = 0;
  std::int64_t failures = 0;
};

Life live(VolatileDisk& disk, std::uint64_t batches, std::size_t checkpoint_bytes = 9'000) {
  DiskProcess process(disk);
  Life life;
  auto store = SqliteStore::open({.file = "journal.db", .vfs = process.vfs()});
  life.failures += !store;
  if (!store) return life;
  life.failures += !(*store)->acquire_epoch();
  for (std::uint64_t i = 0; i < batches; ++i) {
    const auto appended = (*store)->append(batch(life.acknowledged));
    life.acknowledged += appended.has_value();
    life.failures += !appended;
    if (i % 4 == 3 && life.acknowledged > 0)
      static_cast<void>(
          (*store)->write_checkpoint({.sequence = Sequence(life.acknowledged * kBatch),
                                      .bytes = std::string(checkpoint_bytes, 's')}));
  }
  process.kill();
  return life;
}

// What another process finds, which then goes on.
std::uint64_t batches_found(VolatileDisk& disk) {
  DiskProcess process(disk);
  auto store = SqliteStore::open({.file = "journal.db", .vfs = process.vfs()});
  EXPECT_TRUE(store) << base::to_text(store.error());
  if (!store) return 0;
  EXPECT_TRUE((*store)->acquire_epoch());
  std::vector<Event> seen;
  const auto read = (*store)->read({}, 1'000'000, [&seen](const Event& event) {
    seen.push_back(event);
    return true;
  });
  EXPECT_TRUE(read) << base::to_text(read.error());
  EXPECT_EQ(seen.size() % kBatch, 0U) << "a batch is there in part";
  const std::uint64_t found = seen.size() / kBatch;
  std::vector<Event> expected;
  for (std::uint64_t i = 0; i < found; ++i)
    for (Event& event : batch(i))
      expected.push_back(std::move(event));
  EXPECT_EQ(seen, expected);
  const auto checkpoint = (*store)->latest_checkpoint();
  EXPECT_TRUE(checkpoint) << base::to_text(checkpoint.error());
  EXPECT_TRUE((*store)->append(batch(found)));
  return found;
}

TEST(VolatileDiskTest, AJournalOutlivesItsProcessAndThePower) {
  VolatileDisk disk;
  EXPECT_EQ(live(disk, 6).acknowledged, 6U);
  disk.cut_power(base::Random(base::Seed{1}));
  EXPECT_EQ(batches_found(disk), 6U);
  EXPECT_EQ(batches_found(disk), 7U);
}

TEST(VolatileDiskTest, ADeathInAnyWriteOrSyncLosesNothingThatWasAcknowledged) {
  constexpr std::uint64_t kBatches = 9;
  for (const std::string_view point : {"disk.write", "disk.sync"}) {
    bool is_over = false;
    std::int64_t passages = 0;
    for (std::int64_t passage = 1; !is_over; ++passage) {
      // Without a power loss, and with three of them.
      for (std::uint64_t seed = 0; seed < 4; ++seed) {
        VolatileDisk disk;
        OneFault fault(point, passage, true);
        Life life;
        {
          const platform::FaultDeciderScope scope(fault);
          life = live(disk, kBatches);
        }
        is_over = !fault.has_happened;
        if (seed > 0) disk.cut_power(base::Random(base::Seed{seed}));
        const std::uint64_t found = batches_found(disk);
        ASSERT_GE(found, life.acknowledged) << point << " " << passage << " seed " << seed;
        ASSERT_LE(found, life.acknowledged + 1) << point << " " << passage << " seed " << seed;
      }
      ASSERT_LT(passage, 2000);
      passages = passage;
    }
    EXPECT_GT(passages, 15) << "too few passages of " << point;
  }
}

// A thousand pages in the log, and SQLite moves them into the file.
TEST(VolatileDiskTest, ADeathWhileTheLogIsMovedIntoTheFileLosesNothing) {
  constexpr std::uint64_t kBatches = 20;
  bool is_over = false;
  std::int64_t deaths = 0;
  for (std::int64_t passage = 1'500; !is_over; passage += 61) {
    VolatileDisk disk;
    OneFault fault("disk.write", passage, true);
    Life life;
    {
      const platform::FaultDeciderScope scope(fault);
      life = live(disk, kBatches, 1'000'000);
    }
    is_over = !fault.has_happened;
    deaths += fault.has_happened;
    if (deaths % 2 == 0)
      disk.cut_power(base::Random(base::Seed{static_cast<std::uint64_t>(passage)}));
    const std::uint64_t found = batches_found(disk);
    ASSERT_GE(found, life.acknowledged) << passage;
    ASSERT_LE(found, life.acknowledged + 1) << passage;
  }
  EXPECT_GT(deaths, 15);
}

TEST(VolatileDiskTest, AFailureOfAnyWriteOrSyncIsToldAndTheNextAppendGoesOn) {
  for (const std::string_view point : {"disk.write", "disk.full", "disk.sync", "disk.read"}) {
    bool is_over = false;
    std::int64_t told = 0;
    for (std::int64_t passage = 1; !is_over; ++passage) {
      VolatileDisk disk;
      OneFault fault(point, passage, false);
      Life life;
      {
        const platform::FaultDeciderScope scope(fault);
        life = live(disk, 9);
      }
      is_over = !fault.has_happened;
      told += life.failures;
      disk.cut_power(base::Random(base::Seed{static_cast<std::uint64_t>(passage)}));
      const std::uint64_t found = batches_found(disk);
      // All but the one that failed; where the store could not even be opened, none was asked for.
      ASSERT_EQ(found, life.acknowledged) << point << " " << passage;
      ASSERT_GE(life.acknowledged + static_cast<std::uint64_t>(life.failures) * 9, 9U);
    }
    EXPECT_GT(told, 0) << point;
  }
}

// SQLite itself, told not to sync: the disk must be able to lose what it said was committed.
TEST(VolatileDiskTest, WhatIsNotSyncedIsLost) {
  std::int64_t lost = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    VolatileDisk disk;
    const auto run = [&disk](const char* sql, bool is_killed) {
      DiskProcess process(disk);
      sqlite3* connection = nullptr;
      const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
      EXPECT_EQ(sqlite3_open_v2("notes.db", &connection, flags, process.vfs().c_str()), SQLITE_OK);
      const int code = sqlite3_exec(connection, sql, nullptr, nullptr, nullptr);
      if (is_killed) process.kill();
      sqlite3_close(connection);
      return code;
    };
    EXPECT_EQ(run("PRAGMA journal_mode = WAL; CREATE TABLE note(x)", false), SQLITE_OK);
    EXPECT_EQ(run("PRAGMA synchronous = OFF; INSERT INTO note VALUES (1)", true), SQLITE_OK);
    disk.cut_power(base::Random(base::Seed{seed}));
    // Divides by zero rows: an error where the row is gone.
    lost += run("SELECT CASE count(*) WHEN 0 THEN abs(-9223372036854775808) END FROM note",
                false) != SQLITE_OK;
  }
  EXPECT_GT(lost, 0);
}

TEST(VolatileFilesTest, PartsOfWhatWasNotSyncedAreLostInPiecesOf512Bytes) {
  base::Random random{base::Seed{3}};
  bool has_kept = false, has_lost = false;
  for (int round = 0; round < 20; ++round) {
    sqlite::VolatileFile file;
    file.write(0, std::string(2048, 'a'));
    file.sync();
    file.write(100, std::string(1500, 'b'));
    EXPECT_EQ(file.content().substr(100, 1500), std::string(1500, 'b'));
    file.lose_unsynced(random);
    ASSERT_EQ(file.content().size(), 2048U);
    EXPECT_EQ(file.content().substr(0, 100), std::string(100, 'a'));
    EXPECT_EQ(file.content().substr(1600), std::string(448, 'a'));
    for (const std::size_t piece : {100, 512, 1024, 1536}) {
      const std::size_t end = std::min<std::size_t>(1600, (piece / 512 + 1) * 512);
      const std::string there = file.content().substr(piece, end - piece);
      const bool is_new = there == std::string(end - piece, 'b');
      EXPECT_TRUE(is_new || there == std::string(end - piece, 'a')) << piece;
      (is_new ? has_kept : has_lost) = true;
    }
  }
  EXPECT_TRUE(has_kept && has_lost);
}

TEST(VolatileFilesTest, ANameIsSafeWhenItsFolderIsSynced) {
  base::Random random{base::Seed{4}};
  int kept = 0, returned = 0;
  for (int round = 0; round < 20; ++round) {
    sqlite::VolatileFiles files;
    files.create("old");
    files.sync_folder();
    files.create("new");
    EXPECT_TRUE(files.remove("old"));
    EXPECT_FALSE(files.remove("old"));
    files.cut_power(random);
    kept += files.find("new") != nullptr;
    returned += files.find("old") != nullptr;
  }
  EXPECT_GT(kept, 0);
  EXPECT_LT(kept, 20);
  EXPECT_GT(returned, 0);
  EXPECT_LT(returned, 20);
}

}  // namespace
}  // namespace store
