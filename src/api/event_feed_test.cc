// Events as a stream and as pages: what a reader gets is exactly the journal, in order, wherever it
// begins, however often it is cut off, while work goes on.
#include "api/internal/event_feed.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "api/internal/served_api.h"
#include "platform/event_stream.h"
#include "store/memory/memory_store.h"

namespace api {
namespace {

namespace json = boost::json;
using platform::HttpHeaders;
using platform::StreamEvent;

class Events : public testing::Test {
 protected:
  // Reads a stream with a client of its own until `is_enough` says so.
  std::vector<StreamEvent> stream(
      const std::string& path, HttpHeaders headers,
      const std::function<bool(const std::vector<StreamEvent>&)>& is_enough) {
    headers.emplace_back("Authorization", "Bearer viewer");
    headers.emplace_back("Accept", "text/event-stream");
    platform::HttpClient client;
    platform::EventStreamParser parser;
    std::vector<StreamEvent> events;
    const auto response = client.stream(
        {.url = api_.url(path), .headers = std::move(headers), .timeout = base::seconds(60)},
        [&](std::string_view bytes) {
          for (StreamEvent& event : parser.feed(bytes))
            events.push_back(std::move(event));
          return !is_enough(events);
        });
    EXPECT_TRUE(response) << base::to_text(response.error());
    if (response) {
      EXPECT_EQ(response->status, 200) << response->body;
    }
    return events;
  }
  static auto until_sequence(std::uint64_t last) {
    return [last](const std::vector<StreamEvent>& events) {
      return !events.empty() && std::stoull(events.back().id) >= last;
    };
  }
  void submit(int count) {
    for (int i = 0; i < count; ++i)
      EXPECT_EQ(
          api_.call("POST", "/api/v1/workloads", "user",
                    "apiVersion: berth/v1\nkind: BatchInference\nmetadata: {name: w" +
                        std::to_string(next_++) + "}\nspec: {resources: {cpu: 1}, command: [x]}\n")
              .status,
          201);
  }
  std::uint64_t last_sequence() { return store_.last_sequence()->value; }
  static void expect_run(const std::vector<StreamEvent>& events, std::uint64_t first) {
    for (const StreamEvent& event : events) {
      EXPECT_EQ(event.id, std::to_string(first));
      const json::value data = json::parse(event.data);
      EXPECT_EQ(data.at("sequence").as_int64(), static_cast<std::int64_t>(first));
      EXPECT_EQ(data.at("kind").as_string(), event.name);
      ++first;
    }
  }

