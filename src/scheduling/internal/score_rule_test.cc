// Each rule against its definition: fragmentation as the expected share of what is free that a
// request cannot use, value as a bound of what a node can still host.

#include "scheduling/internal/score_rule.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "policy/request_mix.h"

namespace {

using model::PlacementRule;
using model::RequestKind;
using model::RequestMix;
using model::WeighedKind;
using scheduling::internal::make_score_rule;
using scheduling::internal::Score;
using scheduling::internal::ScoredAsk;
using scheduling::internal::ScoredNode;
using scheduling::internal::ScoreScale;

const ScoreScale kScale{.cpu = 32'000, .milli = 8000, .models = {"A", "B"}};

struct Node {
  std::int64_t cpu = 32'000;
  std::int32_t model = 0;
  std::vector<std::int16_t> devices;

  ScoredNode seen() const {
    return {.cpu = cpu,
            .milli = std::accumulate(devices.begin(), devices.end(), std::int64_t{0}),
            .model = model,
            .sizes = 0,
            .devices = devices};
  }
  Node after(const ScoredAsk& ask, std::int32_t device) const {
    Node node = *this;
    node.cpu -= ask.cpu;
    std::int32_t left = ask.devices;
    for (std::size_t i = 0; i < devices.size() && left > 0; ++i) {
      const bool is_it =
          device < 0 ? devices[i] == ask.milli : static_cast<std::int32_t>(i) == device;
      if (!is_it) continue;
      node.devices[i] = static_cast<std::int16_t>(node.devices[i] - ask.milli);
      --left;
    }
    return node;
  }
};

Node random_node(base::Random& random) {
  Node node{.cpu = 1000 * random.between(0, 32),
            .model = static_cast<std::int32_t>(random.between(-1, 1)),
            .devices = {}};
  for (std::int64_t i = random.between(1, 8); i > 0; --i)
    node.devices.push_back(random.chance(1, 3)
                               ? std::int16_t{1000}
                               : static_cast<std::int16_t>(50 * random.between(0, 19)));
  return node;
}

WeighedKind random_kind(base::Random& random) {
  WeighedKind weighed{.kind = {.cpu = 1000 * random.between(0, 12)},
                      .weight = random.between(1, 40)};
  RequestKind& kind = weighed.kind;
  if (random.chance(1, 8)) return weighed;
  kind.devices = random.chance(1, 4) ? static_cast<std::int32_t>(random.between(2, 8)) : 1;
  kind.milli = base::MilliDevice(
      kind.devices > 1 || random.chance(1, 4) ? 1000 : 50 * random.between(1, 19));
  if (random.chance(1, 4)) kind.models = {random.chance(1, 2) ? "A" : "B"};
  return weighed;
}

RequestMix random_mix(base::Random& random) {
  std::vector<WeighedKind> kinds;
  for (std::int64_t i = random.between(1, 12); i > 0; --i)
    kinds.push_back(random_kind(random));
  return policy::make_mix(kinds, {{.model = "A", .milli = 40'000, .cpu = 160'000},
                                  {.model = "B", .milli = 9'000, .cpu = 90'000}});
}

ScoredAsk random_ask(base::Random& random, const Node& node) {
  ScoredAsk ask{.cpu = 1000 * random.between(0, 12)};
  if (node.cpu < ask.cpu) ask.cpu = node.cpu;
  if (random.chance(1, 8)) return ask;
  const auto whole = static_cast<std::int32_t>(std::ranges::count(node.devices, 1000));
  if (whole > 0 && random.chance(1, 2)) {
    ask.devices = static_cast<std::int32_t>(random.between(1, whole));
    ask.milli = 1000;
  } else if (const std::int16_t most = *std::ranges::max_element(node.devices); most > 0) {
    ask.devices = 1;
    ask.milli = static_cast<std::int32_t>(50 * random.between(1, std::max(1, most / 50)));
  }
  return ask;
}

// What of the free milli the kinds cannot use, each weighed, from the definition.
std::int64_t useless(const Node& node, const std::vector<WeighedKind>& kinds) {
  const std::int64_t all = node.seen().milli;
  std::int64_t sum = 0;
  for (const auto& [kind, weight] : kinds) {
    std::int64_t small = 0;
    std::int32_t fitting = 0;
    for (const std::int16_t milli : node.devices) {
      if (milli >= kind.milli.value)
        ++fitting;
      else
        small += milli;
    }
    const bool has_model =
        kind.models.empty() || node.model < 0 ||
        kind.models.front() == kScale.models[static_cast<std::size_t>(node.model)];
    const bool fits =
        kind.devices > 0 && has_model && node.cpu >= kind.cpu && fitting >= kind.devices;
    sum += weight * (fits ? small : all);
  }
  return sum;
}

std::vector<WeighedKind> typical(const RequestMix& mix) {
  std::int64_t all = 0, sum = 0;
  for (const WeighedKind& kind : mix.kinds)
    all += kind.weight;
  std::vector<WeighedKind> found;
  for (const WeighedKind& kind : mix.kinds) {
    if (sum * 100 >= all * 95) break;
    found.push_back(kind);
    sum += kind.weight;
  }
  return found;
}

TEST(ScoreRules, FragmentationIsTheSigmoidOfWhatThePlacementMakesUseless) {
  base::Random random{base::Seed{5}};
  for (int run = 0; run < 4000; ++run) {
    const RequestMix mix = random_mix(random);
    const auto kinds = typical(mix);
    std::int64_t weight = 0;
    for (const WeighedKind& kind : kinds)
      weight += kind.weight;
    const auto rule = make_score_rule(PlacementRule::Fragmentation, mix, kScale);
    const Node node = random_node(random);
    EXPECT_EQ(rule->worth(node.seen()), -useless(node, kinds));
    const ScoredAsk ask = random_ask(random, node);
    const Score score = rule->score(node.seen(), rule->worth(node.seen()), ask);
    const double less =
        static_cast<double>(useless(node, kinds) - useless(node.after(ask, score.device), kinds)) /
        static_cast<double>(weight);
    const double exact = 100 / (1 + std::exp(-less / 1000));
    EXPECT_LE(score.score, exact + 1e-3);
    EXPECT_GT(score.score + 1, exact - 1e-3);
    // No other device makes less useless, as far as a whole percent goes.
    for (std::int32_t i = 0; ask.milli > 0 && ask.milli < 1000 && i < std::ssize(node.devices);
         ++i) {
      if (node.devices[static_cast<std::size_t>(i)] < ask.milli) continue;
      const double other =
          static_cast<double>(useless(node, kinds) - useless(node.after(ask, i), kinds)) /
          static_cast<double>(weight);
      EXPECT_LE(std::floor(100 / (1 + std::exp(-other / 1000)) - 1e-3), score.score);
    }
  }
}

// The most that members cut from the node can be worth, tried one way after the other.
std::int64_t most_hosted(const RequestMix& mix, Node node, std::size_t from) {
  std::int64_t most = 0;
  for (std::size_t i = from; i < mix.prices.size(); ++i) {
    const model::SizePrice& piece = mix.prices[i];
    if (piece.cpu > node.cpu) continue;
    for (std::size_t d = 0; d < node.devices.size(); ++d) {
      if (node.devices[d] < piece.size.value) continue;
      Node rest = node;
      rest.cpu -= piece.cpu;
      rest.devices[d] = static_cast<std::int16_t>(rest.devices[d] - piece.size.value);
      most = std::max(most, piece.price + most_hosted(mix, rest, i));
    }
  }
  return most;
}

TEST(ScoreRules, ANodeIsNeverWorthLessThanWhatItCanHost) {
  base::Random random{base::Seed{6}};
  for (int run = 0; run < 1500; ++run) {
    RequestMix mix;
    for (std::int64_t size = 250; size <= 1000; size += 250)
      mix.prices.push_back({.size = base::MilliDevice(size),
                            .price = random.between(0, 1000) * size,
                            .cpu = 1000 * random.between(0, 8)});
    const auto rule = make_score_rule(PlacementRule::Value, mix, kScale);
    Node node = random_node(random);
    node.devices.resize(std::min<std::size_t>(node.devices.size(), 2));
    EXPECT_GE(rule->worth(node.seen()), most_hosted(mix, node, 0));
  }
}

TEST(ScoreRules, WhatCostsNothingTiesWhereverItGoes) {
  const RequestMix mix = policy::make_mix(
      {{.kind = {.cpu = 1000, .devices = 1, .milli = base::kWholeDevice}, .weight = 50},
       {.kind = {.cpu = 1000, .devices = 1, .milli = base::MilliDevice(500)}, .weight = 60}},
      {});
  const auto rule = make_score_rule(PlacementRule::Value, mix, kScale);
  const ScoredAsk half{.cpu = 1000, .devices = 1, .milli = 500};
  const ScoredAsk whole{.cpu = 1000, .devices = 1, .milli = 1000};
  const auto score = [&](const Node& node, const ScoredAsk& ask) {
    return rule->score(node.seen(), rule->worth(node.seen()), ask).score;
  };
  const Node fresh{.devices = {1000, 1000}}, begun{.devices = {500, 1000}};
  // Half a device is worth half of one wherever it is cut from, and a whole one is worth the same.
  EXPECT_EQ(score(fresh, half), score(begun, half));
  EXPECT_EQ(score(fresh, whole), score(begun, whole));
}

TEST(ScoreRules, AScarceModelIsLeftToThoseWhoCanTakeNoOther) {
  const RequestMix mix = policy::make_mix(
      {{.kind = {.cpu = 0, .devices = 1, .milli = base::kWholeDevice, .models = {"B"}},
        .weight = 9},
       {.kind = {.cpu = 0, .devices = 1, .milli = base::kWholeDevice}, .weight = 10}},
      {{.model = "A", .milli = 10'000, .cpu = 1}, {.model = "B", .milli = 9'000, .cpu = 1}});
  const auto rule = make_score_rule(PlacementRule::Value, mix, kScale);
  const ScoredAsk whole{.cpu = 0, .devices = 1, .milli = 1000};
  const auto score = [&](std::int32_t model) {
    const Node node{.model = model, .devices = {1000}};
    return rule->score(node.seen(), rule->worth(node.seen()), whole).score;
  };
  EXPECT_LT(score(1), score(0));
}

TEST(ScoreRules, TheRulesOfTheLiteratureGiveTheirPublishedScores) {
  const auto score = [](PlacementRule rule, const Node& node, const ScoredAsk& ask,
                        std::uint32_t sizes = 0) {
    ScoredNode seen = node.seen();
    seen.sizes = sizes;
    return make_score_rule(rule, {}, kScale)->score(seen, 0, ask).score;
  };
  const Node idle{.devices = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000}};
  const Node half{.cpu = 16'000, .devices = {0, 0, 0, 400, 1000, 1000, 1000, 600}};
  const ScoredAsk one{.cpu = 4000, .devices = 1, .milli = 1000};
  const ScoredAsk share{.cpu = 4000, .devices = 1, .milli = 300};
  // 100 * (1 - (28/32 + 7/8) / 2) = 12.5; 100 * (1 - (12/32 + 3/8) / 2) = 62.5.
  EXPECT_EQ(score(PlacementRule::BestFit, idle, one), 12);
  EXPECT_EQ(score(PlacementRule::BestFit, half, one), 62);
  // 100 * (1 - (1 * 4/32 + 1 * 1/8) / 2) = 87.5; 100 * (1 - (1/2 * 4/32 + 1/2 * 1/8) / 2) = 93.75.
  EXPECT_EQ(score(PlacementRule::DotProduct, idle, one), 87);
  EXPECT_EQ(score(PlacementRule::DotProduct, half, one), 93);
  EXPECT_EQ(score(PlacementRule::Packing, idle, one), 25);
  EXPECT_EQ(score(PlacementRule::Packing, half, one), 49);
  EXPECT_EQ(score(PlacementRule::Packing, half, share), 96);
  // Half of the devices in use: 25 / 2 = 12.
  EXPECT_EQ(score(PlacementRule::Clustering, idle, one), 25);
  EXPECT_EQ(score(PlacementRule::Clustering, half, one, 0b10), 12 + 75);
  EXPECT_EQ(score(PlacementRule::Clustering, half, one, 0b11), 12 + 50);
  EXPECT_EQ(score(PlacementRule::Clustering, half, one, 0b01), 12);
  EXPECT_EQ(score(PlacementRule::Clustering, half, share, 0b01), 12 + 75);
}

}  // namespace
