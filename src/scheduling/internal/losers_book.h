#pragma once
// Which queues may lose work to whom, computed once for all takers that are alike in it and kept
// until something is decided. Thread contract: none of its own.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>

#include "base/instant.h"
#include "model/ids.h"
#include "scheduling/internal/taking_bound.h"

namespace scheduling::internal {

// Takers with equal keys have the same losers.
struct LosersKey {
  model::PoolId pool;
  model::QueueId queue;
  model::ClassId workload_class;
  std::uint64_t short_of = 0;  // resources of the pool of which more is asked than may be used
  std::size_t entitled = 0;    // queues from its own up that stay within their entitlement
  friend constexpr auto operator<=>(const LosersKey&, const LosersKey&) = default;
};

struct LosersEntry {
  std::uint64_t stamp = 0;  // of the world for which `losers` was computed; 0: never
  Losers losers;
  bool knows_first_ripe = false;
  std::optional<base::Instant> first_ripe;
};

// Addresses of entries stay the same until the book goes.
using LosersBook = std::map<LosersKey, LosersEntry>;

// The entry of the taker, brought up to date.
LosersEntry& losers_entry(const TrialWorld& world, const Taker& taker);

// When the first of those that only their min run time protects will have run long enough, as
// things are held now.
std::optional<base::Instant> first_to_ripen(const TrialWorld& world, const Taker& taker,
                                            LosersEntry& entry);

}  // namespace scheduling::internal
