#include "policy/entitlement.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/assert.h"

namespace policy {

using model::Dimension;
using model::QueueId;
using model::QueueRecord;
using model::State;

namespace {

using Wide = __int128;

// What is left after nobody can take a full part any more: floors, then the largest remainders.
void split_rest(std::int64_t amount, std::int64_t weight_sum, std::span<const Taker> takers,
                std::span<const std::size_t> order, std::vector<std::int64_t>& given) {
  std::int64_t rest = amount;
  std::vector<std::pair<std::int64_t, std::size_t>> remainders;  // negated, so that largest first
  for (const std::size_t i : order) {
    const Wide part = static_cast<Wide>(amount) * takers[i].weight;
    given[i] = static_cast<std::int64_t>(part / weight_sum);
    rest -= given[i];
    remainders.push_back({-static_cast<std::int64_t>(part % weight_sum), i});
  }
  std::ranges::sort(remainders);
  for (const auto& [remainder, i] : remainders) {
    if (rest == 0) break;
    if (given[i] == takers[i].cap) continue;
    ++given[i];
    --rest;
  }
}

}  // namespace

std::vector<std::int64_t> water_fill(std::int64_t amount, std::span<const Taker> takers) {
  std::vector<std::int64_t> given(takers.size(), 0);
  std::vector<std::size_t> order;
  std::int64_t weight_sum = 0;
  for (std::size_t i = 0; i < takers.size(); ++i) {
    if (takers[i].weight <= 0 || takers[i].cap <= 0) continue;
    order.push_back(i);
    weight_sum += takers[i].weight;
  }
  // Who is full first: least cap / weight, by cross-multiplication.
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    const Wide left = static_cast<Wide>(takers[a].cap) * takers[b].weight;
    const Wide right = static_cast<Wide>(takers[b].cap) * takers[a].weight;
    return left != right ? left < right : a < b;
  });
  amount = std::max<std::int64_t>(amount, 0);
  for (std::size_t at = 0; at < order.size(); ++at) {
    const Taker& taker = takers[order[at]];
    const bool takes_all =
        static_cast<Wide>(taker.cap) * weight_sum <= static_cast<Wide>(amount) * taker.weight;
    if (!takes_all) {
      split_rest(amount, weight_sum, takers, std::span(order).subspan(at), given);
      break;
    }
    given[order[at]] = taker.cap;
    amount -= taker.cap;
    weight_sum -= taker.weight;
  }
  return given;
}

namespace {

class Descent {
 public:
  Descent(const State& state, const QuotaTable& quotas, Dimension dimension,
          std::span<const std::int64_t> wanted)
      : state_(state),
        quotas_(quotas),
        dimension_(dimension),
        wanted_(wanted),
        demand_(wanted.size(), 0),
        result_(wanted.size(), 0) {}

  std::vector<std::int64_t> run(std::int64_t capacity) {
    std::vector<QueueId> top;
    state_.queues.each([&](QueueId id, const QueueRecord& record) {
      if (!record.queue.parent.is_none()) return;
      top.push_back(id);
      fill_demand(id);
    });
    hand_down(capacity, top);
    return std::move(result_);
  }

 private:
  std::size_t index(QueueId id) const { return id.value - 1; }

  std::int64_t fill_demand(QueueId id) {
    const QueueRecord& record = state_.queues.at(id);
    std::int64_t demand = record.children.empty() ? wanted_[index(id)] : 0;
    for (const QueueId child : record.children)
      demand += fill_demand(child);
    if (const auto max = quotas_.of(id, dimension_).max) demand = std::min(demand, *max);
    return demand_[index(id)] = demand;
  }

  // What the queue gets before any surplus, and what of its guarantee stays with it in any case.
  std::int64_t base_of(QueueId id) const {
    return std::min(quotas_.of(id, dimension_).guarantee, demand_[index(id)]);
  }
  std::int64_t floor_of(QueueId id) const {
    const QuotaTerms terms = quotas_.of(id, dimension_);
    return std::max(base_of(id), terms.guarantee - terms.lend);
  }

  void hand_down(std::int64_t amount, const std::vector<QueueId>& children) {
    std::int64_t bases = 0;
    std::int64_t floors = 0;
    for (const QueueId child : children) {
      bases += base_of(child);
      floors += floor_of(child);
    }
    if (bases > amount) {
      by_priority(amount, children, [&](QueueId id) {
        return Taker{.weight = quotas_.of(id, dimension_).guarantee, .cap = base_of(id)};
      });
    } else {
      for (const QueueId child : children)
        result_[index(child)] = base_of(child);
      by_priority(std::max<std::int64_t>(0, amount - floors), children, [&](QueueId id) {
        return Taker{.weight = state_.queues.at(id).queue.weight,
                     .cap = demand_[index(id)] - base_of(id)};
      });
    }
    for (const QueueId child : children) {
      const std::vector<QueueId>& below = state_.queues.at(child).children;
      if (below.empty()) continue;
      std::int64_t owed = 0;
      for (const QueueId grandchild : below)
        owed += floor_of(grandchild);
      hand_down(std::max(result_[index(child)], owed), below);
    }
  }

  // Adds to the results: the highest priority takes first, equals share one water-fill.
  template <class MakeTaker>
  void by_priority(std::int64_t amount, const std::vector<QueueId>& children,
                   MakeTaker&& make_taker) {
    std::vector<QueueId> order = children;
    std::ranges::stable_sort(order, [&](QueueId a, QueueId b) {
      return state_.queues.at(a).queue.priority > state_.queues.at(b).queue.priority;
    });
    for (std::size_t from = 0; from < order.size();) {
      const std::int64_t priority = state_.queues.at(order[from]).queue.priority;
      std::vector<Taker> takers;
      std::size_t to = from;
      for (; to < order.size() && state_.queues.at(order[to]).queue.priority == priority; ++to)
        takers.push_back(make_taker(order[to]));
      const std::vector<std::int64_t> given = water_fill(amount, takers);
      for (std::size_t i = from; i < to; ++i)
        result_[index(order[i])] += given[i - from];
      amount -= std::accumulate(given.begin(), given.end(), std::int64_t{0});
      from = to;
    }
  }

  const State& state_;
  const QuotaTable& quotas_;
  Dimension dimension_;
  std::span<const std::int64_t> wanted_;
  std::vector<std::int64_t> demand_;
  std::vector<std::int64_t> result_;
};

}  // namespace

std::vector<std::int64_t> entitlements(const State& state, const QuotaTable& quotas,
                                       Dimension dimension, std::int64_t capacity,
                                       std::span<const std::int64_t> wanted) {
  return Descent(state, quotas, dimension, wanted).run(std::max<std::int64_t>(0, capacity));
}

}  // namespace policy
