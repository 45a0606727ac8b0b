// What events mean for the backends. Effects are noted while a turn applies its events and are made
// from State after the commit, so nothing is started or stopped that a crash could forget.

#include <algorithm>
#include <utility>

#include "controller/internal/core.h"
#include "lifecycle/retry.h"
#include "platform/fault_point.h"
#include "platform/log.h"

namespace controller {

const model::Attempt* Controller::Parts::find_attempt(model::AttemptId id) const {
  const model::WorkloadRecord* record = state.workloads.find(id.workload);
  if (record == nullptr || id.ordinal < 1 || id.ordinal > record->attempts.size()) return nullptr;
  return &record->attempts[id.ordinal - 1];
}

void Controller::Parts::note_intents(const model::Event& event) {
  const auto note_stop = [this, &event](const model::Attempt* attempt) {
    if (attempt != nullptr && attempt->phase == model::AttemptPhase::Stopping &&
        attempt->stopping_since == event.at)
      batch.intents.push_back({.kind = Intent::Kind::Stop, .attempt = attempt->id});
  };
  if (const auto* decided = std::get_if<model::Decided>(&event.body)) {
    if (const auto* start = std::get_if<model::Start>(&decided->decision.body)) {
      if (find_attempt(start->attempt) != nullptr)
        batch.intents.push_back({.kind = Intent::Kind::Start, .attempt = start->attempt});
    } else if (const auto* evict = std::get_if<model::Evict>(&decided->decision.body)) {
      for (const model::AttemptId victim : evict->victims)
        note_stop(find_attempt(victim));
    }
  } else if (const auto* cancelled = std::get_if<model::CancelRequested>(&event.body)) {
    const model::WorkloadRecord* record = state.workloads.find(cancelled->workload);
    if (record != nullptr) note_stop(record->live_attempt());
  } else if (const auto* ended = std::get_if<model::MembersEnded>(&event.body)) {
    const model::Attempt* attempt = find_attempt(ended->attempt);
    if (attempt != nullptr && attempt->phase == model::AttemptPhase::Ended)
      batch.intents.push_back({.kind = Intent::Kind::Forget, .attempt = attempt->id});
    note_stop(attempt);
  }
}

void Controller::Parts::carry_out_intents(const std::vector<Intent>& intents) {
  for (const Intent& intent : intents) {
    static_cast<void>(FAULT("controller.effect"));
    const model::Attempt* attempt = find_attempt(intent.attempt);
    ClusterBackend* backend = intent.backend;
    if (backend == nullptr && attempt != nullptr) backend = backend_of(*attempt);
    switch (intent.kind) {
      case Intent::Kind::Start:
        if (attempt != nullptr && attempt->phase != model::AttemptPhase::Ended)
          start(state.workloads.at(intent.attempt.workload), *attempt);
        break;
      case Intent::Kind::Stop:
        stop(intent.attempt, backend);
        break;
      case Intent::Kind::Forget:
        for (ClusterBackend* each : backends)
          if (backend == nullptr || backend == each) each->forget(intent.attempt);
        break;
    }
    static_cast<void>(FAULT("controller.effect.after"));
  }
}

void Controller::Parts::start(const model::WorkloadRecord& record, const model::Attempt& attempt) {
  ClusterBackend* backend = backend_of(attempt);
  if (backend == nullptr) {
    LOG(Error, "start_without_backend", {"attempt", model::to_text(attempt.id)});
    return;
  }
  StartEffect effect{.attempt = attempt.id,
                     .epoch = state.epoch,
                     .workload = record.workload,
                     .queue = state.queues.at(record.workload.queue).queue.name,
                     .placement = attempt.placement,
                     .node_names = {}};
  effect.node_names.reserve(attempt.placement.members.size());
  for (const model::MemberPlacement& member : attempt.placement.members)
    effect.node_names.push_back(state.nodes.at(member.node).node.name);
  backend->start(effect);
}

void Controller::Parts::stop(model::AttemptId id, ClusterBackend* backend) {
  if (backend == nullptr) {
    LOG(Error, "stop_without_backend", {"attempt", model::to_text(id)});
    return;
  }
  StopEffect effect{.attempt = id,
                    .epoch = state.epoch,
                    .grace = model::WorkloadClass{}.grace,
                    .checkpoint_signal = {},
                    .checkpoint_grace = {}};
  if (const model::WorkloadRecord* record = state.workloads.find(id.workload)) {
    effect.grace = state.classes.at(record->workload.workload_class).grace;
    effect.checkpoint_signal = record->workload.checkpoint.signal;
    effect.checkpoint_grace = record->workload.checkpoint.grace;
    if (const model::Attempt* attempt = find_attempt(id))
      effect.end_class = lifecycle::end_class_of(attempt->stop_cause);
  }
  backend->stop(effect);
}

ClusterBackend* Controller::Parts::backend_named(const std::string& name) const {
  const auto found = std::ranges::find_if(
      backends, [&name](const ClusterBackend* backend) { return backend->name() == name; });
  return found == backends.end() ? nullptr : *found;
}

// A pool has nodes of one backend only (see settle_node), and an attempt is in one pool.
ClusterBackend* Controller::Parts::backend_of(const model::Attempt& attempt) const {
  if (attempt.placement.members.empty()) return nullptr;
  const model::NodeRecord* node = state.nodes.find(attempt.placement.members.front().node);
  return node == nullptr ? nullptr : backend_named(node->node.backend);
}

}  // namespace controller