  store::MemoryStore store_;
  ServedApi api_{store_, {}};
  int next_ = 1;
};

TEST_F(Events, AStreamGivesTheJournalFromThePositionOnAndGoesOnLive) {
  submit(20);
  const std::uint64_t past = last_sequence();
  ASSERT_GT(past, 20u);
  std::thread more([this] { submit(20); });
  const auto events = stream("/api/v1/events?after=0", {}, [&](const auto& seen) {
    return !seen.empty() && std::stoull(seen.back().id) >= past + 20;
  });
  more.join();
  expect_run(events, 1);
}

// The reader is cut off after every few events and comes back with the id of the last one it got,
// while another thread submits: nothing may be missing and nothing given twice.
TEST_F(Events, AReaderThatIsCutOffAgainAndAgainMissesNothingAndGetsNothingTwice) {
  std::atomic<bool> is_enough{false};
  std::thread more([&] {
    while (!is_enough)
      submit(1);
  });
  std::vector<StreamEvent> all;
  const auto resume = [&](const std::function<bool(const std::vector<StreamEvent>&)>& until) {
    const std::string last = all.empty() ? "0" : all.back().id;
    const auto events = stream("/api/v1/events?after=3", {{"Last-Event-ID", last}}, until);
    all.insert(all.end(), events.begin(), events.end());
  };
  for (std::size_t i = 0; i < 30; ++i)
    resume([portion = 1 + i % 7](const auto& seen) { return seen.size() >= portion; });
  is_enough = true;
  more.join();
  const std::uint64_t goal = last_sequence();
  if (std::stoull(all.back().id) < goal) resume(until_sequence(goal));
  expect_run(all, 1);
  EXPECT_GE(all.size(), goal);
}

TEST_F(Events, AStreamWithoutAPositionBeginsWithTheNextEvent) {
  submit(3);
  api_.call("GET", "/api/v1/server", "viewer");  // a turn later everything of it is committed
  const std::uint64_t past = last_sequence();
  std::thread more;
  bool has_begun = false;
  platform::HttpClient client;
  platform::EventStreamParser parser;
  std::vector<StreamEvent> events;
  const auto response = client.stream(
      {.url = api_.url("/api/v1/events"),
       .headers = {{"Authorization", "Bearer viewer"}, {"Accept", "text/event-stream"}}},
      [&](std::string_view bytes) {
        if (!std::exchange(has_begun, true)) more = std::thread([this] { submit(2); });
        for (StreamEvent& event : parser.feed(bytes))
          events.push_back(std::move(event));
        return events.size() < 2;
      });
  more.join();
  ASSERT_TRUE(response) << base::to_text(response.error());
  expect_run(events, past + 1);
}

TEST_F(Events, ManyReadersAtDifferentPositionsAllGetTheSameJournal) {
  submit(10);
  const std::uint64_t goal = last_sequence() + 20;
  std::vector<std::vector<StreamEvent>> seen(8);
  std::vector<std::thread> readers;
  for (std::size_t i = 0; i < seen.size(); ++i)
    readers.emplace_back([&, i] {
      seen[i] = stream("/api/v1/events?after=" + std::to_string(i * 2), {}, until_sequence(goal));
    });
  submit(20);
  for (std::thread& reader : readers)
    reader.join();
  for (std::size_t i = 0; i < seen.size(); ++i)
    expect_run(seen[i], i * 2 + 1);
}

TEST_F(Events, KindsAndWorkloadsAreFilteredInStreamsAndPages) {
  submit(4);
  const auto only = [](const std::vector<StreamEvent>& seen) { return seen.size() >= 4; };
  for (const StreamEvent& event :
       stream("/api/v1/events?after=0&kinds=workloadSubmitted", {}, only))
    EXPECT_EQ(event.name, "workloadSubmitted");
  const auto page =
      api_.call("GET", "/api/v1/events?kinds=workloadSubmitted,start&workload=2", "viewer");
  const json::array items = json::parse(page.body).at("items").as_array();
  ASSERT_EQ(items.size(), 2u) << page.body;
  EXPECT_EQ(items[0].at("kind").as_string(), "workloadSubmitted");
  EXPECT_EQ(items[1].at("kind").as_string(), "start");
  const auto wrong = api_.call("GET", "/api/v1/events?kinds=workloadSubmited", "viewer");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_NE(wrong.body.find("did you mean \\\"workloadSubmitted\\\"?"), std::string::npos);
}

TEST_F(Events, PagesFollowEachOtherByTheirCursor) {
  submit(6);
  api_.call("GET", "/api/v1/server", "viewer");
  const std::uint64_t last = last_sequence();
  std::uint64_t expected = 1;
  std::string cursor = "0";
  while (expected <= last) {
    const auto page = api_.call("GET", "/api/v1/events?limit=3&after=" + cursor, "viewer");
    const json::value body = json::parse(page.body);
    ASSERT_FALSE(body.at("items").as_array().empty());
    for (const json::value& item : body.at("items").as_array())
      EXPECT_EQ(item.at("sequence").as_int64(), static_cast<std::int64_t>(expected++));
    cursor = body.at("cursor").as_string();
  }
  EXPECT_EQ(cursor, std::to_string(last));
}

TEST_F(Events, APositionOfAnotherJournalIsRefused) {
  for (const char* path :
       {"/api/v1/events?after=999999", "/api/v1/events?after=-1", "/api/v1/events?after=x"}) {
    const auto response = api_.call("GET", path, "viewer", "", {{"Accept", "text/event-stream"}});
    EXPECT_EQ(response.status, 400) << path;
  }
  EXPECT_EQ(api_.call("GET", "/api/v1/events", "viewer", "",
                      {{"Accept", "text/event-stream"}, {"Last-Event-ID", "soon"}})
                .status,
            400);
}

}  // namespace
}  // namespace api
