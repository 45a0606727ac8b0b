// The daemon goes and comes again, is killed at each step, or loses a shim: no process is lost,
// none starts twice, and what cannot be known any more is reported as node_lost.

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <string>

#include "tests/backends/local_node.h"

namespace {

using backends_test::attempt_id;
using backends_test::is_gone;
using backends_test::LocalNode;
using backends_test::NamedPipe;
using model::EndClass;

std::int32_t pid_in(const std::string& folder, const char* name) {
  const auto opened = backends::local::Folder::open(folder);
  if (!opened) return 0;
  const auto record = backends::local::read_process(opened->descriptor(), name);
  return record ? record->pid : 0;
}

// Runs the daemon in miniature of main_test.cc until a fault ends it.
int run_host(const std::string& data, const std::string& faults, const std::string& script,
             const std::string& how) {
  std::vector<std::string> words{"/proc/self/exe", "host", data, faults, script, how};
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  EXPECT_EQ(::posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ), 0);
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return status;
}

std::size_t lines_in(const std::string& file) {
  const std::string text = LocalNode::text_of(file);
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Restart, ARunningProcessGoesOnAndItsEndIsSeen) {
  LocalNode node;
  NamedPipe go(node.path("go"));
  node.start(1, "echo before; read line < " + go.path() + "; echo after; exit 5");
  node.wait_for_running(1);
  const std::int32_t pid = pid_in(node.member_path(attempt_id(1)), "child.json");
  node.close();
  EXPECT_FALSE(is_gone(pid));
  node.backend();
  node.wait_for_running(1);
  EXPECT_EQ(pid_in(node.member_path(attempt_id(1)), "child.json"), pid);
  go.write_line("end");
  EXPECT_EQ(node.wait_for_end(1).exit_code, 5);
  EXPECT_EQ(node.log(1), "before\nafter\n");
}

TEST(Restart, WhatEndedWhileNobodyWatchedIsListedWithItsExitCode) {
  LocalNode node;
  NamedPipe go(node.path("go")), done(node.path("done"));
  node.start(1, "read line < " + go.path() + "; exit 6");
  node.wait_for_running(1);
  const std::int32_t shim = pid_in(node.member_path(attempt_id(1)), "shim.json");
  node.close();
  const auto process = static_cast<int>(::syscall(SYS_pidfd_open, shim, 0));
  ASSERT_GE(process, 0);
  go.write_line("end");
  pollfd watched{.fd = process, .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&watched, 1, 60'000), 1);
  ::close(process);
  const auto listed = node.backend().list();
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_TRUE(listed->front().is_running);
  ASSERT_EQ(listed->front().ended.size(), 1U);
  EXPECT_EQ(listed->front().ended[0].exit_code, 6);
}

TEST(Restart, AStartGivenAgainStartsNothing) {
  LocalNode node;
  const std::string script = "echo run >> " + node.path("runs") + "; exit 2";
  for (int i = 0; i < 3; ++i)
    node.start(1, script);
  EXPECT_EQ(node.wait_for_end(1).exit_code, 2);
  node.close();
  node.start(1, script);
  EXPECT_EQ(node.wait_for_end(1).exit_code, 2);
  node.backend().forget(attempt_id(1));
  EXPECT_TRUE(node.backend().list()->empty());
  node.close();
  node.start(1, script);
  EXPECT_EQ(node.wait_for_end(1).exit_code, 2);
  EXPECT_EQ(lines_in(node.path("runs")), 1U);
}

TEST(Restart, ForgettingKeepsTheLogsUntilTheirTimeIsOver) {
  LocalNode node;
  node.start(1, "echo kept");
  node.wait_for_end(1);
  node.backend().forget(attempt_id(1));
  EXPECT_TRUE(node.backend().list()->empty());
  EXPECT_EQ(node.log(1), "kept\n");
  node.close();
  EXPECT_EQ(node.log(1), "kept\n");
  node.close();
  node.options().log_retention = base::milliseconds(-5000);
  EXPECT_TRUE(node.backend().list()->empty());
  EXPECT_FALSE(node.backend().read_log({.attempt = attempt_id(1)}));
}

TEST(Restart, ForgettingWhatStillRunsIsRefused) {
  LocalNode node;
  NamedPipe go(node.path("go"));
  node.start(1, "read line < " + go.path() + "; exit 8");
  node.wait_for_running(1);
  node.backend().forget(attempt_id(1));
  EXPECT_EQ(node.backend().list()->size(), 1U);
  go.write_line("end");
  EXPECT_EQ(node.wait_for_end(1).exit_code, 8);
}

TEST(Restart, ADaemonKilledAtAnyStepOfAStartLeavesEachMemberStartedOnce) {
  for (const char* fault :
       {"local.start.accepted=abort", "local.launched=abort", "local.launched=abort@2"}) {
    LocalNode node;
    const std::string script = "echo run >> " + node.path("runs") + ".$RANK; exit 1$RANK";
    const int status = run_host(node.options().data_folder, fault, script, "start");
    // As kill -9 would end it: no destructor ran.
    ASSERT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 137) << fault << " " << status;
    // The controller asks again, as it does after a restart for what is still starting.
    node.backend().start(node.effect(1, {"sh", "-c", script}, 2));
    EXPECT_EQ(node.wait_for_end(1, 0).exit_code, 10) << fault;
    EXPECT_EQ(node.wait_for_end(1, 1).exit_code, 11) << fault;
    EXPECT_EQ(lines_in(node.path("runs.0")), 1U) << fault;
    EXPECT_EQ(lines_in(node.path("runs.1")), 1U) << fault;
  }
}

