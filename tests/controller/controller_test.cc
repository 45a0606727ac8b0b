// The controller's turn, rule by rule: what callers, backends and time make of the journal, and
// what goes out only after it is committed.

#include "controller/controller.h"

#include <gtest/gtest.h>

#include "controller/replay.h"
#include "lifecycle/checkpoint.h"
#include "tests/controller/bench.h"

namespace {

using base::Code;
using controller::Action;
using controller_test::Bench;
using controller_test::Calls;
using controller_test::document_of;
using model::AttemptId;
using model::EndClass;
using model::NodeCondition;
using model::Phase;
using model::WorkloadId;
using testkit::a_node;
using testkit::a_workload;

const base::Error kDiskFull{.code = Code::Exhausted, .message = "disk full"};

AttemptId first_attempt(WorkloadId workload) { return {.workload = workload, .ordinal = 1}; }

std::string last_refusal(Bench& bench) {
  std::string found;
  for (const model::Event& event : bench.events())
    if (const auto* refused = std::get_if<model::CommandRefused>(&event.body))
      found = event.actor + " " + refused->command + " " + refused->code;
  return found;
}

TEST(Controller, DefinesTheDefaultsOfAnEmptyJournalOnce) {
  Bench bench;
  EXPECT_TRUE(bench.state().class_by_name.contains("training"));
  EXPECT_TRUE(bench.state().queue_by_name.contains("default"));
  EXPECT_TRUE(bench.state().pool_by_name.contains("default"));
  const auto before = bench.events().size();
  bench.open();
  EXPECT_EQ(bench.events().size(), before + 1) << "a restart only adds its own start";
}

TEST(Controller, RunsAWorkloadFromSubmissionToItsEnd) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  const auto reply = bench.try_submit(a_workload("w1").gpus(8));
  ASSERT_TRUE(reply) << base::to_text(reply.error());
  EXPECT_EQ(reply->action, Action::Created);
  EXPECT_EQ(reply->name, "w1");
  EXPECT_GT(reply->sequence.value, 0u);
  EXPECT_EQ(bench.record(reply->workload).workload.user, "ann");
  ASSERT_EQ(bench.backend.starts.size(), 1u);
  const auto& start = bench.backend.starts.front();
  EXPECT_EQ(start.queue, "default");
  EXPECT_EQ(start.node_names, std::vector<std::string>{"n1"});
  EXPECT_EQ(start.epoch, bench.state().epoch);
  EXPECT_EQ(start.workload.name, "w1");
  bench.settle();
  EXPECT_EQ(bench.record(reply->workload).phase, Phase::Running);
  bench.backend.end(first_attempt(reply->workload), EndClass::Ok);
  bench.settle();
  EXPECT_EQ(bench.record(reply->workload).phase, Phase::Completed);
  EXPECT_EQ(bench.backend.calls, (Calls{"start 1.1", "forget 1.1"}));
  EXPECT_TRUE(bench.backend.attempts.empty());
}

TEST(Controller, AnswersAndEffectsComeOnlyAfterTheCommit) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  bench.store->before_append = [&bench] { EXPECT_TRUE(bench.backend.calls.empty()); };
  bool is_listened = false;
  bench.controller->on_commit([&](const std::vector<model::Event>& events) {
    is_listened = true;
    EXPECT_EQ(events.back().sequence, bench.store->last_sequence());
    EXPECT_TRUE(bench.backend.calls.empty());
  });
  bench.submit(a_workload("w1").gpus(8));
  EXPECT_TRUE(is_listened);
  EXPECT_EQ(bench.backend.calls, (Calls{"start 1.1"}));
}

TEST(Controller, ATurnWithoutNewsWritesNothing) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  const auto before = bench.state().last_sequence;
  bench.turn();
  bench.see(a_node("n1").gpus(8));
  EXPECT_EQ(bench.state().last_sequence, before);
}

TEST(Controller, AClockThatJumpsBackIsHeldAtTheLastEvent) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  bench.now = bench.now - base::hours(1);
  bench.submit(a_workload("w1"));
  EXPECT_EQ(bench.state().now, controller_test::start_of_time());
}

// ---- submitting ----

