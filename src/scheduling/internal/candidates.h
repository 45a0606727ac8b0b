#pragma once
// Which open class is tried next: queues compete by the least dominant ratio from the root down, or
// stand in one line, as the policy says (rule 5 of the queue algebra).

#include <map>
#include <set>
#include <utility>

#include "model/ids.h"
#include "model/policy_set.h"
#include "model/state.h"
#include "scheduling/internal/pending_index.h"
#include "scheduling/internal/quota_view.h"

namespace scheduling::internal {

class Candidates {
 public:
  Candidates(const model::State& state, const model::PolicySet& policy, const QuotaView& quotas)
      : state_(&state), policy_(&policy), quotas_(&quotas) {}

  // The class enters with its present head.
  void add(EquivalenceClass& equals);
  // The class that take_next() would give, or null; it leaves.
  EquivalenceClass* take_next();
  bool empty() const { return by_queue_.empty(); }

 private:
  using Line = std::set<std::pair<OrderKey, EquivalenceClass*>>;
  EquivalenceClass* first_of_line() const;
  EquivalenceClass* least_ratio(const std::vector<model::QueueId>& children) const;
  EquivalenceClass* candidate_of(model::QueueId queue) const;

  const model::State* state_;
  const model::PolicySet* policy_;
  const QuotaView* quotas_;
  std::map<model::QueueId, Line> by_queue_;  // leaf queues with open classes
  std::map<model::QueueId, std::int64_t>
      open_below_;  // how many of them, on every queue of the path
};

}  // namespace scheduling::internal
