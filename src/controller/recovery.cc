// The first thing a controller does: State from the store, an epoch of its own, the defaults of a
// new installation, and agreement with what the backends say exists.

#include <algorithm>
#include <map>
#include <utility>

#include "base/assert.h"
#include "controller/internal/core.h"
#include "controller/replay.h"
#include "platform/fault_point.h"
#include "platform/log.h"
#include "policy/default_policy.h"

namespace controller {

base::Result<base::Done> Controller::recover(base::Instant now) {
  Parts& parts = *parts_;
  ASSERT(parts.batch.events.empty());
  // First the epoch: from here on no older controller can append behind what is read next.
  static_cast<void>(FAULT("controller.recover.before_epoch"));
  const auto epoch = parts.store.acquire_epoch();
  if (!epoch) return tl::unexpected(epoch.error());
  static_cast<void>(FAULT("controller.recover.after_epoch"));
  if (auto rebuilt = parts.rebuild(); !rebuilt) return rebuilt;
  parts.must_settle_nodes = false;
  parts.now = std::max(now, parts.state.now);
  const bool is_new = parts.state.last_sequence.is_none();
  parts.record(model::ControllerStarted{.epoch = *epoch, .version = parts.options.version});
  if (is_new) parts.define_defaults();
  if (auto agreed = parts.reconcile(); !agreed) {
    parts.batch = {};
    parts.must_rebuild = true;
    return agreed;
  }
  static_cast<void>(FAULT("controller.recover.reconciled"));
  auto committed = parts.commit();
  if (committed) parts.due = parts.now;
  return committed;
}

void Controller::Parts::define_defaults() {
  for (model::WorkloadClass& workload_class : policy::default_classes())
    record(model::ClassDefined{std::move(workload_class)});
  record(model::PolicyChanged{policy::default_policy()});
  record(model::PoolDefined{{.id = model::PoolId(1), .name = "default"}});
  record(model::QueueDefined{{.id = model::QueueId(1), .name = "default"}});
}

// An effect is sent after its commit, so a crash may have swallowed any of them, and what happened
// since then was told to nobody. Everything is idempotent, so whatever may be missing is sent
// again.
base::Result<base::Done> Controller::Parts::reconcile() {
  std::map<model::AttemptId, AttemptReport> reports;
  for (ClusterBackend* backend : backends) {
    // What is listed may be forgotten later, and then only its epoch keeps a late start from
    // beginning it again.
    backend->fence(state.epoch);
    auto listed = backend->list();
    if (!listed) return tl::unexpected(std::move(listed.error()));
    for (AttemptReport& report : *listed) {
      reconcile_listed(report, backend);
      reports.emplace(report.attempt, std::move(report));
    }
  }
  std::vector<model::WorkloadId> live;
  state.workloads.each([&live](model::WorkloadId id, const model::WorkloadRecord& record) {
    if (record.live_attempt() != nullptr) live.push_back(id);
  });
  for (const model::WorkloadId id : live)
    reconcile_known(reports, state.workloads.at(id));
  return base::Done{};
}

// What a backend has and State does not expect to live: stopped, or forgotten when it is gone.
void Controller::Parts::reconcile_listed(const AttemptReport& report, ClusterBackend* backend) {
  const model::Attempt* attempt = find_attempt(report.attempt);
  if (attempt != nullptr && attempt->phase != model::AttemptPhase::Ended) return;
  const bool is_gone =
      attempt != nullptr && report.ended.size() == attempt->placement.members.size();
  if (!is_gone) LOG(Warning, "orphan_stopped", {"attempt", model::to_text(report.attempt)});
  batch.intents.push_back({.kind = is_gone ? Intent::Kind::Forget : Intent::Kind::Stop,
                           .attempt = report.attempt,
                           .backend = backend});
}

void Controller::Parts::reconcile_known(const std::map<model::AttemptId, AttemptReport>& reports,
                                        const model::WorkloadRecord& workload) {
  const model::AttemptId id = workload.live_attempt()->id;
  const auto found = reports.find(id);
  if (found != reports.end()) {
    if (found->second.is_running) observe(RunningReport{.attempt = id});
    if (!found->second.ended.empty())
      observe(EndReport{.attempt = id, .members = found->second.ended});
  }
  const model::Attempt* attempt = workload.live_attempt();
  if (attempt == nullptr) return;
  if (backend_of(*attempt) == nullptr) {
    LOG(Warning, "backend_missing", {"attempt", model::to_text(id)},
        {"remedy", "start with the backend that runs it"});
    return;
  }
  const bool is_absent = found == reports.end();
  const bool never_ran = !attempt->running_since && attempt->member_ends.empty() &&
                         (is_absent || !found->second.is_running);
  if (attempt->phase == model::AttemptPhase::Starting) {
    batch.intents.push_back({.kind = Intent::Kind::Start, .attempt = id});
  } else if (attempt->phase == model::AttemptPhase::Stopping && never_ran) {
    // Told to stop before it began, and the start may be lost or still under way. The stop makes
    // sure that no start can begin anything, the start that its members are known and reported as
    // ended.
    batch.intents.push_back({.kind = Intent::Kind::Stop, .attempt = id});
    batch.intents.push_back({.kind = Intent::Kind::Start, .attempt = id});
  } else if (is_absent) {
    // It was up, and nothing of it is left.
    EndReport lost{.attempt = id, .members = {}};
    for (std::size_t rank = 0; rank < attempt->placement.members.size(); ++rank)
      lost.members.push_back({.rank = static_cast<std::int32_t>(rank),
                              .end_class = model::EndClass::NodeLost,
                              .note = "unknown to the backend after a restart"});
    observe(lost);
  } else if (attempt->phase == model::AttemptPhase::Stopping) {
    batch.intents.push_back({.kind = Intent::Kind::Stop, .attempt = id});
  }
}

}  // namespace controller
