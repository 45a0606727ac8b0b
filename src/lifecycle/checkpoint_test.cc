// A checkpoint must give back exactly the State that was running. States are made as in life, by
// applying events: a seeded story of submissions, starts, failures, evictions with claims, lost
// nodes and changed rules, checked at many points of its course.

#include "lifecycle/checkpoint.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "lifecycle/apply.h"
#include "model/event.h"
#include "policy/default_policy.h"

namespace lifecycle {
namespace {

using model::AttemptId;
using model::ClaimId;
using model::NodeId;
using model::PoolId;
using model::QueueId;
using model::State;
using model::WorkloadId;

class Story {
 public:
  explicit Story(std::uint64_t seed) : random_(base::Seed{seed}) { begin(); }

  const State& state() const { return state_; }

  void tell() {
    switch (random_.below(12)) {
      case 0:
      case 1:
      case 2:
        return submit();
      case 3:
      case 4:
      case 5:
        return start();
      case 6:
      case 7:
        return end();
      case 8:
        return evict();
      case 9:
        return wish();
      case 10:
        return observe();
      default:
        return keep_house();
    }
  }

 private:
  void happen(model::EventBody body) {
    now_ = now_ + base::milliseconds(random_.between(0, 90'000));
    apply(state_, {.sequence = model::Sequence(state_.last_sequence.value + 1),
                   .at = now_,
                   .actor = {},
                   .body = std::move(body)});
  }

  void begin() {
    happen(model::ControllerStarted{.epoch = model::Epoch(7), .version = "test"});
    happen(model::PoolDefined{{.id = PoolId(1), .name = "all", .parent = {}, .selector = {}}});
    happen(model::PoolDefined{
        {.id = PoolId(2), .name = "h800", .parent = PoolId(1), .selector = {{"zone", "a"}}}});
    happen(model::TopologyDefined{{.name = "fabric", .levels = {"hall", "rack"}}});
    happen(model::ResourceDefined{.resource = model::kFirstCustom, .name = "matlab"});
    for (const auto& workload_class : policy::default_classes())
      happen(model::ClassDefined{workload_class});
    const model::Dimension gpus{PoolId(2), model::kDevice};
    happen(model::QueueDefined{{.id = QueueId(1), .name = "search"}});
    happen(model::QueueDefined{
        {.id = QueueId(2),
         .name = "search/nlp",
         .parent = QueueId(1),
         .quotas = {{.dimension = gpus, .guarantee = 8000, .lend = {}, .max = 16'000}}}});
    happen(model::QueueDefined{{.id = QueueId(3), .name = "vision"}});
    for (std::uint32_t id = 1; id <= 4; ++id)
      happen(model::NodeSeen{node(id)});
  }

  static model::Node node(std::uint32_t id) {
    model::Node node{.id = NodeId(id),
                     .name = fmt::format("n{}", id),
                     .backend = "local",
                     .pool = PoolId(2),
                     .allocatable = {{model::kCpu, 64'000}, {model::kMemory, 1LL << 39}},
                     .devices = {},
                     .attributes = {{"zone", "a"}},
                     .taints = {},
                     .topology = {{.topology = "fabric", .domains = {"hall-1", "rack-2"}}},
                     .enforcement = {{"cpu", "cgroup v1"}}};
    for (int device = 0; device < 4; ++device)
      node.devices.push_back({.uuid = fmt::format("gpu-{}-{}", id, device),
                              .vendor = "nvidia",
                              .model = "H800",
                              .memory = base::Bytes(80LL << 30)});
    return node;
  }

  void submit() {
    const WorkloadId id = state_.next_workload;
    model::TaskGroup group{.name = "main", .members = 2, .min_members = 1};
    group.per_member = {{model::kCpu, 1000}, {model::kMemory, 1LL << 30}};
    group.device_options = {{.count = base::Count(1)}};
    model::Workload workload{.id = id,
                             .name = random_.chance(1, 2) ? fmt::format("w{}", id.value) : "",
                             .kind = model::Kind::TrainingJob,
                             .queue = QueueId(random_.chance(1, 2) ? 2 : 3),
                             .workload_class = model::ClassId(1 + random_.below(4)),
                             .user = "ada",
                             .submitted = now_,
                             .groups = {group},
                             .constraints = {}};
    workload.command.argv = {"train", std::string("\0\xFF", 2)};
    workload.labels = {{"team", "搜索"}};
    if (random_.chance(1, 3)) workload.request_key = fmt::format("key-{}", id.value);
    if (random_.chance(1, 2)) workload.retry.max = 3;
    happen(model::WorkloadSubmitted{workload});
  }

  // Two members on free devices of one node; empty when no node has two.
  model::Placement free_placement() const {
    model::Placement placement;
    state_.nodes.each([&placement](NodeId id, const model::NodeRecord& record) {
      if (placement.members.size() == 2 || record.node.condition != model::NodeCondition::Ready)
        return;
      placement.members.clear();
      for (std::int32_t device = 0; device < 4 && placement.members.size() < 2; ++device) {
        const model::DeviceUse& use = record.devices[static_cast<std::size_t>(device)];
        if (use.milli.value + use.secured_milli.value > 0) continue;
        placement.members.push_back({.group = 0,
                                     .node = id,
                                     .devices = {{.device = device,
                                                  .milli = base::kWholeDevice,
                                                  .memory = base::Bytes(80LL << 30)}}});
      }
    });
    if (placement.members.size() < 2) placement.members.clear();
    return placement;
  }

  std::vector<WorkloadId> those(bool are_live) const {
    std::vector<WorkloadId> ids;
    state_.workloads.each([&](WorkloadId id, const model::WorkloadRecord& record) {
      const bool is_live = record.live_attempt() != nullptr;
      if (are_live ? is_live : record.phase == model::Phase::Queued) ids.push_back(id);
    });
    return ids;
  }

  WorkloadId one_of(const std::vector<WorkloadId>& ids) {
    return ids.empty() ? WorkloadId{} : ids[random_.below(ids.size())];
  }

  void start() {
    const WorkloadId id = one_of(those(false));
    model::Placement placement = free_placement();
    if (id.is_none() || placement.members.empty()) return;
    const auto& record = state_.workloads.at(id);
    if (record.claim) return;
    const AttemptId attempt{id, static_cast<std::uint32_t>(record.attempts.size() + 1)};
    decide(model::Start{.attempt = attempt, .placement = std::move(placement), .claim = {}});
    if (random_.chance(3, 4)) happen(model::AttemptRunning{attempt});
  }

  void decide(model::DecisionBody body) {
    happen(model::Decided{{.body = std::move(body), .explanation = {}}});
  }

  void end() {
    const WorkloadId id = one_of(those(true));
    if (id.is_none()) return;
    const AttemptId attempt = state_.workloads.at(id).live_attempt()->id;
    model::MembersEnded ended{.attempt = attempt, .members = {{.rank = 0}}};
    if (random_.chance(2, 3)) ended.members.push_back({.rank = 1});
    if (random_.chance(1, 3))
      ended.members[0] = {.rank = 0,
                          .end_class = model::EndClass::OutOfMemory,
                          .signal = 9,
                          .note = "memory limit"};
    happen(ended);
  }

  void evict() {
    const WorkloadId victim = one_of(those(true));
    const WorkloadId owner = one_of(those(false));
    if (victim.is_none() || owner.is_none() || state_.workloads.at(owner).claim) return;
    const model::Attempt attempt = *state_.workloads.at(victim).live_attempt();
    decide(model::Evict{.victims = {attempt.id},
                        .cause = model::Reason::Reclaim,
                        .owner = owner,
                        .claim = state_.next_claim,
                        .placement = attempt.placement,
                        .expires = now_ + base::minutes(10)});
  }

  void wish() {
    const WorkloadId id = one_of(those(random_.chance(1, 2)));
    if (id.is_none()) return;
    switch (random_.below(3)) {
      case 0:
        return happen(model::WorkloadHeld{id});
      case 1:
        return happen(model::WorkloadReleased{id});
      default:
        return happen(model::CancelRequested{id});
    }
  }

  void observe() {
    const NodeId id(static_cast<std::uint32_t>(1 + random_.below(4)));
    if (random_.chance(1, 2))
      return happen(model::NodeConditionChanged{.node = id,
                                                .condition = random_.chance(1, 3)
                                                                 ? model::NodeCondition::Lost
                                                                 : model::NodeCondition::Ready,
                                                .note = "link"});
    happen(model::DeviceHealthChanged{.node = id,
                                      .device = static_cast<std::int32_t>(random_.below(4)),
                                      .health = static_cast<model::Health>(random_.below(8)),
                                      .note = {}});
  }

  void keep_house() {
    if (!state_.claims.empty() && random_.chance(1, 2))
      return decide(model::EndClaim{.claim = state_.claims.begin()->first,
                                    .cause = model::Reason::ClaimExpired});
    if (!state_.finished.empty() && random_.chance(1, 2))
      return happen(model::WorkloadsForgotten{{state_.finished.begin()->second}});
    happen(model::PolicyChanged{random_.chance(1, 2) ? policy::default_policy()
                                                     : policy::fifo_policy()});
  }

  base::Random random_;
  State state_;
  base::Instant now_{1'764'547'200'000};
};

TEST(Checkpoint, GivesBackAnEmptyState) {
  const auto decoded = decode_checkpoint(encode_checkpoint(State{}));
  ASSERT_TRUE(decoded) << to_text(decoded.error());
  EXPECT_TRUE(*decoded == State{});
}

TEST(Checkpoint, GivesBackEveryStateOfALife) {
  std::size_t claims_seen = 0, live_seen = 0, finished_seen = 0, failures_seen = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Story story(seed);
    for (int step = 0; step < 200; ++step) {
      story.tell();
      if (step % 5 != 0) continue;
      const State& state = story.state();
      const std::string bytes = encode_checkpoint(state);
      const auto decoded = decode_checkpoint(bytes);
      ASSERT_TRUE(decoded) << to_text(decoded.error());
      ASSERT_TRUE(*decoded == state) << "seed " << seed << " step " << step;
      ASSERT_EQ(encode_checkpoint(*decoded), bytes);
      claims_seen += state.claims.size();
      finished_seen += state.finished.size();
      state.workloads.each([&](WorkloadId, const model::WorkloadRecord& record) {
        live_seen += record.live_attempt() != nullptr ? 1U : 0U;
        failures_seen += record.failures > 0 ? 1U : 0U;
      });
    }
  }
  // The stories are worth telling.
  EXPECT_GT(claims_seen, 100U);
  EXPECT_GT(live_seen, 100U);
  EXPECT_GT(finished_seen, 100U);
  EXPECT_GT(failures_seen, 100U);
}

TEST(Checkpoint, ARestoredStateGoesOnAsTheOriginalWould) {
  Story story(3);
  for (int step = 0; step < 150; ++step)
    story.tell();
  State original = story.state();
  State restored = *decode_checkpoint(encode_checkpoint(original));
  const auto both = [&](model::EventBody body) {
    const model::Event event{.sequence = model::Sequence(original.last_sequence.value + 1),
                             .at = original.now + base::seconds(1),
                             .actor = {},
                             .body = std::move(body)};
    apply(original, event);
    apply(restored, event);
  };
  std::vector<WorkloadId> ids;
  original.workloads.each([&](WorkloadId id, const auto&) { ids.push_back(id); });
  for (const WorkloadId id : ids)
    both(model::CancelRequested{id});
  for (std::uint32_t node = 1; node <= 4; ++node)
    both(model::NodeConditionChanged{
        .node = NodeId(node), .condition = model::NodeCondition::Draining, .note = {}});
  EXPECT_TRUE(restored == original);
}

TEST(Checkpoint, RefusesEveryTruncation) {
  Story story(1);
  for (int step = 0; step < 20; ++step)
    story.tell();
  const std::string bytes = encode_checkpoint(story.state());
  for (std::size_t size = 0; size < bytes.size(); size += size < 64 ? 1 : 17) {
    const auto decoded = decode_checkpoint(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(decoded) << size;
    EXPECT_EQ(decoded.error().code, base::Code::DataLoss);
  }
}

TEST(Checkpoint, RefusesEveryDamagedByte) {
  Story story(2);
  for (int step = 0; step < 20; ++step)
    story.tell();
  const std::string bytes = encode_checkpoint(story.state());
  for (std::size_t at = 0; at < bytes.size(); at += at < 64 ? 1 : 7) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const auto decoded = decode_checkpoint(damaged);
    ASSERT_FALSE(decoded) << at;
    EXPECT_EQ(decoded.error().code, base::Code::DataLoss);
  }
}

TEST(Checkpoint, RefusesOtherBytes) {
  for (const std::string_view other : {"", "berth-checkpoint-1", "berth-checkpoint-2xxxxxxxx"})
    EXPECT_FALSE(decode_checkpoint(other)) << other;
}

}  // namespace
}  // namespace lifecycle
