#include <algorithm>
#include <set>

#include "invariants/internal/recount.h"
#include "invariants/internal/state_rules.h"

namespace invariants::internal {

using model::Attempt;
using model::AttemptPhase;
using model::Phase;
using model::State;
using model::WorkloadRecord;

namespace {

constexpr char kPhase[] = "20 phase and attempts disagree";
constexpr char kClaim[] = "13 claim without its owner or victims";

// The phase that the last attempt stands for; nothing while none is live.
std::optional<Phase> live_phase(const WorkloadRecord& record) {
  const Attempt* live = record.live_attempt();
  if (live == nullptr) return std::nullopt;
  switch (live->phase) {
    case AttemptPhase::Starting:
      return Phase::Starting;
    case AttemptPhase::Running:
      return Phase::Running;
    default:
      return Phase::Stopping;
  }
}

void check_attempts(const WorkloadRecord& record, Findings& findings) {
  const auto id = record.workload.id.value;
  for (std::size_t i = 0; i < record.attempts.size(); ++i) {
    const Attempt& attempt = record.attempts[i];
    if (attempt.id.workload != record.workload.id || attempt.id.ordinal != i + 1)
      findings.add("8 attempt id reused", "workload {}: attempt {} stands at place {}", id,
                   model::to_text(attempt.id), i + 1);
    const bool has_ended = attempt.phase == AttemptPhase::Ended;
    if (!has_ended && i + 1 < record.attempts.size())
      findings.add(kPhase, "workload {}: attempt {} is live but not the last", id,
                   model::to_text(attempt.id));
    if (has_ended != attempt.ended.has_value())
      findings.add(kPhase, "attempt {}: ended without its time, or the reverse",
                   model::to_text(attempt.id));
    if (attempt.phase == AttemptPhase::Stopping && !attempt.stopping_since)
      findings.add(kPhase, "attempt {} is stopping since never", model::to_text(attempt.id));
  }
}

void check_record(const State& state, const WorkloadRecord& record, Findings& findings) {
  const auto id = record.workload.id.value;
  const auto name = base::name_of(record.phase);
  check_attempts(record, findings);
  if (const auto live = live_phase(record);
      live ? *live != record.phase
           : record.phase != Phase::Queued && record.phase != Phase::AwaitingApproval &&
                 record.phase != Phase::Suspended && !is_finished(record.phase))
    findings.add(kPhase, "workload {} is {} but its attempts say otherwise", id, name);
  if (is_finished(record.phase) != record.finished.has_value())
    findings.add(kPhase, "workload {} is {}, its time of finishing says otherwise", id, name);
  if (record.finished && !state.finished.contains({*record.finished, record.workload.id}))
    findings.add(kPhase, "workload {} is not in the list of finished ones", id);
  if (record.claim) {
    const auto claim = state.claims.find(record.claim);
    if (claim == state.claims.end() || claim->second.owner != record.workload.id)
      findings.add(kClaim, "workload {} says that it owns claim {}", id, record.claim.value);
    if (record.phase != Phase::Queued)
      findings.add(kClaim, "workload {} is {} and still owns a claim", id, name);
  }
  if (record.workload.id >= state.next_workload)
    findings.add("8 attempt id reused", "workload {} is not below the next id {}", id,
                 state.next_workload.value);
  // Retries are limited: what failed more often than allowed does not wait for another start.
  const auto& rules = state.classes.at(record.workload.workload_class);
  const std::int32_t allowed = record.workload.retry.max.value_or(rules.retries);
  if (record.phase == Phase::Queued && record.workload.retry.rules.empty() && !record.is_held &&
      record.failures > std::max(allowed, 0) && record.workload.retry.max)
    findings.add("20 more retries than allowed", "workload {} failed {} times, {} are allowed", id,
                 record.failures, allowed);
}

void check_claim(const State& state, const model::Claim& claim, Findings& findings) {
  const WorkloadRecord* owner = state.workloads.find(claim.owner);
  if (owner == nullptr || owner->claim != claim.id) {
    findings.add(kClaim, "claim {} is not known to its owner {}", claim.id.value,
                 claim.owner.value);
    return;
  }
  std::set<model::AttemptId> seen;
  for (const model::AttemptId victim : claim.victims) {
    const WorkloadRecord* record = state.workloads.find(victim.workload);
    const Attempt* live = record == nullptr ? nullptr : record->live_attempt();
    if (live == nullptr || live->id != victim || live->phase != AttemptPhase::Stopping)
      findings.add(kClaim, "claim {} waits for {}, which is not stopping", claim.id.value,
                   model::to_text(victim));
    if (!seen.insert(victim).second)
      findings.add(kClaim, "claim {} names {} twice", claim.id.value, model::to_text(victim));
  }
  if (claim.id >= state.next_claim)
    findings.add(kClaim, "claim {} is not below the next id {}", claim.id.value,
                 state.next_claim.value);
}

// Nobody but the victims sits on the devices that a claim holds: after they left, all claims fit at
// once. A node's other amounts may shrink under a claim, so they are checked at starts.
void check_claims_fit(const State& state, Findings& findings) {
  std::set<model::AttemptId> leaving;
  for (const auto& [id, claim] : state.claims)
    leaving.insert(claim.victims.begin(), claim.victims.end());
  std::map<std::pair<model::NodeId, std::int32_t>, std::int64_t> milli;
  std::set<model::NodeId> claimed;
  const auto add = [&](const model::Placement& placement) {
    for (const auto& member : placement.members)
      for (const auto& part : member.devices)
        milli[{member.node, part.device}] += part.milli.value;
  };
  for (const auto& [id, claim] : state.claims) {
    add(claim.placement);
    for (const auto& member : claim.placement.members)
      claimed.insert(member.node);
  }
  each_live(state, [&](const WorkloadRecord&, const Attempt& attempt) {
    if (!leaving.contains(attempt.id)) add(attempt.placement);
  });
  for (const auto& [key, sum] : milli)
    if (claimed.contains(key.first) && sum > 1000)
      findings.add("13 claimed capacity given away", "node {} device {}: {} of 1000 milli",
                   key.first.value, key.second, sum);
}

}  // namespace

void check_workload_phase(const State& state, const WorkloadRecord& record, Findings& findings) {
  check_record(state, record, findings);
}

void check_phases(const State& state, Findings& findings) {
  state.workloads.each([&](model::WorkloadId, const WorkloadRecord& record) {
    check_workload_phase(state, record, findings);
  });
  for (const auto& [id, claim] : state.claims)
    check_claim(state, claim, findings);
  for (const auto& [at, id] : state.finished) {
    const WorkloadRecord* record = state.workloads.find(id);
    if (record == nullptr || record->finished != at)
      findings.add(kPhase, "the list of finished ones names {} wrongly", id.value);
  }
  check_claims_fit(state, findings);
}

}  // namespace invariants::internal
