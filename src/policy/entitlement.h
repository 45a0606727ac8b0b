#pragma once
// What each queue is entitled to in one dimension (rules 1 and 2 of the queue algebra): guarantees
// that are in demand first, then the surplus by priority and weight, down the tree. Exact integers.

#include <cstdint>
#include <span>
#include <vector>

#include "model/ids.h"
#include "model/resources.h"
#include "model/state.h"
#include "policy/quota.h"

namespace policy {

// One taker of a water-fill: at most `cap`, in proportion to `weight`.
struct Taker {
  std::int64_t weight = 0;  // >= 0; 0 takes nothing
  std::int64_t cap = 0;     // >= 0
};

// Hands out `amount` in proportion to weight, never above a taker's cap, by water-filling; what
// does not divide goes to the largest remainders, ties to the earlier taker. The result is parallel
// to `takers`; its sum is min(amount, sum of the caps of takers with weight). O(n log n).
std::vector<std::int64_t> water_fill(std::int64_t amount, std::span<const Taker> takers);

// Entitlements by queue (index = id - 1; 0 where no such queue). `wanted` is held + pending of each
// leaf queue in this dimension, same index; inner queues' entries are ignored. `capacity` is C(d).
std::vector<std::int64_t> entitlements(const model::State& state, const QuotaTable& quotas,
                                       model::Dimension dimension, std::int64_t capacity,
                                       std::span<const std::int64_t> wanted);

}  // namespace policy
