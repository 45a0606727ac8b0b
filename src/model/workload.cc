#include "model/workload.h"

#include <cstdint>

namespace model {

std::int32_t member_count(const Workload& workload) {
  std::int32_t count = 0;
  // An inner group counts children and has no members of its own.
  for (const TaskGroup& group : workload.groups)
    if (group.members > 0) count += group.min_members;
  return count;
}

}  // namespace model
