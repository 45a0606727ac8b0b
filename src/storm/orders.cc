#include "storm/orders.h"

#include <utility>

#include "lifecycle/retry.h"

namespace storm {

namespace {

constexpr const char* kOther = "3 told the machines what State does not say";

const model::Attempt* find(const model::State& state, model::AttemptId id) {
  const model::WorkloadRecord* record = state.workloads.find(id.workload);
  if (record == nullptr || id.ordinal < 1 || id.ordinal > record->attempts.size()) return nullptr;
  return &record->attempts[id.ordinal - 1];
}

}  // namespace

void Orders::hear_forget(model::AttemptId attempt, bool is_lost) {
  forgets_.push_back(attempt);
  if (is_lost)
    lost_.insert(attempt);
  else
    lost_.erase(attempt);
}

void Orders::judge(const model::State& state) {
  for (const controller::StartEffect& effect : std::exchange(starts_, {}))
    if (effect.epoch == state.epoch) judge(effect, state);
  for (const controller::StopEffect& effect : std::exchange(stops_, {}))
    if (effect.epoch == state.epoch) judge(effect, state);
  for (const model::AttemptId attempt : std::exchange(forgets_, {}))
    judge_forget(attempt, state);
}

void Orders::judge(const controller::StartEffect& effect, const model::State& state) {
  const model::Attempt* attempt = find(state, effect.attempt);
  if (attempt == nullptr) {
    violations_.add(kOther, "start of {}, which is not decided", model::to_text(effect.attempt));
    return;
  }
  const model::Workload& workload = state.workloads.at(effect.attempt.workload).workload;
  bool is_same = effect.workload == workload && effect.placement == attempt->placement &&
                 effect.queue == state.queues.at(workload.queue).queue.name &&
                 effect.node_names.size() == effect.placement.members.size();
  for (std::size_t i = 0; is_same && i < effect.node_names.size(); ++i)
    is_same = effect.node_names[i] == state.nodes.at(effect.placement.members[i].node).node.name;
  if (!is_same)
    violations_.add(kOther, "start of {} is not as it was decided", model::to_text(effect.attempt));
}

void Orders::judge(const controller::StopEffect& effect, const model::State& state) {
  const model::Attempt* attempt = find(state, effect.attempt);
  if (attempt == nullptr || attempt->phase == model::AttemptPhase::Ended) return;
  if (attempt->phase != model::AttemptPhase::Stopping) {
    violations_.add(kOther, "stop of {}, which is {}", model::to_text(effect.attempt),
                    base::name_of(attempt->phase));
    return;
  }
  const model::Workload& workload = state.workloads.at(effect.attempt.workload).workload;
  const base::Duration grace = state.classes.at(workload.workload_class).grace;
  const model::EndClass end_class = lifecycle::end_class_of(attempt->stop_cause);
  if (effect.grace != grace || effect.checkpoint_signal != workload.checkpoint.signal ||
      effect.checkpoint_grace != workload.checkpoint.grace || effect.end_class != end_class)
    violations_.add(kOther, "stop of {} with {} ms to end as {}, where {} ms and {} are right",
                    model::to_text(effect.attempt), effect.grace.millis,
                    base::name_of(effect.end_class), grace.millis, base::name_of(end_class));
}

void Orders::judge_forget(model::AttemptId id, const model::State& state) {
  const model::Attempt* attempt = find(state, id);
  if (attempt != nullptr && attempt->phase != model::AttemptPhase::Ended)
    violations_.add("3 forgotten at the machines while it lives", "attempt {} is {}",
                    model::to_text(id), base::name_of(attempt->phase));
}

void Orders::compare(const std::vector<controller::AttemptReport>& kept,
                     const model::State& state) const {
  for (const controller::AttemptReport& report : kept) {
    const model::Attempt* attempt = find(state, report.attempt);
    const bool is_live = attempt != nullptr && attempt->phase != model::AttemptPhase::Ended;
    if (!is_live && !lost_.contains(report.attempt))
      violations_.add("3 never forgotten at the machines", "attempt {}",
                      model::to_text(report.attempt));
  }
}

}  // namespace storm
