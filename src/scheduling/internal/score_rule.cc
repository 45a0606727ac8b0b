#include "scheduling/internal/score_rule.h"

#include <algorithm>
#include "scheduling/internal/free_node.h"

namespace scheduling::internal {

namespace {

constexpr std::int32_t kWhole = 1000;

// The formulas and their constants are those that FGD was compared with (Weng and others, ATC
// 2023, section 6), in integers: a score is a percentage, rounded down.

class BestFit final : public ScoreRule {
 public:
  explicit BestFit(const ScoreScale& scale) : cpu_(scale.cpu), milli_(scale.milli) {}
  Score score(const ScoredNode& node, std::int64_t, const ScoredAsk& ask) const override {
    const std::int64_t cpu = node.cpu - ask.cpu;
    const std::int64_t milli = node.milli - std::int64_t{ask.devices} * ask.milli;
    const auto whole = static_cast<__int128>(2) * cpu_ * milli_;
    const auto left = static_cast<__int128>(cpu) * milli_ + static_cast<__int128>(milli) * cpu_;
    return {.score = static_cast<std::int16_t>(100 * (whole - left) / whole)};
  }

 private:
  std::int64_t cpu_, milli_;
};

class DotProduct final : public ScoreRule {
 public:
  explicit DotProduct(const ScoreScale& scale) : cpu_(scale.cpu), milli_(scale.milli) {}
  Score score(const ScoredNode& node, std::int64_t, const ScoredAsk& ask) const override {
    const std::int64_t milli = std::int64_t{ask.devices} * ask.milli;
    const __int128 product =
        squared(milli_) * node.cpu * ask.cpu + squared(cpu_) * node.milli * milli;
    const __int128 most = 2 * squared(cpu_) * squared(milli_);
    return {.score = static_cast<std::int16_t>(100 * (most - product) / most)};
  }

 private:
  static __int128 squared(std::int64_t number) { return static_cast<__int128>(number) * number; }
  std::int64_t cpu_, milli_;
};

class Clustering final : public ScoreRule {
 public:
  explicit Clustering(const ScoreScale& scale) : milli_(scale.milli) {}
  Score score(const ScoredNode& node, std::int64_t, const ScoredAsk& ask) const override {
    if (ask.devices == 0) return {};
    const std::int64_t used = 25 * (milli_ - node.milli) / milli_;
    std::int64_t company = 0;
    if (node.sizes == 0)
      company = 25;
    else if ((node.sizes & ask.size()) != 0)
      company = node.sizes == ask.size() ? 75 : 50;
    return {.score = static_cast<std::int16_t>(used + company)};
  }

 private:
  std::int64_t milli_;
};

class Packing final : public ScoreRule {
 public:
  Score score(const ScoredNode& node, std::int64_t, const ScoredAsk& ask) const override {
    if (ask.devices == 0) return {};
    const auto idle = static_cast<std::int32_t>(std::ranges::count(node.devices, kWhole));
    const bool is_idle = idle == static_cast<std::int32_t>(node.devices.size());
    if (is_idle) return {.score = static_cast<std::int16_t>(std::max(33 - idle, idle))};
    if (ask.milli == kWhole)
      return {.score = static_cast<std::int16_t>(std::max(50 - ask.devices, 33))};
    const std::int32_t device = tightest_device(node.devices, ask.milli);
    const std::int32_t milli = device < 0 ? kWhole : node.devices[static_cast<std::size_t>(device)];
    if (milli == kWhole) return {.score = 49};
    return {.score = static_cast<std::int16_t>(std::max(100 - milli / 100, 50))};
  }
};

// Every node is as good as any: the lot is drawn where the node is chosen.
class Indifferent final : public ScoreRule {
 public:
  Score score(const ScoredNode&, std::int64_t, const ScoredAsk&) const override { return {}; }
};

}  // namespace

std::uint32_t ScoredAsk::size() const {
  if (devices == 0) return 0;
  if (milli < kWhole) return 1;
  return 1U << std::min<std::size_t>(static_cast<std::size_t>(devices), MemberSizes{}.size() - 1);
}

std::int32_t tightest_device(std::span<const std::int16_t> devices, std::int32_t milli) {
  std::int32_t best = -1;
  for (std::size_t i = 0; i < devices.size(); ++i)
    if (devices[i] >= milli && (best < 0 || devices[i] < devices[static_cast<std::size_t>(best)]))
      best = static_cast<std::int32_t>(i);
  return best;
}

std::int64_t ScoreRule::worth(const ScoredNode&) const { return 0; }

std::unique_ptr<const ScoreRule> make_score_rule(model::PlacementRule rule,
                                                 const model::RequestMix& mix,
                                                 const ScoreScale& scale) {
  using enum model::PlacementRule;
  switch (rule) {
    case BestFit:
      return std::make_unique<internal::BestFit>(scale);
    case DotProduct:
      return std::make_unique<internal::DotProduct>(scale);
    case Clustering:
      return std::make_unique<internal::Clustering>(scale);
    case Packing:
      return std::make_unique<internal::Packing>();
    case Fragmentation:
      return make_fragmentation_rule(mix, scale);
    case Value:
      return make_value_rule(mix, scale);
    case Random:
      break;
  }
  return std::make_unique<Indifferent>();
}

}  // namespace scheduling::internal
