#include "scheduling/internal/index.h"

#include <algorithm>

#include "policy/time_limit.h"
#include "scheduling/internal/protection.h"

namespace scheduling::internal {

using base::Instant;
using model::Attempt;
using model::AttemptId;
using model::AttemptPhase;
using model::NodeId;
using model::PolicySet;
using model::State;
using model::WorkloadId;
using model::WorkloadRecord;

namespace {

// Members on one node mostly stand together: a node that comes again costs time, and no more.
template <class Visit>
void each_node(const model::Placement& placement, Visit&& visit) {
  NodeId last;
  for (const model::MemberPlacement& member : placement.members) {
    if (member.node == last) continue;
    last = member.node;
    visit(member.node);
  }
}

}  // namespace

Derived::Derived(const State& s, const PolicySet& p)
    : state(s), policy(p), view(s), quotas(s), pending(s, p) {
  state.workloads.each([this](WorkloadId, const WorkloadRecord& record) {
    if (record.live_attempt() != nullptr) enter_live(record);
  });
  for (const auto& [id, claim] : state.claims) {
    claims_[claim.owner] = claim.placement;
    for (const AttemptId& victim : claim.victims)
      charged_next_[victim] = state.workloads.at(claim.owner).workload.queue;
  }
  state.nodes.each([this](NodeId id, const model::NodeRecord& record) {
    if (record.node.condition == model::NodeCondition::Draining) draining.insert(id);
  });
}

// A node whose condition, health or contents changed.
void Derived::load_node(NodeId id, ClusterView::Change change) {
  const model::NodeRecord* record = state.nodes.find(id);
  if (record == nullptr) return;
  view.load(id, change);
  if (record->node.condition == model::NodeCondition::Draining)
    draining.insert(id);
  else
    draining.erase(id);
}

void Derived::enter_live(const WorkloadRecord& record) {
  const Attempt& attempt = record.attempts.back();
  const model::WorkloadClass& own = state.classes.at(record.workload.workload_class);
  LiveFacts facts{.pools = {},
                  .amounts = {},
                  .queue = record.workload.queue,
                  .workload_class = own.id,
                  .deadline = deadline_of(record),
                  .ripe_at = protected_until(state, record),
                  .is_leaving = false};
  for (const model::MemberPlacement& member : attempt.placement.members) {
    const model::PoolId pool = state.nodes.at(member.node).node.pool;
    if (std::ranges::find(facts.pools, pool) == facts.pools.end()) facts.pools.push_back(pool);
  }
  for (const model::PoolId pool : facts.pools)
    live.by_pool[pool][facts.queue].insert({facts.ripe_at, record.workload.id});
  ++live.by_class[facts.workload_class];
  for (const auto& a : attempt.charge.amounts())
    if (std::ranges::find(facts.pools, a.dimension.pool) != facts.pools.end()) {
      live.by_amount[a.dimension].insert({-a.amount, record.workload.id});
      facts.amounts.push_back(a);
    }
  if (facts.deadline != base::kNever) deadlines.insert({facts.deadline, attempt.id});
  live.ripening.insert({facts.ripe_at, attempt.id});
  note_leaving(record, live_facts_[attempt.id] = std::move(facts));
}

void Derived::note_leaving(const WorkloadRecord& record, LiveFacts& facts) {
  const Attempt& attempt = record.attempts.back();
  if (facts.is_leaving || attempt.phase != AttemptPhase::Stopping) return;
  facts.is_leaving = true;
  quotas.note_leaving(facts.queue, attempt.charge, +1);
}

// What was learned up to some place in a log is learned anew, once in a million changes.
void Derived::shorten_logs() {
  constexpr std::size_t kLongest = 1'000'000;
  bool is_long = false;
  state.pools.each([&](model::PoolId id, const model::PoolRecord&) {
    is_long =
        is_long || view.pool(id).growth.size() > kLongest || live.ripened_in(id).size() > kLongest;
  });
  if (!is_long) return;
  view.forget_growth();
  live.ripened.clear();
  ++cluster_version;
}

void Derived::begin(Instant now) {
  quotas.refresh_free();
  shorten_logs();
  ripen(now);
  ++stamp;
}

TrialWorld Derived::world(Instant now, const std::set<AttemptId>& stopping) {
  return {.state = state,
          .policy = policy,
          .now = now,
          .view = view,
          .quotas = quotas,
          .live = live,
          .room = room,
          .losers = losers,
          .stamp = stamp,
          .plan = stamp,
          .stopping = stopping,
          .cluster_version = cluster_version};
}

// Whose work has run long enough to be stopped by now.
void Derived::ripen(Instant now) {
  if (now < ripened_to_) {  // the clock went back: what was ripe then may not be so now
    ++cluster_version;
    for (const auto& [attempt, facts] : live_facts_)
      if (facts.ripe_at > now) live.ripening.insert({facts.ripe_at, attempt});
  }
  ripened_to_ = now;
  while (!live.ripening.empty() && live.ripening.begin()->first <= now) {
    note_ripe(live.ripening.begin()->second);
    live.ripening.erase(live.ripening.begin());
  }
}

void Derived::note_ripe(AttemptId attempt) {
  const WorkloadRecord& record = state.workloads.at(attempt.workload);
  each_node(record.attempts.back().placement,
            [this](NodeId node) { live.ripened[state.nodes.at(node).node.pool].push_back(node); });
}

void Derived::leave_live(AttemptId attempt) {
  const auto found = live_facts_.find(attempt);
  if (found == live_facts_.end()) return;
  const LiveFacts& facts = found->second;
  for (const model::PoolId pool : facts.pools) {
    auto& by_queue = live.by_pool[pool];
    auto& attempts = by_queue[facts.queue];
    attempts.erase({facts.ripe_at, attempt.workload});
    if (attempts.empty()) by_queue.erase(facts.queue);
    if (by_queue.empty()) live.by_pool.erase(pool);
  }
  for (const auto& a : facts.amounts)
    live.by_amount[a.dimension].erase({-a.amount, attempt.workload});
  if (--live.by_class[facts.workload_class] == 0) live.by_class.erase(facts.workload_class);
  deadlines.erase({facts.deadline, attempt});
  live.ripening.erase({facts.ripe_at, attempt});
  if (facts.is_leaving)
    quotas.note_leaving(facts.queue, state.workloads.at(attempt.workload).attempts.back().charge,
                        -1);
  live_facts_.erase(found);
}

// When a live attempt runs out of time; kNever: it does not.
Instant Derived::deadline_of(const WorkloadRecord& record) const {
  const Attempt& attempt = record.attempts.back();
  const auto limit =
      policy::enforced_limit(record.workload, state.classes.at(record.workload.workload_class));
  if (!limit || !attempt.running_since || attempt.phase == AttemptPhase::Stopping)
    return base::kNever;
  return *attempt.running_since + *limit;
}

// While an attempt lives, where it is and what it is charged stay; what changes is since when it
// runs and whether it stops.
void Derived::move_in_time(const WorkloadRecord& record) {
  const AttemptId attempt = record.attempts.back().id;
  LiveFacts& facts = live_facts_.at(attempt);
  const Instant ripe_at = protected_until(state, record);
  if (ripe_at != facts.ripe_at) {
    for (const model::PoolId pool : facts.pools) {
      auto& attempts = live.by_pool.at(pool).at(facts.queue);
      attempts.erase({facts.ripe_at, attempt.workload});
      attempts.insert({ripe_at, attempt.workload});
    }
    live.ripening.erase({facts.ripe_at, attempt});
    live.ripening.insert({ripe_at, attempt});
    facts.ripe_at = ripe_at;
  }
  note_leaving(record, facts);
  const Instant deadline = deadline_of(record);
  if (deadline == facts.deadline) return;
  deadlines.erase({facts.deadline, attempt});
  if (deadline != base::kNever) deadlines.insert({deadline, attempt});
  facts.deadline = deadline;
}

void Derived::load_nodes(const model::Placement& placement, ClusterView::Change change) {
  each_node(placement, [&](NodeId node) { view.load(node, change); });
}

// A claim that is gone without a word of its own (its owner was cancelled or held, or started).
void Derived::drop_ended_claims(WorkloadId owner) {
  const auto found = claims_.find(owner);
  if (found == claims_.end()) return;
  const WorkloadRecord* record = state.workloads.find(owner);
  if (record != nullptr && !record->claim.is_none()) return;
  load_nodes(found->second, ClusterView::Change::More);
  claims_.erase(found);
}

// The attempt began, ran, was told to stop or ended: whatever of it is indexed is read again.
void Derived::observe_attempt(AttemptId id) {
  const WorkloadRecord* record = state.workloads.find(id.workload);
  if (record == nullptr || record->attempts.empty() || record->attempts.back().id != id) return;
  const Attempt& attempt = record->attempts.back();
  if (attempt.phase != AttemptPhase::Ended) {
    if (live_facts_.contains(id))
      move_in_time(*record);
    else
      enter_live(*record);
    each_node(attempt.placement, [&](NodeId node) { view.load_seats(node, id); });
    return;
  }
  leave_live(id);
  load_nodes(attempt.placement, ClusterView::Change::More);
  pending.refresh(id.workload, state.now);
}

void Derived::observe_end(AttemptId attempt) {
  quotas.refresh(state.workloads.at(attempt.workload).workload.queue);
  const auto owner = charged_next_.find(attempt);
  if (owner != charged_next_.end()) {
    quotas.refresh(owner->second);
    charged_next_.erase(owner);
  }
  observe_attempt(attempt);
}

void Derived::observe_decision(const model::Decision& decision) {
  if (const auto* start = std::get_if<model::Start>(&decision.body)) {
    quotas.refresh(state.workloads.at(start->attempt.workload).workload.queue);
    load_nodes(start->placement, ClusterView::Change::Less);
    pending.refresh(start->attempt.workload, state.now);
    observe_attempt(start->attempt);
    drop_ended_claims(start->attempt.workload);
  } else if (const auto* evict = std::get_if<model::Evict>(&decision.body)) {
    for (const AttemptId& victim : evict->victims)
      observe_attempt(victim);
    if (evict->claim.is_none()) return;
    const model::QueueId owner = state.workloads.at(evict->owner).workload.queue;
    quotas.refresh(owner);
    for (const AttemptId& victim : evict->victims)
      charged_next_[victim] = owner;
    load_nodes(evict->placement, ClusterView::Change::Less);
    claims_[evict->owner] = evict->placement;
    pending.refresh(evict->owner, state.now);
    drop_ended_claims(evict->owner);
  } else if (const auto* wait = std::get_if<model::Wait>(&decision.body)) {
    pending.refresh(wait->workload, state.now);
  } else if (const auto* refuse = std::get_if<model::Refuse>(&decision.body)) {
    quotas.refresh(state.workloads.at(refuse->workload).workload.queue);
    pending.refresh(refuse->workload, state.now);
  } else if (std::holds_alternative<model::EndClaim>(decision.body)) {
    std::vector<WorkloadId> owners;
    for (const auto& [owner, placement] : claims_)
      owners.push_back(owner);
    for (const WorkloadId owner : owners) {
      quotas.refresh(state.workloads.at(owner).workload.queue);
      drop_ended_claims(owner);
      pending.refresh(owner, state.now);
    }
  }
}

void Derived::observe(const model::Event& event) {
  if (is_stale) return;
  const auto refresh = [this](WorkloadId id) {
    if (const WorkloadRecord* record = state.workloads.find(id); record != nullptr)
      quotas.refresh(record->workload.queue);
    pending.refresh(id, state.now);
    drop_ended_claims(id);
    const WorkloadRecord* record = state.workloads.find(id);
    if (record != nullptr && !record->attempts.empty()) observe_attempt(record->attempts.back().id);
  };
  if (const auto* decided = std::get_if<model::Decided>(&event.body)) {
    observe_decision(decided->decision);
  } else if (const auto* submitted = std::get_if<model::WorkloadSubmitted>(&event.body)) {
    quotas.refresh(submitted->workload.queue);
    pending.refresh(submitted->workload.id, state.now);
  } else if (const auto* ended = std::get_if<model::MembersEnded>(&event.body)) {
    observe_end(ended->attempt);
  } else if (const auto* running = std::get_if<model::AttemptRunning>(&event.body)) {
    observe_attempt(running->attempt);
  } else if (const auto* held = std::get_if<model::WorkloadHeld>(&event.body)) {
    refresh(held->workload);
  } else if (const auto* released = std::get_if<model::WorkloadReleased>(&event.body)) {
    refresh(released->workload);
  } else if (const auto* cancelled = std::get_if<model::CancelRequested>(&event.body)) {
    refresh(cancelled->workload);
  } else if (const auto* condition = std::get_if<model::NodeConditionChanged>(&event.body)) {
    quotas.refresh_all();  // work may be lost with the node
    load_node(condition->node, ClusterView::Change::More);
  } else if (const auto* health = std::get_if<model::DeviceHealthChanged>(&event.body)) {
    load_node(health->node, ClusterView::Change::More);
  } else if (const auto* seen = std::get_if<model::NodeSeen>(&event.body)) {
    ++cluster_version;
    quotas.refresh_all();
    if (view.has(seen->node.id))
      is_stale = true;  // it may have moved to another pool
    else
      load_node(seen->node.id, ClusterView::Change::More);
  } else if (std::holds_alternative<model::MixChanged>(event.body)) {
    view.forget_rankings();
  } else if (!std::holds_alternative<model::CommandRefused>(event.body) &&
             !std::holds_alternative<model::ControllerStarted>(event.body) &&
             !std::holds_alternative<model::WorkloadsForgotten>(event.body)) {
    is_stale = true;  // configuration: rare, and everything may depend on it
  }
}

Instant Derived::next_due() const {
  Instant due = pending.next_wake();
  if (!deadlines.empty()) due = std::min(due, deadlines.begin()->first);
  for (const auto& [id, claim] : state.claims)
    due = std::min(due, claim.victims.empty() ? state.now : claim.expires);
  if (retry_at) due = std::min(due, *retry_at);
  return due;
}

}  // namespace scheduling::internal
