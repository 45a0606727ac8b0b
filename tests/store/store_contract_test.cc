// One suite for every store: what controller/store.h promises, checked on each implementation
// through the seam alone. A world gives a fresh journal and can open it again and again, as a
// second process or a restart would.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "base/codec.h"
#include "controller/journal_chain.h"
#include "controller/store.h"
#include "platform/file.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/volatile_disk.h"
#include "store/sqlite/write_cache.h"

namespace {

using base::Code;
using controller::Store;
using model::Event;
using model::Sequence;

class StoreWorld {
 public:
  virtual ~StoreWorld() = default;
  virtual std::unique_ptr<Store> open() = 0;
};

class MemoryWorld final : public StoreWorld {
 public:
  std::unique_ptr<Store> open() override { return std::make_unique<store::MemoryStore>(journal_); }

 private:
  std::shared_ptr<store::MemoryJournal> journal_ = store::make_memory_journal();
};

class SqliteWorld final : public StoreWorld {
 public:
  std::unique_ptr<Store> open() override {
    auto opened = store::SqliteStore::open({.file = folder_.path() / "journal.db"});
    if (!opened) ADD_FAILURE() << base::to_text(opened.error());
    return std::move(*opened);
  }

 private:
  platform::TemporaryFolder folder_;
};

class VolatileWorld final : public StoreWorld {
 public:
  std::unique_ptr<Store> open() override {
    processes_.push_back(std::make_unique<store::DiskProcess>(disk_));
    auto opened = store::SqliteStore::open({.file = "journal.db", .vfs = processes_.back()->vfs()});
    if (!opened) ADD_FAILURE() << base::to_text(opened.error());
    return std::move(*opened);
  }

 private:
  store::VolatileDisk disk_;
  std::vector<std::unique_ptr<store::DiskProcess>> processes_;
};

class WriteCacheWorld final : public StoreWorld {
 public:
  std::unique_ptr<Store> open() override {
    auto opened =
        store::SqliteStore::open({.file = folder_.path() / "journal.db", .vfs = cache_.vfs()});
    if (!opened) ADD_FAILURE() << base::to_text(opened.error());
    return std::move(*opened);
  }

