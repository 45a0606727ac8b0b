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

}  // namespace invariants