TEST(Controller, ATakenNameIsRefusedUntilItsOwnerHasFinished) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  const auto first = bench.submit(a_workload("w1"));
  const auto second = bench.try_submit(a_workload("w1"));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::AlreadyExists);
  EXPECT_EQ(second.error().field, "metadata.name");
  EXPECT_EQ(last_refusal(bench), "ann apply Workload w1 AlreadyExists");
  bench.backend.end(first_attempt(first), EndClass::Ok);
  bench.settle();
  EXPECT_TRUE(bench.try_submit(a_workload("w1")));
}

TEST(Controller, TheSameRequestKeyGivesTheSameWorkloadAlsoAfterARestart) {
  Bench bench;
  const auto first = bench.try_submit(a_workload("w1"), "key-1");
  ASSERT_TRUE(first);
  bench.open();
  const auto again = bench.try_submit(a_workload("w1"), "key-1");
  ASSERT_TRUE(again) << base::to_text(again.error());
  EXPECT_EQ(again->workload, first->workload);
  EXPECT_EQ(again->action, Action::Unchanged);
  EXPECT_EQ(bench.state().workloads.size(), 1u);
}

TEST(Controller, ARequestKeyOfAnotherRequestOrUserIsAConflict) {
  Bench bench;
  ASSERT_TRUE(bench.try_submit(a_workload("w1"), "key-1"));
  EXPECT_EQ(bench.try_submit(a_workload("w2"), "key-1").error().code, Code::Conflict);
  const auto other = bench.ask_as(
      "bob", controller::Apply{.document = document_of(a_workload("w1")), .request_key = "key-1"});
  EXPECT_EQ(other.error().code, Code::Conflict);
  EXPECT_EQ(bench.state().workloads.size(), 1u);
}

TEST(Controller, AnUnknownQueueIsRefusedAndAudited) {
  Bench bench;
  const auto reply = bench.try_submit(a_workload("w1").in_queue("nowhere"));
  EXPECT_EQ(reply.error().code, Code::NotFound);
  EXPECT_EQ(last_refusal(bench), "ann apply Workload w1 NotFound");
  EXPECT_EQ(bench.controller->counters().refused_commands, 1);
}

TEST(Controller, ADryRunSaysWhatWouldBeDecidedAndLeavesNothing) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  const auto before = bench.state().last_sequence;
  const auto dry = [&](const testkit::WorkloadBuilder& builder) {
    return bench.ask_as(
        "ann",
        controller::Apply{.document = document_of(builder), .request_key = {}, .is_dry_run = true});
  };
  const auto fits = dry(a_workload("w1").gpus(8));
  ASSERT_TRUE(fits && fits->would);
  EXPECT_EQ(fits->would->verdict, model::Verdict::Starts);
  const auto never = dry(a_workload("w2").gpus(9));
  ASSERT_TRUE(never && never->would);
  EXPECT_EQ(never->would->verdict, model::Verdict::Infeasible);
  EXPECT_FALSE(dry(a_workload("w3").in_queue("nowhere")));
  EXPECT_EQ(bench.state().last_sequence, before);
  EXPECT_TRUE(bench.backend.calls.empty());
}

// ---- cancel, hold, release ----

TEST(Controller, CancellingWaitingWorkEndsItAndRunningWorkStopsFirst) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  const auto running = bench.submit(a_workload("w1").gpus(8));
  const auto waiting = bench.submit(a_workload("w2").gpus(8));
  bench.settle();
  ASSERT_TRUE(bench.ask_as("ann", controller::Cancel{waiting}));
  EXPECT_EQ(bench.record(waiting).phase, Phase::Cancelled);
  bench.backend.is_prompt = false;
  ASSERT_TRUE(bench.ask_as("ann", controller::Cancel{running}));
  EXPECT_EQ(bench.record(running).phase, Phase::Stopping);
  EXPECT_EQ(bench.backend.calls.back(), "stop 1.1 cancelled");
  const auto calls = bench.backend.calls.size();
  EXPECT_EQ(bench.ask_as("ann", controller::Cancel{running})->action, Action::Unchanged);
  EXPECT_EQ(bench.backend.calls.size(), calls) << "told once";
  bench.backend.end(first_attempt(running), EndClass::Cancelled);
  bench.settle();
  EXPECT_EQ(bench.record(running).phase, Phase::Cancelled);
  EXPECT_EQ(bench.ask_as("ann", controller::Cancel{running}).error().code,
            Code::FailedPrecondition);
  EXPECT_EQ(bench.ask_as("ann", controller::Cancel{WorkloadId(99)}).error().code, Code::NotFound);
}

