// Golden texts in both languages, one explanation for each thing that can stand in the way. The
// State only lends its names; the numbers are those of the explanation.

#include "governance/explain_text.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.h"
#include "governance/amount_text.h"

namespace governance {
namespace {

using model::Dimension;
using model::Explanation;
using model::NodeId;
using model::Outcome;
using model::PoolId;
using model::QueueId;
using model::Reason;
using model::Step;
using model::Verdict;
using model::WorkloadId;

base::Instant instant(std::string_view text) { return *base::parse_instant(text); }

const base::Instant kNow = instant("2026-12-01T10:03:00Z");
const Dimension kGpus{PoolId(1), model::kDevice};

model::Workload workload(WorkloadId id, std::string name, QueueId queue) {
  model::Workload workload;
  workload.id = id;
  workload.name = std::move(name);
  workload.queue = queue;
  model::TaskGroup group;
  group.members = 4;
  group.min_members = 4;
  model::DeviceRequest request;
  request.count = base::Count(8);
  group.device_options.push_back(request);
  workload.groups.push_back(group);
  return workload;
}

model::State a_state() {
  model::State state;
  model::PoolRecord pool;
  pool.pool.id = PoolId(1);
  pool.pool.name = "h800";
  state.pools.insert(PoolId(1), pool);
  for (const auto& [id, name] : {std::pair{1U, "nlp"}, std::pair{2U, "vision"}}) {
    model::QueueRecord queue;
    queue.queue.id = QueueId(id);
    queue.queue.name = name;
    state.queues.insert(QueueId(id), queue);
  }
  for (std::uint32_t id = 1; id <= 9; ++id) {
    model::NodeRecord node;
    node.node.id = NodeId(id);
    node.node.name = "n" + std::to_string(id);
    state.nodes.insert(NodeId(id), node);
  }
  model::WorkloadRecord waiting;
  waiting.workload = workload(WorkloadId(1042), "llama-ft", QueueId(2));
  state.workloads.insert(WorkloadId(1042), waiting);
  model::WorkloadRecord running;
  running.workload = workload(WorkloadId(1041), "a", QueueId(1));
  running.phase = model::Phase::Running;
  model::Attempt attempt;
  attempt.id = {WorkloadId(1041), 2};
  attempt.phase = model::AttemptPhase::Running;
  attempt.running_since = instant("2026-11-30T22:15:30Z");
  attempt.placement.members.resize(4);
  running.attempts = {attempt};
  state.workloads.insert(WorkloadId(1041), running);
  return state;
}

Explanation about_1042(Verdict verdict, std::vector<Step> steps) {
  return {.workload = WorkloadId(1042), .at = kNow, .verdict = verdict, .steps = std::move(steps)};
}

Step failed(model::Test test, Reason reason) {
  return {.test = test, .outcome = Outcome::Failed, .reason = reason};
}

Step crowded_place() {
  Step place = failed(model::Test::Place, Reason::NotEnoughFree);
  place.dimension = kGpus;
  place.need = 4;
  place.have = 2;
  place.holders = {{.workload = WorkloadId(1041),
                    .queue = QueueId(1),
                    .amount = 16'000,
                    .protection = Reason::MinRuntime,
                    .until = instant("2026-12-01T10:12:00Z")},
                   {.workload = WorkloadId(7),
                    .queue = QueueId(2),
                    .amount = 2500,
                    .protection = Reason::NotReclaimable,
                    .until = {}}};
  place.rejected = {
      {.reason = Reason::DevicesBusy, .count = 6, .examples = {NodeId(1), NodeId(2), NodeId(3)}},
      {.reason = Reason::NodeNotReady, .count = 1, .examples = {NodeId(9)}}};
  return place;
}

Explanation blocked_by_min_runtime() {
  Step limit{.test = model::Test::QueueMax, .dimension = kGpus, .queue = QueueId(2)};
  limit.need = 32'000;
  limit.have = 2500;
  limit.limit = 64'000;
  Step feasible{.test = model::Test::Feasible};
  feasible.need = 4;
  feasible.have = 4;
  Step victims = failed(model::Test::Victims, Reason::MinRuntime);
  victims.dimension = kGpus;
  victims.need = 2;
  victims.until = instant("2026-12-01T10:12:00Z");
  return about_1042(Verdict::Blocked, {Step{.test = model::Test::Eligible}, feasible, limit,
                                       crowded_place(), victims});
}

std::string english(const Explanation& explanation) {
  return explain_in_one_line(explanation, a_state(), Language::English, kNow);
}
std::string chinese(const Explanation& explanation) {
  return explain_in_one_line(explanation, a_state(), Language::Chinese, kNow);
}

TEST(ExplainText, TellsTheWholeChainInEnglish) {
  EXPECT_EQ(
      explain(blocked_by_min_runtime(), a_state(), Language::English, kNow),
      R"(Blocked: needs 4 × 8 GPUs in pool h800, 2 × 8 fit now; a (nlp) holds 16 GPUs and may be taken back at 10:12 UTC (in 9m)
  1. eligible: passed
  2. feasible: passed, 4 members needed, 4 could ever fit
  3. queue limit, queue vision, pool h800: passed, holds 2.5 GPUs, asks for 32 GPUs, may hold 64 GPUs
  4. place, pool h800: failed (NotEnoughFree), 4 members needed, 2 fit now
       held by 1041 a, queue nlp: 16 GPUs, within its min run time until 10:12 UTC (in 9m)
       held by 7, queue vision: 2.5 GPUs, not to be reclaimed
       6 nodes not usable: devices in use (n1, n2, n3…)
       1 node not usable: not ready (n9)
  5. take back, pool h800: failed (MinRuntime), 2 members missing, room can be made for 0; may change at 10:12 UTC (in 9m)
What helps: Wait until the time shown)");
}

TEST(ExplainText, TellsTheWholeChainInChinese) {
  EXPECT_EQ(
      explain(blocked_by_min_runtime(), a_state(), Language::Chinese, kNow),
      R"(受阻：需要 4 × 8 张 GPU（资源池 h800），目前只能放置 2 × 8；a（nlp）占用 16 张 GPU，10:12 UTC（9分钟后）之后可回收
  1. 可参与调度：通过
  2. 可行性：通过，需要 4 个成员，最多可容纳 4
  3. 队列上限，队列 vision，资源池 h800：通过，已占用 2.5 张 GPU，申请 32 张 GPU，上限 64 张 GPU
  4. 放置，资源池 h800：未通过（NotEnoughFree），需要 4 个成员，目前可放置 2
       占用者 1041 a，队列 nlp：16 张 GPU，处于最短运行保护期，至 10:12 UTC（9分钟后）
       占用者 7，队列 vision：2.5 张 GPU，不可回收
       6 个节点不可用：设备被占用（n1、n2、n3…）
       1 个节点不可用：未就绪（n9）
  5. 回收，资源池 h800：未通过（MinRuntime），缺少 2 个成员，回收可腾出 0；10:12 UTC（9分钟后）可能变化)");
}

TEST(ExplainText, BeginsWithTheLineThatStandsAlone) {
  for (const Language language : {Language::English, Language::Chinese}) {
    const std::string whole = explain(blocked_by_min_runtime(), a_state(), language, kNow);
    EXPECT_EQ(explain_in_one_line(blocked_by_min_runtime(), a_state(), language, kNow),
              whole.substr(0, whole.find('\n')));
  }
}

TEST(ExplainText, SaysHowToReleaseWhatIsHeld) {
  const auto held = about_1042(Verdict::Blocked, {failed(model::Test::Eligible, Reason::Held)});
  EXPECT_EQ(english(held), "Blocked: it is on hold; release it with: berth release 1042");
  EXPECT_EQ(chinese(held), "受阻：已被挂起；放行命令：berth release 1042");
}

TEST(ExplainText, SaysWhenAFailedAttemptIsTriedAgain) {
  Step step = failed(model::Test::Eligible, Reason::BackOff);
  step.until = instant("2026-12-01T10:04:30Z");
  const auto waits = about_1042(Verdict::Blocked, {step});
  EXPECT_EQ(english(waits),
            "Blocked: an attempt failed; it is tried again at 10:04:30 UTC (in 1m30s)");
  EXPECT_EQ(chinese(waits), "受阻：上一次尝试失败；将于 10:04:30 UTC（1分钟30秒后）重试");
}

TEST(ExplainText, SaysThatRoomIsBeingMade) {
  Step step = failed(model::Test::Claim, Reason::WaitingForVictims);
  step.need = 1;
  step.holders = {{.workload = WorkloadId(1041), .queue = QueueId(1), .amount = 16'000}};
  step.until = instant("2026-12-02T00:00:00Z");
  const auto waits = about_1042(Verdict::Waiting, {step});
  EXPECT_EQ(english(waits),
            "Waiting: room is made for it, 1 workload still stops: a (nlp); the claim lasts until "
            "2026-12-02 00:00 UTC (in 13h57m)");
  EXPECT_EQ(chinese(waits),
            "等待中：正在为其腾出资源，1 个任务仍在停止中：a（nlp）；保留到 2026-12-02 00:00 "
            "UTC（13小时57分钟后）为止");
}

TEST(ExplainText, SaysWhyNothingCouldEverFit) {
  Step step = failed(model::Test::Feasible, Reason::TooFewNodesFit);
  step.need = 4;
  step.have = 1;
  step.rejected = {{.reason = Reason::TaintNotTolerated, .count = 1, .examples = {NodeId(1)}},
                   {.reason = Reason::WrongModel, .count = 3, .examples = {NodeId(2)}}};
  const auto infeasible = about_1042(Verdict::Infeasible, {step});
  EXPECT_EQ(english(infeasible),
            "Infeasible: needs 4 × 8 GPUs, 1 × 8 could ever fit, even with every node empty and "
            "healthy; 3 nodes: other device model");
  EXPECT_EQ(
      chinese(infeasible),
      "不可行：需要 4 × 8 张 GPU，即使所有节点空闲且健康也只能容纳 1 × 8；3 个节点：设备型号不符");
  const auto no_pool =
      about_1042(Verdict::Infeasible, {failed(model::Test::Feasible, Reason::NoSuchPool)});
  EXPECT_EQ(english(no_pool), "Infeasible: none of the pools that it accepts has a node");
  EXPECT_EQ(chinese(no_pool), "不可行：它接受的资源池中没有任何节点");
}

TEST(ExplainText, SaysWhichQueueIsAtItsLimit) {
  Step step = failed(model::Test::QueueMax, Reason::QueueMax);
  step.dimension = kGpus;
  step.queue = QueueId(2);
  step.have = 24'000;
  step.need = 32'000;
  step.limit = 48'000;
  const auto blocked = about_1042(Verdict::Blocked, {step});
  EXPECT_EQ(english(blocked),
            "Blocked: queue vision holds 24 GPUs of at most 48 GPUs in pool h800, and this asks "
            "for 32 GPUs");
  EXPECT_EQ(
      chinese(blocked),
      "受阻：队列 vision 已占用 24 张 GPU，上限 48 张 GPU（资源池 h800），本任务还需 32 张 GPU");
  step.reason = Reason::AboveQueueMax;
  step.limit = 16'000;
  const auto never = about_1042(Verdict::Infeasible, {step});
  EXPECT_EQ(english(never),
            "Infeasible: asks for 32 GPUs in pool h800, but queue vision may never hold more than "
            "16 GPUs");
  EXPECT_EQ(chinese(never),
            "不可行：申请 32 张 GPU（资源池 h800），但队列 vision 最多只能占用 16 张 GPU");
}

TEST(ExplainText, SaysThatUnreclaimableWorkMustFitItsGuarantee) {
  Step step = failed(model::Test::Guarantee, Reason::OutsideGuarantee);
  step.dimension = kGpus;
  step.queue = QueueId(2);
  step.have = 6500;
  step.need = 2000;
  step.limit = 8000;
  const auto blocked = about_1042(Verdict::Blocked, {step});
  EXPECT_EQ(english(blocked),
            "Blocked: queue vision holds 6.5 GPUs of its guaranteed 8 GPUs in pool h800, and work "
            "of this class must fit inside: it asks for 2 GPUs");
  EXPECT_EQ(chinese(blocked),
            "受阻：队列 vision 已占用 6.5 张 GPU，保障量 8 张 GPU（资源池 "
            "h800），该类别的任务必须在保障量之内，本任务还需 2 张 GPU");
}

TEST(ExplainText, SaysForWhomFreeDevicesAreKept) {
  Step step = failed(model::Test::UnlentGuarantee, Reason::GuaranteeOfOther);
  step.dimension = kGpus;
  step.queue = QueueId(2);
  step.have = 36'000;
  step.need = 32'000;
  step.limit = 8000;
  step.holders = {{.workload = {}, .queue = QueueId(1), .amount = 8000}};
  const auto blocked = about_1042(Verdict::Blocked, {step});
  EXPECT_EQ(english(blocked),
            "Blocked: asks for 32 GPUs in pool h800; 36 GPUs are free, of which 8 GPUs are kept "
            "for the guarantees of others (nlp: 8 GPUs)");
  EXPECT_EQ(chinese(blocked),
            "受阻：申请 32 张 GPU（资源池 h800）；空闲 36 张 GPU，其中 8 张 GPU "
            "为其他队列的保障量保留（nlp：8 张 GPU）");
  EXPECT_EQ(
      explain(blocked, a_state(), Language::English, kNow),
      R"(Blocked: asks for 32 GPUs in pool h800; 36 GPUs are free, of which 8 GPUs are kept for the guarantees of others (nlp: 8 GPUs)
  1. kept for others, queue vision, pool h800: failed (GuaranteeOfOther), 36 GPUs free, asks for 32 GPUs, 8 GPUs kept for others
       kept for queue nlp: 8 GPUs
What helps: Wait for work to end, have your guarantee raised, or ask the holders to lend more)");
}

TEST(ExplainText, SaysWhoComesFirstInAStrictQueue) {
  Step step = failed(model::Test::QueueOrder, Reason::BehindHead);
  step.queue = QueueId(1);
  step.holders = {{.workload = WorkloadId(1041), .queue = QueueId(1), .amount = 0}};
  const auto blocked = about_1042(Verdict::Blocked, {step});
  EXPECT_EQ(english(blocked), "Blocked: its queue starts in strict order, and a (nlp) comes first");
  EXPECT_EQ(chinese(blocked), "受阻：队列严格按序启动，a（nlp）排在前面");
}

TEST(ExplainText, SaysWhenPiecesAreTooSmall) {
  Step step = crowded_place();
  step.reason = Reason::DeviceFragmented;
  step.have = 0;
  step.holders = {{.workload = WorkloadId(1041),
                   .queue = QueueId(1),
                   .amount = 1000,
                   .protection = Reason::None,
                   .until = instant("2026-12-02T08:00:00Z")}};
  const auto blocked = about_1042(Verdict::Blocked, {step});
  EXPECT_EQ(
      english(blocked),
      "Blocked: needs 4 × 8 GPUs in pool h800, none fit now (enough is free in sum, but not in "
      "pieces that fit); a (nlp) holds 1 GPU and ends by 2026-12-02 08:00 UTC (in 21h57m)");
  EXPECT_EQ(chinese(blocked),
            "受阻：需要 4 × 8 张 GPU（资源池 h800），目前只能放置 0 "
            "个（空闲总量足够，但过于分散）；a（nlp）占用 1 张 GPU，最迟 2026-12-02 08:00 "
            "UTC（21小时57分钟后）结束");
}

TEST(ExplainText, SaysWhatStarts) {
  Step place{.test = model::Test::Place, .dimension = kGpus, .need = 4, .have = 4};
  EXPECT_EQ(english(about_1042(Verdict::Starts, {place})), "Starts now: 4 × 8 GPUs in pool h800");
  EXPECT_EQ(chinese(about_1042(Verdict::Starts, {place})), "现在启动：4 × 8 张 GPU（资源池 h800）");
  EXPECT_EQ(english(about_1042(Verdict::Starts, {})), "Starts now, on what was claimed for it");
}

TEST(ExplainText, SaysWhatIsWrongWithNodesWhenNobodyHoldsThem) {
  model::State state = a_state();
  state.workloads.at(WorkloadId(1042)).workload.groups[0].min_members = 1;
  Step step = crowded_place();
  step.need = 1;
  step.have = 0;
  step.holders.clear();
  step.rejected = {{.reason = Reason::NodeNotReady, .count = 2, .examples = {NodeId(1)}}};
  EXPECT_EQ(
      explain_in_one_line(about_1042(Verdict::Blocked, {step}), state, Language::English, kNow),
      "Blocked: needs 8 GPUs in pool h800, none fit now; 2 nodes: not ready");
}

TEST(ExplainText, SaysThatItStartsOnceRoomIsMade) {
  Step victims{.test = model::Test::Victims, .dimension = kGpus, .need = 2, .have = 2};
  const auto starts = about_1042(Verdict::Starts, {crowded_place(), victims});
  EXPECT_EQ(english(starts), "Starts once room is made for it: 4 × 8 GPUs in pool h800");
  EXPECT_EQ(chinese(starts), "腾出资源后启动：4 × 8 张 GPU（资源池 h800）");
}

TEST(ExplainText, SpeaksOfThePoolThatCameClosest) {
  Step far = crowded_place();
  far.have = 0;
  far.dimension = Dimension{PoolId(7), model::kDevice};
  Step never = failed(model::Test::QueueMax, Reason::AboveQueueMax);
  never.dimension = Dimension{PoolId(8), model::kDevice};
  never.queue = QueueId(2);
  const auto blocked = about_1042(Verdict::Blocked, {far, crowded_place(), never});
  EXPECT_EQ(english(blocked),
            "Blocked: needs 4 × 8 GPUs in pool h800 (best of 2 pools), 2 × 8 fit now; a (nlp) "
            "holds 16 GPUs and may be taken back at 10:12 UTC (in 9m)");
  EXPECT_TRUE(explain(blocked, a_state(), Language::English, kNow)
                  .ends_with("What helps: Wait for work to end; the holders are listed"));
}

TEST(ExplainText, NamesTheWorkloadInTheRemedy) {
  const auto held = about_1042(Verdict::Blocked, {failed(model::Test::Eligible, Reason::Held)});
  EXPECT_TRUE(explain(held, a_state(), Language::English, kNow)
                  .ends_with("What helps: Release it: berth release 1042"));
}

TEST(ExplainText, SaysSinceWhenItRuns) {
  Explanation running{.workload = WorkloadId(1041), .at = kNow, .verdict = Verdict::Running};
  EXPECT_EQ(english(running),
            "Running: attempt 1041.2 with 4 members, started at 2026-11-30 22:15:30 UTC");
  EXPECT_EQ(chinese(running), "运行中：尝试 1041.2，4 个成员，启动于 2026-11-30 22:15:30 UTC");
}

TEST(ExplainText, KnowsNoNamesOfWhatStateHasForgotten) {
  Explanation asked = blocked_by_min_runtime();
  asked.workload = {};  // a question about something that was not submitted
  EXPECT_EQ(explain_in_one_line(asked, model::State{}, Language::English, kNow),
            "Blocked: needs 4 members in pool 1, 2 fit now; 1041 (1) holds 16 GPUs and may be "
            "taken back at 10:12 UTC (in 9m)");
  EXPECT_FALSE(explain(asked, model::State{}, Language::Chinese, kNow).empty());
}

TEST(ExplainText, SurvivesWhatALaterVersionWrote) {
  Step step = failed(static_cast<model::Test>(99), static_cast<Reason>(9999));
  step.rejected = {{.reason = static_cast<Reason>(9999), .count = 1, .examples = {}}};
  EXPECT_EQ(explain(about_1042(Verdict::Blocked, {step}), a_state(), Language::English, kNow),
            R"(Blocked: ?
  1. ?: failed (?), needs 0, has 0
       1 node not usable: ? (…))");
}

// Every reason can be worded in both languages without falling back to the other one.
TEST(ExplainText, HasWordsForEveryReasonAndTest) {
  for (const auto& row : model::reason_catalogue())
    for (int test = 0; test <= static_cast<int>(model::Test::Topology); ++test) {
      Step step = failed(static_cast<model::Test>(test), row.reason);
      step.dimension = kGpus;
      step.until = kNow;
      const auto blocked = about_1042(Verdict::Blocked, {step});
      EXPECT_TRUE(english(blocked).starts_with("Blocked: ")) << row.name;
      const std::string text = chinese(blocked);
      EXPECT_TRUE(text.starts_with("受阻：")) << row.name;
      EXPECT_GT(base::display_width(text), 10U) << row.name;
    }
}

TEST(AmountText, NamesUnitsByResource) {
  const model::State state = a_state();
  EXPECT_EQ(amount_text(state, model::kDevice, 2500, Language::English), "2.5 GPUs");
  EXPECT_EQ(amount_text(state, model::kDevice, 1000, Language::English), "1 GPU");
  EXPECT_EQ(amount_text(state, model::kDevice, 500, Language::Chinese), "0.5 张 GPU");
  EXPECT_EQ(amount_text(state, model::kCpu, 96'000, Language::English), "96 cores");
  EXPECT_EQ(amount_text(state, model::kMemory, 128LL << 30, Language::English), "128Gi memory");
  EXPECT_EQ(amount_text(state, model::kDeviceMemory, 3LL << 29, Language::Chinese), "1.5Gi 显存");
  EXPECT_EQ(amount_text(state, model::kNetwork, 1, Language::English), "1 network device");
}

TEST(TimeText, CarriesItsZoneAndShowsTheDayOnlyWhenItIsAnother) {
  EXPECT_EQ(time_text(instant("2026-12-01T10:12:00Z"), kNow, Language::English), "10:12 UTC");
  EXPECT_EQ(time_text(instant("2026-12-01T10:12:30Z"), kNow, Language::English), "10:12:30 UTC");
  EXPECT_EQ(time_text(instant("2026-12-02T10:12:00Z"), kNow, Language::English),
            "2026-12-02 10:12 UTC");
  EXPECT_EQ(time_text(base::kNever, kNow, Language::Chinese), "永不");
  EXPECT_EQ(time_text_with_distance(instant("2026-12-03T10:12:00Z"), kNow, Language::Chinese),
            "2026-12-03 10:12 UTC（2天后）");
  EXPECT_EQ(time_text_with_distance(instant("2026-12-01T09:00:00Z"), kNow, Language::English),
            "09:00 UTC");
}

TEST(DurationText, SpeaksBothLanguages) {
  EXPECT_EQ(duration_text(base::hours(76), Language::English), "3d4h");
  EXPECT_EQ(duration_text(base::hours(76), Language::Chinese), "3天4小时");
  EXPECT_EQ(duration_text(base::milliseconds(90'500), Language::Chinese), "1分钟30秒");
  EXPECT_EQ(duration_text(base::milliseconds(5), Language::Chinese), "5毫秒");
}

TEST(DeviceTimeText, CountsInDeviceHours) {
  // Two and a half devices for five hours.
  EXPECT_EQ(device_time_text(2500 * base::hours(5).millis, Language::English), "12.5 GPU-hours");
  EXPECT_EQ(device_time_text(1000 * base::minutes(5).millis, Language::English), "0 GPU-hours");
  EXPECT_EQ(device_time_text(0, Language::Chinese), "0 GPU 小时");
}

}  // namespace
}  // namespace governance
