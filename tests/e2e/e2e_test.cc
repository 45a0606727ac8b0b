// The program as its users meet it: a real daemon, the real command line, real processes.

#include <signal.h>
#include <stdlib.h>

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "tests/e2e/installation.h"

namespace e2e {
namespace {

namespace json = boost::json;

class EndToEnd : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {}
  void SetUp() override {
    const char* binary = std::getenv("BERTH_BINARY");
    if (binary == nullptr || access(binary, X_OK) != 0)
      GTEST_SKIP() << "BERTH_BINARY names no program; run by ctest, or build the target berth";
    berth_ = std::make_unique<Installation>();
  }

  // A process that tells its pid and waits at the gate.
  Words waiter(const Gate& gate, const std::string& then = "") const {
    return {"--", "sh", "-c", "echo pid $$; read line < " + gate.path() + "; " + then};
  }
  // The pid that the workload wrote, once it has.
  pid_t pid_of(const std::string& number) const {
    const auto logs = berth_->in_background({"logs", number, "-f"});
    EXPECT_TRUE(logs->wait_for_text("\n"));
    logs->signal(SIGTERM);
    const std::string out = logs->wait().out;
    return static_cast<pid_t>(std::atoi(out.substr(4).c_str()));
  }

  std::unique_ptr<Installation> berth_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  return lines;
}

TEST_F(EndToEnd, WorkIsQueuedRunAndShown) {
  const std::string number = berth_->submit({"--name", "hello", "--gpus", "2", "--", "sh", "-c",
                                             "echo devices $CUDA_VISIBLE_DEVICES; echo late >&2"});
  berth_->wait_for(number, "membersEnded");
  EXPECT_EQ(berth_->berth({"logs", number}).out, "devices 0,1\n");
  EXPECT_EQ(berth_->berth({"logs", number, "--stderr"}).out, "late\n");
  const json::value workload = berth_->show(number);
  EXPECT_EQ(workload.at("state"), "Completed");
  EXPECT_EQ(workload.at("exitCode"), 0);
  EXPECT_EQ(berth_->berth({"queue", "-o", "name"}).out, "");
  EXPECT_EQ(berth_->berth({"queue", "--all", "-o", "name"}).out, number + "\n");
}

TEST_F(EndToEnd, RunReturnsWhatTheProcessReturned) {
  const Outcome ran = berth_->berth({"run", "--", "sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_NE(ran.err.find("err\n"), std::string::npos) << ran.err;
  EXPECT_EQ(berth_->berth({"run", "--", "true"}).code, 0);
  EXPECT_EQ(berth_->berth({"run", "--", "sh", "-c", "kill -9 $$"}).code, 137);
  const Outcome absent = berth_->berth({"run", "--", "/no/such/program"});
  EXPECT_EQ(absent.code, 127) << absent.err;
}

TEST_F(EndToEnd, AnInterruptedRunCancelsItsWork) {
  const Gate gate(berth_->folder() + "/gate");
  const auto run =
      berth_->in_background({"run", "--", "sh", "-c", "echo begun; read line < " + gate.path()});
  ASSERT_TRUE(run->wait_for_text("begun"));
  run->signal(SIGINT);
  const Outcome outcome = run->wait();
  EXPECT_GE(outcome.code, 128) << outcome.err;
  EXPECT_NE(outcome.err.find("cancelling"), std::string::npos);
  EXPECT_EQ(berth_->state_of("1"), "Cancelled");
}

TEST_F(EndToEnd, AHeldWorkloadWaitsUntilItIsReleased) {
  const Gate gate(berth_->folder() + "/gate");
  Words all = waiter(gate);
  all.insert(all.begin(), {"--gpus", "8"});
  const std::string first = berth_->submit(all);
  berth_->wait_for(first, "attemptRunning");
  const std::string second = berth_->submit({"--gpus", "1", "--", "true"});
  berth_->wait_for(second, "wait");
  const Outcome blocked = berth_->berth({"why", second, "-o", "json"});
  EXPECT_EQ(json::parse(blocked.out).at("verdict"), "blocked");

  EXPECT_EQ(berth_->berth({"hold", second}).code, 0);
  gate.open();
  berth_->wait_for(first, "membersEnded");
  const json::value why = json::parse(berth_->berth({"why", second, "-o", "json"}).out);
  EXPECT_EQ(why.at("reason"), "Held");
  EXPECT_EQ(berth_->state_of(second), "Queued");

  EXPECT_EQ(berth_->berth({"release", second}).code, 0);
  berth_->wait_for(second, "membersEnded");
  EXPECT_EQ(berth_->state_of(second), "Completed");
  EXPECT_EQ(berth_->berth({"release", second}).code, 1);
}

TEST_F(EndToEnd, CancelEndsTheWholeTree) {
  // The process ignores the polite signal, so the grace passes in full: make it short.
  const std::string path = berth_->folder() + "/class.yaml";
  std::ofstream(path)
      << "apiVersion: berth/v1\nkind: Class\nmetadata: {name: training}\nspec: {grace: 1s}\n";
  ASSERT_EQ(berth_->berth({"apply", "-f", path}).code, 0);
  const std::string number =
      berth_->submit({"--", "sh", "-c",
                      "trap '' TERM; (trap '' TERM; setsid sleep 1000) & echo pid $!; wait; wait"});
  berth_->wait_for(number, "attemptRunning");
  const pid_t child = pid_of(number);
  ASSERT_GT(child, 0);
  EXPECT_TRUE(is_alive(child));
  EXPECT_EQ(berth_->berth({"cancel", number}).code, 0);
  berth_->wait_for(number, "membersEnded");
  EXPECT_EQ(berth_->state_of(number), "Cancelled");
  EXPECT_TRUE(is_gone_soon(child));
}

TEST_F(EndToEnd, WhySaysWhatCanNeverRunInBothLanguages) {
  const std::string number = berth_->submit({"--gpus", "16", "--", "true"});
  berth_->wait_for(number, "refuse");
  const json::value why = json::parse(berth_->berth({"why", number, "-o", "json"}).out);
  EXPECT_EQ(why.at("verdict"), "infeasible");
  const Outcome english = berth_->berth({"why", number}),
                chinese = berth_->berth({"why", number, "--lang", "zh"});
  EXPECT_EQ(english.code, 0);
  EXPECT_EQ(chinese.code, 0);
  EXPECT_NE(english.out.find("16"), std::string::npos) << english.out;
  EXPECT_NE(chinese.out, english.out);
  EXPECT_GT(lines_of(chinese.out).size(), 1u) << chinese.out;
}

TEST_F(EndToEnd, FailuresHaveTheirExitCodes) {
  EXPECT_EQ(berth_->berth({"show", "4711"}).code, 3);
  EXPECT_EQ(berth_->berth({"cancel", "no-such-name"}).code, 3);
  EXPECT_EQ(berth_->berth({"logs", "4711.1"}).code, 3);
  EXPECT_EQ(berth_->berth({"queue", "--token", "wrong"}).code, 4);
  EXPECT_EQ(berth_->berth({"queue", "--server", "http://127.0.0.1:1"}).code, 5);
  EXPECT_EQ(berth_->berth({"queue", "--no-such-flag"}).code, 2);
  EXPECT_EQ(berth_->berth({"submit", "--gpus", "-1", "--", "true"}).code, 2);
  const Outcome unknown = berth_->berth({"submit", "--queue", "no/such", "--", "true"});
  EXPECT_EQ(unknown.code, 3) << unknown.err;
  std::ofstream(berth_->folder() + "/bad.yaml")
      << "apiVersion: berth/v1\nkind: Queue\nmetadata: {name: a}\nspec: {wieght: 2}\n";
  const Outcome bad = berth_->berth({"apply", "-f", berth_->folder() + "/bad.yaml"});
  EXPECT_EQ(bad.code, 1);
  EXPECT_NE(bad.err.find("weight"), std::string::npos) << bad.err;
}

TEST_F(EndToEnd, ApplyingTheSameTwiceChangesNothing) {
  const std::string path = berth_->folder() + "/queue.yaml";
  std::ofstream(path)
      << "apiVersion: berth/v1\nkind: Queue\nmetadata: {name: nlp}\nspec: {weight: 2}\n";
  EXPECT_EQ(berth_->berth({"apply", "-f", path}).out, "queue nlp created\n");
  EXPECT_EQ(berth_->berth({"apply", "-f", path}).out, "queue nlp unchanged\n");
}

TEST_F(EndToEnd, MembersOfAGangKnowEachOther) {
  const std::string number = berth_->submit({"--members", "2", "--gpus", "1", "--", "sh", "-c",
                                             "echo $RANK $WORLD_SIZE $MASTER_ADDR $MASTER_PORT"});
  berth_->wait_for(number, "membersEnded");
  std::vector<std::vector<std::string>> said;
  for (const char* rank : {"0", "1"}) {
    std::istringstream out(berth_->berth({"logs", number, "--member", rank}).out);
    std::vector<std::string>& words = said.emplace_back();
    for (std::string word; out >> word;)
      words.push_back(word);
    ASSERT_EQ(words.size(), 4u) << rank;
    EXPECT_EQ(words[0], rank);
    EXPECT_EQ(words[1], "2");
  }
  EXPECT_EQ(said[0][2], said[1][2]);
  EXPECT_EQ(said[0][3], said[1][3]);
  EXPECT_GT(std::atoi(said[0][3].c_str()), 1024);
}

TEST_F(EndToEnd, WorkSurvivesAKilledDaemon) {
  const Gate gate(berth_->folder() + "/gate");
  const std::string number = berth_->submit(waiter(gate, "echo after; exit 5"));
  berth_->wait_for(number, "attemptRunning");
  const pid_t pid = pid_of(number);
  ASSERT_GT(pid, 0);
  berth_->kill_daemon();
  EXPECT_TRUE(is_alive(pid));
  ASSERT_TRUE(berth_->start_daemon());
  EXPECT_EQ(berth_->state_of(number), "Running");
  EXPECT_EQ(pid_of(number), pid);
  gate.open();
  berth_->wait_for(number, "membersEnded");
  const json::value workload = berth_->show(number);
  EXPECT_EQ(workload.at("exitCode"), 5);
  EXPECT_EQ(workload.at("attempts").as_array().front().at("id"), json::value(number + ".1"));
  EXPECT_EQ(berth_->berth({"logs", number + ".1"}).out, "pid " + std::to_string(pid) + "\nafter\n");
}

TEST_F(EndToEnd, WorkThatEndsWhileTheDaemonIsAwayIsNotLost) {
  const Gate gate(berth_->folder() + "/gate");
  const std::string number = berth_->submit(waiter(gate, "exit 6"));
  berth_->wait_for(number, "attemptRunning");
  const pid_t pid = pid_of(number);
  berth_->kill_daemon();
  gate.open();
  EXPECT_TRUE(is_gone_soon(pid));
  ASSERT_TRUE(berth_->start_daemon());
  berth_->wait_for(number, "membersEnded");
  EXPECT_EQ(berth_->show(number).at("exitCode"), 6);
}

TEST_F(EndToEnd, TheEventStreamGoesOnOverARestart) {
  const int port = berth_->port();
  const auto stream = berth_->in_background({"events", "-f", "--after", "0", "-o", "name"});
  berth_->wait_for(berth_->submit({"--", "true"}), "membersEnded");
  berth_->kill_daemon();
  ASSERT_TRUE(berth_->start_daemon(port));
  const std::string last = berth_->submit({"--", "true"});
  berth_->wait_for(last, "membersEnded");
  const std::string until =
      lines_of(berth_->berth({"events", "--after", "0", "--workload", last, "-o", "name"}).out)
          .back();
  EXPECT_TRUE(stream->wait_for_text("\n" + until + "\n"));
  stream->signal(SIGTERM);
  int expected = 0;
  for (const std::string& line : lines_of(stream->wait().out))
    EXPECT_EQ(line, std::to_string(++expected));
  EXPECT_GE(expected, std::atoi(until.c_str()));
}

TEST_F(EndToEnd, TheDoctorFindsAJournalSound) {
  berth_->wait_for(berth_->submit({"--", "true"}), "membersEnded");
  const Outcome beside = berth_->berth({"doctor"});
  EXPECT_EQ(beside.code, 0) << beside.out << beside.err;
  EXPECT_NE(beside.out.find("journal"), std::string::npos);
  EXPECT_NE(berth_->berth({"doctor", "--data", berth_->folder() + "/absent"}).code, 0);
}

}  // namespace
}  // namespace e2e
