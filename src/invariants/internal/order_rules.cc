#include "invariants/internal/order_rules.h"

#include <algorithm>

#include "invariants/internal/evaluator.h"

namespace invariants::internal {

using model::PolicySet;
using model::State;
using model::Workload;
using model::WorkloadRecord;

namespace {

// The name of a group asks for nothing.
bool is_same_group(const model::TaskGroup& a, const model::TaskGroup& b) {
  if (a.name == b.name) return a == b;
  model::TaskGroup renamed = b;
  renamed.name = a.name;
  return a == renamed;
}

bool asks_the_same(const Workload& a, const Workload& b) {
  return a.constraints == b.constraints && std::ranges::equal(a.groups, b.groups, is_same_group);
}

}  // namespace

bool goes_first(const State& state, const PolicySet& policy, const WorkloadRecord& first,
                const WorkloadRecord& other) {
  const auto& a = state.classes.at(first.workload.workload_class);
  const auto& b = state.classes.at(other.workload.workload_class);
  if (policy.uses_class_priority && a.priority != b.priority) return a.priority > b.priority;
  const model::Order order = policy.order.value_or(a.order);
  if (order != policy.order.value_or(b.order)) return true;
  const auto key = [&](const Workload& workload) {
    if (order == model::Order::Fifo) return workload.submitted;
    if (order == model::Order::Deadline) {
      if (!workload.deadline) return base::kNever;
      return *workload.deadline -
             workload.estimate.value_or(workload.time_limit.value_or(base::Duration{}));
    }
    return workload.submitted - policy.age_credit_every * workload.priority_boost;
  };
  if (key(first.workload) != key(other.workload)) return key(first.workload) < key(other.workload);
  return first.workload.id < other.workload.id;
}

namespace {

// What could never run holds up nobody.
bool is_feasible(const State& state, const WorkloadRecord& record, base::Instant at) {
  const Subject subject{state, state.policy, record, at};
  const model::Step step = feasible_step(subject);
  return step.need > 0 && step.have >= step.need;
}

}  // namespace

void check_start_order(const State& state, const WorkloadRecord& record, base::Instant at,
                       Findings& findings) {
  state.workloads.each([&](model::WorkloadId id, const WorkloadRecord& other) {
    if (id == record.workload.id || other.phase != model::Phase::Queued || other.is_held ||
        other.claim || other.eligible_at > at)
      return;
    const Workload& a = other.workload;
    const Workload& b = record.workload;
    if (a.queue != b.queue || !goes_first(state, state.policy, other, record)) return;
    if (a.workload_class == b.workload_class && asks_the_same(a, b))
      findings.add("18 overtaken by its equal", "workload {} starts before {}", b.id.value,
                   id.value);
    const bool is_strict = state.queues.at(a.queue).queue.passing == model::Passing::Strict;
    if (is_strict && !goes_first(state, state.policy, record, other) &&
        is_feasible(state, other, at))
      findings.add("18 passes the head of a strict queue", "workload {} starts before {}",
                   b.id.value, id.value);
  });
}

}  // namespace invariants::internal
