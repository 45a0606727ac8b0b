#include "scheduling/placer.h"

#include "scheduling/internal/cluster_view.h"
#include "scheduling/internal/placing.h"

namespace scheduling {

Placer::Placer(const model::State& state, const model::PolicySet& policy)
    : state_(state), policy_(policy), view_(std::make_unique<internal::ClusterView>(state)) {}

Placer::~Placer() = default;

std::optional<model::Placement> Placer::place(const model::Workload& workload, model::PoolId pool) {
  const internal::Request request = internal::request_for(state_, policy_, workload);
  internal::PoolTrial trial = internal::place_in_pool(state_, *view_, request, pool);
  if (!trial.is_complete()) {
    view_->rollback(0);
    return std::nullopt;
  }
  view_->keep();
  return std::move(trial.placement);
}

void Placer::observe_mix() { view_->forget_rankings(); }

void Placer::remove(const model::Workload& workload, const model::Placement& placement) {
  const model::QueueId tenant = state_.queues.at(workload.queue).tenant();
  for (const model::MemberPlacement& member : placement.members)
    view_->give(workload, member, tenant);
  view_->keep();
}

}  // namespace scheduling
