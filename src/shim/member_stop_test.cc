// Stopping members: the order of signals, the whole tree, stops that come before the start.

#include <gtest/gtest.h>

#include <string>

#include "tests/backends/local_node.h"

namespace {

using backends_test::attempt_id;
using backends_test::find_end;
using backends_test::is_gone;
using backends_test::LocalNode;
using backends_test::NamedPipe;
using model::EndClass;

class WholeTree : public ::testing::TestWithParam<bool> {};

TEST_P(WholeTree, GoesEvenWhatIgnoresTheSignalInASessionOfItsOwn) {
  LocalNode node;
  node.options().uses_control_groups = GetParam();
  NamedPipe pids(node.path("pids"));
  const std::string deaf =
      "trap \"\" TERM HUP INT; echo $$ > " + pids.path() + "; while :; do sleep 1000; done";
  node.start(1, "setsid sh -c '" + deaf + "' & (setsid setsid sh -c '" + deaf +
                    "' &) ; trap '' TERM; echo $$ > " + pids.path() +
                    "; while :; do sleep 1000; done");
  std::vector<std::int32_t> tree;
  for (int i = 0; i < 3; ++i)
    tree.push_back(std::stoi(pids.read_line()));
  node.wait_for_running(1);
  node.backend().stop(node.stop_effect(1));
  const model::MemberEnd end = node.wait_for_end(1);
  EXPECT_EQ(end.end_class, EndClass::Cancelled);
  EXPECT_EQ(end.signal, SIGKILL);
  for (const std::int32_t pid : tree)
    EXPECT_TRUE(is_gone(pid)) << pid;
}

INSTANTIATE_TEST_SUITE_P(ControlGroups, WholeTree, ::testing::Bool());

TEST(MemberStop, TheEndClassIsThatOfTheStopAlsoWhenTheProcessExitsWell) {
  LocalNode node;
  NamedPipe ready(node.path("ready"));
  node.start(1, "trap 'exit 0' TERM; echo up > " + ready.path() + "; while :; do sleep 0.05; done");
  EXPECT_EQ(ready.read_line(), "up");
  auto stop = node.stop_effect(1);
  stop.grace = base::seconds(30);
  stop.end_class = EndClass::Preempted;
  node.backend().stop(stop);
  const model::MemberEnd end = node.wait_for_end(1);
  EXPECT_EQ(end.end_class, EndClass::Preempted);
  EXPECT_EQ(end.exit_code, 0);
}

TEST(MemberStop, AStoppedProcessIsContinuedSoThatItSeesTheSignal) {
  LocalNode node;
  NamedPipe ready(node.path("ready"));
  node.start(1, "trap 'exit 9' TERM; echo up > " + ready.path() + "; kill -STOP $$; sleep 1000");
  EXPECT_EQ(ready.read_line(), "up");
  auto stop = node.stop_effect(1);
  stop.grace = base::seconds(30);
  node.backend().stop(stop);
  EXPECT_EQ(node.wait_for_end(1).exit_code, 9);
}

TEST(MemberStop, TheCheckpointSignalComesFirstAndOnlyToThoseThatCatchIt) {
  LocalNode node;
  NamedPipe ready(node.path("ready"));
  // The child does not catch SIGUSR1 and would die of it; the parent saves, then waits for SIGTERM.
  node.start(1,
             "sleep 1000 & child=$!; trap 'echo saved; kill -0 $child && echo child lives' USR1; "
             "trap 'echo ended; kill $child; exit 0' TERM; echo up > " +
                 ready.path() + "; while :; do wait; done");
  EXPECT_EQ(ready.read_line(), "up");
  auto stop = node.stop_effect(1);
  stop.grace = base::seconds(30);
  stop.checkpoint_signal = "SIGUSR1";
  stop.checkpoint_grace = base::milliseconds(300);
  stop.end_class = EndClass::Reclaimed;
  node.backend().stop(stop);
  EXPECT_EQ(node.wait_for_end(1).end_class, EndClass::Reclaimed);
  EXPECT_EQ(node.log(1), "saved\nchild lives\nended\n");
}

TEST(MemberStop, AnAttemptStoppedBeforeItsStartNeverBegins) {
  LocalNode node;
  auto stop = node.stop_effect(1);
  stop.end_class = EndClass::Preempted;
  node.backend().stop(stop);
  node.start(1, "touch " + node.path("ran"));
  const model::MemberEnd end = node.wait_for_end(1);
  EXPECT_EQ(end.end_class, EndClass::Preempted);
  EXPECT_FALSE(std::filesystem::exists(node.path("ran")));

  node.close();  // nor after a restart
  node.start(1, "touch " + node.path("ran"));
  EXPECT_EQ(node.wait_for_end(1).end_class, EndClass::Preempted);
  EXPECT_FALSE(std::filesystem::exists(node.path("ran")));
  EXPECT_TRUE(node.backend().list()->empty());
}

TEST(MemberStop, AStopRightBehindTheStartEndsItOneWayOrTheOther) {
  LocalNode node;
  for (std::uint64_t workload = 1; workload <= 8; ++workload) {
    node.start(workload, "sleep 1000");
    node.backend().stop(node.stop_effect(workload));
  }
  for (std::uint64_t workload = 1; workload <= 8; ++workload)
    EXPECT_EQ(node.wait_for_end(workload).end_class, EndClass::Cancelled);
}

TEST(MemberStop, AStopOfAnOlderEpochIsIgnoredAlsoAfterARestart) {
  LocalNode node;
  NamedPipe go(node.path("go"));
  auto effect = node.effect(1, {"sh", "-c", "read line < " + go.path() + "; exit 4"});
  effect.epoch = model::Epoch(5);
  node.backend().start(effect);
  node.wait_for_running(1);
  node.backend().stop(node.stop_effect(1));  // epoch 1
  auto old_start = node.effect(2, {"true"});
  old_start.epoch = model::Epoch(4);
  node.close();
  node.backend().stop(node.stop_effect(1));
  node.backend().start(old_start);
  go.write_line("end");
  const model::MemberEnd end = node.wait_for_end(1);
  EXPECT_EQ(end.end_class, EndClass::UserError);
  EXPECT_EQ(end.exit_code, 4);
  EXPECT_EQ(find_end(node.observations().all(), attempt_id(2), 0), nullptr);
  EXPECT_EQ(node.backend().list()->size(), 1U);
}

TEST(MemberStop, ASecondStopShortensTheGrace) {
  LocalNode node;
  NamedPipe ready(node.path("ready"));
  node.start(1, "trap '' TERM; echo up > " + ready.path() + "; while :; do sleep 1000; done");
  EXPECT_EQ(ready.read_line(), "up");
  auto patient = node.stop_effect(1);
  patient.grace = base::hours(1);
  patient.end_class = EndClass::Preempted;
  node.backend().stop(patient);
  node.backend().stop(node.stop_effect(1));
  const model::MemberEnd end = node.wait_for_end(1);
  EXPECT_EQ(end.end_class, EndClass::Preempted);  // of the first: that is what ended it
  EXPECT_EQ(end.signal, SIGKILL);
}

}  // namespace
