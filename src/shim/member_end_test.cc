// How members end: real processes under real shims, seen through the local backend.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/backends/local_node.h"

namespace {

using backends_test::attempt_id;
using backends_test::has_running;
using backends_test::is_gone;
using backends_test::LocalNode;
using backends_test::NamedPipe;
using model::EndClass;

TEST(MemberEnd, ExitCodesAreReported) {
  LocalNode node;
  node.start(1, "exit 0");
  node.start(2, "exit 3");
  EXPECT_EQ(node.wait_for_end(1), (model::MemberEnd{.rank = 0, .end_class = EndClass::Ok}));
  EXPECT_EQ(node.wait_for_end(2),
            (model::MemberEnd{.rank = 0, .end_class = EndClass::UserError, .exit_code = 3}));
}

TEST(MemberEnd, ASignalIsReportedAsSuch) {
  LocalNode node;
  node.start(1, "kill -SEGV $$");
  EXPECT_EQ(node.wait_for_end(1),
            (model::MemberEnd{
                .rank = 0, .end_class = EndClass::Signal, .exit_code = 139, .signal = SIGSEGV}));
}

TEST(MemberEnd, RunningComesBeforeTheEnd) {
  LocalNode node;
  node.start(1, "exit 0");
  node.wait_for_end(1);
  const auto all = node.observations().all();
  std::size_t running = all.size(), end = all.size();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::holds_alternative<controller::RunningReport>(all[i])) running = std::min(running, i);
    if (std::holds_alternative<controller::EndReport>(all[i])) end = std::min(end, i);
  }
  EXPECT_LT(running, end);
}

TEST(MemberEnd, AProgramThatDoesNotExistIsAnExecErrorAndNeverRan) {
  LocalNode node;
  node.backend().start(node.effect(1, {"no-such-program-anywhere"}));
  const model::MemberEnd end = node.wait_for_end(1);
  EXPECT_EQ(end.end_class, EndClass::ExecError);
  EXPECT_EQ(end.exit_code, 127);
  EXPECT_NE(end.note.find("no-such-program-anywhere"), std::string::npos) << end.note;
  EXPECT_FALSE(has_running(node.observations().all(), attempt_id(1)));
}

TEST(MemberEnd, AProgramThatExits127IsAUserError) {
  LocalNode node;
  node.start(1, "exit 127");
  EXPECT_EQ(node.wait_for_end(1).end_class, EndClass::UserError);
}

TEST(MemberEnd, AFileThatIsNoProgramIsAnExecError) {
  LocalNode node;
  std::ofstream(node.path("plain")) << "text";
  node.backend().start(node.effect(1, {node.path("plain")}));
  const model::MemberEnd end = node.wait_for_end(1);
  EXPECT_EQ(end.end_class, EndClass::ExecError);
  EXPECT_EQ(end.exit_code, 126);
}

TEST(MemberEnd, AMissingDirectoryIsNamed) {
  LocalNode node;
  auto effect = node.effect(1, {"true"});
  effect.workload.command.directory = node.path("absent");
  node.backend().start(effect);
  const model::MemberEnd end = node.wait_for_end(1);
  EXPECT_EQ(end.end_class, EndClass::ExecError);
  EXPECT_NE(end.note.find("absent"), std::string::npos) << end.note;
}

TEST(MemberEnd, AnEmptyCommandAndAnImageAreRefusedWithTheReason) {
  LocalNode node;
  node.backend().start(node.effect(1, {}));
  EXPECT_EQ(node.wait_for_end(1).end_class, EndClass::ExecError);
  auto effect = node.effect(2, {"true"});
  effect.workload.command.image = "registry/train:1";
  node.backend().start(effect);
  const model::MemberEnd end = node.wait_for_end(2);
  EXPECT_EQ(end.end_class, EndClass::ExecError);
  EXPECT_NE(end.note.find("registry/train:1"), std::string::npos) << end.note;
}

TEST(MemberEnd, AboveItsMemoryLimitItEndsAsOutOfMemory) {
  LocalNode node;
  node.backend();
  ASSERT_TRUE(node.observations().wait([](const auto& all) { return !all.empty(); }));
  const auto first = node.observations().all().front();
  const auto& report = std::get<controller::NodeReport>(first);
  if (report.node.enforcement.at("memory") == "not enforced")
    GTEST_SKIP() << "no memory control group can be made here (not root, or not mounted)";
  // Doubles a text up to 2^28 bytes, four times the limit.
  auto effect = node.effect(
      1, {"sh", "-c", "x=0123456789abcdef; for i in $(seq 24); do x=$x$x; done; echo ${#x}"});
  effect.workload.groups[0].per_member.set(model::kMemory, std::int64_t{64} << 20);
  node.backend().start(effect);
  const model::MemberEnd end = node.wait_for_end(1);
  EXPECT_EQ(end.end_class, EndClass::OutOfMemory);
  EXPECT_EQ(end.note, "memory limit 64Mi reached");
}

class Leftovers : public ::testing::TestWithParam<bool> {};

