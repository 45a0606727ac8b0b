#include "policy/quota.h"

#include <algorithm>

namespace policy {

using model::Dimension;
using model::QueueId;
using model::QueueRecord;
using model::Quota;
using model::State;

namespace {

const Quota* row_of(const QueueRecord& record, Dimension dimension) {
  const auto found = std::ranges::find(record.queue.quotas, dimension, &Quota::dimension);
  return found == record.queue.quotas.end() ? nullptr : &*found;
}

// Children before parents, since an inner queue's defaults are the sums of its children's.
QuotaTerms fill_terms(const State& state, QueueId queue, Dimension dimension,
                      std::vector<QuotaTerms>& terms) {
  const QueueRecord& record = state.queues.at(queue);
  std::int64_t children_guarantee = 0;
  std::int64_t children_lend = 0;
  for (const QueueId child : record.children) {
    const QuotaTerms of_child = fill_terms(state, child, dimension, terms);
    children_guarantee += of_child.guarantee;
    children_lend += of_child.lend;
  }
  const Quota* row = row_of(record, dimension);
  QuotaTerms own;
  own.guarantee = row != nullptr && row->guarantee ? *row->guarantee : children_guarantee;
  const std::int64_t default_lend = record.children.empty() ? own.guarantee : children_lend;
  own.lend = row != nullptr && row->lend ? *row->lend : default_lend;
  if (row != nullptr) own.max = row->max;
  terms[queue.value - 1] = own;
  return own;
}

}  // namespace

QuotaTable::QuotaTable(const State& state) {
  state.queues.each([this](QueueId, const QueueRecord& record) {
    for (const Quota& row : record.queue.quotas)
      governed_.push_back(row.dimension);
  });
  std::ranges::sort(governed_);
  const auto doubles = std::ranges::unique(governed_);
  governed_.erase(doubles.begin(), doubles.end());
  terms_.resize(governed_.size());
  for (std::size_t i = 0; i < governed_.size(); ++i) {
    const Dimension dimension = governed_[i];
    terms_[i].resize(state.queues.next_id().value - 1);
    state.queues.each([&](QueueId id, const QueueRecord& record) {
      if (record.queue.parent.is_none()) fill_terms(state, id, dimension, terms_[i]);
    });
    state.queues.each([&](QueueId id, const QueueRecord& record) {
      const QuotaTerms own = of(id, dimension);
      if (record.children.empty() && own.guarantee > own.lend) keepers_.push_back({dimension, id});
    });
  }
  std::ranges::sort(keepers_);
}

QuotaTerms QuotaTable::of(QueueId queue, Dimension dimension) const {
  const auto at = std::ranges::lower_bound(governed_, dimension);
  if (at == governed_.end() || *at != dimension) return {};
  const auto& terms = terms_[static_cast<std::size_t>(at - governed_.begin())];
  return queue.value <= terms.size() ? terms[queue.value - 1] : QuotaTerms{};
}

bool QuotaTable::is_governed(Dimension dimension) const {
  return std::ranges::binary_search(governed_, dimension);
}

bool QuotaTable::has_keepers(Dimension dimension) const {
  const auto at = std::ranges::lower_bound(keepers_, std::pair(dimension, QueueId{}));
  return at != keepers_.end() && at->first == dimension;
}

std::int64_t QuotaTable::kept_for_others(const State& state, QueueId own, Dimension dimension,
                                         const Holdings& more) const {
  std::int64_t kept = 0;
  auto at = std::ranges::lower_bound(keepers_, std::pair(dimension, QueueId{}));
  for (; at != keepers_.end() && at->first == dimension; ++at) {
    if (at->second == own) continue;
    const QuotaTerms terms = of(at->second, dimension);
    const auto held_more = more.find({at->second, dimension});
    const std::int64_t held = state.queues.at(at->second).held.of(dimension) +
                              (held_more == more.end() ? 0 : held_more->second);
    kept += std::max<std::int64_t>(0, terms.guarantee - terms.lend - held);
  }
  return kept;
}

}  // namespace policy
