// The daemon's ledger: fed commit by commit it says what the journal says when it is read from the
// beginning, and a restart changes no number.

#include "daemon/ledger_book.h"

#include <gtest/gtest.h>

#include "tests/controller/bench.h"

namespace {

using berthd::LedgerBook;
using controller_test::Bench;
using governance::UsageBy;
using testkit::a_node;
using testkit::a_workload;

governance::UsageCounts of_user(const LedgerBook& book, const Bench& bench) {
  for (const governance::UsageLine& line : book.ledger()->usage(UsageBy::User, {}, bench.now))
    if (line.key.user == "ann") return line.counts;
  return {};
}

class LedgerBookTest : public testing::Test {
 protected:
  // As the daemon: read after recovery, then fed.
  void follow(LedgerBook& book) {
    const auto read = book.read();
    ASSERT_TRUE(read) << base::to_text(read.error());
    bench_.controller->on_commit(
        [&book](const std::vector<model::Event>& events) { book.observe(events); });
  }
  void expect_same(const LedgerBook& fed) {
    LedgerBook fresh(*bench_.store);
    ASSERT_TRUE(fresh.read());
    for (const UsageBy by :
         {UsageBy::Queue, UsageBy::User, UsageBy::Class, UsageBy::Kind, UsageBy::Pool}) {
      const auto expected = fresh.ledger()->usage(by, {}, bench_.now);
      const auto found = fed.ledger()->usage(by, {}, bench_.now);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].key, expected[i].key);
        EXPECT_EQ(found[i].counts, expected[i].counts);
      }
    }
  }

  Bench bench_;
};

TEST_F(LedgerBookTest, SaysNothingBeforeHistoryWasRead) {
  LedgerBook book(*bench_.store);
  EXPECT_EQ(book.ledger(), nullptr);
  bench_.store->read_failure = base::Error{.code = base::Code::DataLoss, .message = "damaged"};
  EXPECT_FALSE(book.read());
  EXPECT_EQ(book.ledger(), nullptr);
  book.observe(std::vector<model::Event>{{.sequence = model::Sequence(900)}});  // and does not mind
}

TEST_F(LedgerBookTest, CountsWhatStartsAndEndsInOneCommit) {
  LedgerBook book(*bench_.store);
  follow(book);
  bench_.see(a_node("n1").gpus(8));
  const auto first = bench_.submit(a_workload("w1").gpus(8));
  bench_.settle();
  bench_.advance(base::hours(1));
  bench_.submit(a_workload("w2").gpus(8));
  // The end of the first and the start of the second are one batch.
  bench_.backend.end({.workload = first, .ordinal = 1}, model::EndClass::Ok);
  bench_.settle();
  bench_.advance(base::hours(1));
  const governance::UsageCounts counts = of_user(book, bench_);
  EXPECT_EQ(counts.started, 2);
  EXPECT_EQ(counts.completed, 1);
  EXPECT_EQ(counts.allocated, 2 * 8000 * base::hours(1).millis);
  expect_same(book);
}

TEST_F(LedgerBookTest, ARestartWithACheckpointChangesNoNumber) {
  bench_.options.checkpoint_every_events = 1;
  bench_.open();
  governance::UsageCounts before;
  {
    LedgerBook book(*bench_.store);
    follow(book);
    bench_.see(a_node("n1").gpus(8));
    bench_.submit(a_workload("w1").gpus(4));
    bench_.settle();
    bench_.advance(base::hours(3));
    before = of_user(book, bench_);
    EXPECT_EQ(before.allocated, 4000 * base::hours(3).millis);
  }
  bench_.open();
  LedgerBook after(*bench_.store);
  follow(after);
  EXPECT_EQ(of_user(after, bench_), before);
  bench_.advance(base::hours(1));
  EXPECT_EQ(of_user(after, bench_).allocated, 4000 * base::hours(4).millis);
  expect_same(after);
}

// The disk took the batch and then reported an error, so nobody was told of it.
TEST_F(LedgerBookTest, ACommitThatOnlySeemedToFailIsReadLater) {
  LedgerBook book(*bench_.store);
  follow(book);
  bench_.see(a_node("n1").gpus(8));
  bench_.controller->on_commit({});
  bench_.submit(a_workload("w1").gpus(8));
  bench_.settle();
  bench_.controller->on_commit(
      [&book](const std::vector<model::Event>& events) { book.observe(events); });
  bench_.submit(a_workload("w2").gpus(8));
  EXPECT_EQ(of_user(book, bench_).started, 1);
  expect_same(book);
}

TEST_F(LedgerBookTest, ACommitThatFailedIsNotCounted) {
  LedgerBook book(*bench_.store);
  follow(book);
  bench_.see(a_node("n1").gpus(8));
  bench_.store->append_failure = base::Error{.code = base::Code::Exhausted, .message = "disk full"};
  EXPECT_FALSE(bench_.try_submit(a_workload("w1").gpus(8)));
  EXPECT_EQ(of_user(book, bench_).started, 0);
  bench_.store->append_failure.reset();
  bench_.submit(a_workload("w1").gpus(8));
  bench_.settle();
  EXPECT_EQ(of_user(book, bench_).started, 1);
  expect_same(book);
}

}  // namespace
