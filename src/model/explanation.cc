#include "model/explanation.h"

namespace model {

Reason reason_of(const Explanation& explanation) {
  if (explanation.verdict == Verdict::Starts || explanation.steps.empty()) return Reason::None;
  return explanation.steps.back().reason;
}

}  // namespace model
