#include "policy/request_mix.h"

#include <algorithm>
#include <map>

#include "policy/piece_prices.h"

namespace policy {

using model::ModelLoad;
using model::RequestKind;
using model::RequestMix;
using model::SizePrice;
using model::WeighedKind;

namespace {

constexpr std::int64_t kWhole = 1000;
constexpr std::int64_t kMillion = 1'000'000;

std::int64_t ratio(__int128 amount, __int128 of) {
  return of == 0 ? 0 : static_cast<std::int64_t>((2 * amount + of) / (2 * of));
}

std::vector<WeighedKind> sorted(std::vector<WeighedKind> kinds) {
  std::map<RequestKind, std::int64_t> sums;
  for (WeighedKind& weighed : kinds) {
    auto& models = weighed.kind.models;
    std::ranges::sort(models);
    const auto repeated = std::ranges::unique(models);
    models.erase(repeated.begin(), repeated.end());
    if (weighed.weight > 0) sums[weighed.kind] += weighed.weight;
  }
  kinds.clear();
  for (const auto& [kind, weight] : sums)
    kinds.push_back({.kind = kind, .weight = weight});
  std::ranges::stable_sort(kinds, std::ranges::greater{}, &WeighedKind::weight);
  return kinds;
}

struct SizeDemand {
  std::int64_t pieces = 0;
  __int128 cpu = 0;
};

std::map<std::int64_t, SizeDemand> demand_by_size(const std::vector<WeighedKind>& kinds) {
  std::map<std::int64_t, SizeDemand> by_size;
  for (const WeighedKind& weighed : kinds) {
    if (weighed.kind.devices == 0) continue;
    SizeDemand& demand = by_size[weighed.kind.milli.value];
    demand.pieces += weighed.weight * weighed.kind.devices;
    demand.cpu += static_cast<__int128>(weighed.weight) * weighed.kind.cpu;
  }
  while (by_size.size() > kMostSizes) {
    auto least = by_size.begin();
    for (auto it = by_size.begin(); std::next(it) != by_size.end(); ++it)
      if (it->second.pieces < least->second.pieces) least = it;
    SizeDemand& larger = std::next(least)->second;
    larger.pieces += least->second.pieces;
    larger.cpu += least->second.cpu;
    by_size.erase(least);
  }
  return by_size;
}

// c(m) = 1/2 of the mean cpu a device of those that ask for m, and 3/4 of the mean of all times m.
std::vector<SizePrice> prices_of(const std::vector<WeighedKind>& kinds) {
  const auto by_size = demand_by_size(kinds);
  std::vector<PieceDemand> pieces;
  __int128 all_cpu = 0, all_milli = 0;
  for (const auto& [size, demand] : by_size) {
    pieces.push_back({.size = base::MilliDevice(size), .pieces = demand.pieces});
    all_cpu += demand.cpu;
    all_milli += static_cast<__int128>(demand.pieces) * size;
  }
  const std::vector<std::int64_t> worth = piece_prices(pieces);
  std::vector<SizePrice> prices;
  for (const auto& [size, demand] : by_size) {
    const std::int64_t own = ratio(demand.cpu, demand.pieces);
    const std::int64_t usual = ratio(all_cpu * size, all_milli);
    prices.push_back({.size = base::MilliDevice(size),
                      .price = worth[prices.size()],
                      .cpu = (2 * own + 3 * usual + 2) / 4});
  }
  return prices;
}

// Members bound to models, poured into the nodes in small parts, each on the model that has the
// least load by then.
class Pouring {
 public:
  Pouring(const std::vector<ModelSupply>& supplies, std::int64_t asked_milli)
      : supplies_(supplies), asked_(asked_milli), filled_(supplies.size()) {
    for (const ModelSupply& supply : supplies)
      there_ += supply.milli;
  }

  void pour(const WeighedKind& weighed) {
    constexpr std::int64_t kParts = 100;
    const RequestKind& kind = weighed.kind;
    const auto scaled = [&](std::int64_t amount) {
      return ratio(static_cast<__int128>(amount) * weighed.weight * there_ * kWhole,
                   static_cast<__int128>(asked_) * kParts);
    };
    const std::int64_t milli = scaled(kind.devices * kind.milli.value);
    const std::int64_t cpu = scaled(kind.cpu);
    for (std::int64_t part = 0; part < kParts; ++part) {
      std::size_t least = supplies_.size();
      for (std::size_t i = 0; i < supplies_.size(); ++i)
        if (std::ranges::binary_search(kind.models, supplies_[i].model) &&
            (least == supplies_.size() || load(i) < load(least)))
          least = i;
      if (least == supplies_.size()) return;
      filled_[least].milli += milli;
      filled_[least].cpu += cpu;
    }
  }

  // The larger of the loads of devices and cpu; amounts are kept in thousandths.
  std::int64_t load(std::size_t i) const {
    return std::max(ratio(filled_[i].milli * kMillion / kWhole, supplies_[i].milli),
                    ratio(filled_[i].cpu * kMillion / kWhole, supplies_[i].cpu));
  }

