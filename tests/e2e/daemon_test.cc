// What the daemon adds to its parts: device-time over restarts, metrics, real use, a clean end.

#include <unistd.h>

#include <cstdlib>

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "platform/http_client.h"
#include "tests/e2e/installation.h"

namespace e2e {
namespace {

namespace json = boost::json;

class DaemonTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* binary = std::getenv("BERTH_BINARY");
    if (binary == nullptr || access(binary, X_OK) != 0)
      GTEST_SKIP() << "BERTH_BINARY names no program; run by ctest, or build the target berth";
    binary_ = binary;
    berth_ = std::make_unique<Installation>();
  }
  json::value usage(const std::string& by) const {
    const Outcome outcome = berth_->berth({"usage", "--by", by, "-o", "json"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return json::parse(outcome.out);
  }
  std::string metrics() const {
    platform::HttpClient client;
    std::string token = *platform::read_file(berth_->data() + "/admin.token");
    while (!token.empty() && token.back() == '\n')
      token.pop_back();
    const auto response =
        client.call({.url = "http://127.0.0.1:" + std::to_string(berth_->port()) + "/metrics",
                     .headers = {{"Authorization", "Bearer " + token}}});
    EXPECT_TRUE(response);
    return response ? response->body : "";
  }

  std::string binary_;
  std::unique_ptr<Installation> berth_;
};

TEST_F(DaemonTest, UsageIsTheSameAfterKillAndAfterACleanStop) {
  for (int i = 0; i < 2; ++i)
    berth_->wait_for(
        berth_->submit({"--gpus", "2", "--", "sh", "-c", "exit $((" + std::to_string(i) + "))"}),
        "membersEnded");
  const json::value before = usage("kind");
  const json::value& line = before.at("items").at(0);
  EXPECT_EQ(line.at("key"), "TrainingJob");
  EXPECT_EQ(line.at("started"), 2);
  EXPECT_EQ(line.at("completed"), 1);
  EXPECT_EQ(line.at("failed"), 1);
  EXPECT_GT(line.at("allocated").as_int64(), 0);
  berth_->kill_daemon();
  ASSERT_TRUE(berth_->start_daemon());
  EXPECT_EQ(usage("kind").at("items"), before.at("items"));
  berth_->stop_daemon();
  ASSERT_TRUE(berth_->start_daemon());
  EXPECT_EQ(usage("kind").at("items"), before.at("items"));
  for (const char* by : {"queue", "user", "class", "pool"})
    EXPECT_FALSE(usage(by).at("items").as_array().empty()) << by;
  EXPECT_EQ(berth_->berth({"usage", "--by", "workload"}).code, 2);
}

TEST_F(DaemonTest, MetricsShowWhatHappens) {
  berth_->wait_for(berth_->submit({"--gpus", "2", "--", "true"}), "membersEnded");
  // Gauges are taken between turns, a moment after the event.
  std::string text = metrics();
  for (int i = 0; i < 1000 && text.find("state=\"free\"} 8\n") == std::string::npos; ++i)
    text = metrics();
  EXPECT_NE(text.find("\nberth_starts_total 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("berth_attempts_ended_total{class=\"ok\"} 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("berth_http_requests_total{operation=\"POST /api/v1/"), std::string::npos)
      << text;
  EXPECT_NE(text.find("\nberth_turn_seconds_count "), std::string::npos) << text;
  EXPECT_NE(text.find("berth_nodes{condition=\"ready\"} 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("berth_pool_devices{pool=\"default\",state=\"free\"} 8\n"), std::string::npos)
      << text;
}

TEST_F(DaemonTest, DevicesThatAreOnlyDeclaredHaveNoRealUse) {
  const json::value devices = json::parse(berth_->berth({"devices", "-o", "json"}).out);
  EXPECT_EQ(devices.at("items").as_array().size(), 8u);
  for (const json::value& device : devices.at("items").as_array())
    EXPECT_FALSE(device.as_object().contains("utilisation"));
  const json::value nodes = json::parse(berth_->berth({"nodes", "-o", "json"}).out);
  EXPECT_GT(nodes.at("items").at(0).at("utilisation").at("memory").at("bytes").as_int64(), 0);
}

TEST_F(DaemonTest, ACleanStopLeavesACheckpointOfTheLastEvent) {
  berth_->wait_for(berth_->submit({"--", "true"}), "membersEnded");
  berth_->stop_daemon();
  const Outcome doctor = berth_->berth({"doctor"});
  EXPECT_EQ(doctor.code, 0) << doctor.out;
  const std::size_t at = doctor.out.find("journal: ");
  const std::string events = doctor.out.substr(at + 9, doctor.out.find(' ', at + 9) - at - 9);
  EXPECT_NE(doctor.out.find("checkpoint: of event " + events + ", agrees"), std::string::npos)
      << doctor.out;
}

TEST_F(DaemonTest, TheLogOfAFinishedWorkloadIsFoundByItsName) {
  for (const char* text : {"older", "newer"})
    berth_->wait_for(berth_->submit({"--name", "hello", "--", "echo", text}), "membersEnded");
  EXPECT_EQ(berth_->berth({"logs", "hello"}).out, "newer\n");
}

TEST_F(DaemonTest, AFaultThatCannotBeArmedIsAMistakeOfTheConfiguration) {
  Child daemon({binary_, "serve", "--data", berth_->folder() + "/other", "--listen", "127.0.0.1:0"},
               {"BERTH_FAULT=store.append=explode", "HOME=" + berth_->folder()});
  const Outcome outcome = daemon.wait();
  EXPECT_EQ(outcome.code, 2) << outcome.err;
  EXPECT_NE(outcome.err.find("store.append=explode"), std::string::npos) << outcome.err;
}

TEST_F(DaemonTest, AnArmedFaultFailsOneCommitAndTheNextSucceeds) {
  const std::string folder = berth_->folder() + "/faulty/berth";
  const Words environment{"BERTH_FAULT=store.append.before_commit=fail@2",
                          "HOME=" + berth_->folder(), "PATH=/usr/bin:/bin",
                          "XDG_DATA_HOME=" + berth_->folder() + "/faulty"};
  Child daemon({binary_, "serve", "--listen", "127.0.0.1:0"}, environment);
  ASSERT_TRUE(daemon.wait_for_text("commit_failed"));
  ASSERT_TRUE(daemon.wait_for_text("listening"));
  Child events({binary_, "events", "-f", "--after", "0", "--kinds", "commandRefused", "--limit",
                "1", "-o", "json"},
               environment);
  EXPECT_NE(events.wait().out.find("store.append.before_commit"), std::string::npos);
  daemon.signal(SIGTERM);
  EXPECT_EQ(daemon.wait().code, 0);
}

}  // namespace
}  // namespace e2e
