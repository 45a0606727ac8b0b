// Verbs on one workload or node. The workload is found, and the caller's right to it checked, on
// the loop; its owner never changes, so the command that follows needs no second look.

#include <utility>

#include "api/internal/dto.h"
#include "api/internal/handlers.h"

namespace api {

using base::Code;
using controller::Role;

namespace {

constexpr std::size_t kMaxNoteBytes = 500;

void command(Desk& desk, const ExchangePtr& exchange, controller::Command asked) {
  const bool is_taken =
      desk.port.command(std::move(asked), [exchange](base::Result<controller::Reply> reply) {
        if (!reply) return exchange->refuse(reply.error());
        std::string json;
        append_applied(json, *reply, nullptr, {});
        exchange->answer(std::move(json));
      });
  if (!is_taken) exchange->refuse_stopping();
}

using Verb = controller::Command (*)(model::WorkloadId workload, const controller::Caller& caller);

void on_workload(Desk& desk, const ExchangePtr& exchange, Verb verb) {
  const bool is_taken = desk.port.read([&desk, exchange, verb](const controller::Controller& loop,
                                                               base::Instant) {
    const auto record =
        find_workload(loop.state(), exchange->names[0], exchange->query.text("queue").value_or(""));
    if (!record) return exchange->refuse(record.error());
    const model::Workload& workload = (*record)->workload;
    if (exchange->caller.role < Role::Operator && workload.user != exchange->caller.user)
      return exchange->refuse(
          {.code = Code::PermissionDenied,
           .message = fmt::format("workload {} belongs to {}", workload.id.value, workload.user),
           .field = {},
           .hint = "ask its owner or an operator"});
    command(desk, exchange, verb(workload.id, exchange->caller));
  });
  if (!is_taken) exchange->refuse_stopping();
}

void set_condition(Desk& desk, const ExchangePtr& exchange, model::NodeCondition condition) {
  std::string note = exchange->query.text("note").value_or("");
  if (note.size() > kMaxNoteBytes)
    return exchange->refuse({.code = Code::TooLarge,
                             .message = fmt::format("the note has {} bytes", note.size()),
                             .field = "note",
                             .hint = fmt::format("use at most {}", kMaxNoteBytes)});
  command(desk, exchange,
          {.body =
               controller::SetNodeCondition{
                   .node = exchange->names[0], .condition = condition, .note = std::move(note)},
           .caller = exchange->caller});
}

}  // namespace

void cancel_workload(Desk& desk, const ExchangePtr& exchange) {
  on_workload(desk, exchange, [](model::WorkloadId workload, const controller::Caller& caller) {
    return controller::Command{.body = controller::Cancel{workload}, .caller = caller};
  });
}

void hold_workload(Desk& desk, const ExchangePtr& exchange) {
  on_workload(desk, exchange, [](model::WorkloadId workload, const controller::Caller& caller) {
    return controller::Command{.body = controller::Hold{workload}, .caller = caller};
  });
}

void release_workload(Desk& desk, const ExchangePtr& exchange) {
  on_workload(desk, exchange, [](model::WorkloadId workload, const controller::Caller& caller) {
    return controller::Command{.body = controller::Release{workload}, .caller = caller};
  });
}

void cordon_node(Desk& desk, const ExchangePtr& exchange) {
  set_condition(desk, exchange, model::NodeCondition::Cordoned);
}

void uncordon_node(Desk& desk, const ExchangePtr& exchange) {
  set_condition(desk, exchange, model::NodeCondition::Ready);
}

void drain_node(Desk& desk, const ExchangePtr& exchange) {
  set_condition(desk, exchange, model::NodeCondition::Draining);
}

}  // namespace api
