// Each rule must be able to fail: a sound State is damaged in one place, and the check must name
// that place. Damage is done to a copy, past lifecycle::apply.

#include "invariants/state_check.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "invariants/event_check.h"
#include "invariants/journal_check.h"
#include "lifecycle/apply.h"
#include "testing/builders.h"

namespace {

using model::AttemptId;
using model::State;
using model::WorkloadId;

// Records events without any planner.
struct Story {
  State state;
  invariants::JournalCheck journal;
  std::string actor;  // of what is recorded

  void record(model::EventBody body, base::Duration after = {}) {
    record_damaged(std::move(body), [](State&) {}, after);
  }
  // What the event made of the State is damaged before the check sees it.
  template <class Damage>
  void record_damaged(model::EventBody body, Damage damage, base::Duration after = {}) {
    const model::Event event{.sequence = model::Sequence(state.last_sequence.value + 1),
                             .at = state.now + after,
                             .actor = actor,
                             .body = std::move(body)};
    journal.before(state, event);
    lifecycle::apply(state, event);
    damage(state);
    journal.after(state, event);
  }
  void start(std::uint64_t workload, std::uint32_t node, std::int32_t first_device, int devices,
             std::uint32_t ordinal = 1) {
    record(model::Decided{{.body = model::Start{.attempt = {WorkloadId(workload), ordinal},
                                                .placement = place(node, first_device, devices),
                                                .claim = {}},
                           .explanation = {}}});
  }
  static model::Placement place(std::uint32_t node, std::int32_t first_device, int devices) {
    model::MemberPlacement member{.group = 0, .node = model::NodeId(node), .devices = {}};
    for (int i = 0; i < devices; ++i)
      member.devices.push_back({.device = first_device + i,
                                .milli = base::kWholeDevice,
                                .memory = base::Bytes(80 * testkit::kGi)});
    return {.members = {member}};
  }
};

// One pool, two nodes of two GPUs, queues a/x and b, three workloads of two GPUs; the first runs.
Story sound_story() {
  Story story;
  model::Pool pool = testkit::a_pool("p").pool;
  pool.id = model::PoolId(1);
  story.record(model::PoolDefined{pool});
  auto made = testkit::a_class("training");
  made.id = model::ClassId(1);
  story.record(model::ClassDefined{made});
  for (std::uint32_t i = 1; i <= 2; ++i) {
    model::Node node = testkit::a_node("n" + std::to_string(i)).gpus(2).node();
    node.id = model::NodeId(i);
    node.pool = pool.id;
    story.record(model::NodeSeen{node});
  }
  const char* names[] = {"a", "a/x", "b"};
  for (std::uint32_t i = 1; i <= 3; ++i) {
    model::Queue queue = testkit::a_queue(names[i - 1]).queue();
    queue.id = model::QueueId(i);
    if (i == 2) queue.parent = model::QueueId(1);
    story.record(model::QueueDefined{queue});
  }
  for (std::uint64_t i = 1; i <= 3; ++i) {
    model::Workload workload = testkit::a_workload("w" + std::to_string(i)).gpus(2).spec().workload;
    workload.id = WorkloadId(i);
    workload.queue = model::QueueId(i == 3 ? 3 : 2);
    workload.workload_class = made.id;
    story.record(model::WorkloadSubmitted{workload});
  }
  story.start(1, 1, 0, 2);
  return story;
}

bool names(const std::vector<invariants::Violation>& violations, const std::string& invariant) {
  return std::any_of(violations.begin(), violations.end(), [&](const auto& violation) {
    return violation.invariant.rfind(invariant, 0) == 0;
  });
}

void expect_found(const State& state, const std::string& invariant) {
  const auto violations = invariants::check(state);
  EXPECT_TRUE(names(violations, invariant)) << invariant << " in\n"
                                            << invariants::to_text(violations);
}

TEST(StateCheck, FindsNothingInASoundState) {
  const Story story = sound_story();
  EXPECT_EQ(invariants::to_text(invariants::check(story.state)), "");
  EXPECT_EQ(invariants::to_text(story.journal.violations()), "");
}

TEST(StateCheck, FindsADeviceThatIsOverCommitted) {
  Story story = sound_story();
  story.start(2, 1, 0, 2);  // the same devices again
  expect_found(story.state, "1 device over-committed");
  EXPECT_TRUE(names(story.journal.violations(), "13 claimed capacity"));
}

TEST(StateCheck, FindsAnIllegalLayout) {
  Story story = sound_story();
  model::NodeRecord& node = story.state.nodes.at(model::NodeId(2));
  node.node.devices[0].memory_slices = 4;
  node.node.devices[0].profiles = {
      {.name = "2s", .memory_slices = 2, .memory = {}, .starts = {0, 2}}};
  node.devices[0].occupants = {
      {.attempt = {WorkloadId(1), 1}, .slice_start = 1, .slice_length = 2}};
  expect_found(story.state, "2 illegal layout");
}

TEST(StateCheck, FindsAMemberThatHasLessThanItAsked) {
  Story story = sound_story();
  story.start(2, 2, 0, 1);
  expect_found(story.state, "3 allocation differs");
}

TEST(StateCheck, FindsABrokenGang) {
  Story story = sound_story();
  story.state.workloads.at(WorkloadId(1)).workload.groups[0].min_members = 2;
  expect_found(story.state, "5 gang broken");
}

TEST(StateCheck, FindsCountersThatDrifted) {
  const model::Dimension gpus{model::PoolId(1), model::kDevice};
  Story story = sound_story();
  story.state.queues.at(model::QueueId(1)).held.add(gpus, 1);
  expect_found(story.state, "10 counter");
  story = sound_story();
  story.state.free.add(gpus, 1);
  expect_found(story.state, "10 counter");
  story = sound_story();
  story.state.queues.at(model::QueueId(3)).pending.add(gpus, 1000);
  expect_found(story.state, "10 counter");
  story = sound_story();
  story.state.nodes.at(model::NodeId(1)).used.add(model::kCpu, 1);
  expect_found(story.state, "10 counter");
  story = sound_story();
  story.state.nodes.at(model::NodeId(2)).devices[1].secured_milli = base::MilliDevice(10);
  expect_found(story.state, "10 counter");
}

TEST(StateCheck, FindsIndexesThatDrifted) {
  Story story = sound_story();
  story.state.node_by_name.erase("n2");
  expect_found(story.state, "10 index");
  story = sound_story();
  story.state.workload_by_name.clear();
  expect_found(story.state, "10 index");
  story = sound_story();
  story.state.workload_by_request_key["once"] = WorkloadId(9);
  expect_found(story.state, "10 index");
  story = sound_story();
  story.state.queues.at(model::QueueId(1)).children.clear();
  expect_found(story.state, "10 index");
}

TEST(StateCheck, FindsAPhaseWithoutItsAttempt) {
  Story story = sound_story();
  story.state.workloads.at(WorkloadId(2)).phase = model::Phase::Running;
  expect_found(story.state, "20 phase");
  story = sound_story();
  story.state.workloads.at(WorkloadId(1)).phase = model::Phase::Queued;
  expect_found(story.state, "20 phase");
}

TEST(StateCheck, FindsAClaimWithoutOwnerOrRoom) {
  Story story = sound_story();
  story.state.claims[model::ClaimId(1)] = {
      .id = model::ClaimId(1), .owner = WorkloadId(2), .placement = Story::place(1, 0, 2)};
  expect_found(story.state, "13 claim without");
  expect_found(story.state, "13 claimed capacity");
}

TEST(JournalCheck, FindsAStartOnAPlaceThatIsBarred) {
  Story story = sound_story();
  story.record(model::NodeConditionChanged{model::NodeId(2), model::NodeCondition::Cordoned, {}});
  story.start(2, 2, 0, 2);
  EXPECT_TRUE(names(story.journal.violations(), "4 started on a node that is not ready"));
  story = sound_story();
  story.record(model::DeviceHealthChanged{model::NodeId(2), 1, model::Health::Separate, {}});
  story.start(2, 2, 0, 2);
  EXPECT_TRUE(names(story.journal.violations(), "7 started on a sick device"));
}

TEST(JournalCheck, FindsAStartThatANodeHasNoRoomFor) {
  Story story = sound_story();
  story.state.nodes.at(model::NodeId(2)).node.allocatable.set(model::kCpu, 500);
  story.start(2, 2, 0, 2);
  EXPECT_TRUE(names(story.journal.violations(), "4 node over-committed"));
}

TEST(JournalCheck, FindsAStartBesideATenantThatDoesNotShare) {
  Story story = sound_story();
  story.start(3, 1, 0, 2);
  EXPECT_TRUE(names(story.journal.violations(), "15 tenants on one device"));
}

TEST(JournalCheck, FindsAStartOfHeldWork) {
  Story story = sound_story();
  story.record(model::WorkloadHeld{WorkloadId(2)});
  story.start(2, 2, 0, 2);
  EXPECT_TRUE(names(story.journal.violations(), "4 started although held"));
}

TEST(JournalCheck, FindsAStartAboveACeiling) {
  Story story = sound_story();
  model::Queue queue = story.state.queues.at(model::QueueId(1)).queue;
  queue.quotas = {
      {.dimension = {model::PoolId(1), model::kDevice}, .guarantee = {}, .lend = {}, .max = 3000}};
  story.record(model::QueueDefined{queue});
  story.start(2, 2, 0, 2);
  EXPECT_TRUE(names(story.journal.violations(), "9 above the ceiling"));
}

model::Evict evict(std::uint64_t victim, std::uint64_t owner, model::Reason cause) {
  return {.victims = {AttemptId{WorkloadId(victim), 1}},
          .cause = cause,
          .owner = WorkloadId(owner),
          .claim = model::ClaimId(1),
          .placement = Story::place(1, 0, 2),
          .expires = base::Instant{1'000'000}};
}

TEST(JournalCheck, FindsAnEvictionAgainstTheRights) {
  Story story = sound_story();
  story.record(model::Decided{{.body = evict(1, 2, model::Reason::Preempt), .explanation = {}}});
  EXPECT_TRUE(names(story.journal.violations(), "11 preempted against its rights"));
  story = sound_story();
  story.record(model::Decided{{.body = evict(1, 3, model::Reason::Preempt), .explanation = {}}});
  EXPECT_TRUE(names(story.journal.violations(), "11 preempted across queues"));
}

TEST(JournalCheck, FindsAnEvictionInsideTheMinRunTime) {
  Story story = sound_story();
  model::WorkloadClass made = story.state.classes.at(model::ClassId(1));
  made.min_runtime = base::minutes(10);
  story.record(model::ClassDefined{made});
  story.record(model::Decided{{.body = evict(1, 3, model::Reason::Reclaim), .explanation = {}}},
               base::minutes(9));
  EXPECT_TRUE(names(story.journal.violations(), "11 evicted inside its min run time"));
}

TEST(JournalCheck, FindsAnEvictionInVain) {
  Story story = sound_story();
  model::Evict vain = evict(1, 2, model::Reason::Preempt);
  vain.placement = Story::place(2, 0, 2);  // where nobody is
  story.record(model::Decided{{.body = vain, .explanation = {}}});
  EXPECT_TRUE(names(story.journal.violations(), "12 evicted in vain"));
}

TEST(JournalCheck, FindsAStartBesideSomebodysClaim) {
  Story story = sound_story();
  story.record(model::Decided{{.body = evict(1, 2, model::Reason::Reclaim), .explanation = {}}});
  story.record(model::MembersEnded{{WorkloadId(1), 1}, {{.rank = 0}}});
  story.start(3, 1, 0, 2);
  EXPECT_TRUE(names(story.journal.violations(), "13 claimed capacity given away"));
}

TEST(JournalCheck, FindsADecisionPastAClaimThatRanOut) {
  Story story = sound_story();
  story.record(model::Decided{{.body = evict(1, 2, model::Reason::Reclaim), .explanation = {}}});
  story.record(model::PoolDefined{story.state.pools.at(model::PoolId(1)).pool}, base::minutes(20));
  story.start(3, 2, 0, 2);
  EXPECT_TRUE(names(story.journal.violations(), "13 claim outlives its time"));
}

TEST(JournalCheck, FindsAStartBeforeAnEqualThatCameFirst) {
  Story story = sound_story();
  model::Workload later = story.state.workloads.at(WorkloadId(2)).workload;
  later.id = WorkloadId(4);
  later.name = "w4";
  story.record(model::WorkloadSubmitted{later});
  story.start(4, 2, 0, 2);
  EXPECT_TRUE(names(story.journal.violations(), "18 overtaken by its equal"));
}

TEST(JournalCheck, FindsADeviceThatChangedItsPlace) {
  Story story = sound_story();
  model::Node node = story.state.nodes.at(model::NodeId(2)).node;
  std::swap(node.devices[0], node.devices[1]);
  story.record(model::NodeSeen{node});
  EXPECT_TRUE(names(story.journal.violations(), "1 a device changed its place"));
}

TEST(JournalCheck, FindsALostClaimWithoutBackOff) {
  const model::EndClaim end{.claim = model::ClaimId(1), .cause = model::Reason::NodeLost};
  Story story = sound_story();
  story.record(model::Decided{{.body = evict(1, 2, model::Reason::Reclaim), .explanation = {}}});
  story.record_damaged(model::Decided{{.body = end, .explanation = {}}}, [](State& state) {
    state.workloads.at(WorkloadId(2)).claim_allowed_at = state.now;
  });
  EXPECT_TRUE(names(story.journal.violations(), "13 no back-off after a claim"));
}

TEST(JournalCheck, FindsAnEvictionThatIsNotCounted) {
  Story story = sound_story();
  story.record_damaged(
      model::Decided{{.body = evict(1, 2, model::Reason::Reclaim), .explanation = {}}},
      [](State& state) { state.workloads.at(WorkloadId(1)).evictions.clear(); });
  EXPECT_TRUE(names(story.journal.violations(), "13 an eviction is not counted"));
}

model::MembersEnded ended_as(model::EndClass end) {
  return {{WorkloadId(1), 1}, {{.rank = 0, .end_class = end, .exit_code = 1}}};
}

TEST(JournalCheck, FindsNothingInAnyWayToEnd) {
  for (std::size_t i = 0; i < model::enum_names(model::EndClass{}).size(); ++i) {
    Story story = sound_story();
    story.record(ended_as(static_cast<model::EndClass>(i)));
    EXPECT_EQ(invariants::to_text(story.journal.violations()), "")
        << model::enum_names(model::EndClass{})[i];
  }
}

TEST(JournalCheck, FindsAnEndThatLeadsElsewhere) {
  const auto found = [](model::EndClass end, auto damage, const std::string& invariant) {
    Story story = sound_story();
    story.record_damaged(ended_as(end),
                         [&](State& state) { damage(state.workloads.at(WorkloadId(1))); });
    return names(story.journal.violations(), invariant);
  };
  using Record = model::WorkloadRecord;
  EXPECT_TRUE(found(
      model::EndClass::UserError, [](Record& record) { record.phase = model::Phase::Completed; },
      "20 an end leads elsewhere"));
  EXPECT_TRUE(found(
      model::EndClass::NodeLost, [](Record& record) { ++record.failures; },
      "20 failures are counted wrongly"));
  EXPECT_TRUE(found(
      model::EndClass::UserError,
      [](Record& record) { record.attempts.back().end_class = model::EndClass::NodeLost; },
      "20 a wrong end class"));
}

TEST(JournalCheck, FindsWorkThatIsTriedAgainAtOnce) {
  Story story = sound_story();
  story.state.workloads.at(WorkloadId(1)).workload.retry.max = 3;
  story.record_damaged(ended_as(model::EndClass::Infrastructure), [](State& state) {
    state.workloads.at(WorkloadId(1)).eligible_at = state.now;
  });
  EXPECT_TRUE(names(story.journal.violations(), "20 tried again at once"));
}

TEST(JournalCheck, FindsWorkThatIsForgottenTooEarly) {
  Story story = sound_story();
  story.state.policy.keeps_finished = base::minutes(10);
  story.record(ended_as(model::EndClass::Ok));
  story.record(model::WorkloadsForgotten{{WorkloadId(1)}}, base::minutes(9));
  EXPECT_TRUE(names(story.journal.violations(), "23 forgotten too early"));
}

TEST(JournalCheck, FindsAConditionOfAPersonThatIsLifted) {
  Story story = sound_story();
  const model::NodeConditionChanged cordoned{model::NodeId(2), model::NodeCondition::Cordoned,
                                             "by alice"};
  const model::NodeConditionChanged ready{model::NodeId(2), model::NodeCondition::Ready, {}};
  story.actor = "alice";
  story.record(cordoned);
  story.record(ready);  // who set it may lift it
  story.record(cordoned);
  EXPECT_EQ(invariants::to_text(story.journal.violations()), "");
  story.actor = {};
  story.record(ready);
  EXPECT_TRUE(names(story.journal.violations(), "4 a person's condition is lifted"));
}

TEST(EventCheck, FindsASoundGangThatIsReleased) {
  Story story = sound_story();
  invariants::EventCheck check;
  model::WorkloadRecord& record = story.state.workloads.at(WorkloadId(1));
  record.phase = model::Phase::Stopping;
  record.attempts.back().phase = model::AttemptPhase::Stopping;
  record.attempts.back().stopping_since = story.state.now;
  const model::Event event{.sequence = story.state.last_sequence,
                           .at = story.state.now,
                           .actor = {},
                           .body = model::MembersEnded{{WorkloadId(1), 1}, {}}};
  EXPECT_TRUE(names(check.after(story.state, event), "5 a sound gang is released"));
}

TEST(JournalCheck, FindsAStartThatPassesTheHeadOfAStrictQueue) {
  Story story = sound_story();
  model::Queue queue = story.state.queues.at(model::QueueId(2)).queue;
  queue.passing = model::Passing::Strict;
  story.record(model::QueueDefined{queue});
  model::Workload later = story.state.workloads.at(WorkloadId(2)).workload;
  later.id = WorkloadId(4);
  later.name = "w4";
  later.groups[0].device_options[0].count = base::Count(1);
  story.record(model::WorkloadSubmitted{later});
  story.start(4, 2, 0, 1);
  EXPECT_TRUE(names(story.journal.violations(), "18 passes the head of a strict queue"));
}

TEST(EventCheck, FindsAHoldThatIsNotKept) {
  Story story = sound_story();
  invariants::EventCheck check;
  const auto after = [&](model::EventBody body) {
    const model::Event event{.sequence = story.state.last_sequence,
                             .at = story.state.now,
                             .actor = {},
                             .body = std::move(body)};
    return check.after(story.state, event);
  };
  EXPECT_TRUE(names(after(model::WorkloadHeld{WorkloadId(2)}), "20 a hold is not what was asked"));
  EXPECT_TRUE(after(model::WorkloadReleased{WorkloadId(2)}).empty());
  story.state.workloads.at(WorkloadId(2)).is_held = true;
  EXPECT_TRUE(after(model::WorkloadHeld{WorkloadId(2)}).empty());
  EXPECT_TRUE(
      names(after(model::WorkloadReleased{WorkloadId(2)}), "20 a hold is not what was asked"));
}

TEST(CheckAfterPlan, FindsWorkThatOutstaysItsTimeOrItsNode) {
  Story story = sound_story();
  story.record(model::AttemptRunning{{WorkloadId(1), 1}});
  story.state.workloads.at(WorkloadId(1)).workload.time_limit = base::minutes(10);
  const auto at = [&](base::Duration after) {
    return invariants::check_after_plan(story.state, story.state.now + after);
  };
  EXPECT_TRUE(at(base::minutes(9)).empty());
  EXPECT_TRUE(names(at(base::minutes(10)), "17 runs beyond its time limit"));
  story.record(model::NodeConditionChanged{model::NodeId(1), model::NodeCondition::Draining, {}});
  EXPECT_TRUE(names(at({}), "17 stays on a node that is drained"));
}

}  // namespace
