#pragma once
// The queued workloads, sorted the way they are taken: workloads that are equal in the inputs of
// every test form one class and are tried once; classes of a queue are ordered by their heads.
// Updated event by event; holds nothing that is not derived from State.

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "model/ids.h"
#include "model/placement.h"
#include "model/policy_set.h"
#include "model/reason.h"
#include "model/resources.h"
#include "model/state.h"
#include "scheduling/internal/taking_bound.h"

namespace scheduling::internal {

// Highest class priority first, then the class's own order, then id.
struct OrderKey {
  std::int64_t minus_priority = 0;
  std::int64_t position = 0;
  model::WorkloadId id;
  friend constexpr auto operator<=>(const OrderKey&, const OrderKey&) = default;
};
OrderKey order_key(const model::State& state, const model::PolicySet& policy,
                   const model::Workload& workload);

// A test of quota that can fail: `held` of the queue and `need` together at most `limit`.
struct QuotaTest {
  model::QueueId queue;
  model::Dimension dimension;
  std::int64_t need = 0;
  std::int64_t limit = 0;
};

// What is known of an equivalence class in one accepted pool.
struct PoolFacts {
  model::PoolId pool;
  model::Usage ask;
  std::int64_t could_fit = 0;  // of the minimum, on an empty cluster
  std::vector<QuotaTest> quota_tests;
  bool asks_unlent = false;  // what others keep may stop it too
  // Where the pool's growth stood when placing failed last; nothing: not known to fail.
  std::optional<std::size_t> failed_at;
  std::uint64_t failed_in = 0;  // the plan in which it failed: nothing grows inside a plan; 0: none
  // The place found last, while nothing was decided since.
  std::uint64_t found_at = 0;  // the stamp of the world; 0: none
  model::Placement found;
  TakingBound room;    // with nobody gone
  TakingBound taking;  // with those gone who may lose work
};

struct EquivalenceClass {
  std::uint64_t id = 0;  // in the order of first appearance; never in an order of decisions
  model::QueueId queue;
  model::WorkloadId example;
  std::set<OrderKey> members;
  std::map<model::Reason, std::set<model::WorkloadId>> by_told;  // members by their wait_reason
  std::int64_t facts_version = -1;
  std::int64_t need = 0;         // sum of the groups' minima
  std::int64_t could_fit = 0;    // the largest over the pools
  std::vector<PoolFacts> pools;  // in the order of preference
  std::size_t count_pool = 0;    // index of the pool in which its demand counts
  // What the present pass found; meaningless between plans.
  model::Reason failure = model::Reason::None;
  std::optional<base::Instant> until;
};

class PendingIndex {
 public:
  PendingIndex(const model::State& state, const model::PolicySet& policy);

  // Reads the workload again from State: it appears, moves or disappears.
  void refresh(model::WorkloadId id, base::Instant now);
  // Back-offs that are over by `now` become eligible.
  void wake(base::Instant now);
  base::Instant next_wake() const {
    return sleeping_.empty() ? base::kNever : sleeping_.begin()->first;
  }

  // By the key of equal inputs. Every class has a member, unless all of them are hidden.
  const std::map<std::string, std::unique_ptr<EquivalenceClass>>& classes() const {
    return classes_;
  }
  EquivalenceClass* class_of(model::WorkloadId id) const;

  // Overlay: leaves its class until restore_hidden().
  void hide(model::WorkloadId id);
  void restore_hidden();

 private:
  struct Place {
    std::string key;
    OrderKey order;
    model::Reason told = model::Reason::None;
    base::Instant sleeps_until;  // kNever: awake
    bool is_awake = false;
  };
  void enter(model::WorkloadId id, Place& place);
  enum class WhenEmpty { Erase, Keep };
  void leave(model::WorkloadId id, const Place& place, WhenEmpty when_empty);

  const model::State* state_;
  model::PolicySet policy_;
  std::map<std::string, std::unique_ptr<EquivalenceClass>> classes_;
  std::map<model::WorkloadId, Place> places_;
  std::set<std::pair<base::Instant, model::WorkloadId>> sleeping_;
  std::vector<model::WorkloadId> hidden_;
  std::uint64_t next_class_ = 1;
};

}  // namespace scheduling::internal