TEST(Restart, AnAcceptedStartIsFinishedEvenIfNobodyAsksAgain) {
  LocalNode node;
  const std::string script = "echo run >> " + node.path("runs");
  run_host(node.options().data_folder, "local.start.accepted=abort", script, "start");
  EXPECT_FALSE(std::filesystem::exists(node.path("runs")));
  node.backend();
  EXPECT_EQ(node.wait_for_end(1, 0).end_class, EndClass::Ok);
  EXPECT_EQ(node.wait_for_end(1, 1).end_class, EndClass::Ok);
  EXPECT_EQ(lines_in(node.path("runs")), 2U);
}

TEST(Restart, ADaemonKilledBehindTheStopRequestStopsItNevertheless) {
  LocalNode node;
  run_host(node.options().data_folder, "local.stop.written=abort", "sleep 1000", "stop");
  node.backend();
  EXPECT_EQ(node.wait_for_end(1, 0).end_class, EndClass::Cancelled);
  node.backend().stop(node.stop_effect(1));
  EXPECT_EQ(node.wait_for_end(1, 1).end_class, EndClass::Cancelled);
}

TEST(Restart, AKilledShimIsNodeLostAndNothingOfTheMemberIsLeft) {
  LocalNode node;
  NamedPipe pids(node.path("pids"));
  node.start(
      1, "setsid sh -c 'echo $$ > " + pids.path() + "; while :; do sleep 1000; done' & sleep 1000");
  const std::int32_t grandchild = std::stoi(pids.read_line());
  node.wait_for_running(1);
  const std::string folder = node.member_path(attempt_id(1));
  const std::int32_t child = pid_in(folder, "child.json");
  ASSERT_EQ(::kill(pid_in(folder, "shim.json"), SIGKILL), 0);
  const model::MemberEnd end = node.wait_for_end(1);
  EXPECT_EQ(end.end_class, EndClass::NodeLost);
  EXPECT_TRUE(is_gone(child));
  const auto record = node.backend().list();
  ASSERT_EQ(record->size(), 1U);
  const auto opened = backends::local::Folder::open(folder);
  const auto job = backends::local::read_job(opened->descriptor());
  if (job->cgroup.tracking.empty()) GTEST_SKIP() << "no control group tracks other sessions here";
  EXPECT_TRUE(is_gone(grandchild));
}

TEST(Restart, AShimKilledWhileTheDaemonIsAwayIsNodeLost) {
  for (const bool uses_control_groups : {true, false}) {
    LocalNode node;
    node.options().uses_control_groups = uses_control_groups;
    NamedPipe pids(node.path("pids"));
    // Of the same session as its parent, which is how it is found where there are no groups.
    node.start(1, "sh -c 'echo $$ > " + pids.path() + "; while :; do sleep 1000; done' & wait");
    const std::int32_t grandchild = std::stoi(pids.read_line());
    node.wait_for_running(1);
    const std::string folder = node.member_path(attempt_id(1));
    node.close();
    ASSERT_EQ(::kill(pid_in(folder, "shim.json"), SIGKILL), 0);
    node.backend();
    EXPECT_EQ(node.wait_for_end(1).end_class, EndClass::NodeLost);
    EXPECT_TRUE(is_gone(grandchild)) << uses_control_groups;
  }
}

TEST(Restart, AHalfWrittenExitRecordCountsAsAbsent) {
  LocalNode node;
  NamedPipe go(node.path("go"));
  node.start(1, "read line < " + go.path() + "; exit 7");
  node.wait_for_running(1);
  std::ofstream(node.member_path(attempt_id(1)) + "/exit.json") << R"({"class":"ok","exitC)";
  node.close();
  node.backend();
  node.wait_for_running(1);
  EXPECT_TRUE(node.backend().list()->front().ended.empty());
  go.write_line("end");
  EXPECT_EQ(node.wait_for_end(1).exit_code, 7);
}

TEST(Restart, AMemberWhoseFolderWasRemovedIsNodeLost) {
  LocalNode node;
  NamedPipe go(node.path("go"));
  node.start(1, "read line < " + go.path());
  node.wait_for_running(1);
  std::filesystem::remove_all(node.member_path(attempt_id(1)));
  go.write_line("end");
  EXPECT_EQ(node.wait_for_end(1).end_class, EndClass::NodeLost);
}

TEST(Restart, ADamagedJobFileIsInfrastructureAndForeignFoldersArePassedOver) {
  LocalNode node;
  // Accepted, but its only member cannot be read.
  const std::string jobs = node.options().data_folder + "/jobs";
  std::filesystem::create_directories(jobs + "/3.1/0");
  std::ofstream(jobs + "/3.1/attempt.json") << R"({"attempt":"3.1","epoch":1,"ranks":[0]})";
  std::ofstream(jobs + "/3.1/0/job.json") << "{";
  std::filesystem::create_directories(jobs + "/4.1/0");  // never accepted
  std::filesystem::create_directories(jobs + "/not-an-attempt");
  std::ofstream(jobs + "/stray") << "x";
  EXPECT_EQ(node.backend().list()->size(), 1U);
  EXPECT_EQ(node.wait_for_end(3).end_class, EndClass::Infrastructure);
}

}  // namespace