 private:
  struct Filled {
    __int128 milli = 0, cpu = 0;
  };
  const std::vector<ModelSupply>& supplies_;
  std::int64_t asked_;
  std::int64_t there_ = 0;
  std::vector<Filled> filled_;
};

std::vector<ModelLoad> loads_of(const std::vector<WeighedKind>& kinds,
                                const std::vector<ModelSupply>& supplies) {
  std::int64_t asked = 0;
  std::vector<const WeighedKind*> bound;
  for (const WeighedKind& weighed : kinds) {
    asked += weighed.weight * weighed.kind.devices * weighed.kind.milli.value;
    if (weighed.kind.devices > 0 && !weighed.kind.models.empty()) bound.push_back(&weighed);
  }
  std::vector<ModelLoad> loads;
  if (asked == 0) return loads;
  // Who has the least choice goes first.
  std::ranges::stable_sort(bound, {}, [](const WeighedKind* k) { return k->kind.models.size(); });
  Pouring pouring(supplies, asked);
  for (const WeighedKind* weighed : bound)
    pouring.pour(*weighed);
  for (std::size_t i = 0; i < supplies.size(); ++i)
    loads.push_back({.model = supplies[i].model, .load = pouring.load(i)});
  std::ranges::sort(loads);
  return loads;
}

}  // namespace

RequestKind kind_of_member(const model::TaskGroup& group) {
  RequestKind kind{.cpu = group.per_member.of(model::kCpu)};
  if (group.device_options.empty()) return kind;
  const model::DeviceRequest& option = group.device_options.front();
  kind.models = option.models;
  std::ranges::sort(kind.models);
  const auto repeated = std::ranges::unique(kind.models);
  kind.models.erase(repeated.begin(), repeated.end());
  if (option.is_whole()) {
    kind.devices = static_cast<std::int32_t>(option.count.value);
    kind.milli = base::kWholeDevice;
  } else if (option.share.value > 0) {
    kind.devices = 1;
    kind.milli = option.share;
  }
  return kind;
}

RequestMix make_mix(std::vector<WeighedKind> kinds, const std::vector<ModelSupply>& supplies) {
  RequestMix mix{.kinds = sorted(std::move(kinds)), .prices = {}, .loads = {}};
  mix.prices = prices_of(mix.kinds);
  mix.loads = loads_of(mix.kinds, supplies);
  return mix;
}

namespace {

constexpr std::int64_t kMember = 16;  // its weight when it comes: it counts for four halvings

void halve(model::RequestCounts& counts) {
  counts.total = 0;
  for (WeighedKind& weighed : counts.kinds)
    counts.total += weighed.weight /= 2;
  std::erase_if(counts.kinds, [](const WeighedKind& weighed) { return weighed.weight == 0; });
}

void forget_rarest(model::RequestCounts& counts) {
  const auto rarest = std::ranges::min_element(counts.kinds, {}, &WeighedKind::weight);
  counts.total -= rarest->weight;
  counts.kinds.erase(rarest);
}

}  // namespace

void count_requests(model::RequestCounts& counts, const model::Workload& workload) {
  for (const model::TaskGroup& group : workload.groups) {
    if (group.members <= 0) continue;
    RequestKind kind = kind_of_member(group);
    auto at = std::ranges::lower_bound(counts.kinds, kind, {}, &WeighedKind::kind);
    if (at == counts.kinds.end() || at->kind != kind) {
      if (counts.kinds.size() >= kMostKinds) {
        forget_rarest(counts);
        at = std::ranges::lower_bound(counts.kinds, kind, {}, &WeighedKind::kind);
      }
      at = counts.kinds.insert(at, {.kind = std::move(kind), .weight = 0});
    }
    // A gang beyond kMostMembers says no more than one of as many.
    const std::int64_t weight = kMember * std::min<std::int64_t>(group.members, kMostMembers);
    at->weight += weight;
    counts.total += weight;
    counts.members += group.members;
    while (counts.total > kMember * kMostMembers)
      halve(counts);
  }
}

bool is_mix_due(const model::State& state) {
  bool reads_mix = state.policy.placement == model::PlacementRule::Fragmentation ||
                   state.policy.placement == model::PlacementRule::Value;
  if (!state.policy.placement)
    state.classes.each([&](model::ClassId, const model::WorkloadClass& own) {
      reads_mix = reads_mix || own.strategy == model::Strategy::Value;
    });
  const std::int64_t before = state.requests.members_at_mix;
  return reads_mix &&
         state.requests.members - before >= std::clamp<std::int64_t>(before / 2, 16, 1024);
}

RequestMix mix_of(const model::State& state) {
  std::map<std::string, ModelSupply> by_model;
  state.pools.each([&](model::PoolId, const model::PoolRecord& pool) {
    for (const auto& [shape, nodes] : pool.shapes) {
      const model::Node& node = state.nodes.at(nodes.front()).node;
      const auto count = static_cast<std::int64_t>(nodes.size());
      const auto devices = static_cast<std::int64_t>(node.devices.size());
      for (const model::Device& device : node.devices) {
        ModelSupply& supply = by_model[device.model];
        supply.model = device.model;
        supply.milli += kWhole * count;
        supply.cpu += node.allocatable.of(model::kCpu) * count / devices;
      }
    }
  });
  std::vector<ModelSupply> supplies;
  for (const auto& [model, supply] : by_model)
    supplies.push_back(supply);
  return make_mix(state.requests.kinds, supplies);
}

}  // namespace policy
