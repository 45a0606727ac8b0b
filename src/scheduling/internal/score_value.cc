// Placement by value: a placement costs what it destroys of what the mix could still make of the
// node, and the cheapest wins.
//
// A piece of a device of size m is worth its price, and needs cpu as well: c(m) milli-cores. For a
// price L of a milli-core, v(r) is the most that pieces cut from r milli are worth, each its price
// less L * c(m), and sum(v(F)) + L * cpu over the devices of a node with F free milli and cpu free
// milli-cores bounds from above what the node can still host (Lagrange: the limit on cpu has become
// a price). The node is worth the least of these bounds over a few L. Devices of a model that those
// who can take no other ask much of cost extra.

#include <algorithm>
#include <array>
#include <limits>

#include "scheduling/internal/score_rule.h"

namespace scheduling::internal {

namespace {

constexpr std::int32_t kWhole = 1000;

// Prices of a milli-core in millionths of a device: 0, 0.01, 0.03 … 0.4 devices a core.
constexpr std::array<std::int64_t, 9> kCpuPrices{0, 10, 30, 50, 75, 100, 150, 250, 400};
// The load by members bound to a model above which it is scarce, in millionths.
constexpr std::int64_t kScarceFrom = 750'000;
// Scores are hundredths of a device, rounded to the nearest: what costs nothing must be equal, so
// that the first node wins and nodes fill one after the other.
constexpr std::int64_t kStep = 10'000;
constexpr std::int64_t kTop = 16'000;  // the score of what costs nothing

class Value final : public ScoreRule {
 public:
  Value(const model::RequestMix& mix, const ScoreScale& scale) {
    for (std::size_t l = 0; l < kCpuPrices.size(); ++l)
      fill(best_[l], mix.prices, kCpuPrices[l]);
    scarcity_.resize(scale.models.size() + 1);
    for (const model::ModelLoad& load : mix.loads) {
      const auto at = std::ranges::lower_bound(scale.models, load.model);
      if (at == scale.models.end() || *at != load.model) continue;
      scarcity_[static_cast<std::size_t>(at - scale.models.begin())] =
          std::max<std::int64_t>(0, load.load - kScarceFrom);
    }
  }

  std::int64_t worth(const ScoredNode& node) const override {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t l = 0; l < kCpuPrices.size(); ++l)
      least = std::min(least, bound(node, l) + kCpuPrices[l] * node.cpu);
    return least;
  }

  Score score(const ScoredNode& node, std::int64_t worth, const ScoredAsk& ask) const override {
    const std::int32_t device =
        ask.devices > 0 && ask.milli < kWhole ? tightest_device(node.devices, ask.milli) : -1;
    const auto from = static_cast<std::size_t>(
        device < 0 ? kWhole : node.devices[static_cast<std::size_t>(device)]);
    const std::size_t to = from - static_cast<std::size_t>(ask.devices > 0 ? ask.milli : 0);
    std::int64_t after = std::numeric_limits<std::int64_t>::max();
    for (std::size_t l = 0; l < kCpuPrices.size(); ++l) {
      const std::int64_t taken = ask.devices * (best_[l][from] - best_[l][to]);
      after = std::min(after, bound(node, l) - taken + kCpuPrices[l] * (node.cpu - ask.cpu));
    }
    const auto model = node.model < 0 ? scarcity_.size() - 1 : static_cast<std::size_t>(node.model);
    const std::int64_t extra = scarcity_[model] * ask.devices;
    const std::int64_t steps = (worth - after + extra + kStep / 2) / kStep;
    return {.score = static_cast<std::int16_t>(std::clamp<std::int64_t>(kTop - steps, 0, 2 * kTop)),
            .device = device};
  }

 private:
  using Table = std::array<std::int32_t, kWhole + 1>;

  static void fill(Table& best, const std::vector<model::SizePrice>& prices, std::int64_t cpu) {
    for (std::size_t r = 1; r < best.size(); ++r) {
      best[r] = best[r - 1];
      for (const model::SizePrice& piece : prices) {
        const auto size = static_cast<std::size_t>(piece.size.value);
        const std::int64_t net = piece.price - cpu * piece.cpu;
        if (size > r || net <= 0) continue;
        best[r] = std::max(best[r], best[r - size] + static_cast<std::int32_t>(net));
      }
    }
  }

  std::int64_t bound(const ScoredNode& node, std::size_t l) const {
    std::int64_t sum = 0;
    for (const std::int16_t milli : node.devices)
      sum += best_[l][static_cast<std::size_t>(milli)];
    return sum;
  }

  std::array<Table, kCpuPrices.size()> best_{};
  std::vector<std::int64_t> scarcity_;  // by model; the last: none, or several
};

}  // namespace

std::unique_ptr<const ScoreRule> make_value_rule(const model::RequestMix& mix,
                                                 const ScoreScale& scale) {
  return std::make_unique<Value>(mix, scale);
}

}  // namespace scheduling::internal