TEST_P(Leftovers, OfAnEndedProcessAreGoneWhenItsEndIsReported) {
  LocalNode node;
  node.options().uses_control_groups = GetParam();
  NamedPipe pids(node.path("pids"));
  NamedPipe go(node.path("go"));
  // In another session, deaf to SIGTERM, and holding the output open.
  node.start(1, "setsid sh -c 'trap \"\" TERM HUP; echo $$ > " + pids.path() +
                    "; while :; do sleep 1000; done' & read line < " + go.path() + "; exit 1");
  const std::int32_t leftover = std::stoi(pids.read_line());
  go.write_line("go");
  const model::MemberEnd end = node.wait_for_end(1);
  EXPECT_EQ(end.end_class, EndClass::UserError);
  EXPECT_TRUE(is_gone(leftover));
}

INSTANTIATE_TEST_SUITE_P(ControlGroups, Leftovers, ::testing::Bool());

TEST(MemberEnd, MembersGetTheirOwnEnvironmentAndNothingOfTheDaemons) {
  ::setenv("DAEMON_SECRET", "hunter2", 1);
  LocalNode node;
  auto effect = node.effect(7, {"env"}, 3);
  effect.workload.command.environment = {{"OWN", "yes"}, {"RANK", "99"}};
  node.backend().start(effect);
  std::string port;
  for (const std::int32_t rank : {0, 1, 2}) {
    EXPECT_EQ(node.wait_for_end(7, rank).end_class, EndClass::Ok);
    const std::string text = "\n" + node.log(7, rank);
    const auto value = [&](const std::string& name) {
      const std::size_t at = text.find("\n" + name + "=");
      if (at == std::string::npos) return std::string("(unset)");
      const std::size_t begin = at + name.size() + 2;
      return text.substr(begin, text.find('\n', begin) - begin);
    };
    EXPECT_EQ(value("DAEMON_SECRET"), "(unset)");
    EXPECT_EQ(value("OWN"), "yes");
    EXPECT_EQ(value("RANK"), std::to_string(rank));
    EXPECT_EQ(value("WORLD_SIZE"), "3");
    EXPECT_EQ(value("LOCAL_RANK"), "0");
    EXPECT_EQ(value("GROUP_RANK"), std::to_string(rank));
    EXPECT_EQ(value("MASTER_ADDR"), "127.0.0.1");
    EXPECT_EQ(value("BERTH_WORKLOAD"), "7");
    EXPECT_EQ(value("BERTH_ATTEMPT"), "7.1");
    EXPECT_EQ(value("BERTH_QUEUE"), "team/project");
    EXPECT_EQ(value("CUDA_VISIBLE_DEVICES"), "");
    EXPECT_TRUE(std::filesystem::is_directory(value("BERTH_CHECKPOINT_DIR")));
    if (rank == 0) port = value("MASTER_PORT");
    EXPECT_EQ(value("MASTER_PORT"), port);
    EXPECT_GE(std::stoi(value("MASTER_PORT")), 1024);
  }
  ::unsetenv("DAEMON_SECRET");
}

TEST(MemberEnd, LogsAreReadInPartsAndNeverThroughALink) {
  LocalNode node;
  node.start(1, "printf 0123456789; printf oops >&2");
  node.wait_for_end(1);
  EXPECT_EQ(node.log(1), "0123456789");
  EXPECT_EQ(node.log(1, 0, true), "oops");
  const auto middle = node.backend().read_log({.attempt = attempt_id(1), .offset = 3, .limit = 4});
  ASSERT_TRUE(middle);
  EXPECT_EQ(middle->bytes, "3456");
  EXPECT_EQ(middle->size, 10);
  const auto tail = node.backend().read_log({.attempt = attempt_id(1), .offset = -2});
  ASSERT_TRUE(tail);
  EXPECT_EQ(tail->bytes, "89");
  EXPECT_EQ(tail->offset, 8);
  const auto beyond = node.backend().read_log({.attempt = attempt_id(1), .offset = 99});
  ASSERT_TRUE(beyond);
  EXPECT_EQ(beyond->bytes, "");
  for (const std::int32_t rank : {5, -1})
    EXPECT_FALSE(node.backend().read_log({.attempt = attempt_id(1), .rank = rank}));
  EXPECT_FALSE(node.backend().read_log({.attempt = attempt_id(2)}));

  const std::string log = node.member_path(attempt_id(1)) + "/stdout";
  std::filesystem::remove(log);
  std::filesystem::create_symlink("/etc/passwd", log);
  EXPECT_FALSE(node.backend().read_log({.attempt = attempt_id(1)}));
  std::filesystem::remove(log);
  ASSERT_EQ(::mkfifo(log.c_str(), 0600), 0);
  EXPECT_FALSE(node.backend().read_log({.attempt = attempt_id(1)}));
}

TEST(MemberEnd, AShimThatCannotStartIsTriedAgainAndThenReported) {
  LocalNode node({"/bin/false"});
  node.start(1, "exit 0");
  const model::MemberEnd end = node.wait_for_end(1);
  EXPECT_EQ(end.end_class, EndClass::Infrastructure);
  EXPECT_NE(end.note.find("supervisor"), std::string::npos) << end.note;
}

}  // namespace