TEST(Controller, HeldWorkWaitsUntilItIsReleasedAndRunningWorkCannotBeHeld) {
  Bench bench;
  const auto w = bench.submit(a_workload("w1"));
  ASSERT_TRUE(bench.ask_as("ann", controller::Hold{w}));
  bench.see(a_node("n1"));
  EXPECT_TRUE(bench.backend.calls.empty());
  EXPECT_EQ(bench.ask_as("ann", controller::Hold{w})->action, Action::Unchanged);
  ASSERT_TRUE(bench.ask_as("ann", controller::Release{w}));
  EXPECT_EQ(bench.backend.calls, (Calls{"start 1.1"}));
  const auto late = bench.ask_as("ann", controller::Hold{w});
  EXPECT_EQ(late.error().code, Code::FailedPrecondition);
  EXPECT_FALSE(late.error().hint.empty());
}

// ---- nodes ----

TEST(Controller, ACordonOfAPersonOutlivesWhatTheBackendReports) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  ASSERT_TRUE(bench.ask_as(
      "root", controller::SetNodeCondition{"n1", NodeCondition::Cordoned, "disk swap"}));
  EXPECT_EQ(bench.node("n1").condition_note, "by root: disk swap");
  bench.see(a_node("n1").gpus(4));
  EXPECT_EQ(bench.node("n1").devices[7].health, model::Health::Separate) << "gone, not forgotten";
  EXPECT_EQ(bench.node("n1").condition, NodeCondition::Cordoned);
  bench.observe({controller::NodeConditionReport{"n1", NodeCondition::Lost, "silent"}});
  EXPECT_EQ(bench.node("n1").condition, NodeCondition::Cordoned);
  ASSERT_TRUE(bench.ask_as("root", controller::SetNodeCondition{"n1", NodeCondition::Ready, ""}));
  EXPECT_EQ(bench.node("n1").condition, NodeCondition::Lost) << "the backend's word holds again";
  bench.observe({controller::NodeConditionReport{"n1", NodeCondition::Ready, ""}});
  EXPECT_EQ(bench.node("n1").condition, NodeCondition::Ready);
  EXPECT_EQ(bench.ask_as("root", controller::SetNodeCondition{"n9", NodeCondition::Ready, ""})
                .error()
                .code,
            Code::NotFound);
  EXPECT_EQ(bench.ask_as("root", controller::SetNodeCondition{"n1", NodeCondition::Lost, ""})
                .error()
                .code,
            Code::InvalidArgument);
}

TEST(Controller, ANodeOfAnUnknownPoolTakesNoWorkUntilThePoolIsDefined) {
  Bench bench;
  bench.see(a_node("n1").gpus(8), "h800");
  EXPECT_EQ(bench.node("n1").condition, NodeCondition::Cordoned);
  EXPECT_EQ(bench.node("n1").condition_note, "pool h800 is not defined");
  const auto w = bench.submit(a_workload("w1").gpus(8));
  EXPECT_TRUE(bench.backend.calls.empty());
  const auto defined = bench.define(
      {.body = manifest::PoolDocument{.pool = {.name = "h800"}, .parent = {}}, .source = "test"});
  ASSERT_TRUE(defined) << base::to_text(defined.error());
  EXPECT_EQ(bench.node("n1").condition, NodeCondition::Ready);
  EXPECT_EQ(bench.node("n1").pool, bench.state().pool_by_name.at("h800"));
  EXPECT_EQ(bench.record(w).phase, Phase::Starting);
}

TEST(Controller, ANodeWithoutAPoolJoinsTheOneWhoseSelectorItMatches) {
  Bench bench;
  ASSERT_TRUE(bench.define(
      {.body = manifest::PoolDocument{.pool = {.name = "big", .selector = {{"size", "big"}}},
                                      .parent = {}},
       .source = "test"}));
  bench.see(a_node("n1").attribute("size", "big"));
  bench.see(a_node("n2").attribute("size", "small"));
  EXPECT_EQ(bench.node("n1").pool, bench.state().pool_by_name.at("big"));
  EXPECT_EQ(bench.node("n2").pool, bench.state().pool_by_name.at("default"));
}

