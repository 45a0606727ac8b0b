#include "scheduling/internal/losers_book.h"

#include <algorithm>

#include "scheduling/internal/protection.h"
#include "scheduling/internal/trial.h"

namespace scheduling::internal {

namespace {

constexpr std::uint16_t kResourcesOfAMask = 64;

LosersKey key_of(const TrialWorld& world, const Taker& taker) {
  LosersKey key{.pool = taker.pool,
                .queue = taker.workload->queue,
                .workload_class = taker.workload->workload_class};
  all_of_ask(taker, [&](model::Dimension d, std::int64_t amount) {
    // Resources beyond the mask share its last bit: takers with it may differ, and share nothing.
    const std::uint16_t bit = std::min<std::uint16_t>(d.resource.value, kResourcesOfAMask - 1);
    if (is_short(world, taker, d, amount)) key.short_of |= std::uint64_t{1} << bit;
    return true;
  });
  if (world.policy.allows_reclaim)
    for (const model::QueueId queue : world.state.queues.at(key.queue).path) {
      if (!within_entitlement(world, taker, queue)) break;
      ++key.entitled;
    }
  return key;
}

}  // namespace

LosersEntry& losers_entry(const TrialWorld& world, const Taker& taker) {
  const LosersKey key = key_of(world, taker);
  LosersEntry& entry = world.losers[key];
  const bool is_shared = (key.short_of >> (kResourcesOfAMask - 1)) == 0;
  if (entry.stamp == world.stamp && is_shared) return entry;
  entry = {.stamp = world.stamp, .losers = losers_to(world, taker), .first_ripe = {}};
  return entry;
}

std::optional<base::Instant> first_to_ripen(const TrialWorld& world, const Taker& taker,
                                            LosersEntry& entry) {
  if (entry.knows_first_ripe) return entry.first_ripe;
  std::optional<base::Instant> first;
  for (const Loser& loser : entry.losers.queues) {
    const auto& live = world.live.by_pool.at(taker.pool).at(loser.queue);
    for (auto at = live.upper_bound({world.now, model::WorkloadId(~std::uint64_t{0})});
         at != live.end() && (!first || at->first < *first); ++at) {
      const model::WorkloadRecord& record = world.state.workloads.at(at->second);
      if (protection_of(world, taker, record, &entry.losers.bars).reason ==
          model::Reason::MinRuntime)
        first = at->first;
    }
  }
  entry.knows_first_ripe = true;
  entry.first_ripe = first;
  return first;
}

}  // namespace scheduling::internal
