// The gradient of fragmentation (Weng and others, "Beware of Fragmentation", ATC 2023, section 4).
//
// For one kind of member, what is free on a node is of no use where it is on devices with less than
// the member takes of one, or anywhere on a node that cannot take the member. The fragmentation of
// a node is what is of no use on average over the mix. With F the free milli of a device, P(x) the
// weight of kinds that take a part of one device, or one, of at most x, Q(w) the weight of kinds
// that take several whole devices, at most w, and W the weight of all, all of them of kinds that
// the model and the free cpu of the node allow, it is 1 / W of
//
//   W * sum(F) - sum(F * P(F)) - 1000 * w * Q(w)        w: whole free devices
//
// because a kind that takes a part fits exactly when some device has that much free, and then the
// devices with as much free are of use to it. So the node is worth the two last terms less the
// first, and each is a sum over devices: a change of one device needs no look at the others.

#include <algorithm>
#include <array>

#include "base/assert.h"
#include "scheduling/internal/score_rule.h"

namespace scheduling::internal {

namespace {

using model::WeighedKind;

constexpr std::int32_t kWhole = 1000;

// ln(k / (100 - k)) in millionths for k from 50 on: where 100 / (1 + exp(-x)) reaches k.
constexpr std::array<std::int64_t, 50> kLogit{
    0,         40'005,    80'043,    120'144,   160'343,   200'671,   241'162,   281'851,
    322'773,   363'965,   405'465,   447'312,   489'548,   532'217,   575'364,   619'039,
    663'294,   708'185,   753'772,   800'119,   847'298,   895'384,   944'462,   994'623,
    1'045'969, 1'098'612, 1'152'680, 1'208'311, 1'265'666, 1'324'925, 1'386'294, 1'450'010,
    1'516'347, 1'585'627, 1'658'228, 1'734'601, 1'815'290, 1'900'959, 1'992'430, 2'090'741,
    2'197'225, 2'313'635, 2'442'347, 2'586'689, 2'751'535, 2'944'439, 3'178'054, 3'476'099,
    3'891'820, 4'595'120};

// The most frequent kinds that make up 95 of 100 requests, as the published experiments have it.
std::vector<WeighedKind> typical(const std::vector<WeighedKind>& kinds) {
  std::int64_t all = 0;
  for (const WeighedKind& kind : kinds)
    all += kind.weight;
  std::vector<WeighedKind> found;
  std::int64_t sum = 0;
  for (const WeighedKind& kind : kinds) {
    if (sum * 100 >= all * 95) break;
    found.push_back(kind);
    sum += kind.weight;
  }
  return found;
}

class Fragmentation final : public ScoreRule {
 public:
  Fragmentation(const model::RequestMix& mix, const ScoreScale& scale)
      : model_count_(scale.models.size()) {
    const std::vector<WeighedKind> kinds = typical(mix.kinds);
    for (const WeighedKind& kind : kinds) {
      all_ += kind.weight;
      if (kind.kind.devices > 0) cpu_steps_.push_back(kind.kind.cpu);
      if (kind.kind.devices == 1)
        sizes_.push_back(static_cast<std::int32_t>(kind.kind.milli.value));
    }
    sort_unique(cpu_steps_);
    sort_unique(sizes_);
    for (std::int32_t milli = 0; milli <= kWhole; ++milli)
      rank_[static_cast<std::size_t>(milli)] =
          static_cast<std::uint16_t>(std::ranges::upper_bound(sizes_, milli) - sizes_.begin());
    const auto most_devices = static_cast<std::size_t>(scale.milli / kWhole);
    tables_.resize((model_count_ + 1) * (cpu_steps_.size() + 1));
    for (Table& table : tables_) {
      table.parts.resize(sizes_.size() + 1);
      table.wholes.resize(most_devices + 1);
    }
    for (const WeighedKind& kind : kinds)
      if (kind.kind.devices > 0) enter(kind, scale);
  }

  // Times the weight of the mix.
  std::int64_t worth(const ScoredNode& node) const override {
    const Table& table = table_for(node.model, node.cpu);
    std::int64_t sum = 0;
    std::int64_t whole = 0;
    for (const std::int16_t milli : node.devices) {
      sum += table.of_device(milli, rank(milli));
      if (milli == kWhole) ++whole;
    }
    return sum + table.of_whole(whole) - all_ * node.milli;
  }

  Score score(const ScoredNode& node, std::int64_t worth, const ScoredAsk& ask) const override {
    const Table& table = table_for(node.model, node.cpu - ask.cpu);
    std::int64_t sum = -worth - all_ * (node.milli - std::int64_t{ask.devices} * ask.milli);
    std::int64_t whole = 0;
    for (const std::int16_t milli : node.devices) {
      sum += table.of_device(milli, rank(milli));
      if (milli == kWhole) ++whole;
    }
    if (ask.devices == 0 || ask.milli == 0) return {.score = percent(sum + table.of_whole(whole))};
    if (ask.milli == kWhole) {
      const std::int64_t taken = ask.devices * table.of_device(kWhole, rank(kWhole));
      return {.score = percent(sum - taken + table.of_whole(whole - ask.devices))};
    }
    return best_part(node, table, sum, whole, ask.milli);
  }

