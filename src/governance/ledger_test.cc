// The ledger on small histories written out by hand, with the device-time in the comments. That it
// conserves over random histories of the real planner is tested in tests/governance.

#include "governance/ledger.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.h"

namespace governance {
namespace {

using model::AttemptId;
using model::EndClass;
using model::NodeId;
using model::PoolId;
using model::QueueId;
using model::WorkloadId;

// Two pools below one, queue a/b in tenant a; what would be applied by lifecycle is set by hand.
class History {
 public:
  History() {
    add_pool(1, "all", {1}, {2, 3});
    add_pool(2, "h800", {2, 1}, {});
    add_pool(3, "l20", {3, 1}, {});
    add_queue(1, "a", {1});
    add_queue(2, "a/b", {2, 1});
    model::WorkloadClass training;
    training.id = model::ClassId(3);
    training.name = "training";
    state_.classes.insert(training.id, training);
    state_.now = start_;
  }

  const model::State& state() const { return state_; }
  Ledger& ledger() {
    if (!ledger_) ledger_.emplace(state_);
    return *ledger_;
  }
  base::Instant now() const { return state_.now; }
  History& after(base::Duration duration) {
    state_.now = state_.now + duration;
    return *this;
  }

  void node(std::uint32_t id, std::uint32_t pool, int devices,
            model::NodeCondition condition = model::NodeCondition::Ready) {
    if (state_.nodes.find(NodeId(id)) == nullptr) {
      model::NodeRecord record;
      record.node.id = NodeId(id);
      record.node.pool = PoolId(pool);
      state_.nodes.insert(NodeId(id), record);
    }
    model::NodeRecord& record = state_.nodes.at(NodeId(id));
    record.node.condition = condition;
    record.node.devices.resize(static_cast<std::size_t>(devices));
    record.devices.resize(static_cast<std::size_t>(devices));
    happen(model::NodeSeen{record.node});
  }

  void health(std::uint32_t node, int device, model::Health health) {
    state_.nodes.at(NodeId(node)).node.devices[static_cast<std::size_t>(device)].health = health;
    happen(model::DeviceHealthChanged{.node = NodeId(node), .device = device, .health = health});
  }

  void submit(std::uint64_t id, std::string user = "ada") {
    model::WorkloadRecord record;
    record.workload.id = WorkloadId(id);
    record.workload.kind = model::Kind::TrainingJob;
    record.workload.queue = QueueId(2);
    record.workload.workload_class = model::ClassId(3);
    record.workload.user = std::move(user);
    record.queued_since = state_.now;
    state_.workloads.insert(WorkloadId(id), record);
  }
  model::WorkloadRecord& record(std::uint64_t id) { return state_.workloads.at(WorkloadId(id)); }

  // One member with this part of device 0 of the node.
  model::Start start(std::uint64_t id, std::uint32_t node, std::int64_t milli) {
    model::WorkloadRecord& workload = record(id);
    model::NodeRecord& where = state_.nodes.at(NodeId(node));
    model::Attempt attempt;
    attempt.id = {WorkloadId(id), static_cast<std::uint32_t>(workload.attempts.size() + 1)};
    attempt.decided = state_.now;
    attempt.placement.members.push_back(
        {.node = NodeId(node), .devices = {{.device = 0, .milli = base::MilliDevice(milli)}}});
    for (const PoolId pool : state_.pools.at(where.node.pool).path)
      attempt.charge.add({pool, model::kDevice}, milli);
    where.devices[0].milli += base::MilliDevice(milli);
    workload.attempts.push_back(attempt);
    const model::Start start{.attempt = attempt.id, .placement = attempt.placement, .claim = {}};
    happen(model::Decided{{.body = start, .explanation = {}}});
    return start;
  }

  void run(std::uint64_t id) {
    model::Attempt& attempt = record(id).attempts.back();
    attempt.phase = model::AttemptPhase::Running;
    attempt.running_since = state_.now;
    happen(model::AttemptRunning{attempt.id});
  }

  void end(std::uint64_t id, EndClass end_class) {
    model::Attempt& attempt = record(id).attempts.back();
    attempt.phase = model::AttemptPhase::Ended;
    attempt.ended = state_.now;
    attempt.end_class = end_class;
    for (const auto& member : attempt.placement.members)
      state_.nodes.at(member.node).devices[0].milli -= member.devices[0].milli;
    happen(model::MembersEnded{.attempt = attempt.id, .members = {}});
  }

  void happen(model::EventBody body) {
    ledger().observe(state_, {.sequence = {}, .at = state_.now, .actor = {}, .body = body});
  }

  UsageCounts of(UsageBy by, const std::string& key, const Window& window = {}) {
    for (const UsageLine& line : ledger().usage(by, window, state_.now))
      if (key_text(state_, line.key) == key) return line.counts;
    return {};
  }
  CapacityCounts capacity(std::uint32_t pool, const Window& window = {}) {
    for (const CapacityLine& line : ledger().capacity(window, state_.now))
      if (line.pool == PoolId(pool)) return line.counts;
    return {};
  }

