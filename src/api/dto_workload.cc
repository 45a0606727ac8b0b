#include <algorithm>
#include <set>

#include "api/internal/dto.h"
#include "api/internal/json_object.h"
#include "base/json_text.h"
#include "base/text.h"
#include "policy/time_limit.h"

namespace api {

namespace {

void append_assignment(std::string& out, const model::NodeRecord* node,
                       const model::DeviceAssignment& assignment) {
  JsonObject object(out);
  object.number("device", assignment.device);
  const auto index = static_cast<std::size_t>(assignment.device);
  if (node != nullptr && index < node->node.devices.size()) {
    object.text("uuid", node->node.devices[index].uuid);
    object.text("model", node->node.devices[index].model);
  }
  object.number("milli", assignment.milli.value);
  object.memory("memory", assignment.memory.value);
  if (!assignment.slice.empty()) {
    object.text("slice", assignment.slice);
    object.number("sliceStart", assignment.slice_start);
  }
}

void append_end(std::string& out, const model::MemberEnd& end) {
  JsonObject object(out);
  object.text("endClass", base::name_of(end.end_class));
  object.number("exitCode", end.exit_code);
  if (end.signal != 0) object.number("signal", end.signal);
  object.text_if_any("note", end.note);
}

void append_members(std::string& out, const model::State& state, const model::Attempt& attempt) {
  const model::WorkloadRecord* record = state.workloads.find(attempt.id.workload);
  JsonList members(out);
  for (std::size_t rank = 0; rank < attempt.placement.members.size(); ++rank) {
    const model::MemberPlacement& member = attempt.placement.members[rank];
    const model::NodeRecord* node = state.nodes.find(member.node);
    JsonObject object(members.next());
    object.number("rank", static_cast<std::int64_t>(rank));
    const auto group = static_cast<std::size_t>(member.group);
    object.text("group", record != nullptr && group < record->workload.groups.size()
                             ? std::string_view(record->workload.groups[group].name)
                             : std::string_view());
    object.text("node", node_name(state, member.node));
    {
      JsonList devices(object.value("devices"));
      for (const auto& assignment : member.devices)
        append_assignment(devices.next(), node, assignment);
    }
    for (const model::MemberEnd& end : attempt.member_ends)
      if (end.rank == static_cast<std::int32_t>(rank)) {
        append_end(object.value("end"), end);
        break;
      }
  }
}

void append_groups(std::string& out, const model::State& state, const model::Workload& workload) {
  JsonList groups(out);
  for (const model::TaskGroup& group : workload.groups) {
    JsonObject object(groups.next());
    object.text("name", group.name);
    object.number("parent", group.parent);
    object.number("members", group.members);
    object.number("minMembers", group.min_members);
    object.number("step", group.step);
    {
      JsonList amounts(object.value("perMember"));
      for (const model::ResourceAmount& amount : group.per_member.amounts()) {
        JsonObject row(amounts.next());
        row.text("resource", resource_name(state, amount.resource));
        row.number("amount", amount.amount);
        row.text("text", amount_text(amount.resource, amount.amount));
      }
    }
    base::append_json(object.value("deviceOptions"), group.device_options);
  }
}

// Of what can be known without a place: whole devices and shares of the first option.
std::int64_t wished_devices(const model::Workload& workload) {
  std::int64_t milli = 0;
  for (const model::TaskGroup& group : workload.groups)
    if (!group.device_options.empty()) {
      const model::DeviceRequest& request = group.device_options.front();
      milli += group.min_members * (request.count.value * 1000 + request.share.value);
    }
  return milli;
}

std::int64_t devices_of(const model::WorkloadRecord& record) {
  if (!record.attempts.empty()) return device_charge(record.attempts.back().charge);
  const std::int64_t asked = device_charge(record.ask);
  return asked > 0 ? asked : wished_devices(record.workload);
}

model::Reason reason_of(const model::WorkloadRecord& record) {
  if (const model::Attempt* live = record.live_attempt()) return live->stop_cause;
  if (is_finished(record.phase)) return model::Reason::None;
  return record.is_held ? model::Reason::Held : record.wait_reason;
}

std::optional<base::Instant> ends_by(const model::State& state,
                                     const model::WorkloadRecord& record) {
  const model::Attempt* live = record.live_attempt();
  if (live == nullptr || !live->running_since) return std::nullopt;
  const model::WorkloadClass* own = state.classes.find(record.workload.workload_class);
  const auto limit =
      own != nullptr ? policy::enforced_limit(record.workload, *own) : record.workload.time_limit;
  if (!limit) return std::nullopt;
  return *live->running_since + *limit;
}

std::vector<std::string> live_nodes(const model::State& state,
                                    const model::WorkloadRecord& record) {
  std::set<std::string> names;
  if (const model::Attempt* live = record.live_attempt())
    for (const auto& member : live->placement.members)
      names.insert(node_name(state, member.node));
  return {names.begin(), names.end()};
}

void append_claim(std::string& out, const model::State& state, const model::Claim& claim) {
  JsonObject object(out);
  object.number("id", claim.id.value);
  object.text("cause", reason_text(claim.cause));
  {
    JsonList victims(object.value("victims"));
    for (const model::AttemptId victim : claim.victims)
      base::append_json_string(victims.next(), model::to_text(victim));
  }
  std::set<std::string> nodes;
  for (const auto& member : claim.placement.members)
    nodes.insert(node_name(state, member.node));
  object.texts("nodes", {nodes.begin(), nodes.end()});
  object.time("created", claim.created);
  object.time("expires", claim.expires);
}

void append_counts(JsonObject& object, const model::WorkloadRecord& record) {
  std::int64_t wanted = 0;
  std::int64_t least = 0;
  for (const model::TaskGroup& group : record.workload.groups)
    if (group.members > 0) {
      wanted += group.members;
      least += group.min_members;
    }
  const model::Attempt* live = record.live_attempt();
  object.number("members", live != nullptr
                               ? static_cast<std::int64_t>(live->placement.members.size())
                               : wanted);
  object.number("minMembers", least);
  object.devices("gpus", devices_of(record));
}

void append_times(JsonObject& object, const model::State& state,
                  const model::WorkloadRecord& record) {
  const model::Workload& workload = record.workload;
  object.time("submitted", workload.submitted);
  if (record.is_pending()) {
    object.time("queuedSince", record.queued_since);
    if (record.eligible_at > state.now) object.time("eligibleAt", record.eligible_at);
  }
  for (auto attempt = record.attempts.rbegin(); attempt != record.attempts.rend(); ++attempt)
    if (attempt->running_since) {
      object.time("started", *attempt->running_since);
      break;
    }
  object.time_if_any("finished", record.finished);
  for (auto attempt = record.attempts.rbegin(); attempt != record.attempts.rend(); ++attempt)
    if (attempt->phase == model::AttemptPhase::Ended) {
      object.number("exitCode", attempt->exit_code);
      if (attempt->signal != 0) object.number("signal", attempt->signal);
      object.text("endClass", base::name_of(attempt->end_class));
      break;
    }
  object.number("failures", record.failures);
  object.number("evictions", static_cast<std::int64_t>(record.evictions.size()));
  if (workload.time_limit) object.span("timeLimit", *workload.time_limit);
  if (workload.estimate) object.span("estimate", *workload.estimate);
  object.time_if_any("deadline", workload.deadline);
  object.time_if_any("endsBy", ends_by(state, record));
}

void append_full(JsonObject& object, const model::State& state, const model::Workload& workload) {
  object.map("annotations", workload.annotations);
  object.number("priorityBoost", workload.priority_boost);
  append_groups(object.value("groups"), state, workload);
  std::vector<std::string> pools;
  for (const model::PoolId pool : workload.constraints.pools)
    pools.push_back(pool_name(state, pool));
  object.texts("pools", pools);
  {
    JsonObject constraints(object.value("constraints"));
    constraints.map("attributes", workload.constraints.attributes);
    base::append_json(constraints.value("tolerations"), workload.constraints.tolerations);
    base::append_json(constraints.value("topology"), workload.constraints.topology);
  }
  base::append_json(object.value("command"), workload.command);
  base::append_json(object.value("checkpoint"), workload.checkpoint);
  base::append_json(object.value("retry"), workload.retry);
}

}  // namespace

void append_attempt(std::string& out, const model::State& state, const model::Attempt& attempt) {
  JsonObject object(out);
  object.text("id", model::to_text(attempt.id));
  object.number("workload", static_cast<std::int64_t>(attempt.id.workload.value));
  object.number("ordinal", attempt.id.ordinal);
  object.text("state", base::name_of(attempt.phase));
  object.devices("gpus", device_charge(attempt.charge));
  object.text("isolation", base::name_of(attempt.placement.isolation));
  append_members(object.value("members"), state, attempt);
  object.time("decided", attempt.decided);
  object.time_if_any("started", attempt.running_since);
  object.time_if_any("stopping", attempt.stopping_since);
  object.time_if_any("ended", attempt.ended);
  object.text_if_any("stopCause", reason_text(attempt.stop_cause));
  if (attempt.stop_for) object.number("stopFor", static_cast<std::int64_t>(attempt.stop_for.value));
  if (attempt.phase != model::AttemptPhase::Ended) return;
  object.text("endClass", base::name_of(attempt.end_class));
  object.number("exitCode", attempt.exit_code);
  if (attempt.signal != 0) object.number("signal", attempt.signal);
}

void append_workload(std::string& out, const model::State& state,
                     const model::WorkloadRecord& record, Detail detail) {
  const model::Workload& workload = record.workload;
  const model::WorkloadClass* own = state.classes.find(workload.workload_class);
  JsonObject object(out);
  object.number("number", static_cast<std::int64_t>(workload.id.value));
  object.text("name", workload.name);
  object.text("kind", base::name_of(workload.kind));
  object.text("queue", queue_name(state, workload.queue));
  object.text("class", own != nullptr ? std::string_view(own->name) : std::string_view());
  object.text("user", workload.user);
  object.text("state", base::name_of(record.phase));
  object.text("reason", reason_text(reason_of(record)));
  object.truth("held", record.is_held);
  object.truth("cancelRequested", record.is_cancel_requested);
  append_counts(object, record);
  append_times(object, state, record);
  if (const auto claim = state.claims.find(record.claim); claim != state.claims.end())
    append_claim(object.value("claim"), state, claim->second);
  {
    JsonList attempts(object.value("attempts"));
    const std::size_t first =
        detail == Detail::Full || record.attempts.empty() ? 0 : record.attempts.size() - 1;
    for (std::size_t i = first; i < record.attempts.size(); ++i)
      append_attempt(attempts.next(), state, record.attempts[i]);
  }
  object.texts("nodes", live_nodes(state, record));
  object.map("labels", workload.labels);
  if (detail == Detail::Full) append_full(object, state, workload);
}

}  // namespace api
