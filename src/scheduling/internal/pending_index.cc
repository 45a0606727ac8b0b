#include "scheduling/internal/pending_index.h"

#include <algorithm>

#include "base/assert.h"
#include "base/codec.h"

namespace scheduling::internal {

using base::Instant;
using model::Order;
using model::PolicySet;
using model::State;
using model::Workload;
using model::WorkloadId;
using model::WorkloadRecord;

namespace {

struct EqualInputs {
  model::QueueId queue;
  model::ClassId workload_class;
  std::vector<model::TaskGroup> groups;
  model::Constraints constraints;
  static void fields(auto& self, auto&& visit) {
    visit(1, "queue", self.queue);
    visit(2, "class", self.workload_class);
    visit(3, "groups", self.groups);
    visit(4, "constraints", self.constraints);
  }
};

std::string equal_key(const Workload& workload) {
  EqualInputs inputs{workload.queue, workload.workload_class, workload.groups,
                     workload.constraints};
  for (model::TaskGroup& group : inputs.groups)
    group.name.clear();
  return base::encode(inputs);
}

std::int64_t position_of(const State& state, const PolicySet& policy, const Workload& workload) {
  const model::WorkloadClass& own = state.classes.at(workload.workload_class);
  switch (policy.order.value_or(own.order)) {
    case Order::Fifo:
      return workload.submitted.millis;
    case Order::Deadline: {
      if (!workload.deadline) return base::kNever.millis;
      const base::Duration length =
          workload.estimate.value_or(workload.time_limit.value_or(base::Duration{}));
      return (*workload.deadline - length).millis;
    }
    case Order::FinishTime:
    case Order::Priority:
      break;
  }
  // A point of boost is worth one interval of seniority, so the order never changes with time.
  return base::saturating_add(workload.submitted.millis,
                              -workload.priority_boost * policy.age_credit_every.millis);
}

}  // namespace

OrderKey order_key(const State& state, const PolicySet& policy, const Workload& workload) {
  const std::int64_t priority =
      policy.uses_class_priority ? state.classes.at(workload.workload_class).priority : 0;
  return {.minus_priority = -priority,
          .position = position_of(state, policy, workload),
          .id = workload.id};
}

PendingIndex::PendingIndex(const State& state, const PolicySet& policy)
    : state_(&state), policy_(policy) {
  state.workloads.each([this, &state](WorkloadId id, const WorkloadRecord& record) {
    if (record.phase == model::Phase::Queued) refresh(id, state.now);
  });
}

void PendingIndex::refresh(WorkloadId id, Instant now) {
  const auto found = places_.find(id);
  if (found != places_.end()) leave(id, found->second, WhenEmpty::Erase);
  const WorkloadRecord* record = state_->workloads.find(id);
  const bool waits = record != nullptr && record->phase == model::Phase::Queued &&
                     !record->is_held && record->claim.is_none();
  if (!waits) {
    if (found != places_.end()) places_.erase(found);
    return;
  }
  Place& place = found != places_.end() ? found->second : places_[id];
  if (place.key.empty()) place.key = equal_key(record->workload);
  place.order = order_key(*state_, policy_, record->workload);
  place.told = record->wait_reason;
  place.is_awake = record->eligible_at <= now;
  place.sleeps_until = record->eligible_at;
  enter(id, place);
}

void PendingIndex::enter(WorkloadId id, Place& place) {
  if (!place.is_awake) {
    sleeping_.insert({place.sleeps_until, id});
    return;
  }
  auto& slot = classes_[place.key];
  if (slot == nullptr) {
    slot = std::make_unique<EquivalenceClass>();
    slot->id = next_class_++;
    slot->queue = state_->workloads.at(id).workload.queue;
    slot->example = id;
  }
  slot->members.insert(place.order);
  slot->by_told[place.told].insert(id);
  slot->example = slot->members.begin()->id;
}

void PendingIndex::leave(WorkloadId id, const Place& place, WhenEmpty when_empty) {
  if (!place.is_awake) {
    sleeping_.erase({place.sleeps_until, id});
    return;
  }
  const auto found = classes_.find(place.key);
  ASSERT(found != classes_.end());
  EquivalenceClass& equals = *found->second;
  equals.members.erase(place.order);
  const auto told = equals.by_told.find(place.told);
  told->second.erase(id);
  if (told->second.empty()) equals.by_told.erase(told);
  if (!equals.members.empty())
    equals.example = equals.members.begin()->id;
  else if (when_empty == WhenEmpty::Erase)
    classes_.erase(found);
}

void PendingIndex::wake(Instant now) {
  while (!sleeping_.empty() && sleeping_.begin()->first <= now) {
    const WorkloadId id = sleeping_.begin()->second;
    Place& place = places_.at(id);
    leave(id, place, WhenEmpty::Erase);
    place.is_awake = true;
    enter(id, place);
  }
}

EquivalenceClass* PendingIndex::class_of(WorkloadId id) const {
  const auto found = places_.find(id);
  if (found == places_.end() || !found->second.is_awake) return nullptr;
  const auto equals = classes_.find(found->second.key);
  return equals == classes_.end() ? nullptr : equals->second.get();
}

void PendingIndex::hide(WorkloadId id) {
  leave(id, places_.at(id), WhenEmpty::Keep);
  hidden_.push_back(id);
}

void PendingIndex::restore_hidden() {
  for (const WorkloadId id : hidden_)
    enter(id, places_.at(id));
  hidden_.clear();
}

}  // namespace scheduling::internal