TEST(Controller, DeviceHealthIsJournaledOnlyWhenItChanges) {
  Bench bench;
  bench.see(a_node("n1").gpus(2));
  const controller::DeviceHealthReport report{"n1", 1, model::Health::NoNewWork, "xid 79"};
  bench.observe({report});
  EXPECT_EQ(bench.node("n1").devices[1].health, model::Health::NoNewWork);
  const auto before = bench.state().last_sequence;
  bench.observe({report});
  bench.observe({controller::DeviceHealthReport{"n1", 7, model::Health::Ok, ""}});
  bench.observe({controller::DeviceHealthReport{"n9", 0, model::Health::Ok, ""}});
  EXPECT_EQ(bench.state().last_sequence, before);
}

TEST(Controller, DevicesKeepTheirPlaceWhenTheBackendReportsThemInAnotherOrder) {
  Bench bench;
  bench.see(a_node("n1").gpus(3));
  const auto before = bench.node("n1").devices;
  auto report = bench.report_of(a_node("n1").gpus(3));
  std::ranges::reverse(report.node.devices);
  bench.observe({report});
  EXPECT_EQ(bench.node("n1").devices, before);
}

// ---- attempts ----

TEST(Controller, AGangThatLosesAMemberIsStoppedWhole) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  const auto w = bench.submit(a_workload("w1").gang(4).gpus(2));
  bench.settle();
  bench.backend.is_prompt = false;
  bench.backend.end(first_attempt(w), EndClass::UserError, 2);
  bench.settle();
  EXPECT_EQ(bench.record(w).phase, Phase::Stopping);
  EXPECT_EQ(bench.backend.calls.back(), "stop 1.1 cancelled");
  bench.backend.end(first_attempt(w), EndClass::Cancelled);
  bench.settle();
  EXPECT_EQ(bench.record(w).phase, Phase::Failed);
  EXPECT_EQ(bench.record(w).attempts[0].end_class, EndClass::UserError);
}

TEST(Controller, ARepeatedEndIsIgnoredAndForgotten) {
  Bench bench;
  bench.see(a_node("n1"));
  const auto w = bench.submit(a_workload("w1"));
  bench.settle();
  bench.backend.end(first_attempt(w), EndClass::Ok);
  const auto reports = bench.backend.reports;
  bench.settle();
  const auto before = bench.state().last_sequence;
  bench.observe(reports);
  EXPECT_EQ(bench.state().last_sequence, before);
  EXPECT_EQ(bench.backend.calls, (Calls{"start 1.1", "forget 1.1", "forget 1.1"}));
}

TEST(Controller, ReportsAboutNothingKnownChangeNothing) {
  Bench bench;
  bench.see(a_node("n1"));
  const auto w = bench.submit(a_workload("w1"));
  bench.settle();
  const auto before = bench.state().last_sequence;
  bench.observe({controller::RunningReport{{WorkloadId(77), 1}}, controller::RunningReport{{w, 2}},
                 controller::EndReport{{WorkloadId(77), 1}, {{.rank = 0}}},
                 controller::EndReport{{w, 1}, {{.rank = 5}, {.rank = -1}}},
                 controller::NodeConditionReport{"n9", NodeCondition::Lost, ""}});
  EXPECT_EQ(bench.state().last_sequence, before);
  EXPECT_EQ(bench.record(w).phase, Phase::Running);
}

TEST(Controller, ATimeLimitFallsDueByItself) {
  Bench bench;
  bench.see(a_node("n1"));
  const auto w = bench.submit(a_workload("w1").time_limit(base::minutes(5)));
  bench.advance(base::minutes(4));
  EXPECT_EQ(bench.record(w).phase, Phase::Running);
  EXPECT_LE(bench.controller->next_due(), bench.now + base::minutes(1));
  bench.advance(base::minutes(2));
  EXPECT_EQ(bench.record(w).phase, Phase::Failed);
  EXPECT_EQ(bench.record(w).attempts[0].end_class, EndClass::Timeout);
  EXPECT_EQ(bench.backend.stops[0].end_class, EndClass::Timeout);
}

TEST(Controller, FinishedWorkIsForgottenAfterItsTime) {
  Bench bench;
  bench.see(a_node("n1"));
  const auto w = bench.submit(a_workload("w1"));
  bench.settle();
  bench.backend.end(first_attempt(w), EndClass::Ok);
  bench.advance(base::days(6));
  EXPECT_NE(bench.state().workloads.find(w), nullptr);
  bench.advance(base::days(2));
  EXPECT_EQ(bench.state().workloads.find(w), nullptr);
  EXPECT_EQ(bench.submit(a_workload("w1")).value, w.value + 1) << "ids are never reused";
}

