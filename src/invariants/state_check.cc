#include "invariants/state_check.h"

#include "invariants/internal/state_rules.h"

namespace invariants {

std::string to_text(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations)
    text += fmt::format("[{}] {}\n", violation.invariant, violation.text);
  return text;
}

std::vector<Violation> check(const model::State& state) {
  std::vector<Violation> violations;
  internal::Findings findings(violations);
  internal::check_phases(state, findings);
  internal::check_allocations(state, findings);
  internal::check_counters(state, findings);
  internal::check_indexes(state, findings);
  return violations;
}

std::vector<Violation> check_after_plan(const model::State& state, base::Instant now) {
  std::vector<Violation> violations;
  internal::Findings findings(violations);
  state.workloads.each([&](model::WorkloadId, const model::WorkloadRecord& record) {
    const model::Attempt* live = record.live_attempt();
    if (live == nullptr || live->phase == model::AttemptPhase::Stopping) return;
    const auto& rules = state.classes.at(record.workload.workload_class);
    for (const auto& limit : {record.workload.time_limit, rules.max_runtime})
      if (limit && live->running_since && *live->running_since + *limit <= now)
        findings.add("17 runs beyond its time limit", "{} since {} ms", model::to_text(live->id),
                     (now - *live->running_since).millis);
    for (const model::MemberPlacement& member : live->placement.members)
      if (state.nodes.at(member.node).node.condition == model::NodeCondition::Draining) {
        findings.add("17 stays on a node that is drained", "{} on {}", model::to_text(live->id),
                     member.node.value);
        break;
      }
  });
  return violations;
}

}  // namespace invariants
