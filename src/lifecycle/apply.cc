#include "lifecycle/apply.h"

#include <algorithm>

#include "base/assert.h"
#include "lifecycle/internal/configuration.h"
#include "lifecycle/internal/occupancy.h"
#include "lifecycle/retry.h"
#include "policy/charge.h"
#include "policy/request_mix.h"

namespace lifecycle {

using model::Attempt;
using model::AttemptId;
using model::AttemptPhase;
using model::Claim;
using model::ClaimId;
using model::EndClass;
using model::MemberEnd;
using model::Phase;
using model::Reason;
using model::State;
using model::Workload;
using model::WorkloadId;
using model::WorkloadRecord;

namespace {

// The attempt when it is the present one of its workload and has not ended, else null.
Attempt* live(State& state, AttemptId id) {
  WorkloadRecord* record = state.workloads.find(id.workload);
  if (record == nullptr || record->attempts.empty()) return nullptr;
  Attempt& last = record->attempts.back();
  return last.id == id && last.phase != AttemptPhase::Ended ? &last : nullptr;
}

// Changes whether the workload counts as demand in step with what `change` does to it.
template <class Change>
void change_record(State& state, WorkloadRecord& record, Change&& change) {
  if (internal::counts_as_demand(record)) internal::add_demand(state, record, -1);
  change();
  if (internal::counts_as_demand(record)) internal::add_demand(state, record, +1);
}

void end_claim(State& state, ClaimId id, Reason cause) {
  const auto found = state.claims.find(id);
  if (found == state.claims.end()) return;
  const Claim& claim = found->second;
  internal::remove_claim_from_nodes(state, claim);
  WorkloadRecord& owner = state.workloads.at(claim.owner);
  const model::QueueId queue = owner.workload.queue;
  if (claim.victims.empty())
    internal::add_held(state, queue, claim.charge, -1);
  else
    internal::add_claimed(state, queue, claim.charge, -1);
  change_record(state, owner, [&] {
    owner.claim = {};
    if (cause != Reason::OwnerStarted)
      owner.claim_allowed_at = state.now + state.queues.at(queue).queue.claim_backoff;
  });
  state.claims.erase(found);
}

void finish(State& state, WorkloadRecord& record, Phase phase) {
  record.phase = phase;
  record.finished = state.now;
  state.finished.insert({state.now, record.workload.id});
  if (!record.workload.name.empty()) {
    const auto named = state.workload_by_name.find({record.workload.queue, record.workload.name});
    if (named != state.workload_by_name.end() && named->second == record.workload.id)
      state.workload_by_name.erase(named);
  }
}

// ---- submitting and the wishes of people ----

void apply_body(State& state, const model::WorkloadSubmitted& event) {
  const Workload& workload = event.workload;
  WorkloadRecord record;
  record.workload = workload;
  record.queued_since = state.now;
  record.eligible_at = state.now;
  record.claim_allowed_at = state.now;
  record.ask = policy::ask_of(state, workload);
  policy::count_requests(state.requests, workload);
  if (state.next_workload <= workload.id) state.next_workload = WorkloadId(workload.id.value + 1);
  if (!workload.name.empty()) state.workload_by_name[{workload.queue, workload.name}] = workload.id;
  if (!workload.request_key.empty())
    state.workload_by_request_key[workload.request_key] = workload.id;
  internal::add_demand(state, state.workloads.insert(workload.id, std::move(record)), +1);
}

void apply_body(State& state, const model::WorkloadHeld& event) {
  WorkloadRecord* record = state.workloads.find(event.workload);
  if (record == nullptr || is_finished(record->phase)) return;
  if (record->claim) end_claim(state, record->claim, Reason::OwnerGone);
  change_record(state, *record, [&] { record->is_held = true; });
}

void apply_body(State& state, const model::WorkloadReleased& event) {
  WorkloadRecord* record = state.workloads.find(event.workload);
  if (record == nullptr || is_finished(record->phase)) return;
  change_record(state, *record, [&] {
    record->is_held = false;
    record->wait_reason = Reason::None;
  });
}

void mark_stopping(State& state, WorkloadRecord& record, Reason cause, WorkloadId on_behalf_of) {
  Attempt& attempt = record.attempts.back();
  if (attempt.phase == AttemptPhase::Stopping) return;
  attempt.phase = AttemptPhase::Stopping;
  attempt.stopping_since = state.now;
  attempt.stop_cause = cause;
  attempt.stop_for = on_behalf_of;
  record.phase = Phase::Stopping;
}

void apply_body(State& state, const model::CancelRequested& event) {
  WorkloadRecord* record = state.workloads.find(event.workload);
  if (record == nullptr || is_finished(record->phase)) return;
  record->is_cancel_requested = true;
  if (record->live_attempt() != nullptr) {
    mark_stopping(state, *record, Reason::Cancelled, {});
    return;
  }
  if (record->claim) end_claim(state, record->claim, Reason::OwnerGone);
  change_record(state, *record, [&] { finish(state, *record, Phase::Cancelled); });
}

void apply_body(State&, const model::CommandRefused&) {}

// ---- configuration ----

void apply_body(State& state, const model::PoolDefined& event) {
  internal::define_pool(state, event.pool);
}
void apply_body(State& state, const model::TopologyDefined& event) {
  state.topologies[event.topology.name] = event.topology;
}
void apply_body(State& state, const model::QueueDefined& event) {
  internal::define_queue(state, event.queue);
}
void apply_body(State& state, const model::ClassDefined& event) {
  internal::define_class(state, event.workload_class);
}
void apply_body(State& state, const model::ResourceDefined& event) {
  state.resources[event.resource] = event.name;
}
void apply_body(State& state, const model::PolicyChanged& event) { state.policy = event.policy; }
void apply_body(State& state, const model::MixChanged& event) {
  state.mix = event.mix;
  state.requests.members_at_mix = state.requests.members;
}

// ---- observations ----

void apply_body(State& state, const model::NodeSeen& event) {
  const auto shapes_in = [&state](model::PoolId pool) {
    const model::PoolRecord* record = state.pools.find(pool);
    return record == nullptr ? std::size_t{0} : record->shapes.size();
  };
  const model::NodeRecord* known = state.nodes.find(event.node.id);
  const model::PoolId old_pool = known == nullptr ? event.node.pool : known->node.pool;
  const bool may_drop_a_shape = known != nullptr;
  const std::size_t before = shapes_in(old_pool) + shapes_in(event.node.pool);
  if (state.next_node <= event.node.id) state.next_node = model::NodeId(event.node.id.value + 1);
  internal::replace_node(state, event.node);
  const std::size_t after = shapes_in(old_pool) + shapes_in(event.node.pool);
  if (may_drop_a_shape || before != after) internal::refresh_asks(state);
}

void apply_body(State& state, const model::NodeConditionChanged& event) {
  if (state.nodes.find(event.node) == nullptr) return;
  internal::set_condition(state, event.node, event.condition, event.note);
}

void apply_body(State& state, const model::DeviceHealthChanged& event) {
  if (state.nodes.find(event.node) == nullptr) return;
  internal::set_health(state, event.node, event.device, event.health);
}

void apply_body(State& state, const model::AttemptRunning& event) {
  Attempt* attempt = live(state, event.attempt);
  if (attempt == nullptr || attempt->phase != AttemptPhase::Starting) return;
  attempt->phase = AttemptPhase::Running;
  attempt->running_since = state.now;
  state.workloads.at(event.attempt.workload).phase = Phase::Running;
}

// Members of the group that are up or ended well.
std::int32_t sound_members(const Attempt& attempt, std::int32_t group) {
  std::int32_t sound = 0;
  for (const auto& member : attempt.placement.members)
    sound += member.group == group ? 1 : 0;
  for (const MemberEnd& end : attempt.member_ends) {
    const auto rank = static_cast<std::size_t>(end.rank);
    if (end.end_class != EndClass::Ok && attempt.placement.members[rank].group == group) --sound;
  }
  return sound;
}

void set_end(State& state, Attempt& attempt) {
  attempt.phase = AttemptPhase::Ended;
  attempt.ended = state.now;
  const auto failed = std::ranges::find_if(
      attempt.member_ends, [](const MemberEnd& end) { return end.end_class != EndClass::Ok; });
  if (failed == attempt.member_ends.end()) {  // all ended well, even if it was told to stop
    attempt.end_class = EndClass::Ok;
    return;
  }
  attempt.exit_code = failed->exit_code;
  attempt.signal = failed->signal;
  attempt.end_class =
      attempt.stop_cause == Reason::None ? failed->end_class : end_class_of(attempt.stop_cause);
}

void drop_victim(State& state, AttemptId victim) {
  for (auto& [id, claim] : state.claims) {
    if (std::erase(claim.victims, victim) == 0 || !claim.victims.empty()) continue;
    const model::QueueId queue = state.workloads.at(claim.owner).workload.queue;
    internal::add_claimed(state, queue, claim.charge, -1);
    internal::add_held(state, queue, claim.charge, +1);
  }
}

void end_attempt(State& state, WorkloadRecord& record) {
  Attempt& attempt = record.attempts.back();
  set_end(state, attempt);
  state.held.add(attempt.charge, -1);
  internal::add_held(state, record.workload.queue, attempt.charge, -1);
  internal::vacate(state, record.workload, attempt);
  drop_victim(state, attempt.id);
  const Outcome outcome =
      outcome_of(record, state.classes.at(record.workload.workload_class), attempt);
  if (outcome.is_counted) ++record.failures;
  if (is_finished(outcome.phase)) {
    finish(state, record, outcome.phase);
    return;
  }
  change_record(state, record, [&] {
    record.phase = Phase::Queued;
    record.is_held = record.is_held || outcome.is_held;
    record.queued_since = state.now;
    record.eligible_at = state.now + outcome.back_off;
    record.wait_reason = Reason::None;
    record.ask = policy::ask_of(state, record.workload);
  });
}

void apply_body(State& state, const model::MembersEnded& event) {
  Attempt* attempt = live(state, event.attempt);
  if (attempt == nullptr) return;
  WorkloadRecord& record = state.workloads.at(event.attempt.workload);
  for (const MemberEnd& end : event.members) {
    const bool is_known = std::ranges::find(attempt->member_ends, end.rank, &MemberEnd::rank) !=
                          attempt->member_ends.end();
    const bool is_member =
        end.rank >= 0 && static_cast<std::size_t>(end.rank) < attempt->placement.members.size();
    if (is_member && !is_known) attempt->member_ends.push_back(end);
  }
  if (attempt->member_ends.size() == attempt->placement.members.size()) {
    end_attempt(state, record);
    return;
  }
  if (attempt->phase == AttemptPhase::Stopping) return;
  // A gang that fell below its minimum is released whole.
  for (std::size_t group = 0; group < record.workload.groups.size(); ++group) {
    const model::TaskGroup& tasks = record.workload.groups[group];
    if (tasks.members == 0) continue;
    if (sound_members(*attempt, static_cast<std::int32_t>(group)) < tasks.min_members) {
      mark_stopping(state, record, Reason::None, {});
      return;
    }
  }
}

// ---- decisions ----

void decide(State& state, const model::Start& start) {
  WorkloadRecord* record = state.workloads.find(start.attempt.workload);
  if (record == nullptr || record->phase != Phase::Queued) return;
  ASSERT(start.attempt.ordinal == record->attempts.size() + 1);
  if (record->claim) end_claim(state, record->claim, Reason::OwnerStarted);
  Attempt attempt;
  attempt.id = start.attempt;
  attempt.placement = start.placement;
  attempt.charge = policy::charge_of(state, record->workload, start.placement);
  attempt.epoch = state.epoch;
  attempt.decided = state.now;
  change_record(state, *record, [&] { record->phase = Phase::Starting; });
  record->wait_reason = Reason::None;
  record->attempts.push_back(attempt);
  state.held.add(attempt.charge);
  internal::add_held(state, record->workload.queue, attempt.charge, +1);
  internal::occupy(state, record->workload, attempt);
}

void remember_eviction(State& state, WorkloadRecord& victim, const WorkloadRecord& owner) {
  const base::Instant day_ago = state.now - base::days(1);
  std::erase_if(victim.evictions, [&](base::Instant t) { return t <= day_ago; });
  victim.evictions.push_back(state.now);
  const AttemptId taker{owner.workload.id, static_cast<std::uint32_t>(owner.attempts.size() + 1)};
  if (std::ranges::find(victim.evicted_by, taker) == victim.evicted_by.end())
    victim.evicted_by.push_back(taker);
}

void decide(State& state, const model::Evict& evict) {
  Claim claim{.id = evict.claim,
              .owner = evict.owner,
              .placement = evict.placement,
              .charge = {},
              .victims = {},
              .cause = evict.cause,
              .created = state.now,
              .expires = evict.expires.value_or(base::kNever)};
  for (const AttemptId& id : evict.victims) {
    const Attempt* attempt = live(state, id);
    if (attempt == nullptr) continue;
    WorkloadRecord& victim = state.workloads.at(id.workload);
    mark_stopping(state, victim, evict.cause, evict.owner);
    if (const WorkloadRecord* owner = state.workloads.find(evict.owner))
      remember_eviction(state, victim, *owner);
    claim.victims.push_back(id);
  }
  WorkloadRecord* owner = state.workloads.find(evict.owner);
  if (evict.claim.is_none() || owner == nullptr || owner->phase != Phase::Queued) return;
  if (state.next_claim <= claim.id) state.next_claim = ClaimId(claim.id.value + 1);
  claim.charge = policy::charge_of(state, owner->workload, claim.placement);
  const model::QueueId queue = owner->workload.queue;
  if (claim.victims.empty())
    internal::add_held(state, queue, claim.charge, +1);
  else
    internal::add_claimed(state, queue, claim.charge, +1);
  change_record(state, *owner, [&] { owner->claim = claim.id; });
  owner->wait_reason = Reason::WaitingForVictims;
  const auto inserted = state.claims.emplace(claim.id, std::move(claim)).first;
  internal::add_claim_to_nodes(state, inserted->second);
}

void decide(State& state, const model::EndClaim& end) { end_claim(state, end.claim, end.cause); }

void decide(State& state, const model::Wait& wait) {
  if (WorkloadRecord* record = state.workloads.find(wait.workload))
    record->wait_reason = wait.reason;
}

void decide(State& state, const model::Refuse& refuse) {
  if (WorkloadRecord* record = state.workloads.find(refuse.workload))
    record->wait_reason = refuse.reason;
}

// Not produced by the present planner; a journal that has them comes from a later one, which also
// brings their meaning.
void decide(State&, const model::Reserve&) {}
void decide(State&, const model::Resize&) {}
void decide(State&, const model::Migrate&) {}
void decide(State&, const model::Scale&) {}

void apply_body(State& state, const model::Decided& event) {
  std::visit([&state](const auto& decision) { decide(state, decision); }, event.decision.body);
}

// ---- housekeeping ----

void apply_body(State& state, const model::ControllerStarted& event) { state.epoch = event.epoch; }

void apply_body(State& state, const model::WorkloadsForgotten& event) {
  for (const WorkloadId id : event.workloads) {
    const WorkloadRecord* record = state.workloads.find(id);
    if (record == nullptr || !is_finished(record->phase)) continue;
    state.finished.erase({*record->finished, id});
    const auto keyed = state.workload_by_request_key.find(record->workload.request_key);
    if (keyed != state.workload_by_request_key.end() && keyed->second == id)
      state.workload_by_request_key.erase(keyed);
    state.workloads.erase(id);
  }
}

}  // namespace

void apply(State& state, const model::Event& event) {
  ASSERT(event.sequence.value == state.last_sequence.value + 1);
  ASSERT(event.at >= state.now);
  state.last_sequence = event.sequence;
  state.now = event.at;
  std::visit([&state](const auto& body) { apply_body(state, body); }, event.body);
}

}  // namespace lifecycle
