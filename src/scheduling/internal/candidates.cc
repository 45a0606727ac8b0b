#include "scheduling/internal/candidates.h"

#include "base/assert.h"

namespace scheduling::internal {

using model::Dimension;
using model::QueueId;
using model::QueueRecord;

void Candidates::add(EquivalenceClass& equals) {
  Line& line = by_queue_[equals.queue];
  line.insert({*equals.members.begin(), &equals});
  for (const QueueId queue : state_->queues.at(equals.queue).path)
    ++open_below_[queue];
}

namespace {

// (held + asked) / entitlement of the dimension in which it is largest. 0 entitled is infinite.
struct Ratio {
  std::int64_t holds = 0;
  std::int64_t entitled = 1;

  bool is_infinite() const { return entitled == 0; }
  bool operator<(const Ratio& other) const {
    if (is_infinite() || other.is_infinite()) return !is_infinite() && other.is_infinite();
    return static_cast<__int128>(holds) * other.entitled <
           static_cast<__int128>(other.holds) * entitled;
  }
};

Ratio dominant_ratio(const QuotaView& quotas, QueueId queue, const EquivalenceClass& candidate) {
  Ratio largest{.holds = 0, .entitled = 1};
  if (candidate.pools.empty()) return largest;
  const PoolFacts& facts = candidate.pools[candidate.count_pool];
  for (const auto& a : facts.ask.amounts()) {
    if (a.dimension.pool != facts.pool) continue;
    const Ratio here{.holds = quotas.held(queue, a.dimension) + a.amount,
                     .entitled = quotas.entitlement(queue, a.dimension)};
    if (largest < here) largest = here;
  }
  return largest;
}

}  // namespace

EquivalenceClass* Candidates::candidate_of(QueueId queue) const {
  const auto line = by_queue_.find(queue);
  if (line != by_queue_.end()) return line->second.begin()->second;
  return least_ratio(state_->queues.at(queue).children);
}

EquivalenceClass* Candidates::least_ratio(const std::vector<QueueId>& children) const {
  EquivalenceClass* best = nullptr;
  Ratio best_ratio;
  std::int64_t best_priority = 0;
  for (const QueueId child : children) {
    if (!open_below_.contains(child)) continue;
    EquivalenceClass* candidate = candidate_of(child);
    ASSERT(candidate != nullptr);
    const Ratio ratio = dominant_ratio(*quotas_, child, *candidate);
    const std::int64_t priority = state_->queues.at(child).queue.priority;
    const bool is_better = best == nullptr || ratio < best_ratio ||
                           (!(best_ratio < ratio) && priority > best_priority);
    if (!is_better) continue;  // children come by id, so ties stay with the lower id
    best = candidate;
    best_ratio = ratio;
    best_priority = priority;
  }
  return best;
}

EquivalenceClass* Candidates::first_of_line() const {
  const std::pair<OrderKey, EquivalenceClass*>* first = nullptr;
  for (const auto& [queue, line] : by_queue_)
    if (first == nullptr || line.begin()->first < first->first) first = &*line.begin();
  return first == nullptr ? nullptr : first->second;
}

EquivalenceClass* Candidates::take_next() {
  if (by_queue_.empty()) return nullptr;
  EquivalenceClass* next = nullptr;
  if (policy_->sharing == model::Sharing::OneLine) {
    next = first_of_line();
  } else if (by_queue_.size() == 1) {
    next = by_queue_.begin()->second.begin()->second;
  } else {
    std::vector<QueueId> top;
    for (const auto& [queue, open] : open_below_)
      if (state_->queues.at(queue).queue.parent.is_none()) top.push_back(queue);
    next = least_ratio(top);
  }
  const auto line = by_queue_.find(next->queue);
  line->second.erase(line->second.begin());
  for (const QueueId queue : state_->queues.at(next->queue).path)
    if (--open_below_[queue] == 0) open_below_.erase(queue);
  if (line->second.empty()) by_queue_.erase(line);
  return next;
}

}  // namespace scheduling::internal