// ---- failed commits ----

TEST(Controller, AFailedCommitUndoesTheTurnAndTellsTheCallers) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  const model::State before = bench.state();
  bench.store->append_failure = kDiskFull;
  const auto reply = bench.try_submit(a_workload("w1").gpus(8));
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, Code::Exhausted);
  EXPECT_TRUE(bench.controller->is_degraded());
  EXPECT_EQ(bench.state(), before) << "reading goes on, from the last commit";
  EXPECT_TRUE(bench.backend.calls.empty());
  EXPECT_EQ(bench.controller->counters().failed_commits, 1);
  bench.turn();
  EXPECT_TRUE(bench.controller->is_degraded()) << "a turn without news proves nothing";
  bench.store->append_failure.reset();
  EXPECT_TRUE(bench.try_submit(a_workload("w1").gpus(8)));
  EXPECT_FALSE(bench.controller->is_degraded());
  EXPECT_EQ(bench.backend.calls, (Calls{"start 1.1"}));
  EXPECT_EQ(last_refusal(bench), " commit Exhausted") << "the audit knows of it";
}

TEST(Controller, ObservationsOfAFailedTurnAreNotLost) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  const auto w = bench.submit(a_workload("w1").gpus(8));
  bench.settle();
  bench.store->append_failure = kDiskFull;
  bench.backend.end(first_attempt(w), EndClass::Ok);
  bench.observe(std::exchange(bench.backend.reports, {}));
  bench.see(a_node("n2").gpus(8));
  EXPECT_EQ(bench.record(w).phase, Phase::Running);
  EXPECT_FALSE(bench.state().node_by_name.contains("n2"));
  bench.store->append_failure.reset();
  bench.turn();
  EXPECT_EQ(bench.record(w).phase, Phase::Completed);
  EXPECT_TRUE(bench.state().node_by_name.contains("n2"));
}

TEST(Controller, WhileTheStoreCannotEvenBeReadCommandsAreRefusedAndItRecovers) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  bench.store->append_failure = kDiskFull;
  bench.store->read_failure = base::Error{.code = Code::Unavailable, .message = "no disk"};
  EXPECT_FALSE(bench.try_submit(a_workload("w1")));
  bench.store->append_failure.reset();
  EXPECT_EQ(bench.try_submit(a_workload("w1")).error().code, Code::Unavailable);
  bench.store->read_failure.reset();
  EXPECT_TRUE(bench.try_submit(a_workload("w1")));
}

TEST(Controller, AnotherControllerThatTookTheJournalFencesThisOneForEver) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  store::MemoryStore other(bench.journal);
  ASSERT_TRUE(other.acquire_epoch());
  EXPECT_EQ(bench.try_submit(a_workload("w1")).error().code, Code::Conflict);
  EXPECT_TRUE(bench.controller->is_fenced());
  EXPECT_EQ(bench.try_submit(a_workload("w1")).error().code, Code::Conflict);
  EXPECT_TRUE(bench.backend.calls.empty());
}

// ---- checkpoints ----

TEST(Controller, ARestartFromACheckpointGivesTheSameStateAsTheWholeJournal) {
  Bench bench({.version = "test", .checkpoint_every_events = 5});
  bench.see(a_node("n1").gpus(8));
  for (int i = 0; i < 6; ++i)
    bench.submit(a_workload("w" + std::to_string(i)).gpus(2));
  bench.settle();
  ASSERT_TRUE(bench.store->latest_checkpoint()->has_value());
  const auto short_way = controller::replay(*bench.store);
  const auto long_way = controller::replay(*bench.store, controller::ReplayFrom::Beginning);
  ASSERT_TRUE(short_way && long_way);
  EXPECT_LT(short_way->events, long_way->events);
  EXPECT_EQ(short_way->state, long_way->state);
  EXPECT_EQ(short_way->state, bench.state());
}

TEST(Controller, ADamagedCheckpointIsNotTheEnd) {
  Bench bench;
  bench.see(a_node("n1").gpus(8));
  ASSERT_TRUE(
      bench.store->write_checkpoint({.sequence = bench.state().last_sequence, .bytes = "rubbish"}));
  const auto replayed = controller::replay(*bench.store);
  ASSERT_TRUE(replayed);
  EXPECT_EQ(replayed->state, bench.state());
}

}  // namespace
