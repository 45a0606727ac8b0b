// The disk is full in the middle of a batch: who asked is told what to do, what was acknowledged is
// there, reading and running go on, and with the space everything comes back by itself.

#include <signal.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "platform/http_client.h"
#include "tests/e2e/installation.h"

namespace e2e {
namespace {

namespace json = boost::json;

constexpr std::int64_t kDiskBytes = 16 << 20;

class FullDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* binary = std::getenv("BERTH_BINARY");
    if (binary == nullptr || access(binary, X_OK) != 0)
      GTEST_SKIP() << "BERTH_BINARY names no program; run by ctest, or build the target berth";
    berth_ = std::make_unique<Installation>(kDiskBytes);
    if (!berth_->has_disk()) GTEST_SKIP() << "mounting a small file system needs root";
    token_ = *platform::read_file(berth_->data() + "/admin.token");
    while (!token_.empty() && token_.back() == '\n')
      token_.pop_back();
  }

  // Leaves so much, or makes room again.
  void fill_all_but(std::int64_t bytes) const {
    std::ofstream ballast(berth_->data() + "/ballast", std::ios::app);
    const std::string page(4096, 'x');
    struct statvfs room{};
    while (::statvfs(berth_->data().c_str(), &room) == 0 &&
           static_cast<std::int64_t>(room.f_bavail * room.f_frsize) > bytes && ballast.good())
      ballast.write(page.data(), static_cast<std::streamsize>(page.size())).flush();
  }
  void free_space() const { std::filesystem::remove(berth_->data() + "/ballast"); }

  platform::HttpResponse call(const std::string& method, const std::string& path,
                              const std::string& body = {}) {
    const auto response =
        client_.call({.method = method,
                      .url = "http://127.0.0.1:" + std::to_string(berth_->port()) + path,
                      .headers = {{"Authorization", "Bearer " + token_}},
                      .body = body});
    EXPECT_TRUE(response) << base::to_text(response.error());
    return response.value_or(platform::HttpResponse{});
  }
  // Waits at the gate, then ends with that code.
  std::string submit_waiter(const Gate& gate, int code) const {
    return berth_->submit(
        {"--", "sh", "-c",
         "echo pid $$; read line < " + gate.path() + "; exit " + std::to_string(code)});
  }
  pid_t pid_of(const std::string& number) const {
    const auto logs = berth_->in_background({"logs", number, "-f"});
    EXPECT_TRUE(logs->wait_for_text("\n"));
    logs->signal(SIGTERM);
    return static_cast<pid_t>(std::atoi(logs->wait().out.substr(4).c_str()));
  }

  std::unique_ptr<Installation> berth_;
  std::string token_;
  platform::HttpClient client_;
};

// Each is four kilobytes of journal, and can never run.
std::string many_workloads(int count) {
  std::string manifests;
  for (int i = 0; i < count; ++i)
    manifests +=
        "---\napiVersion: berth/v1\nkind: TrainingJob\nmetadata: {name: w" + std::to_string(i) +
        "}\nspec: {resources: {gpu: 64}, command: [train], env: {LONG: " + std::string(4000, 'x') +
        "}}\n";
  return manifests;
}

void expect_full(const json::value& problem) {
  EXPECT_EQ(problem.at("code"), "Exhausted") << json::serialize(problem);
  EXPECT_EQ(problem.at("hint"), "free space on the file system of the data directory")
      << json::serialize(problem);
}

TEST_F(FullDisk, WhatIsAcknowledgedIsThereAndWhatIsRefusedIsNot) {
  fill_all_but(256 << 10);
  const auto response = call("POST", "/api/v1/apply", many_workloads(200));
  ASSERT_EQ(response.status, 207) << response.body.substr(0, 500);
  std::set<std::int64_t> acknowledged;
  std::size_t refused = 0;
  const json::value applied = json::parse(response.body);
  for (const json::value& item : applied.at("items").as_array()) {
    if (item.at("action") == "created") {
      acknowledged.insert(item.at("number").as_int64());
      continue;
    }
    ++refused;
    expect_full(item.at("error"));
  }
  EXPECT_GT(refused, 0u);
  const auto listed = [&] {
    std::set<std::int64_t> numbers;
    const json::value list = json::parse(call("GET", "/api/v1/workloads?limit=1000").body);
    for (const json::value& item : list.at("items").as_array())
      numbers.insert(item.at("number").as_int64());
    return numbers;
  };
  EXPECT_EQ(listed(), acknowledged);
  free_space();
  EXPECT_NE(berth_->submit({"--name", "after", "--", "true"}), "");
  berth_->kill_daemon();
  ASSERT_TRUE(berth_->start_daemon());
  std::set<std::int64_t> found = listed();
  for (const std::int64_t number : acknowledged)
    EXPECT_TRUE(found.contains(number)) << number;
  EXPECT_EQ(found.size(), acknowledged.size() + 1);
}

TEST_F(FullDisk, ReadingAndRunningGoOnAndWithTheSpaceItRecovers) {
  const Gate stays(berth_->folder() + "/stays"), leaves(berth_->folder() + "/leaves");
  const std::string staying = submit_waiter(stays, 5), leaving = submit_waiter(leaves, 6);
  for (const std::string& number : {staying, leaving})
    berth_->wait_for(number, "attemptRunning");
  const pid_t pid = pid_of(staying);
  const pid_t leaving_pid = pid_of(leaving);
  fill_all_but(0);

  platform::HttpResponse refused;
  for (int i = 0; i < 50 && refused.status != 507; ++i)  // the last page of the log may have room
    refused = call("POST", "/api/v1/workloads", many_workloads(1));
  ASSERT_EQ(refused.status, 507) << refused.body;
  EXPECT_EQ(*platform::find_header(refused.headers, "Content-Type"), "application/problem+json");
  expect_full(json::parse(refused.body));
  const Outcome typed = berth_->berth({"submit", "--", "true"});
  EXPECT_EQ(typed.code, 1);
  EXPECT_NE(typed.err.find("free space"), std::string::npos) << typed.err;
  EXPECT_EQ(call("GET", "/readyz").status, 503);

  EXPECT_EQ(berth_->state_of(staying), "Running");
  EXPECT_EQ(berth_->berth({"logs", staying}).out, "pid " + std::to_string(pid) + "\n");
  EXPECT_EQ(berth_->berth({"queue"}).code, 0);
  EXPECT_EQ(berth_->berth({"usage"}).code, 0);
  EXPECT_TRUE(is_alive(pid));
  leaves.open();
  EXPECT_TRUE(is_gone_soon(leaving_pid));

  free_space();
  // Nobody asks for anything: the daemon tries again by itself, and writes down what happened.
  const Outcome retried = berth_->berth(
      {"events", "-f", "--after", "0", "--kinds", "commandRefused", "--limit", "1", "-o", "json"});
  EXPECT_NE(retried.out.find("Exhausted"), std::string::npos) << retried.out << retried.err;
  berth_->wait_for(leaving, "membersEnded");
  EXPECT_EQ(berth_->show(leaving).at("exitCode"), 6);
  EXPECT_EQ(call("GET", "/readyz").status, 200);
  EXPECT_TRUE(is_alive(pid));
  stays.open();
  berth_->wait_for(staying, "membersEnded");
  EXPECT_EQ(berth_->show(staying).at("exitCode"), 5);
  const Outcome doctor = berth_->berth({"doctor"});
  EXPECT_EQ(doctor.code, 0) << doctor.out << doctor.err;
}

}  // namespace
}  // namespace e2e
