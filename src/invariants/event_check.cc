#include "invariants/event_check.h"

#include <algorithm>
#include <map>
#include <variant>

#include "invariants/internal/recount.h"
#include "invariants/internal/state_rules.h"

namespace invariants {

using internal::Findings;
using model::Attempt;
using model::AttemptId;
using model::State;
using model::WorkloadId;
using model::WorkloadRecord;

namespace {

struct Touched {
  std::set<WorkloadId> workloads;
  std::set<model::NodeId> nodes;
};

struct Touch {
  Touched& touched;

  void operator()(const model::NodeSeen& e) { touched.nodes.insert(e.node.id); }
  void operator()(const model::NodeConditionChanged& e) { touched.nodes.insert(e.node); }
  void operator()(const model::DeviceHealthChanged& e) { touched.nodes.insert(e.node); }
  void operator()(const model::AttemptRunning& e) { touched.workloads.insert(e.attempt.workload); }
  void operator()(const model::MembersEnded& e) { touched.workloads.insert(e.attempt.workload); }
  void operator()(const model::WorkloadSubmitted& e) { touched.workloads.insert(e.workload.id); }
  void operator()(const model::WorkloadHeld& e) { touched.workloads.insert(e.workload); }
  void operator()(const model::WorkloadReleased& e) { touched.workloads.insert(e.workload); }
  void operator()(const model::CancelRequested& e) { touched.workloads.insert(e.workload); }
  void operator()(const model::Decided& e) {
    if (const auto* start = std::get_if<model::Start>(&e.decision.body))
      touched.workloads.insert(start->attempt.workload);
    if (const auto* evict = std::get_if<model::Evict>(&e.decision.body)) {
      touched.workloads.insert(evict->owner);
      for (const AttemptId victim : evict->victims)
        touched.workloads.insert(victim.workload);
    }
  }
  void operator()(const auto&) {}
};

// What is charged along the queues and in all, counted from the attempts and claims. O(live).
void check_held(const State& state, Findings& findings) {
  std::map<model::QueueId, model::Usage> held;
  model::Usage all;
  internal::each_live(state, [&](const WorkloadRecord& record, const Attempt& attempt) {
    for (const model::QueueId queue : state.queues.at(record.workload.queue).path)
      held[queue].add(attempt.charge);
    all.add(attempt.charge);
  });
  for (const auto& [id, claim] : state.claims)
    if (claim.victims.empty())
      for (const model::QueueId queue :
           state.queues.at(state.workloads.at(claim.owner).workload.queue).path)
        held[queue].add(claim.charge);
  if (!(all == state.held))
    findings.add("10 counter differs from a recount", "held of all is not the sum of the attempts");
  state.queues.each([&](model::QueueId id, const model::QueueRecord& queue) {
    if (!(queue.held == held[id]))
      findings.add("10 counter differs from a recount", "held of queue {} is not the sum",
                   queue.queue.name);
  });
}

// Who sits on a node is exactly who was placed there and lives. O(live).
void check_occupants(const State& state, const model::NodeRecord& node, Findings& findings) {
  std::size_t expected = 0, found = 0;
  std::vector<AttemptId> attempts;
  internal::each_live(state, [&](const WorkloadRecord&, const Attempt& attempt) {
    for (const model::MemberPlacement& member : attempt.placement.members) {
      if (member.node != node.node.id) continue;
      expected += member.devices.size();
      if (attempts.empty() || attempts.back() != attempt.id) attempts.push_back(attempt.id);
    }
  });
  for (const model::DeviceUse& use : node.devices)
    found += use.occupants.size();
  if (attempts != node.attempts)
    findings.add("3 ghost or orphan", "node {} lists {} attempts, {} are placed there",
                 node.node.id.value, node.attempts.size(), attempts.size());
  if (found != expected)
    findings.add("3 ghost or orphan", "node {}: {} parts of devices are taken, {} were given",
                 node.node.id.value, found, expected);
}

// A gang that lost more than it can bear is on its way out, and only then by itself.
void check_gang_is_released(const WorkloadRecord& record, Findings& findings) {
  const Attempt* live = record.live_attempt();
  if (live == nullptr) return;
  const bool is_stopping = live->phase == model::AttemptPhase::Stopping;
  if (is_stopping && live->stop_cause != model::Reason::None) return;
  std::map<std::int32_t, std::int64_t> sound;
  for (const model::MemberPlacement& member : live->placement.members)
    ++sound[member.group];
  for (const model::MemberEnd& end : live->member_ends)
    if (end.end_class != model::EndClass::Ok)
      --sound[live->placement.members.at(static_cast<std::size_t>(end.rank)).group];
  bool is_broken = false;
  for (const auto& [group, count] : sound) {
    if (count >= record.workload.groups.at(static_cast<std::size_t>(group)).min_members) continue;
    is_broken = true;
    if (!is_stopping)
      findings.add("5 gang below its minimum goes on", "attempt {} group {}: {} members are left",
                   model::to_text(live->id), group, count);
  }
  if (is_stopping && !is_broken)
    findings.add("5 a sound gang is released", "attempt {}", model::to_text(live->id));
}

void check_hold(const State& state, const model::Event& event, Findings& findings) {
  const auto* held = std::get_if<model::WorkloadHeld>(&event.body);
  const auto* released = std::get_if<model::WorkloadReleased>(&event.body);
  if (held == nullptr && released == nullptr) return;
  const WorkloadId id = held != nullptr ? held->workload : released->workload;
  const WorkloadRecord* record = state.workloads.find(id);
  if (record == nullptr || is_finished(record->phase)) return;
  if (record->is_held != (held != nullptr))
    findings.add("20 a hold is not what was asked", "workload {} is {}", id.value,
                 record->is_held ? "held" : "not held");
  if (held != nullptr && record->claim)
    findings.add("13 held work claims", "workload {}", id.value);
}

}  // namespace

std::vector<Violation> EventCheck::after(const State& state, const model::Event& event) {
  std::vector<Violation> violations;
  Findings findings(violations);
  if (std::holds_alternative<model::WorkloadsForgotten>(event.body)) {
    const auto is_gone = [&state](WorkloadId id) { return state.workloads.find(id) == nullptr; };
    std::erase_if(finished_, is_gone);
    std::erase_if(cancelled_, is_gone);
  }
  if (const auto* cancelled = std::get_if<model::CancelRequested>(&event.body))
    cancelled_.insert(cancelled->workload);
  check_hold(state, event, findings);
  Touched touched;
  std::visit(Touch{touched}, event.body);
  for (const WorkloadId id : touched.workloads) {
    const WorkloadRecord* record = state.workloads.find(id);
    if (record == nullptr) continue;
    internal::check_workload_phase(state, *record, findings);
    check_gang_is_released(*record, findings);
    if (finished_.contains(id) && !is_finished(record->phase))
      findings.add("20 finished work came back", "workload {} is {}", id.value,
                   base::name_of(record->phase));
    if (is_finished(record->phase)) finished_.insert(id);
    const bool may_go_on = record->phase == model::Phase::Stopping || is_finished(record->phase);
    if (cancelled_.contains(id) && !may_go_on)
      findings.add("20 cancelled work goes on", "workload {} is {}", id.value,
                   base::name_of(record->phase));
    if (record->attempts.empty()) continue;
    const Attempt& last = record->attempts.back();
    if (record->live_attempt() != nullptr)
      internal::check_attempt_allocations(state, *record, last, findings);
    for (const model::MemberPlacement& member : last.placement.members)
      touched.nodes.insert(member.node);
  }
  for (const model::NodeId id : touched.nodes) {
    const model::NodeRecord* node = state.nodes.find(id);
    if (node == nullptr) continue;
    internal::check_node_allocations(*node, findings);
    check_occupants(state, *node, findings);
  }
  if (!touched.workloads.empty()) check_held(state, findings);
  return violations;
}

}  // namespace invariants
