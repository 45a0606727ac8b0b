#pragma once
// What must hold of the sequence of events: nothing starts twice, nothing starts where or when it
// may not, nothing is taken back that is protected, and no eviction is in vain. The rules for a
// single State are in invariants/state_check.h.
//
//   JournalCheck journal;
//   journal.before(state, event);  lifecycle::apply(state, event);  journal.after(state, event);
//
// Keeps the ids of all attempts ever started, so it is for tests, simulations and `berth doctor`,
// not for the loop.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include "invariants/violation.h"
#include "model/event.h"
#include "model/state.h"

namespace invariants {

class JournalCheck {
 public:
  // `state` is what the event is about to change.
  void before(const model::State& state, const model::Event& event);
  // `state` is what the event made of it.
  void after(const model::State& state, const model::Event& event);

  const std::vector<Violation>& violations() const { return violations_; }

 private:
  void check_start(const model::State& state, const model::Start& start, base::Instant at);
  void check_evict(const model::State& state, const model::Evict& evict, base::Instant at);
  void check_end_claim(const model::State& state, const model::EndClaim& end, base::Instant at);
  void check_overdue_claims(const model::State& state, const model::DecisionBody& body,
                            base::Instant at);
  void check_taker(const model::State& state, model::WorkloadId taker);
  void check_forgotten(const model::State& state, const model::WorkloadsForgotten& event,
                       base::Instant at);
  void check_devices(const model::State& state, const model::Node& seen);
  // What events do to the State, against what they should.
  void check_claim_back_off(const model::State& state, const model::EndClaim& end);
  void check_eviction_count(const model::State& state, const model::Evict& evict);
  void check_wish(const model::State& state, model::NodeId node, bool is_by_person);

  std::vector<Violation> violations_;
  std::set<model::AttemptId> started_;
  // (victim, preemptor, the attempt that the preemptor was about to make)
  std::set<std::tuple<model::WorkloadId, model::WorkloadId, std::size_t>> evictions_;
  std::optional<std::int64_t> taken_from_priority_;  // class priority of a claim's loser
  model::WorkloadId claimed_for_;                    // the owner of the claim that ended last
  // Of the workload whose attempt the event may end, its failures until then.
  std::optional<std::int32_t> failures_before_;
  std::map<model::NodeId, model::NodeCondition> wishes_;  // conditions that people set
};

}  // namespace invariants
