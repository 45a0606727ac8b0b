#include "model/ids.h"

#include <string>

#include <fmt/format.h>

namespace model {

std::string to_text(AttemptId attempt) {
  return fmt::format("{}.{}", attempt.workload.value, attempt.ordinal);
}

}  // namespace model
