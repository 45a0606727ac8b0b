#pragma once
// Held, claimed and pending amounts of queues and the free amounts of pools as the plan sees them:
// State's counters plus what this plan has decided so far. Entitlements are computed on demand and
// kept until something changes them.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/ids.h"
#include "model/resources.h"
#include "model/state.h"
#include "policy/quota.h"

namespace scheduling::internal {

class QuotaView {
 public:
  explicit QuotaView(const model::State& state) : state_(&state), table_(state) {}

  const policy::QuotaTable& table() const { return table_; }

  // Held and claimed together: what admission counts.
  std::int64_t held(model::QueueId queue, model::Dimension dimension) const;
  std::int64_t free(model::Dimension dimension) const;
  std::int64_t entitlement(model::QueueId queue, model::Dimension dimension) const;
  // What others keep of their guarantees, `own` left out.
  std::int64_t kept_for_others(model::QueueId own, model::Dimension dimension) const {
    return table_.kept_for_others(*state_, own, dimension, started_);
  }

  // Overlay: `queue` and its path hold `sign` times the usage more, the pools have it less.
  void hold(model::QueueId queue, const model::Usage& usage, std::int64_t sign);
  // It stops being demand.
  void drop_demand(model::QueueId queue, const model::Usage& ask);
  // Only what is held changes, not what is free: a victim that will leave.
  // Of what is free in the leaf pool and above.
  void set_aside(model::PoolId leaf, const model::Quantities& amounts);
  void hold_only(model::QueueId queue, const model::Usage& usage, std::int64_t sign);

  // Entitlements are stale: State moved on, or a new pass begins.
  void forget_entitlements() { entitlements_.clear(); }
  void clear_overlay();

 private:
  std::int64_t wanted(model::QueueId leaf, model::Dimension dimension) const;

  const model::State* state_;
  policy::QuotaTable table_;
  std::map<std::pair<model::QueueId, model::Dimension>, std::int64_t> held_;     // differences
  std::map<std::pair<model::QueueId, model::Dimension>, std::int64_t> pending_;  // differences
  std::map<std::pair<model::QueueId, model::Dimension>, std::int64_t> started_;  // differences
  std::map<model::Dimension, std::int64_t> free_;                                // differences
  mutable std::map<model::Dimension, std::vector<std::int64_t>> entitlements_;
};

}  // namespace scheduling::internal
