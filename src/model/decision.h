#pragma once
// What the planner decided, as a closed variant, each with its explanation. Decisions are journaled
// as they are and carried out by a backend; replay applies them without planning again.

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "base/instant.h"
#include "model/explanation.h"
#include "model/ids.h"
#include "model/placement.h"
#include "model/reason.h"

namespace model {

struct Start {
  static constexpr std::string_view kKind = "start";
  AttemptId attempt;
  Placement placement;
  ClaimId claim;  // the claim that is used up by this start; none: free capacity
  bool operator==(const Start&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "attempt", self.attempt);
    visit(2, "placement", self.placement);
    visit(3, "claim", self.claim);
  }
};

// Stop the victims; what they free, and what is free already at `placement`, is held by a claim of
// that id for `owner` until `expires`. No owner: the victim goes for its own sake (time limit,
// cancelled, drained) and there is no claim.
struct Evict {
  static constexpr std::string_view kKind = "evict";
  std::vector<AttemptId> victims;
  Reason cause = Reason::None;
  WorkloadId owner;
  ClaimId claim;
  Placement placement;  // where the owner will start; empty without owner
  std::optional<base::Instant> expires;
  bool operator==(const Evict&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "victims", self.victims);
    visit(2, "cause", self.cause);
    visit(3, "owner", self.owner);
    visit(4, "claim", self.claim);
    visit(5, "placement", self.placement);
    visit(6, "expires", self.expires);
  }
};

struct EndClaim {
  static constexpr std::string_view kKind = "endClaim";
  ClaimId claim;
  Reason cause = Reason::None;
  bool operator==(const EndClaim&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "claim", self.claim);
    visit(2, "cause", self.cause);
  }
};

struct Reserve {
  static constexpr std::string_view kKind = "reserve";
  ReservationId reservation;
  WorkloadId workload;
  Placement placement;
  base::Instant start;  // promised; moves only earlier
  bool operator==(const Reserve&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "reservation", self.reservation);
    visit(2, "workload", self.workload);
    visit(3, "placement", self.placement);
    visit(4, "start", self.start);
  }
};

// It stays queued; journaled when its reason or the set of its holders changes.
struct Wait {
  static constexpr std::string_view kKind = "wait";
  WorkloadId workload;
  Reason reason = Reason::None;
  bool operator==(const Wait&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "workload", self.workload);
    visit(2, "reason", self.reason);
  }
};

// It can never run as asked here. It stays queued, so that a changed cluster can still take it.
struct Refuse {
  static constexpr std::string_view kKind = "refuse";
  WorkloadId workload;
  Reason reason = Reason::None;
  bool operator==(const Refuse&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "workload", self.workload);
    visit(2, "reason", self.reason);
  }
};

// The members an elastic attempt has from now on; what was given up is stopped by the backend.
struct Resize {
  static constexpr std::string_view kKind = "resize";
  AttemptId attempt;
  Placement placement;
  bool operator==(const Resize&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "attempt", self.attempt);
    visit(2, "placement", self.placement);
  }
};

struct Migrate {
  static constexpr std::string_view kKind = "migrate";
  AttemptId attempt;
  Placement placement;
  bool operator==(const Migrate&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "attempt", self.attempt);
    visit(2, "placement", self.placement);
  }
};

struct Scale {
  static constexpr std::string_view kKind = "scale";
  WorkloadId workload;
  std::int32_t replicas = 0;
  bool operator==(const Scale&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "workload", self.workload);
    visit(2, "replicas", self.replicas);
  }
};

using DecisionBody =
    std::variant<Start, Evict, EndClaim, Reserve, Wait, Refuse, Resize, Migrate, Scale>;

struct Decision {
  DecisionBody body;
  Explanation explanation;
  bool operator==(const Decision&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "body", self.body);
    visit(2, "explanation", self.explanation);
  }
};

// The decisions of one cycle in the order in which they apply, or the answer to a question.
struct Plan {
  std::vector<Decision> decisions;
  std::optional<Explanation> answer;  // to Why and Fits
  std::optional<base::Instant> wake;  // when planning again is due without any event
  std::int64_t steps = 0;             // logical steps charged to the budget
  bool is_cut_short = false;          // the budget ran out; go on in the next cycle
  bool operator==(const Plan&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "decisions", self.decisions);
    visit(2, "answer", self.answer);
    visit(3, "wake", self.wake);
    visit(4, "steps", self.steps);
    visit(5, "isCutShort", self.is_cut_short);
  }
};

}  // namespace model
