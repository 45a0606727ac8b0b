#include "telemetry/metrics.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>

namespace telemetry {
namespace {

constexpr model::PoolId kPool{1};

// Two queues under one tenant; the first holds 1.5 devices of four.
model::State a_state() {
  model::State state;
  const auto add_queue = [&state](std::uint32_t id,
                                  const std::string& name) -> model::QueueRecord& {
    state.queue_by_name[name] = model::QueueId(id);
    model::QueueRecord record;
    record.queue.id = model::QueueId(id);
    record.queue.name = name;
    record.path = {model::QueueId(id)};
    return state.queues.insert(model::QueueId(id), std::move(record));
  };
  state.pool_by_name["h800"] = kPool;
  state.pools.insert(kPool, {.pool = {.id = kPool, .name = "h800"}});
  add_queue(1, "nlp").held.add({kPool, model::kDevice}, 1500);
  add_queue(2, "vision").queue.quotas = {
      {.dimension = {kPool, model::kDevice}, .guarantee = 2000, .lend = {}, .max = 4000}};
  state.held.add({kPool, model::kDevice}, 1500);
  state.free.add({kPool, model::kDevice}, 2500);
  model::WorkloadRecord waiting;
  waiting.workload.id = model::WorkloadId(1);
  waiting.workload.queue = model::QueueId(2);
  state.workloads.insert(model::WorkloadId(1), waiting);
  state.last_sequence = model::Sequence(42);
  return state;
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(Metrics, GaugesAreTheStateAndNothingOfAnEarlierOneStays) {
  Metrics metrics({.version = "1.2"});
  metrics.see_state(a_state());
  const std::string text = metrics.text();
  for (const char* line :
       {"berth_build_info{version=\"1.2\"} 1", "berth_pending_workloads{queue=\"nlp\"} 0",
        "berth_pending_workloads{queue=\"vision\"} 1",
        "berth_queue_held_devices{pool=\"h800\",queue=\"nlp\"} 1.5",
        "berth_queue_guarantee_devices{pool=\"h800\",queue=\"vision\"} 2",
        "berth_queue_max_devices{pool=\"h800\",queue=\"vision\"} 4",
        "berth_pool_devices{pool=\"h800\",state=\"free\"} 2.5", "berth_journal_sequence 42"})
    EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
  metrics.see_state(model::State{});
  EXPECT_EQ(metrics.text().find("queue=\"nlp\""), std::string::npos);
}

TEST(Metrics, QueuesBeyondTheLimitAreSummedAndNotLost) {
  model::State state;
  for (std::uint32_t i = 1; i <= 50; ++i) {
    model::QueueRecord record;
    record.queue.id = model::QueueId(i);
    record.queue.name = "q" + std::to_string(100 + i);
    record.path = {record.queue.id};
    record.held.add({kPool, model::kDevice}, 1000);
    state.queue_by_name[record.queue.name] = record.queue.id;
    state.queues.insert(model::QueueId(i), record);
  }
  state.pool_by_name["p"] = kPool;
  Metrics metrics({.max_queues = 10});
  metrics.see_state(state);
  const std::string text = metrics.text();
  EXPECT_TRUE(has_line(text, "berth_queue_held_devices{pool=\"p\",queue=\"q101\"} 1")) << text;
  EXPECT_TRUE(has_line(text, "berth_queue_held_devices{pool=\"p\",queue=\"_other\"} 40"));
  EXPECT_EQ(text.find("q111"), std::string::npos);
}

TEST(Metrics, EventsAreCountedByKindCauseAndClass) {
  model::State state = a_state();
  model::WorkloadRecord& record = state.workloads.at(model::WorkloadId(1));
  record.queued_since = base::Instant{0};
  const model::AttemptId attempt{.workload = model::WorkloadId(1), .ordinal = 1};
  const model::Event start{
      .sequence = model::Sequence(1),
      .at = base::Instant{90'000},
      .body = model::Decided{.decision = {.body = model::Start{.attempt = attempt}}}};
  const model::Event evict{
      .sequence = model::Sequence(2),
      .at = base::Instant{95'000},
      .body = model::Decided{.decision = {.body = model::Evict{.victims = {attempt, attempt},
                                                               .cause = model::Reason::Reclaim}}}};
  const model::Event end{.sequence = model::Sequence(3),
                         .at = base::Instant{99'000},
                         .body = model::MembersEnded{.attempt = attempt, .members = {{}}}};
  record.attempts.push_back({.id = attempt,
                             .phase = model::AttemptPhase::Ended,
                             .ended = base::Instant{99'000},
                             .end_class = model::EndClass::Reclaimed});
  Metrics metrics({});
  metrics.see_events(state, {start, evict, end});
  const std::string text = metrics.text();
  for (const char* line :
       {"berth_starts_total 1", "berth_evictions_total{cause=\"Reclaim\"} 2",
        "berth_events_total{kind=\"start\"} 1", "berth_events_total{kind=\"evict\"} 1",
        "berth_attempts_ended_total{class=\"reclaimed\"} 1",
        "berth_wait_seconds_bucket{class=\"\",le=\"60\"} 0",
        "berth_wait_seconds_bucket{class=\"\",le=\"300\"} 1"})
    EXPECT_TRUE(has_line(text, line)) << line << "\n" << text;
}

TEST(Metrics, CountersOfTheControllerGrowByTheDifference) {
  Metrics metrics({});
  metrics.see_counters({.turns = 5, .plans = 2});
  metrics.see_counters({.turns = 7, .plans = 2, .failed_commits = 1});
  EXPECT_TRUE(has_line(metrics.text(), "berth_turns_total 7"));
  EXPECT_TRUE(has_line(metrics.text(), "berth_plans_total 2"));
  EXPECT_TRUE(has_line(metrics.text(), "berth_failed_commits_total 1"));
}

TEST(Metrics, TimesFallIntoTheirBucketsFromAnyThread) {
  Metrics metrics({});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&metrics] {
      for (int n = 0; n < 100; ++n)
        metrics.see_request("GET /api/v1/queues", 200, 2'000);
      metrics.see_turn(300);
      EXPECT_FALSE(metrics.text().empty());
    });
  for (std::thread& thread : threads)
    thread.join();
  const std::string text = metrics.text();
  EXPECT_TRUE(has_line(
      text, "berth_http_requests_total{operation=\"GET /api/v1/queues\",status=\"200\"} 400"));
  EXPECT_TRUE(has_line(
      text, "berth_http_request_seconds_bucket{operation=\"GET /api/v1/queues\",le=\"0.001\"} 0"));
  EXPECT_TRUE(has_line(
      text,
      "berth_http_request_seconds_bucket{operation=\"GET /api/v1/queues\",le=\"0.005\"} 400"));
  EXPECT_TRUE(has_line(text, "berth_turn_seconds_count 4")) << text;
}

// What a scraper relies on: each family described once, names and units by the conventions.
TEST(Metrics, TheTextIsWellFormed) {
  Metrics metrics({});
  metrics.see_state(a_state());
  metrics.see_turn(1);
  std::istringstream lines(metrics.text());
  std::set<std::string> described;
  for (std::string line; std::getline(lines, line);) {
    ASSERT_FALSE(line.empty());
    if (line.starts_with("# TYPE ")) {
      std::istringstream words(line.substr(7));
      std::string name, type;
      words >> name >> type;
      EXPECT_TRUE(described.insert(name).second) << name << " twice";
      EXPECT_TRUE(name.starts_with("berth_")) << name;
      EXPECT_EQ(type == "counter", name.ends_with("_total")) << name;
      EXPECT_EQ(type == "histogram", name.ends_with("_seconds")) << name;
    }
  }
  EXPECT_GT(described.size(), 15u);
}

}  // namespace
}  // namespace telemetry
