#pragma once
// The identities of the model. Numbers, given out by the State in the order of the journal, never
// reused. People use names; names are turned into ids at the edge.

#include <compare>
#include <cstdint>
#include <string>

#include "base/fields.h"
#include "base/strong_id.h"

namespace model {

struct PoolId : base::StrongId<PoolId> {
  using StrongId::StrongId;
};
struct NodeId : base::StrongId<NodeId> {
  using StrongId::StrongId;
};
struct QueueId : base::StrongId<QueueId> {
  using StrongId::StrongId;
};
struct ClassId : base::StrongId<ClassId> {
  using StrongId::StrongId;
};
struct ClaimId : base::StrongId<ClaimId> {
  using StrongId::StrongId;
};
struct ReservationId : base::StrongId<ReservationId> {
  using StrongId::StrongId;
};
// The short number that people see: workload 1042.
struct WorkloadId : base::StrongId<WorkloadId, std::uint64_t> {
  using StrongId::StrongId;
};
// The position of an event in the journal; 0 is before the first.
struct Sequence : base::StrongId<Sequence, std::uint64_t> {
  using StrongId::StrongId;
};
// Grows with every controller that takes over; effects of an older one are refused.
struct Epoch : base::StrongId<Epoch, std::uint64_t> {
  using StrongId::StrongId;
};

// One start of a workload, "1042.2": the idempotency key of every effect. Ordinals start at 1.
struct AttemptId {
  WorkloadId workload;
  std::uint32_t ordinal = 0;

  friend constexpr auto operator<=>(const AttemptId&, const AttemptId&) = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "workload", self.workload);
    visit(2, "ordinal", self.ordinal);
  }
};
std::string to_text(AttemptId attempt);  // "1042.2"

}  // namespace model