 private:
  // What the model and the free cpu of a node allow.
  struct Table {
    std::vector<std::int64_t> parts;   // P, by rank
    std::vector<std::int64_t> wholes;  // Q
    std::int64_t of_device(std::int64_t milli, std::size_t rank) const {
      return milli * parts[rank];
    }
    std::int64_t of_whole(std::int64_t whole) const {
      const auto at = std::min(static_cast<std::size_t>(whole), wholes.size() - 1);
      return kWhole * whole * wholes[at];
    }
  };

  template <class T>
  static void sort_unique(std::vector<T>& values) {
    std::ranges::sort(values);
    const auto repeated = std::ranges::unique(values);
    values.erase(repeated.begin(), repeated.end());
  }

  std::size_t rank(std::int16_t milli) const { return rank_[static_cast<std::size_t>(milli)]; }

  const Table& table_for(std::int32_t model, std::int64_t cpu) const {
    const auto step =
        static_cast<std::size_t>(std::ranges::upper_bound(cpu_steps_, cpu) - cpu_steps_.begin());
    const std::size_t row = model < 0 ? model_count_ : static_cast<std::size_t>(model);
    return tables_[row * (cpu_steps_.size() + 1) + step];
  }

  void enter(const WeighedKind& weighed, const ScoreScale& scale) {
    const model::RequestKind& kind = weighed.kind;
    const auto step = static_cast<std::size_t>(std::ranges::upper_bound(cpu_steps_, kind.cpu) -
                                               cpu_steps_.begin());
    for (std::size_t row = 0; row <= model_count_; ++row) {
      if (row < model_count_ && !kind.models.empty() &&
          !std::ranges::binary_search(kind.models, scale.models[row]))
        continue;
      for (std::size_t at = step; at <= cpu_steps_.size(); ++at) {
        Table& table = tables_[row * (cpu_steps_.size() + 1) + at];
        if (kind.devices == 1) {
          const auto from = rank(static_cast<std::int16_t>(kind.milli.value));
          for (std::size_t r = from; r < table.parts.size(); ++r)
            table.parts[r] += weighed.weight;
        } else {
          for (auto n = static_cast<std::size_t>(kind.devices); n < table.wholes.size(); ++n)
            table.wholes[n] += weighed.weight;
        }
      }
    }
  }

  // The first device of those with the best score. `sum` is without what whole devices are worth
  // together.
  Score best_part(const ScoredNode& node, const Table& table, std::int64_t sum, std::int64_t whole,
                  std::int32_t ask) const {
    Score best{.score = -1};
    std::int16_t known = -1;
    const std::int64_t with_all = table.of_whole(whole);
    const std::int64_t with_one_less = whole > 0 ? table.of_whole(whole - 1) : 0;
    for (std::size_t i = 0; i < node.devices.size(); ++i) {
      const std::int16_t milli = node.devices[i];
      if (milli < ask || milli == known) continue;
      known = milli;
      const auto rest = static_cast<std::int16_t>(milli - ask);
      const std::int64_t gain = table.of_device(rest, rank(rest)) -
                                table.of_device(milli, rank(milli)) +
                                (milli == kWhole ? with_one_less : with_all);
      const std::int16_t score = percent(sum + gain);
      if (score > best.score) best = {.score = score, .device = static_cast<std::int32_t>(i)};
    }
    return best;
  }

  // 100 / (1 + exp(-less / 1000)) rounded down; `less` fragmentation, times the weight of the mix.
  std::int16_t percent(std::int64_t less) const {
    const auto reaches = [&](std::int64_t logit) { return less * 1000 >= logit * all_; };
    if (less >= 0)
      return static_cast<std::int16_t>(
          49 + (std::ranges::partition_point(kLogit, reaches) - kLogit.begin()));
    // Below 50 the same steps go down: k is reached from minus the step of 100 - k on.
    const auto misses = [&](std::int64_t logit) { return less * 1000 < -logit * all_; };
    return static_cast<std::int16_t>(
        50 - (std::ranges::partition_point(kLogit, misses) - kLogit.begin()));
  }

  std::size_t model_count_;
  std::int64_t all_ = 0;
  std::vector<std::int64_t> cpu_steps_;
  std::vector<std::int32_t> sizes_;
  std::array<std::uint16_t, kWhole + 1> rank_{};
  std::vector<Table> tables_;  // by model, the last for none or several, then by step of cpu
};

}  // namespace

std::unique_ptr<const ScoreRule> make_fragmentation_rule(const model::RequestMix& mix,
                                                         const ScoreScale& scale) {
  return std::make_unique<Fragmentation>(mix, scale);
}

}  // namespace scheduling::internal
