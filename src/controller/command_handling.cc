// What callers ask for: checked against State, turned into events, and answered after the commit. A
// refusal is an event too, for the audit; a dry run leaves nothing behind. Whether the caller may
// ask at all is decided before (api/): here only what is true of everybody.

#include <algorithm>
#include <utility>

#include "controller/internal/core.h"
#include "manifest/resolve.h"
#include "policy/checks.h"

namespace controller {

namespace {

using base::Code;
using base::fail;
using base::Result;

// How a condition that a person set is noted; observation_handling.cc knows it by its beginning.
std::string note_of(const Caller& caller, const std::string& note) {
  return note.empty() ? "by " + caller.user : "by " + caller.user + ": " + note;
}

std::string_view kind_of(const manifest::Document& document) {
  struct Kind {
    std::string_view operator()(const manifest::WorkloadDocument& d) {
      return base::name_of(d.workload.kind);
    }
    std::string_view operator()(const manifest::QueueDocument&) { return "Queue"; }
    std::string_view operator()(const manifest::PoolDocument&) { return "Pool"; }
    std::string_view operator()(const manifest::ClassDocument&) { return "Class"; }
    std::string_view operator()(const manifest::PolicyDocument&) { return "Policy"; }
    std::string_view operator()(const manifest::TopologyDocument&) { return "Topology"; }
  };
  return std::visit(Kind{}, document.body);
}

std::string name_of(const manifest::Document& document) {
  struct Name {
    std::string operator()(const manifest::WorkloadDocument& d) { return d.workload.name; }
    std::string operator()(const manifest::QueueDocument& d) { return d.queue.name; }
    std::string operator()(const manifest::PoolDocument& d) { return d.pool.name; }
    std::string operator()(const manifest::ClassDocument& d) { return d.workload_class.name; }
    std::string operator()(const manifest::PolicyDocument& d) { return d.policy.name; }
    std::string operator()(const manifest::TopologyDocument& d) { return d.topology.name; }
  };
  return std::visit(Name{}, document.body);
}

// "apply TrainingJob llama-ft", "cancel 1042", "draining n1": as the audit shows it.
std::string text_of(const Command& command) {
  struct Text {
    std::string operator()(const Apply& a) {
      return fmt::format("apply {} {}", kind_of(a.document), name_of(a.document));
    }
    std::string operator()(const Cancel& c) { return fmt::format("cancel {}", c.workload.value); }
    std::string operator()(const Hold& h) { return fmt::format("hold {}", h.workload.value); }
    std::string operator()(const Release& r) { return fmt::format("release {}", r.workload.value); }
    std::string operator()(const SetNodeCondition& s) {
      return fmt::format("{} {}", base::name_of(s.condition), s.node);
    }
  };
  return std::visit(Text{}, command.body);
}

// How one kind of definition is found in State, checked and written down.
struct Definition {
  const model::State& state;

  Result<base::Done> check(const model::Queue& v) const { return policy::check_queue(state, v); }
  Result<base::Done> check(const model::Pool& v) const { return policy::check_pool(state, v); }
  Result<base::Done> check(const model::WorkloadClass& v) const {
    return policy::check_class(state, v);
  }
  Result<base::Done> check(const model::PolicySet&) const { return base::Done{}; }
  Result<base::Done> check(const model::Topology&) const { return base::Done{}; }

  bool is_present(const model::Queue& v) const {
    const auto* known = state.queues.find(v.id);
    return known != nullptr && known->queue == v;
  }
  bool is_present(const model::Pool& v) const {
    const auto* known = state.pools.find(v.id);
    return known != nullptr && known->pool == v;
  }
  bool is_present(const model::WorkloadClass& v) const {
    const auto* known = state.classes.find(v.id);
    return known != nullptr && *known == v;
  }
  bool is_present(const model::PolicySet& v) const { return state.policy == v; }
  bool is_present(const model::Topology& v) const {
    const auto known = state.topologies.find(v.name);
    return known != state.topologies.end() && known->second == v;
  }

