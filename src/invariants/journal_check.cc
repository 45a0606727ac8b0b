#include "invariants/journal_check.h"

#include <algorithm>
#include <variant>

#include "base/fields.h"
#include "invariants/internal/decision_rules.h"
#include "invariants/internal/end_rules.h"
#include "invariants/internal/order_rules.h"
#include "invariants/internal/recount.h"
#include "invariants/internal/state_rules.h"

namespace invariants {

using internal::Findings;
using model::State;

void JournalCheck::before(const State& state, const model::Event& event) {
  Findings findings(violations_);
  if (event.sequence.value != state.last_sequence.value + 1)
    findings.add("23 gap in the journal", "event {} follows {}", event.sequence.value,
                 state.last_sequence.value);
  if (event.at < state.now)
    findings.add("23 time goes back", "event {} is {} ms before its predecessor",
                 event.sequence.value, state.now.millis - event.at.millis);
  failures_before_.reset();
  if (const auto* ended = std::get_if<model::MembersEnded>(&event.body)) {
    const model::WorkloadRecord* record = state.workloads.find(ended->attempt.workload);
    const model::Attempt* live = record == nullptr ? nullptr : record->live_attempt();
    if (live != nullptr && live->id == ended->attempt) failures_before_ = record->failures;
  } else if (const auto* forgotten = std::get_if<model::WorkloadsForgotten>(&event.body)) {
    check_forgotten(state, *forgotten, event.at);
  } else if (const auto* seen = std::get_if<model::NodeSeen>(&event.body)) {
    check_devices(state, seen->node);
  }
  const auto* decided = std::get_if<model::Decided>(&event.body);
  if (decided == nullptr) return;
  const model::DecisionBody& body = decided->decision.body;
  if (const auto* start = std::get_if<model::Start>(&body)) check_start(state, *start, event.at);
  if (const auto* evict = std::get_if<model::Evict>(&body)) check_evict(state, *evict, event.at);
  check_overdue_claims(state, body, event.at);
  if (const auto* end = std::get_if<model::EndClaim>(&body)) check_end_claim(state, *end, event.at);
}

// A start must have become the live attempt, charged to its whole path within every ceiling; so
// must a claim, which is admitted when it is made: what is cut between that and its start cuts
// later ones.
void JournalCheck::after(const State& state, const model::Event& event) {
  if (const auto* ended = std::get_if<model::MembersEnded>(&event.body)) {
    Findings findings(violations_);
    const model::WorkloadRecord* record = state.workloads.find(ended->attempt.workload);
    if (failures_before_ && record->attempts.back().phase == model::AttemptPhase::Ended)
      internal::check_end(state, *record, *failures_before_, findings);
  } else if (const auto* changed = std::get_if<model::NodeConditionChanged>(&event.body)) {
    check_wish(state, changed->node, !event.actor.empty());
  } else if (const auto* seen = std::get_if<model::NodeSeen>(&event.body)) {
    check_wish(state, seen->node.id, false);
  }
  const auto* decided = std::get_if<model::Decided>(&event.body);
  if (decided == nullptr) return;
  if (const auto* evict = std::get_if<model::Evict>(&decided->decision.body)) {
    check_eviction_count(state, *evict);
    Findings findings(violations_);
    const auto claim = state.claims.find(evict->claim);
    if (claim != state.claims.end())
      internal::check_ceilings(state, state.workloads.at(evict->owner), claim->second.charge,
                               claim->second.victims, findings);
    return;
  }
  if (const auto* end = std::get_if<model::EndClaim>(&decided->decision.body))
    check_claim_back_off(state, *end);
  const auto* start = std::get_if<model::Start>(&decided->decision.body);
  if (start == nullptr) return;
  Findings findings(violations_);
  const model::WorkloadRecord* record = state.workloads.find(start->attempt.workload);
  const model::Attempt* live = record == nullptr ? nullptr : record->live_attempt();
  if (live == nullptr || live->id != start->attempt) {
    findings.add("8 start without an attempt", "{} was decided but is not there",
                 model::to_text(start->attempt));
    return;
  }
  if (!start->claim) internal::check_ceilings(state, *record, live->charge, {}, findings);
  internal::check_node_amounts(state, start->placement, findings);
}

void JournalCheck::check_start(const State& state, const model::Start& start, base::Instant at) {
  Findings findings(violations_);
  if (!started_.insert(start.attempt).second)
    findings.add("8 started twice", "attempt {}", model::to_text(start.attempt));
  const model::WorkloadRecord* record = state.workloads.find(start.attempt.workload);
  if (record == nullptr) {
    findings.add("8 started twice", "attempt {} of an unknown workload",
                 model::to_text(start.attempt));
    return;
  }
  check_taker(state, start.attempt.workload);
  internal::check_start_time(*record, start, at, findings);
  internal::check_start_place(state, *record, start.placement, findings);
  // A claim was judged when it was made; who may be whose neighbour may have changed since.
  if (!start.claim) internal::check_tenants(state, *record, start.placement, {}, findings);
  if (!start.claim) internal::check_start_order(state, *record, at, findings);
  internal::check_start_claim(state, *record, start, findings);
  internal::check_start_quota(state, *record, start, findings);
}

void JournalCheck::check_evict(const State& state, const model::Evict& evict, base::Instant at) {
  Findings findings(violations_);
  const model::WorkloadRecord* owner = state.workloads.find(evict.owner);
  if (owner != nullptr) check_taker(state, evict.owner);
  for (const model::AttemptId victim : evict.victims) {
    const model::WorkloadRecord* record = state.workloads.find(victim.workload);
    const model::Attempt* live = record == nullptr ? nullptr : record->live_attempt();
    if (live == nullptr || live->id != victim) {
      findings.add("11 evicted what is not there", "attempt {}", model::to_text(victim));
      continue;
    }
    if (live->phase == model::AttemptPhase::Stopping && owner != nullptr)
      findings.add("11 evicted twice", "attempt {} is stopping already", model::to_text(victim));
    if (owner == nullptr) continue;
    internal::check_rights(state, *owner, *record, evict, at, findings);
    const bool is_first =
        evictions_.insert({victim.workload, evict.owner, owner->attempts.size()}).second;
    const bool is_bound = !internal::is_within_guarantee(
        state, owner->workload.queue, internal::ask_at(state, owner->workload, evict.placement),
        evict.victims);
    if (!is_first && is_bound)
      findings.add("13 evicted again by the same", "{} by {}", model::to_text(victim),
                   evict.owner.value);
  }
  if (owner == nullptr) return;
  if (owner->is_held || owner->phase != model::Phase::Queued || owner->claim)
    findings.add("11 evicted for one that cannot start", "for {}", evict.owner.value);
  if (at < owner->claim_allowed_at)
    findings.add("13 evicted during claim back-off", "for {}", evict.owner.value);
  internal::check_start_place(state, *owner, evict.placement, findings);
  internal::check_tenants(state, *owner, evict.placement, evict.victims, findings);
  internal::check_victims_are_needed(state, *owner, evict, findings);
}

void JournalCheck::check_end_claim(const State& state, const model::EndClaim& end,
                                   base::Instant at) {
  Findings findings(violations_);
  const auto found = state.claims.find(end.claim);
  if (found == state.claims.end()) {
    findings.add("13 ended a claim that is not there", "claim {}", end.claim.value);
    return;
  }
  claimed_for_ = found->second.owner;
  if (end.cause == model::Reason::ClaimExpired && at < found->second.expires)
    findings.add("13 claim expired early", "claim {}", end.claim.value);
  if (end.cause != model::Reason::ClaimTaken) return;
  const model::WorkloadRecord& loser = state.workloads.at(found->second.owner);
  taken_from_priority_ = state.classes.at(loser.workload.workload_class).priority;
}

void JournalCheck::check_forgotten(const State& state, const model::WorkloadsForgotten& event,
                                   base::Instant at) {
  Findings findings(violations_);
  for (const model::WorkloadId id : event.workloads) {
    const model::WorkloadRecord* record = state.workloads.find(id);
    if (record == nullptr || !record->finished ||
        *record->finished + state.policy.keeps_finished > at)
      findings.add("23 forgotten too early", "workload {}", id.value);
  }
}

// Placements name a device by its place on the node.
void JournalCheck::check_devices(const State& state, const model::Node& seen) {
  const model::NodeRecord* known = state.nodes.find(seen.id);
  if (known == nullptr) return;
  Findings findings(violations_);
  const auto& before = known->node.devices;
  for (std::size_t i = 0; i < std::min(before.size(), seen.devices.size()); ++i)
    if (before[i].uuid != seen.devices[i].uuid)
      findings.add("1 a device changed its place", "node {} device {}: {} is {} now", seen.name, i,
                   before[i].uuid, seen.devices[i].uuid);
}

// Who lost a claim makes no other one for a while.
void JournalCheck::check_claim_back_off(const State& state, const model::EndClaim& end) {
  const model::WorkloadRecord* owner = state.workloads.find(claimed_for_);
  if (owner == nullptr || end.cause == model::Reason::OwnerStarted) return;
  const base::Duration wanted = state.queues.at(owner->workload.queue).queue.claim_backoff;
  Findings findings(violations_);
  if (owner->claim_allowed_at < state.now + wanted)
    findings.add("13 no back-off after a claim", "workload {}", claimed_for_.value);
}

// What the limits of eviction are reckoned with.
void JournalCheck::check_eviction_count(const State& state, const model::Evict& evict) {
  if (state.workloads.find(evict.owner) == nullptr) return;
  Findings findings(violations_);
  for (const model::AttemptId victim : evict.victims) {
    const model::WorkloadRecord* record = state.workloads.find(victim.workload);
    if (record != nullptr && (record->evictions.empty() || record->evictions.back() != state.now))
      findings.add("13 an eviction is not counted", "{}", model::to_text(victim));
  }
}

// A condition that a person set stays until a person lifts it.
void JournalCheck::check_wish(const State& state, model::NodeId id, bool is_by_person) {
  const model::NodeRecord* record = state.nodes.find(id);
  if (record == nullptr) return;
  const model::NodeCondition condition = record->node.condition;
  if (is_by_person) {
    // What is lifted is what the machine says, which may be anything.
    if (record->node.condition_note.starts_with("by "))
      wishes_[id] = condition;
    else
      wishes_.erase(id);
    return;
  }
  const auto wish = wishes_.find(id);
  if (wish == wishes_.end() || wish->second == condition) return;
  Findings findings(violations_);
  findings.add("4 a person's condition is lifted", "node {} is {} and was to be {}", id.value,
               base::name_of(condition), base::name_of(wish->second));
}

// A plan begins with the claims, each of which starts its owner, ends or waits: what else is
// decided finds none that waits beyond its time.
void JournalCheck::check_overdue_claims(const State& state, const model::DecisionBody& body,
                                        base::Instant at) {
  const auto* start = std::get_if<model::Start>(&body);
  if (std::holds_alternative<model::EndClaim>(body) || (start != nullptr && start->claim)) return;
  Findings findings(violations_);
  for (const auto& [id, claim] : state.claims)
    if (!claim.victims.empty() && claim.expires <= at)
      findings.add("13 claim outlives its time", "claim {}", id.value);
}

// What follows a taken claim is the taker's start or eviction.
void JournalCheck::check_taker(const State& state, model::WorkloadId taker) {
  if (!taken_from_priority_) return;
  Findings findings(violations_);
  const auto& workload = state.workloads.at(taker).workload;
  const std::int64_t priority = state.classes.at(workload.workload_class).priority;
  if (priority <= *taken_from_priority_)
    findings.add("13 claim taken by a lower or equal one", "by {}, priority {} against {}",
                 taker.value, priority, *taken_from_priority_);
  taken_from_priority_.reset();
}

}  // namespace invariants
