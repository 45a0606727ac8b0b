#include "storm/clients.h"

#include <algorithm>
#include <utility>

namespace storm {

namespace {

const controller::Apply* submission_of(const controller::Command& command) {
  const auto* apply = std::get_if<controller::Apply>(&command.body);
  const bool is_work =
      apply != nullptr && std::holds_alternative<manifest::WorkloadDocument>(apply->document.body);
  return is_work && !apply->is_dry_run ? apply : nullptr;
}

template <class Body>
bool is_about(const model::Event& event, model::WorkloadId workload) {
  const auto* body = std::get_if<Body>(&event.body);
  return body != nullptr && body->workload == workload;
}

// Is it the event that was asked for?
struct Deed {
  const model::Event& event;
  const controller::Reply& reply;

  bool operator()(const controller::Cancel& c) const {
    return is_about<model::CancelRequested>(event, c.workload);
  }
  bool operator()(const controller::Hold& c) const {
    return is_about<model::WorkloadHeld>(event, c.workload);
  }
  bool operator()(const controller::Release& c) const {
    return is_about<model::WorkloadReleased>(event, c.workload);
  }
  bool operator()(const controller::SetNodeCondition& c) const {
    const auto* changed = std::get_if<model::NodeConditionChanged>(&event.body);
    // What is lifted becomes what the machine says, which may be anything.
    return changed != nullptr &&
           (c.condition == model::NodeCondition::Ready || changed->condition == c.condition);
  }
  bool operator()(const controller::Apply& c) const {
    if (!std::holds_alternative<manifest::WorkloadDocument>(c.document.body))
      return !std::holds_alternative<model::CommandRefused>(event.body) &&
             !std::holds_alternative<model::Decided>(event.body);
    const auto* submitted = std::get_if<model::WorkloadSubmitted>(&event.body);
    return submitted != nullptr && submitted->workload.id == reply.workload;
  }
};

// The store or the process failed, not the request.
bool is_to_be_tried_again(const base::Error& error) {
  return error.code == base::Code::Unavailable || error.code == base::Code::Exhausted ||
         error.code == base::Code::DataLoss ||
         (error.code == base::Code::Conflict && error.field.empty());
}

}  // namespace

void Clients::ask(controller::Command command, bool is_to_be_refused) {
  open_.emplace(next_++, Request{.command = std::move(command),
                                 .is_to_be_refused = is_to_be_refused,
                                 .due = {},
                                 .asked_of = 0});
}

void Clients::submit(manifest::Document document, std::string user) {
  ask({.body = controller::Apply{.document = std::move(document),
                                 .request_key = "key-" + std::to_string(next_),
                                 .is_dry_run = false},
       .caller = {.user = std::move(user), .role = controller::Role::User}});
}

std::vector<std::pair<controller::Command, controller::Answer>> Clients::take(base::Instant now,
                                                                              ProcessId process) {
  std::vector<std::pair<controller::Command, controller::Answer>> taken;
  for (auto& [number, request] : open_) {
    if (request.asked_of != 0 || request.due > now) continue;
    request.asked_of = process;
    const auto answered = [this, number = number, process,
                           now](const base::Result<controller::Reply>& reply) {
      answer(number, process, now, reply);
    };
    // Somebody who does not wait asks twice; only what has a key or is harmless twice.
    if (submission_of(request.command) != nullptr && plan_.twists("client.impatient")) {
      const controller::Command again = request.command;
      const bool is_wrong = request.is_to_be_refused;
      taken.emplace_back(again, [this, again, is_wrong](const base::Result<controller::Reply>& r) {
        check_reply({.command = again, .is_to_be_refused = is_wrong}, r);
      });
    }
    taken.emplace_back(request.command, answered);
  }
  return taken;
}

base::Instant Clients::next_due() const {
  base::Instant due = base::kNever;
  for (const auto& [number, request] : open_)
    if (request.asked_of == 0) due = std::min(due, request.due);
  return due;
}

void Clients::answer(std::int64_t number, ProcessId process, base::Instant at,
                     const base::Result<controller::Reply>& reply) {
  const auto found = open_.find(number);
  if (found == open_.end() || found->second.asked_of != process) {
    violations_.add("23 answered twice", "request {} by process {}", number, process);
    return;
  }
  Request& request = found->second;
  request.asked_of = 0;
  if (!reply && is_to_be_tried_again(reply.error())) {
    request.due = at + base::seconds(2);
    return;
  }
  check_reply(request, reply);
  const bool has_key = submission_of(request.command) != nullptr;
  if (has_key && plan_.twists("client.answer.lost")) {
    request.due = at + base::milliseconds(plan_.amount(100, 20'000));
    return;
  }
  ++answered_;
  if (!reply) ++refused_;
  open_.erase(found);
}

void Clients::check_reply(const Request& request, const base::Result<controller::Reply>& reply) {
  if (!reply) return;
  if (request.is_to_be_refused) {
    violations_.add("23 accepted what is wrong", "{} {}", reply->kind, reply->name);
    return;
  }
  watch_.acknowledge(reply->sequence);
  check_deed(request, *reply);
  const controller::Apply* submission = submission_of(request.command);
  if (submission == nullptr || submission->request_key.empty()) return;
  const auto [known, is_new] = accepted_.try_emplace(submission->request_key, reply->workload);
  if (is_new) newest_key_ = submission->request_key;
  if (known->second != reply->workload)
    violations_.add("8 a request made two workloads", "key {}: {} and {}", submission->request_key,
                    known->second.value, reply->workload.value);
}

// The event that the answer names is what was asked for, a cancel that has nothing to do is right
// about it, and a question changes nothing.
void Clients::check_deed(const Request& request, const controller::Reply& reply) {
  const controller::Command& command = request.command;
  const auto* apply = std::get_if<controller::Apply>(&command.body);
  if (apply != nullptr && apply->is_dry_run) {
    if (!reply.sequence.is_none())
      violations_.add("23 a dry run changed something", "event {}", reply.sequence.value);
    return;
  }
  if (reply.action != controller::Action::Unchanged) {
    watch_.expect(reply.sequence, [this, command, reply](const model::Event& event) {
      if (!std::visit(Deed{event, reply}, command.body))
        violations_.add("23 accepted and not done", "{} {}, event {}", reply.kind, reply.name,
                        event.sequence.value);
    });
    return;
  }
  const auto* cancel = std::get_if<controller::Cancel>(&command.body);
  if (cancel == nullptr) return;
  const auto check = [this, id = cancel->workload] {
    const model::WorkloadRecord* record = watch_.state().workloads.find(id);
    if (record != nullptr && !record->is_cancel_requested && !model::is_finished(record->phase))
      violations_.add("23 accepted and not done", "workload {} is not being cancelled", id.value);
  };
  if (reply.sequence <= watch_.state().last_sequence)
    check();
  else
    watch_.expect(reply.sequence, [check](const model::Event&) { check(); });
}

void Clients::lose_process(ProcessId process, base::Instant now) {
  for (auto& [number, request] : open_) {
    if (request.asked_of != process) continue;
    request.asked_of = 0;
    request.due = now + base::seconds(1);
  }
}

void Clients::expect_all_answered(ProcessId process) {
  for (const auto& [number, request] : open_)
    if (request.asked_of == process)
      violations_.add("23 not answered", "request {} of process {}", number, process);
}

}  // namespace storm