 private:
  void add_pool(std::uint32_t id, std::string name, std::vector<std::uint32_t> path,
                std::vector<std::uint32_t> children) {
    model::PoolRecord record;
    record.pool.id = PoolId(id);
    record.pool.name = std::move(name);
    for (const auto pool : path)
      record.path.push_back(PoolId(pool));
    for (const auto pool : children)
      record.children.push_back(PoolId(pool));
    state_.pools.insert(PoolId(id), record);
  }
  void add_queue(std::uint32_t id, std::string name, std::vector<std::uint32_t> path) {
    model::QueueRecord record;
    record.queue.id = QueueId(id);
    record.queue.name = std::move(name);
    for (const auto queue : path)
      record.path.push_back(QueueId(queue));
    state_.queues.insert(QueueId(id), record);
  }

  const base::Instant start_ = *base::parse_instant("2026-12-01T10:30:00Z");
  model::State state_;
  std::optional<Ledger> ledger_;
};

constexpr std::int64_t kHour = 3'600'000;

TEST(Ledger, CountsDeviceTimeFromDecisionToConfirmedEnd) {
  History history;
  history.node(1, 2, 2);
  history.submit(1);
  history.after(base::minutes(5)).start(1, 1, 500);
  history.after(base::minutes(1)).run(1);
  history.after(base::minutes(60)).end(1, EndClass::Ok);
  history.after(base::hours(5));
  const UsageCounts expected{.allocated = 500 * base::minutes(61).millis,  // half a device
                             .waited_ms = base::minutes(5).millis,
                             .started = 1,
                             .completed = 1};
  EXPECT_EQ(history.of(UsageBy::Queue, "a/b"), expected);
  EXPECT_EQ(history.of(UsageBy::Queue, "a"), expected);  // the tenant includes what is below
  EXPECT_EQ(history.of(UsageBy::User, "ada"), expected);
  EXPECT_EQ(history.of(UsageBy::Class, "training"), expected);
  EXPECT_EQ(history.of(UsageBy::Kind, "TrainingJob"), expected);
  EXPECT_EQ(history.of(UsageBy::Pool, "h800"), expected);
  EXPECT_EQ(history.of(UsageBy::Pool, "all"), expected);
  EXPECT_EQ(history.of(UsageBy::Pool, "l20"), UsageCounts{});
}

TEST(Ledger, CountsWhatStillRunsUpToTheQuestion) {
  History history;
  history.node(1, 2, 1);
  history.submit(1);
  history.start(1, 1, 1000);
  history.after(base::milliseconds(1));
  EXPECT_EQ(history.of(UsageBy::User, "ada").allocated, 1000);
  history.after(base::milliseconds(1));
  EXPECT_EQ(history.of(UsageBy::User, "ada").allocated, 2000);
}

TEST(Ledger, SplitsAtFullHours) {
  History history;
  history.node(1, 2, 1);
  history.submit(1);
  history.start(1, 1, 1000);  // 10:30
  history.after(base::hours(2)).end(1, EndClass::UserError);
  const auto from = [](std::string_view begin, std::string_view end) {
    return Window{*base::parse_instant(begin), *base::parse_instant(end)};
  };
  const auto counts = [&](const Window& window) {
    return history.of(UsageBy::User, "ada", window);
  };
  EXPECT_EQ(counts(from("2026-12-01T10:00:00Z", "2026-12-01T11:00:00Z")).allocated, 500 * kHour);
  EXPECT_EQ(counts(from("2026-12-01T11:00:00Z", "2026-12-01T12:00:00Z")).allocated, 1000 * kHour);
  EXPECT_EQ(counts(from("2026-12-01T12:00:00Z", "2026-12-01T13:00:00Z")).allocated, 500 * kHour);
  // The start belongs to the first hour, the end to the last one.
  EXPECT_EQ(counts(from("2026-12-01T10:00:00Z", "2026-12-01T11:00:00Z")).started, 1);
  EXPECT_EQ(counts(from("2026-12-01T12:00:00Z", "2026-12-01T13:00:00Z")).failed, 1);
  // Rounded outwards to whole hours.
  EXPECT_EQ(counts(from("2026-12-01T11:10:00Z", "2026-12-01T11:20:00Z")).allocated, 1000 * kHour);
  EXPECT_EQ(counts(from("2026-12-01T13:00:00Z", "2026-12-02T00:00:00Z")), UsageCounts{});
}

TEST(Ledger, WindowsAlsoCutWhatStillRuns) {
  History history;
  history.node(1, 2, 1);
  history.submit(1);
  history.start(1, 1, 1000);  // 10:30
  history.after(base::hours(5));
  const Window window{*base::parse_instant("2026-12-01T11:00:00Z"),
                      *base::parse_instant("2026-12-01T12:00:00Z")};
  EXPECT_EQ(history.of(UsageBy::User, "ada", window).allocated, 1000 * kHour);
  EXPECT_EQ(history.capacity(2, window).allocated, 1000 * kHour);
  EXPECT_EQ(history.capacity(2, window).installed, 1000 * kHour);
}

TEST(Ledger, EvictionsLoseWhatWasDoneSinceTheStartOrTheLastCheckpoint) {
  History history;
  history.node(1, 2, 1);
  for (const std::uint64_t id : {1U, 2U}) {
    history.submit(id, "user-" + std::to_string(id));
    if (id == 2) history.record(id).workload.checkpoint.every = base::minutes(30);
    history.start(id, 1, 1000);
    history.after(base::minutes(1)).run(id);
    history.after(base::minutes(70)).end(id, EndClass::Reclaimed);
  }
  const UsageCounts without = history.of(UsageBy::User, "user-1");
  EXPECT_EQ(without.evicted, 1);
  EXPECT_EQ(without.lost, 1000 * base::minutes(70).millis);
  EXPECT_EQ(history.of(UsageBy::User, "user-2").lost, 1000 * base::minutes(10).millis);
}

TEST(Ledger, OnlyEvictionsLose) {
  History history;
  history.node(1, 2, 1);
  history.submit(1);
  for (const EndClass end_class : {EndClass::UserError, EndClass::NodeLost, EndClass::Cancelled}) {
    history.start(1, 1, 1000);
    history.run(1);
    history.after(base::minutes(1)).end(1, end_class);
  }
  const UsageCounts counts = history.of(UsageBy::User, "ada");
  EXPECT_EQ(counts.lost, 0);
  EXPECT_EQ(counts.started, 3);
  EXPECT_EQ(counts.failed, 2);
  EXPECT_EQ(counts.cancelled, 1);
}

TEST(Ledger, ARepeatedStartOrEndCountsOnce) {
  History history;
  history.node(1, 2, 1);
  history.submit(1);
  const model::Start start = history.start(1, 1, 1000);
  history.happen(model::Decided{{.body = start, .explanation = {}}});
  history.after(base::minutes(1)).end(1, EndClass::Ok);
  history.happen(model::MembersEnded{.attempt = start.attempt, .members = {}});
  const UsageCounts counts = history.of(UsageBy::User, "ada");
  EXPECT_EQ(counts.started, 1);
  EXPECT_EQ(counts.completed, 1);
  EXPECT_EQ(counts.allocated, 1000 * base::minutes(1).millis);
}

TEST(Ledger, KnowsWhatBecameOfEveryDevice) {
  History history;
  history.node(1, 2, 4);
  history.submit(1);
  history.start(1, 1, 1000);
  history.after(base::hours(1)).health(1, 3, model::Health::ResetNow);
  history.after(base::hours(1)).node(1, 2, 4, model::NodeCondition::Lost);
  history.after(base::hours(1));
  // First hour: one of four allocated. Second: one more is down. Third: all down but the allocated.
  EXPECT_EQ(history.capacity(2), (CapacityCounts{.installed = 12'000 * kHour,
                                                 .allocated = 3000 * kHour,
                                                 .unallocated = (3000 + 2000) * kHour,
                                                 .down = (1000 + 3000) * kHour}));
  EXPECT_EQ(history.capacity(1), history.capacity(2));
}

TEST(Ledger, FollowsANodeIntoAnotherPool) {
  History history;
  history.node(1, 2, 1);
  history.after(base::hours(1));
  auto& record = const_cast<model::State&>(history.state()).nodes.at(NodeId(1));
  record.node.pool = PoolId(3);
  history.happen(model::NodeSeen{record.node});
  history.after(base::hours(2));
  EXPECT_EQ(history.capacity(2).installed, 1000 * kHour);
  EXPECT_EQ(history.capacity(3).installed, 2000 * kHour);
  EXPECT_EQ(history.capacity(1).installed, 3000 * kHour);
}

TEST(Ledger, GoesOnFromAnyState) {
  History history;
  history.node(1, 2, 2);
  history.submit(1);
  history.start(1, 1, 1000);
  history.after(base::hours(3));
  Ledger later(history.state());
  history.after(base::hours(1));
  const auto lines = later.usage(UsageBy::Queue, {}, history.now());
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].counts.allocated, 1000 * kHour);
  EXPECT_EQ(later.capacity({}, history.now()).front().counts.unallocated, 1000 * kHour);
}

TEST(KeyText, IsTheNumberOfWhatIsNotKnown) {
  EXPECT_EQ(key_text({}, {.by = UsageBy::Queue, .queue = QueueId(7)}), "7");
  EXPECT_EQ(key_text({}, {.by = UsageBy::Kind, .kind = model::Kind::Notebook}), "Notebook");
  EXPECT_EQ(key_text({}, {.by = UsageBy::User, .user = "ada"}), "ada");
}

}  // namespace
}  // namespace governance
