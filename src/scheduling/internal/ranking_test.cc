// The best node that a ranking names is the one that a look at every node finds, whatever is taken,
// given back and rolled back in between.

#include "scheduling/internal/ranking.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "policy/request_mix.h"
#include "scheduling/internal/cluster_view.h"
#include "scheduling/internal/placing.h"
#include "testing/random_world.h"

namespace {

using model::NodeId;
using model::PlacementRule;
using scheduling::internal::Barriers;
using scheduling::internal::ClusterView;
using scheduling::internal::FreeNode;
using scheduling::internal::Ranking;
using scheduling::internal::Request;
using scheduling::internal::ScoredAsk;
using scheduling::internal::ScoredNode;
using scheduling::internal::ScoreScale;

constexpr PlacementRule kRules[] = {PlacementRule::BestFit,       PlacementRule::DotProduct,
                                    PlacementRule::Clustering,    PlacementRule::Packing,
                                    PlacementRule::Fragmentation, PlacementRule::Value};

ScoreScale scale_of(const model::State& state, model::PoolId pool) {
  ScoreScale scale;
  for (const NodeId id : state.pools.at(pool).nodes) {
    const model::Node& node = state.nodes.at(id).node;
    scale.cpu = std::max(scale.cpu, node.allocatable.of(model::kCpu));
    scale.milli = std::max<std::int64_t>(scale.milli, 1000 * std::ssize(node.devices));
    for (const model::Device& device : node.devices)
      scale.models.push_back(device.model);
  }
  std::ranges::sort(scale.models);
  const auto repeated = std::ranges::unique(scale.models);
  scale.models.erase(repeated.begin(), repeated.end());
  return scale;
}

// A node as a rule sees it, from the definition.
struct Seen {
  ScoredNode node;
  std::vector<std::int16_t> devices;
};
Seen seen(const FreeNode& free, const ScoreScale& scale) {
  Seen result;
  for (const auto& device : free.devices) {
    std::int16_t milli = 0;
    if (device.is_usable && device.slices == 0 && device.claimed_slices == 0)
      milli = static_cast<std::int16_t>(device.milli);
    if (milli == 1000 && (device.occupants > 0 || device.claimants > 0)) milli = 999;
    result.devices.push_back(milli);
    result.node.milli += milli;
  }
  result.node.cpu = free.free.of(model::kCpu);
  std::set<std::string> models;
  for (const model::Device& device : free.node->devices)
    models.insert(device.model);
  if (models.size() == 1)
    result.node.model = static_cast<std::int32_t>(std::ranges::find(scale.models, *models.begin()) -
                                                  scale.models.begin());
  for (std::size_t k = 0; k < free.sizes.size(); ++k)
    if (free.sizes[k] > 0) result.node.sizes |= 1U << k;
  return result;
}

// The first of the best nodes on which the member fits; none: nowhere.
NodeId best_by_a_look_at_all(const model::State& state, const ClusterView& view,
                             const Request& request, model::PoolId pool) {
  const ScoreScale scale = scale_of(state, pool);
  const auto rule = make_score_rule(*request.rule, state.mix, scale);
  NodeId best;
  std::int32_t best_score = -1;
  for (const NodeId id : state.pools.at(pool).nodes) {
    const auto member = place_member(state, view.node(id), request, 0, Barriers::WithoutTenants);
    if (!member) continue;
    ScoredAsk ask{.cpu = request.workload->groups.front().per_member.of(model::kCpu),
                  .devices = static_cast<std::int32_t>(member->devices.size())};
    Seen node = seen(view.node(id), scale);
    node.node.devices = node.devices;
    if (ask.devices > 0) {
      const model::DeviceAssignment& first = member->devices.front();
      const auto milli = static_cast<std::int32_t>(first.milli.value);
      ask.milli = node.devices[static_cast<std::size_t>(first.device)] < milli ? 0 : milli;
    }
    const std::int32_t score = rule->score(node.node, rule->worth(node.node), ask).score;
    if (best != NodeId{} && score <= best_score) continue;
    best = id;
    best_score = score;
  }
  return best;
}

// Of everything that was ever asked for.
model::RequestMix mix_of(const model::State& state) {
  std::vector<model::WeighedKind> kinds;
  state.workloads.each([&](model::WorkloadId, const model::WorkloadRecord& record) {
    for (const model::TaskGroup& group : record.workload.groups)
      kinds.push_back({.kind = policy::kind_of_member(group), .weight = group.members});
  });
  std::map<std::string, policy::ModelSupply> supplies;
  state.nodes.each([&](NodeId, const model::NodeRecord& record) {
    for (const model::Device& device : record.node.devices) {
      supplies[device.model].model = device.model;
      supplies[device.model].milli += 1000;
      supplies[device.model].cpu += 4000;
    }
  });
  std::vector<policy::ModelSupply> list;
  for (const auto& [model, supply] : supplies)
    list.push_back(supply);
  return policy::make_mix(std::move(kinds), list);
}

struct Tally {
  int found = 0;
  int nowhere = 0;
};

void ask_for(const model::State& state, ClusterView& view, const model::Workload& workload,
             PlacementRule rule, Tally& tally) {
  Request request = scheduling::internal::request_for(state, state.policy, workload);
  request.rule = rule;
  for (const model::PoolId pool : {model::PoolId(1), model::PoolId(2)}) {
    if (state.pools.find(pool) == nullptr || state.pools.at(pool).nodes.empty()) continue;
    const NodeId expected = best_by_a_look_at_all(state, view, request, pool);
    Ranking& ranking = view.ranking(pool, rule);
    const auto best = ranking.best(request, 0);
    EXPECT_EQ(best ? best->node : NodeId{}, expected)
        << "workload " << workload.id.value << ", rule " << base::name_of(rule);
    const auto all = ranking.in_order(request, 0);
    EXPECT_EQ(all.empty() ? NodeId{} : all.front().node, expected);
    ++(best ? tally.found : tally.nowhere);
  }
}

// So often that a row which was not read meanwhile is too far behind to follow.
void change_often(const model::State& state, ClusterView& view, const Request& request) {
  const std::size_t mark = view.mark();
  for (int i = 0; i < 3000; ++i) {
    place_in_pool(state, view, request, model::PoolId(1));
    view.rollback(mark);
  }
}

TEST(Ranking, NamesTheNodeThatALookAtAllOfThemFinds) {
  base::Random random{base::Seed{7}};
  Tally tally;
  for (int run = 0; run < 400; ++run) {
    testkit::RandomWorld small(testkit::random_numbers(random, 60),
                               testkit::random_numbers(random, 60));
    small.set_up();
    for (int step = 0; step < 12 && small.step(); ++step)
      small.world().settle();
    model::State state = small.world().state();
    state.mix = mix_of(state);
    ClusterView view(state);
    std::vector<std::size_t> marks;
    state.workloads.each([&](model::WorkloadId, const model::WorkloadRecord& record) {
      const model::Workload& workload = record.workload;
      if (workload.groups.front().members == 0) return;
      ask_for(state, view, workload, kRules[random.below(std::size(kRules))], tally);
      marks.push_back(view.mark());
      Request request = scheduling::internal::request_for(state, state.policy, workload);
      for (const model::PoolId pool : {model::PoolId(1), model::PoolId(2)})
        if (state.pools.find(pool) != nullptr && random.chance(1, 2))
          place_in_pool(state, view, request, pool);
      if (random.chance(1, 3)) view.rollback(marks[random.below(marks.size())]);
      if (random.chance(1, 100)) change_often(state, view, request);
      ask_for(state, view, workload, kRules[random.below(std::size(kRules))], tally);
    });
  }
  EXPECT_GT(tally.found, 500);
  EXPECT_GT(tally.nowhere, 100);
}

}  // namespace
