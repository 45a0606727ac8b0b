// The daemon's loop thread: commands from many threads are answered after their commit, reads run
// between turns, what backends see arrives, stopping answers what was accepted.

#include "daemon/loop.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "platform/system_clock.h"
#include "tests/controller/bench.h"

namespace {

using controller::Reply;
using controller_test::document_of;
using testkit::a_node;
using testkit::a_workload;

constexpr auto kPatience = std::chrono::seconds(20);

// Reports at once what it is told to start, from its own thread's point of view: the loop's.
class WatchedBackend final : public controller::ClusterBackend {
 public:
  std::string_view name() const override { return "recording"; }
  void watch(controller::ObservationSink sink) override {
    sink_ = std::move(sink);
    model::Node node = a_node("n1").cpus(64).node();
    node.backend = "recording";
    sink_(controller::NodeReport{.node = node, .pool = {}});
  }
  base::Result<std::vector<controller::AttemptReport>> list() override {
    return std::vector<controller::AttemptReport>{};
  }
  void start(const controller::StartEffect& effect) override {
    sink_(controller::RunningReport{effect.attempt});
    sink_(controller::EndReport{.attempt = effect.attempt, .members = {{.rank = 0}}});
  }
  void stop(const controller::StopEffect&) override {}
  void forget(model::AttemptId) override {}
  base::Result<controller::LogChunk> read_log(const controller::LogRequest&) override {
    return base::fail(base::Code::NotFound, "no logs here");
  }

 private:
  controller::ObservationSink sink_;
};

class LoopTest : public testing::Test {
 protected:
  LoopTest() { EXPECT_TRUE(controller_.recover(platform::system_now())); }

  base::Result<Reply> submit(const std::string& name) {
    std::promise<base::Result<Reply>> promise;
    auto future = promise.get_future();
    const bool is_taken = loop_.command(
        {.body = controller::Apply{.document = document_of(a_workload(name))},
         .caller = {.user = "ann"}},
        [&promise](base::Result<Reply> reply) { promise.set_value(std::move(reply)); });
    if (!is_taken) return base::fail(base::Code::Unavailable, "not taken");
    if (future.wait_for(kPatience) != std::future_status::ready) std::abort();
    return future.get();
  }

  // Readiness follows the turn, reads follow readiness.
  bool is_ready() {
    std::promise<void> done;
    if (!loop_.read([&done](const controller::Controller&, base::Instant) { done.set_value(); }))
      return false;
    done.get_future().wait();
    return loop_.readiness().has_value();
  }

