#pragma once
// One start of a workload and how it went, and the claim that holds freed capacity for the one it
// was freed for.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/instant.h"
#include "model/ids.h"
#include "model/placement.h"
#include "model/reason.h"
#include "model/resources.h"
#include "model/workload.h"

namespace model {

enum class AttemptPhase { Starting, Running, Stopping, Ended };
inline std::span<const std::string_view> enum_names(AttemptPhase) {
  static constexpr std::array<std::string_view, 4> kNames{"starting", "running", "stopping",
                                                          "ended"};
  return kNames;
}

// How one member ended, as the backend reports it.
struct MemberEnd {
  std::int32_t rank = 0;
  EndClass end_class = EndClass::Ok;
  std::int32_t exit_code = 0;
  std::int32_t signal = 0;
  std::string note;  // for people: "memory limit 64Mi reached"
  bool operator==(const MemberEnd&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "rank", self.rank);
    visit(2, "endClass", self.end_class);
    visit(3, "exitCode", self.exit_code);
    visit(4, "signal", self.signal);
    visit(5, "note", self.note);
  }
};

struct Attempt {
  AttemptId id;
  AttemptPhase phase = AttemptPhase::Starting;
  Placement placement;
  Usage charge;  // what its queue path is charged while it is not Ended
  Epoch epoch;   // of the controller that decided it
  base::Instant decided;
  std::optional<base::Instant> running_since;
  std::optional<base::Instant> stopping_since;
  std::optional<base::Instant> ended;
  Reason stop_cause = Reason::None;    // why it was told to stop; None: it was not
  WorkloadId stop_for;                 // who caused it; none: nobody else
  std::vector<MemberEnd> member_ends;  // in the order reported
  EndClass end_class = EndClass::Ok;   // valid when Ended
  std::int32_t exit_code = 0;          // of the member that decided the end class
  std::int32_t signal = 0;
  bool operator==(const Attempt&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "id", self.id);
    visit(2, "phase", self.phase);
    visit(3, "placement", self.placement);
    visit(4, "charge", self.charge);
    visit(5, "epoch", self.epoch);
    visit(6, "decided", self.decided);
    visit(7, "runningSince", self.running_since);
    visit(8, "stoppingSince", self.stopping_since);
    visit(9, "ended", self.ended);
    visit(10, "stopCause", self.stop_cause);
    visit(11, "stopFor", self.stop_for);
    visit(12, "memberEnds", self.member_ends);
    visit(13, "endClass", self.end_class);
    visit(14, "exitCode", self.exit_code);
    visit(15, "signal", self.signal);
  }
};

// Everything its owner needs, free devices included, from the decision on. While victims
// are stopping they charge their own queues and the claim counts for admission only; with the last
// of them gone the claim charges its owner. Goes whole to one taker, or expires.
struct Claim {
  ClaimId id;
  WorkloadId owner;
  Placement placement;
  Usage charge;
  std::vector<AttemptId> victims;  // not yet ended
  Reason cause = Reason::None;     // Reclaim or Preempt
  base::Instant created;
  base::Instant expires;
  bool operator==(const Claim&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "id", self.id);
    visit(2, "owner", self.owner);
    visit(3, "placement", self.placement);
    visit(4, "charge", self.charge);
    visit(5, "victims", self.victims);
    visit(6, "cause", self.cause);
    visit(7, "created", self.created);
    visit(8, "expires", self.expires);
  }
};

}  // namespace model
