#pragma once
// Places one workload after another in one pool by the rule of a policy, without queues, quota and
// time: the search of the planner alone, for those who compare placements or ask what would fit.
//
//   Placer placer(state, policy);
//   if (const auto placement = placer.place(workload, pool)) …
//
// State is read once; what was placed since is held by the placer. Thread contract: used by one
// thread; State must outlive it and stay as it is, but for the mix of requests.

#include <memory>
#include <optional>

#include "model/ids.h"
#include "model/placement.h"
#include "model/policy_set.h"
#include "model/state.h"
#include "model/workload.h"

namespace scheduling {

namespace internal {
class ClusterView;
}

class Placer {
 public:
  Placer(const model::State& state, const model::PolicySet& policy);
  ~Placer();
  Placer(const Placer&) = delete;
  Placer& operator=(const Placer&) = delete;

  // Where the members of the workload, whose queue and class State knows, go: from now on they are
  // there. Nothing, and nothing is held, when the minimum of its groups does not fit.
  std::optional<model::Placement> place(const model::Workload& workload, model::PoolId pool);
  // The mix of requests in State has changed.
  void observe_mix();
  // What place() gave for the workload is free again.
  void remove(const model::Workload& workload, const model::Placement& placement);

 private:
  const model::State& state_;
  const model::PolicySet& policy_;
  std::unique_ptr<internal::ClusterView> view_;
};

}  // namespace scheduling