 private:
  platform::TemporaryFolder folder_;
  store::WriteCache cache_{base::Seed{7}};
};

struct Implementation {
  const char* name;
  std::function<std::unique_ptr<StoreWorld>()> make_world;
};
void PrintTo(const Implementation& implementation, std::ostream* out) {
  *out << implementation.name;
}

Event an_event(std::uint64_t sequence, std::string text = "x") {
  return {.sequence = Sequence(sequence),
          .at = base::Instant{1000 + static_cast<std::int64_t>(sequence)},
          .actor = "ann",
          .body = model::CommandRefused{
              .command = "submit", .code = "NotFound", .message = std::move(text)}};
}

std::vector<Event> events(std::uint64_t first, std::uint64_t last) {
  std::vector<Event> batch;
  for (std::uint64_t i = first; i <= last; ++i)
    batch.push_back(an_event(i));
  return batch;
}

std::vector<Event> read_all(Store& store, Sequence after = {}, std::size_t limit = 1'000'000) {
  std::vector<Event> seen;
  const auto done = store.read(after, limit, [&seen](const Event& event) {
    seen.push_back(event);
    return true;
  });
  EXPECT_TRUE(done) << base::to_text(done.error());
  return seen;
}

class StoreContract : public testing::TestWithParam<Implementation> {
 protected:
  std::unique_ptr<StoreWorld> world_ = GetParam().make_world();
  // The journal in the hands of one writer.
  std::unique_ptr<Store> owned() {
    auto store = world_->open();
    EXPECT_TRUE(store->acquire_epoch());
    return store;
  }
};

TEST_P(StoreContract, IsEmptyAtFirst) {
  const auto store = world_->open();
  EXPECT_EQ(store->last_sequence(), Sequence(0));
  EXPECT_TRUE(read_all(*store).empty());
  EXPECT_EQ(store->latest_checkpoint()->has_value(), false);
  EXPECT_EQ(store->chain_head(), std::string(64, '0'));
}

TEST_P(StoreContract, GivesBackExactlyWhatWasAppended) {
  const auto store = owned();
  ASSERT_TRUE(store->append(events(1, 3)));
  ASSERT_TRUE(store->append(events(4, 4)));
  EXPECT_EQ(store->last_sequence(), Sequence(4));
  EXPECT_EQ(read_all(*store), events(1, 4));
}

TEST_P(StoreContract, KeepsBytesOfEveryKindIntact) {
  const auto store = owned();
  std::string odd("\0\x01\xff'\";--\n", 9);
  odd.append(100'000, 'y');
  ASSERT_TRUE(store->append(std::vector{an_event(1, odd), an_event(2, "")}));
  EXPECT_EQ(read_all(*store), (std::vector{an_event(1, odd), an_event(2, "")}));
}

TEST_P(StoreContract, ReadsAfterASequenceUpToALimitAndUntilToldToStop) {
  const auto store = owned();
  ASSERT_TRUE(store->append(events(1, 10)));
  EXPECT_EQ(read_all(*store, Sequence(7)), events(8, 10));
  EXPECT_EQ(read_all(*store, Sequence(2), 3), events(3, 5));
  EXPECT_TRUE(read_all(*store, Sequence(10)).empty());
  EXPECT_TRUE(read_all(*store, Sequence(99)).empty());
  EXPECT_TRUE(read_all(*store, Sequence(0), 0).empty());
  int visits = 0;
  ASSERT_TRUE(store->read(Sequence(0), 100, [&visits](const Event&) { return ++visits < 2; }));
  EXPECT_EQ(visits, 2);
}

TEST_P(StoreContract, AnEmptyBatchChangesNothing) {
  const auto store = owned();
  ASSERT_TRUE(store->append({}));
  EXPECT_EQ(store->last_sequence(), Sequence(0));
}

TEST_P(StoreContract, RefusesAGapARepetitionAndABatchWithAHoleAsAWhole) {
  const auto store = owned();
  ASSERT_TRUE(store->append(events(1, 2)));
  EXPECT_EQ(store->append(events(4, 4)).error().code, Code::Conflict);
  EXPECT_EQ(store->append(events(2, 3)).error().code, Code::Conflict);
  EXPECT_EQ(store->append(std::vector{an_event(3), an_event(5)}).error().code, Code::Conflict);
  EXPECT_EQ(read_all(*store), events(1, 2));
  EXPECT_TRUE(store->append(events(3, 3)));
}

TEST_P(StoreContract, SurvivesTheStoreThatWroteIt) {
  {
    ASSERT_TRUE(owned()->append(events(1, 5)));
  }
  const auto store = world_->open();
  EXPECT_EQ(store->last_sequence(), Sequence(5));
  EXPECT_EQ(read_all(*store), events(1, 5));
}

TEST_P(StoreContract, EpochsGrowWithEveryTakeoverAndOverRestarts) {
  model::Epoch last;
  for (int i = 0; i < 3; ++i) {
    const auto epoch = world_->open()->acquire_epoch();
    ASSERT_TRUE(epoch);
    EXPECT_GT(*epoch, last);
    last = *epoch;
  }
}

TEST_P(StoreContract, AnOlderEpochCanNeitherAppendNorWriteACheckpoint) {
  const auto old_store = owned();
  ASSERT_TRUE(old_store->append(events(1, 1)));
  const auto new_store = owned();
  EXPECT_EQ(old_store->append(events(2, 2)).error().code, Code::Conflict);
  EXPECT_EQ(old_store->write_checkpoint({.sequence = Sequence(1), .bytes = "old"}).error().code,
            Code::Conflict);
  EXPECT_TRUE(new_store->append(events(2, 2)));
  EXPECT_EQ(old_store->append(events(3, 3)).error().code, Code::Conflict);
  EXPECT_EQ(read_all(*old_store), events(1, 2)) << "reading goes on";
  EXPECT_FALSE(new_store->latest_checkpoint()->has_value());
}

TEST_P(StoreContract, KeepsTheLatestCheckpointAcrossRestarts) {
  {
    const auto store = owned();
    ASSERT_TRUE(store->append(events(1, 5)));
    ASSERT_TRUE(store->write_checkpoint({.sequence = Sequence(2), .bytes = "two"}));
    ASSERT_TRUE(store->write_checkpoint({.sequence = Sequence(5), .bytes = std::string(1, '\0')}));
  }
  const auto checkpoint = world_->open()->latest_checkpoint();
  ASSERT_TRUE(checkpoint && checkpoint->has_value());
  EXPECT_EQ((*checkpoint)->sequence, Sequence(5));
  EXPECT_EQ((*checkpoint)->bytes, std::string(1, '\0'));
}

TEST_P(StoreContract, RefusesACheckpointOfEventsThatItDoesNotHave) {
  const auto store = owned();
  ASSERT_TRUE(store->append(events(1, 5)));
  EXPECT_EQ(store->write_checkpoint({.sequence = Sequence(6), .bytes = "six"}).error().code,
            Code::Conflict);
  EXPECT_FALSE(store->latest_checkpoint()->has_value());
}

TEST_P(StoreContract, TheChainHeadIsTheHashOverEveryEventInOrder) {
  const auto store = owned();
  ASSERT_TRUE(store->append(events(1, 2)));
  controller::ChainLink link{};
  for (const Event& event : events(1, 2))
    link = controller::next_link(link, base::encode(event));
  EXPECT_EQ(store->chain_head(), controller::to_hex(link));
  ASSERT_TRUE(store->append(events(3, 3)));
  link = controller::next_link(link, base::encode(an_event(3)));
  EXPECT_EQ(store->chain_head(), controller::to_hex(link));
}

TEST_P(StoreContract, ReadersOfOtherThreadsSeeWholeBatchesWhileTheWriterAppends) {
  const auto store = owned();
  constexpr std::uint64_t kBatch = 5, kBatches = 40;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 2; ++reader)
    readers.emplace_back([&store] {
      std::size_t seen = 0;
      while (seen < kBatch * kBatches) {
        const std::size_t now = read_all(*store).size();
        EXPECT_GE(now, seen);
        EXPECT_EQ(now % kBatch, 0u);
        if (testing::Test::HasFailure()) return;
        seen = now;
      }
    });
  for (std::uint64_t i = 0; i < kBatches; ++i)
    EXPECT_TRUE(store->append(events(i * kBatch + 1, (i + 1) * kBatch)));
  for (std::thread& reader : readers)
    reader.join();
}

TEST_P(StoreContract, AVisitorMayUseTheStore) {
  const auto store = owned();
  ASSERT_TRUE(store->append(events(1, 3)));
  ASSERT_TRUE(store->read(Sequence(0), 10, [&store](const Event& event) {
    EXPECT_EQ(store->last_sequence(), Sequence(3));
    EXPECT_EQ(read_all(*store, event.sequence).size(), 3 - event.sequence.value);
    return true;
  }));
}

// Random batches, good and bad, with restarts in between, against a plain vector.
TEST_P(StoreContract, BehavesLikeAVectorOfEvents) {
  EXPECT_TRUE(rc::check("a store is a vector of events", [] {
    const auto world = GetParam().make_world();
    auto store = world->open();
    RC_ASSERT(store->acquire_epoch().has_value());
    std::vector<Event> expected;
    const auto steps = *rc::gen::inRange(1, 12);
    for (int step = 0; step < steps; ++step) {
      const auto kind = *rc::gen::inRange(0, 8);
      if (kind == 0) {
        store.reset();
        store = world->open();
        RC_ASSERT(store->acquire_epoch().has_value());
        continue;
      }
      const std::uint64_t shift = kind == 1 ? *rc::gen::inRange<std::uint64_t>(1, 3) : 0;
      const std::uint64_t count = *rc::gen::inRange<std::uint64_t>(1, 6);
      std::vector<Event> batch;
      for (std::uint64_t i = 1; i <= count; ++i)
        batch.push_back(an_event(expected.size() + i + shift, *rc::gen::arbitrary<std::string>()));
      RC_ASSERT(store->append(batch).has_value() == (shift == 0));
      if (shift == 0) expected.insert(expected.end(), batch.begin(), batch.end());
    }
    RC_ASSERT(read_all(*store) == expected);
    RC_ASSERT(store->last_sequence().value().value == expected.size());
  }));
}

INSTANTIATE_TEST_SUITE_P(
    Stores, StoreContract,
    testing::Values(Implementation{"memory", [] { return std::make_unique<MemoryWorld>(); }},
                    Implementation{"sqlite", [] { return std::make_unique<SqliteWorld>(); }},
                    Implementation{"volatile", [] { return std::make_unique<VolatileWorld>(); }},
                    Implementation{"write_cache",
                                   [] { return std::make_unique<WriteCacheWorld>(); }}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