  static model::EventBody event(model::Queue v) { return model::QueueDefined{std::move(v)}; }
  static model::EventBody event(model::Pool v) { return model::PoolDefined{std::move(v)}; }
  static model::EventBody event(model::WorkloadClass v) {
    return model::ClassDefined{std::move(v)};
  }
  static model::EventBody event(model::PolicySet v) { return model::PolicyChanged{std::move(v)}; }
  static model::EventBody event(model::Topology v) { return model::TopologyDefined{std::move(v)}; }
};

Reply reply_about(const model::WorkloadRecord& record, Action action, model::Sequence sequence) {
  return {.action = action,
          .kind = std::string(base::name_of(record.workload.kind)),
          .name = record.workload.name,
          .workload = record.workload.id,
          .sequence = sequence,
          .would = {}};
}

}  // namespace

void Controller::Parts::handle(const Command& command, Answer answer) {
  auto reply = carry_out(command);
  const auto* apply = std::get_if<Apply>(&command.body);
  const bool is_dry_run = apply != nullptr && apply->is_dry_run;
  if (!reply && !is_dry_run) {
    ++counters.refused_commands;
    record(model::CommandRefused{.command = text_of(command),
                                 .code = std::string(base::code_name(reply.error().code)),
                                 .message = base::to_text(reply.error())},
           command.caller.user);
  }
  batch.answers.emplace_back(std::move(answer), std::move(reply));
}

Result<Reply> Controller::Parts::carry_out(const Command& command) {
  struct Carry {
    Parts& parts;
    const Caller& caller;
    Result<Reply> operator()(const Apply& c) { return parts.apply_document(c, caller); }
    Result<Reply> operator()(const Cancel& c) { return parts.cancel(c.workload, caller); }
    Result<Reply> operator()(const Hold& c) { return parts.hold(c.workload, caller); }
    Result<Reply> operator()(const Release& c) { return parts.release(c.workload, caller); }
    Result<Reply> operator()(const SetNodeCondition& c) {
      return parts.set_node_condition(c, caller);
    }
  };
  return std::visit(Carry{*this, command.caller}, command.body);
}

Result<Reply> Controller::Parts::apply_document(const Apply& apply, const Caller& caller) {
  auto resolved = manifest::resolve(apply.document, state);
  if (!resolved) return tl::unexpected(std::move(resolved.error()));
  if (auto* workload = std::get_if<model::Workload>(&resolved->value))
    return submit(apply, std::move(*workload), resolved->resources, caller);
  const auto define = [&]<class Value>(Value& value) -> Result<Reply> {
    Reply reply{.action = resolved->is_replacement ? Action::Configured : Action::Created,
                .kind = std::string(kind_of(apply.document)),
                .name = name_of(apply.document),
                .workload = {},
                .sequence = {},
                .would = {}};
    if constexpr (!std::is_same_v<Value, model::Workload>) {
      const Definition definition{state};
      if (definition.is_present(value)) {
        reply.action = Action::Unchanged;
        reply.sequence = apply.is_dry_run ? model::Sequence{} : state.last_sequence;
        return reply;
      }
      if (auto checked = definition.check(value); !checked)
        return tl::unexpected(std::move(checked.error()));
      if (apply.is_dry_run) return reply;
      for (const model::ResourceDefined& resource : resolved->resources)
        record(resource, caller.user);
      reply.sequence = record(Definition::event(std::move(value)), caller.user);
      if constexpr (std::is_same_v<Value, model::Pool>) must_settle_nodes = true;
    }
    return reply;
  };
  return std::visit(define, resolved->value);
}

Result<Reply> Controller::Parts::submit(const Apply& apply, model::Workload workload,
                                        const std::vector<model::ResourceDefined>& resources,
                                        const Caller& caller) {
  workload.user = caller.user;
  workload.submitted = now;
  workload.request_key = apply.request_key;
  if (!apply.request_key.empty()) {
    const auto known = state.workload_by_request_key.find(apply.request_key);
    if (known != state.workload_by_request_key.end())
      return repeated(workload, known->second, caller);
  }
  if (!workload.name.empty() && state.workload_by_name.contains({workload.queue, workload.name})) {
    const auto id = state.workload_by_name.at({workload.queue, workload.name});
    return base::fail_field(
        Code::AlreadyExists, "metadata.name",
        fmt::format("queue {} has an unfinished workload {} of that name: {}",
                    state.queues.at(workload.queue).queue.name, id.value, workload.name),
        fmt::format("choose another name, or cancel {}", id.value));
  }
  if (auto checked = policy::check_workload(state, workload); !checked)
    return tl::unexpected(std::move(checked.error()));
  Reply reply{.action = Action::Created,
              .kind = std::string(base::name_of(workload.kind)),
              .name = workload.name,
              .workload = {},
              .sequence = {},
              .would = {}};
  if (apply.is_dry_run) {
    reply.would = planner
                      ->plan(state.policy, {.now = now,
                                            .seed = options.seed,
                                            .question = scheduling::Fits{std::move(workload)},
                                            .budget = options.budget})
                      .answer;
    return reply;
  }
  for (const model::ResourceDefined& resource : resources)
    record(resource, caller.user);
  reply.workload = workload.id;
  reply.sequence = record(model::WorkloadSubmitted{std::move(workload)}, caller.user);
  return reply;
}

// The same request again gives the same workload; another one under the same key is a mistake that
// must not pass for success.
Result<Reply> Controller::Parts::repeated(const model::Workload& asked, model::WorkloadId id,
                                          const Caller& caller) {
  const model::WorkloadRecord& record = state.workloads.at(id);
  model::Workload same = asked;
  same.id = record.workload.id;
  same.submitted = record.workload.submitted;
  if (record.workload.user != caller.user || same != record.workload)
    return base::fail_field(Code::Conflict, "Idempotency-Key",
                            "the key was used for another request",
                            "send every new request with a key of its own");
  return reply_about(record, Action::Unchanged, state.last_sequence);
}

Result<const model::WorkloadRecord*> Controller::Parts::unfinished(model::WorkloadId id) const {
  const model::WorkloadRecord* record = state.workloads.find(id);
  if (record == nullptr) return fail(Code::NotFound, "there is no workload {}", id.value);
  if (model::is_finished(record->phase))
    return fail(Code::FailedPrecondition, "workload {} is already {}", id.value,
                base::name_of(record->phase));
  return record;
}

Result<Reply> Controller::Parts::cancel(model::WorkloadId id, const Caller& caller) {
  const auto found = unfinished(id);
  if (!found) return tl::unexpected(found.error());
  if ((*found)->is_cancel_requested)
    return reply_about(**found, Action::Unchanged, state.last_sequence);
  const model::Sequence at = record(model::CancelRequested{.workload = id}, caller.user);
  return reply_about(state.workloads.at(id), Action::Accepted, at);
}

Result<Reply> Controller::Parts::hold(model::WorkloadId id, const Caller& caller) {
  const auto found = unfinished(id);
  if (!found) return tl::unexpected(found.error());
  if ((*found)->is_held) return reply_about(**found, Action::Unchanged, state.last_sequence);
  if ((*found)->phase != model::Phase::Queued &&
      (*found)->phase != model::Phase::AwaitingApproval) {
    auto refused =
        fail(Code::FailedPrecondition, "workload {} is {}; only waiting work can be held", id.value,
             base::name_of((*found)->phase));
    refused.value().hint = "cancel it, and submit it again later";
    return refused;
  }
  const model::Sequence at = record(model::WorkloadHeld{.workload = id}, caller.user);
  return reply_about(state.workloads.at(id), Action::Accepted, at);
}

Result<Reply> Controller::Parts::release(model::WorkloadId id, const Caller& caller) {
  const auto found = unfinished(id);
  if (!found) return tl::unexpected(found.error());
  if (!(*found)->is_held) return reply_about(**found, Action::Unchanged, state.last_sequence);
  const model::Sequence at = record(model::WorkloadReleased{.workload = id}, caller.user);
  return reply_about(state.workloads.at(id), Action::Accepted, at);
}

Result<Reply> Controller::Parts::set_node_condition(const SetNodeCondition& command,
                                                    const Caller& caller) {
  const auto id = state.node_by_name.find(command.node);
  if (id == state.node_by_name.end())
    return fail(Code::NotFound, "there is no node {}", command.node);
  if (command.condition == model::NodeCondition::Lost)
    return base::fail_field(Code::InvalidArgument, "condition",
                            "only a backend can say that a node is lost",
                            "use cordoned, draining, quarantined or ready");
  Reply reply{.action = Action::Accepted,
              .kind = "Node",
              .name = command.node,
              .workload = {},
              .sequence = {},
              .would = {}};
  model::NodeConditionChanged change{
      .node = id->second, .condition = command.condition, .note = {}};
  if (command.condition != model::NodeCondition::Ready) {
    change.note = note_of(caller, command.note);
  } else {
    // What a person lifts is the person's condition; what the backend says holds again.
    const auto reported = reported_nodes.find(command.node);
    if (reported != reported_nodes.end()) {
      change.condition = reported->second.node.condition;
      change.note = reported->second.node.condition_note;
    }
    must_settle_nodes = true;
  }
  const model::Node& known = state.nodes.at(id->second).node;
  if (known.condition == change.condition && known.condition_note == change.note) {
    reply.action = Action::Unchanged;
    reply.sequence = state.last_sequence;
    return reply;
  }
  reply.sequence = record(std::move(change), caller.user);
  return reply;
}

}  // namespace controller