  std::shared_ptr<store::MemoryJournal> journal_ = store::make_memory_journal();
  controller_test::FaultyStore store_{journal_};
  WatchedBackend backend_;
  controller::Controller controller_{{.version = "test"}, store_, {&backend_}};
  std::promise<void> fenced_;
  berthd::Loop loop_{controller_, {&backend_}, [this] { fenced_.set_value(); }};
};

TEST_F(LoopTest, IsReadyOnceItTurns) {
  EXPECT_FALSE(loop_.readiness());
  loop_.start();
  EXPECT_TRUE(submit("w1"));
  EXPECT_TRUE(is_ready());
}

TEST_F(LoopTest, AnswersCommandsOfManyThreadsAndRunsWhatTheySubmit) {
  std::promise<void> all_done;
  int completed = 0;
  loop_.subscribe([&](const std::vector<model::Event>& events) {
    for (const model::Event& event : events)
      if (std::holds_alternative<model::MembersEnded>(event.body) && ++completed == 40)
        all_done.set_value();
  });
  loop_.start();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([this, t] {
      for (int i = 0; i < 10; ++i)
        EXPECT_TRUE(submit("w" + std::to_string(t) + "-" + std::to_string(i)));
    });
  for (std::thread& thread : threads)
    thread.join();
  ASSERT_EQ(all_done.get_future().wait_for(kPatience), std::future_status::ready);
  std::promise<std::size_t> finished;
  ASSERT_TRUE(loop_.read([&](const controller::Controller& controller, base::Instant) {
    finished.set_value(controller.state().finished.size());
  }));
  EXPECT_EQ(finished.get_future().get(), 40u);
}

TEST_F(LoopTest, StoppingAnswersWhatWasTakenAndTakesNothingMore) {
  loop_.start();
  int answered = 0;
  for (int i = 0; i < 50; ++i)
    ASSERT_TRUE(loop_.command(
        {.body = controller::Apply{.document = document_of(a_workload("w" + std::to_string(i)))},
         .caller = {.user = "ann"}},
        [&answered](const base::Result<Reply>& reply) { answered += reply ? 1 : 0; }));
  loop_.stop();
  EXPECT_EQ(answered, 50);
  EXPECT_FALSE(submit("late"));
  EXPECT_FALSE(loop_.read([](const controller::Controller&, base::Instant) { FAIL(); }));
  EXPECT_FALSE(loop_.readiness());
}

TEST_F(LoopTest, ACommitThatFailsIsToldAndTriedAgainUntilItWorks) {
  loop_.start();
  ASSERT_TRUE(submit("w1"));
  std::promise<void> read;
  // On the loop's thread, so that the store is not changed under its hands.
  ASSERT_TRUE(loop_.read([&](const controller::Controller&, base::Instant) {
    store_.append_failure = base::Error{.code = base::Code::Exhausted, .message = "disk full"};
    read.set_value();
  }));
  read.get_future().wait();
  EXPECT_EQ(submit("w2").error().code, base::Code::Exhausted);
  EXPECT_FALSE(is_ready());
  std::promise<void> repaired;
  ASSERT_TRUE(loop_.read([&](const controller::Controller&, base::Instant) {
    store_.append_failure.reset();
    repaired.set_value();
  }));
  repaired.get_future().wait();
  EXPECT_TRUE(submit("w2"));
  EXPECT_TRUE(is_ready());
}

TEST_F(LoopTest, FeedsTheLedgerAndTheMetrics) {
  berthd::LedgerBook book(store_);
  ASSERT_TRUE(book.read());
  telemetry::Metrics metrics({.version = "test"});
  berthd::Loop loop(controller_, {&backend_}, [] {}, {.book = &book, .metrics = &metrics});
  std::promise<void> ended;
  loop.subscribe([&](const std::vector<model::Event>& events) {
    for (const model::Event& event : events)
      if (std::holds_alternative<model::MembersEnded>(event.body)) ended.set_value();
  });
  loop.start();
  ASSERT_TRUE(loop.command({.body = controller::Apply{.document = document_of(a_workload("w1"))},
                            .caller = {.user = "ann"}},
                           [](const base::Result<Reply>&) {}));
  ASSERT_EQ(ended.get_future().wait_for(kPatience), std::future_status::ready);
  std::promise<std::int64_t> completed;
  ASSERT_TRUE(loop.read([&](const controller::Controller& controller, base::Instant now) {
    const auto lines = loop.ledger()->usage(governance::UsageBy::User, {}, now);
    completed.set_value(lines.empty() ? 0 : lines[0].counts.completed);
    EXPECT_EQ(loop.node_use(controller.state().nodes.at(model::NodeId(1)).node), api::NodeUse{});
  }));
  EXPECT_EQ(completed.get_future().get(), 1);
  loop.stop();
  const std::string text = metrics.text();
  EXPECT_NE(text.find("\nberth_starts_total 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nberth_nodes{condition=\"ready\"} 1\n"), std::string::npos) << text;
}

TEST_F(LoopTest, ALoopThatLostItsJournalEndsAndSaysSo) {
  loop_.start();
  ASSERT_TRUE(submit("w1"));
  store::MemoryStore other(journal_);
  ASSERT_TRUE(other.acquire_epoch());
  EXPECT_EQ(submit("w2").error().code, base::Code::Conflict);
  EXPECT_EQ(fenced_.get_future().wait_for(kPatience), std::future_status::ready);
  EXPECT_FALSE(loop_.readiness());
}

}  // namespace
