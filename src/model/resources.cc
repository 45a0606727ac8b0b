#include "model/resources.h"

#include "base/assert.h"

namespace model {

namespace {

template <class List, class Key>
auto position_of(List& list, const Key& key, Key List::value_type::* member) {
  return std::lower_bound(list.begin(), list.end(), key,
                          [member](const auto& entry, const Key& k) { return entry.*member < k; });
}

}  // namespace

void Quantities::set(ResourceId resource, std::int64_t amount) {
  ASSERT(amount >= 0);
  const auto at = position_of(amounts_, resource, &ResourceAmount::resource);
  const bool is_present = at != amounts_.end() && at->resource == resource;
  if (amount == 0) {
    if (is_present) amounts_.erase(at);
  } else if (is_present) {
    at->amount = amount;
  } else {
    amounts_.insert(at, ResourceAmount{resource, amount});
  }
}

void Limits::set(ResourceId resource, std::int64_t amount) {
  ASSERT(amount >= 0);
  const auto at = position_of(amounts_, resource, &ResourceAmount::resource);
  if (at != amounts_.end() && at->resource == resource)
    at->amount = amount;
  else
    amounts_.insert(at, ResourceAmount{resource, amount});
}

std::int64_t Usage::of(Dimension dimension) const {
  const auto at = position_of(amounts_, dimension, &DimensionAmount::dimension);
  return at != amounts_.end() && at->dimension == dimension ? at->amount : 0;
}

void Usage::add(Dimension dimension, std::int64_t amount) {
  if (amount == 0) return;
  const auto at = position_of(amounts_, dimension, &DimensionAmount::dimension);
  if (at != amounts_.end() && at->dimension == dimension) {
    at->amount += amount;
    ASSERT(at->amount >= 0);
    if (at->amount == 0) amounts_.erase(at);
    return;
  }
  ASSERT(amount > 0);
  amounts_.insert(at, DimensionAmount{dimension, amount});
}

}  // namespace model
