#include <array>

#include "api/internal/dto.h"
#include "api/internal/json_object.h"
#include "base/json_text.h"
#include "governance/explain_text.h"

namespace api {

namespace {

void append_holder(std::string& out, const model::State& state, const model::Holder& holder) {
  JsonObject object(out);
  if (holder.workload) {
    object.number("workload", static_cast<std::int64_t>(holder.workload.value));
    if (const model::WorkloadRecord* record = state.workloads.find(holder.workload)) {
      object.text_if_any("name", record->workload.name);
      object.text("user", record->workload.user);
    }
  }
  if (holder.queue) object.text("queue", queue_name(state, holder.queue));
  object.number("amount", holder.amount);
  object.text_if_any("protection", reason_text(holder.protection));
  object.time_if_any("until", holder.until);
}

void append_rejection(std::string& out, const model::State& state,
                      const model::Rejection& rejection) {
  JsonObject object(out);
  object.text("reason", reason_text(rejection.reason));
  object.number("count", rejection.count);
  JsonList examples(object.value("examples"));
  for (const model::NodeId node : rejection.examples)
    base::append_json_string(examples.next(), node_name(state, node));
}

void append_step(std::string& out, const model::State& state, const model::Step& step) {
  JsonObject object(out);
  object.text("test", base::name_of(step.test));
  object.text("outcome", base::name_of(step.outcome));
  object.text_if_any("reason", reason_text(step.reason));
  if (step.dimension) {
    object.text("pool", pool_name(state, step.dimension->pool));
    object.text("resource", resource_name(state, step.dimension->resource));
  }
  if (step.queue) object.text("queue", queue_name(state, *step.queue));
  object.number("need", step.need);
  object.number("have", step.have);
  if (step.limit) object.number("limit", *step.limit);
  {
    JsonList holders(object.value("holders"));
    for (const model::Holder& holder : step.holders)
      append_holder(holders.next(), state, holder);
  }
  {
    JsonList rejected(object.value("rejected"));
    for (const model::Rejection& rejection : step.rejected)
      append_rejection(rejected.next(), state, rejection);
  }
  object.time_if_any("until", step.until);
}

}  // namespace

void append_event(std::string& out, const model::Event& event) {
  JsonObject object(out);
  object.number("sequence", static_cast<std::int64_t>(event.sequence.value));
  object.time("at", event.at);
  object.text_if_any("actor", event.actor);
  object.text("kind", model::kind_of(event));
  base::append_json(object.value("body"), event.body);
}

void append_explanation(std::string& out, const model::State& state,
                        const model::Explanation& explanation, governance::Language language,
                        base::Instant now) {
  JsonObject object(out);
  if (explanation.workload)
    object.number("workload", static_cast<std::int64_t>(explanation.workload.value));
  object.time("at", explanation.at);
  object.text("question", base::name_of(explanation.question));
  object.text("verdict", base::name_of(explanation.verdict));
  object.text("reason", reason_text(model::reason_of(explanation)));
  object.text("text", governance::explain(explanation, state, language, now));
  JsonList steps(object.value("steps"));
  for (const model::Step& step : explanation.steps)
    append_step(steps.next(), state, step);
}

void append_applied(std::string& out, const controller::Reply& reply, const model::State* state,
                    base::Instant now) {
  static constexpr std::array<std::string_view, 4> kActions{"created", "configured", "unchanged",
                                                            "accepted"};
  JsonObject object(out);
  object.text("action", kActions[static_cast<std::size_t>(reply.action)]);
  object.text("kind", reply.kind);
  object.text("name", reply.name);
  if (reply.workload) object.number("number", static_cast<std::int64_t>(reply.workload.value));
  object.number("sequence", static_cast<std::int64_t>(reply.sequence.value));
  if (reply.would && state != nullptr)
    append_explanation(object.value("would"), *state, *reply.would, governance::Language::English,
                       now);
}

}  // namespace api
