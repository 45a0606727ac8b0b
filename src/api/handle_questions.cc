// Questions that change nothing: why, fits, usage, and what the server says about itself.

#include <algorithm>
#include <array>
#include <utility>

#include "api/internal/dto.h"
#include "api/internal/handlers.h"
#include "api/internal/json_object.h"
#include "api/internal/openapi_text.h"
#include "base/json_text.h"
#include "governance/amount_text.h"
#include "governance/ledger.h"
#include "manifest/parse.h"
#include "manifest/resolve.h"

namespace api {

using base::Code;
using base::Result;

namespace {

Result<governance::Language> language_of(const Query& query) {
  static constexpr std::string_view kLanguages[] = {"en", "zh"};
  const auto language = query.choice("lang", kLanguages);
  if (!language) return tl::unexpected(language.error());
  return *language == "zh" ? governance::Language::Chinese : governance::Language::English;
}

Result<std::string> explained(const controller::Controller& loop, base::Instant now,
                              const scheduling::Question& question, governance::Language language) {
  const model::Plan plan = loop.ask(now, question);
  if (!plan.answer)
    return base::fail(Code::Internal, "the planner gave no answer to this question");
  std::string json;
  append_explanation(json, loop.state(), *plan.answer, language, now);
  return json;
}

}  // namespace

void why_workload(Desk& desk, const ExchangePtr& exchange) {
  const auto language = language_of(exchange->query);
  if (!language) return exchange->refuse(language.error());
  answer_from_loop(desk, exchange,
                   [word = exchange->names[0], queue = exchange->query.text("queue").value_or(""),
                    language = *language](const controller::Controller& loop,
                                          base::Instant now) -> Result<std::string> {
                     const auto record = find_workload(loop.state(), word, queue);
                     if (!record) return tl::unexpected(record.error());
                     return explained(loop, now, scheduling::Why{(*record)->workload.id}, language);
                   });
}

void fits(Desk& desk, const ExchangePtr& exchange) {
  const auto language = language_of(exchange->query);
  if (!language) return exchange->refuse(language.error());
  auto document = manifest::parse_one(exchange->request.body);
  if (!document) return exchange->refuse(document.error());
  if (!std::holds_alternative<manifest::WorkloadDocument>(document->body))
    return exchange->refuse({.code = Code::InvalidArgument,
                             .message = "only a workload can be asked about",
                             .field = "kind",
                             .hint = "post a TrainingJob, InferenceService, Notebook, "
                                     "BatchInference or Workload"});
  answer_from_loop(
      desk, exchange,
      [document = std::move(*document), user = exchange->caller.user, language = *language](
          const controller::Controller& loop, base::Instant now) -> Result<std::string> {
        auto resolved = manifest::resolve(document, loop.state());
        if (!resolved) return tl::unexpected(resolved.error());
        auto& workload = std::get<model::Workload>(resolved->value);
        workload.user = user;
        workload.submitted = now;
        return explained(loop, now, scheduling::Fits{std::move(workload)}, language);
      });
}

void describe_server(Desk& desk, const ExchangePtr& exchange) {
  answer_from_loop(
      desk, exchange,
      [version = desk.options.version, caller = exchange->caller](
          const controller::Controller& loop, base::Instant now) -> Result<std::string> {
        static constexpr std::array<std::string_view, 4> kRoles{"viewer", "user", "operator",
                                                                "admin"};
        const model::State& state = loop.state();
        std::string json;
        {
          JsonObject object(json);
          object.text("version", version);
          object.text("apiVersion", "berth/v1");
          object.number("sequence", static_cast<std::int64_t>(state.last_sequence.value));
          object.number("epoch", static_cast<std::int64_t>(state.epoch.value));
          object.time("now", now);
          object.text("user", caller.user);
          object.text("role", kRoles[static_cast<std::size_t>(caller.role)]);
        }
        return json;
      });
}

namespace {

void append_usage_line(std::string& out, const model::State& state,
                       const governance::UsageLine& line) {
  const governance::UsageCounts& counts = line.counts;
  JsonObject object(out);
  object.text("key", governance::key_text(state, line.key));
  object.text("text",
              governance::device_time_text(counts.allocated, governance::Language::English));
  governance::UsageCounts::fields(counts, [&object](int, std::string_view name, const auto& value) {
    object.number(name, value);
  });
}

void append_capacity_line(std::string& out, const model::State& state,
                          const governance::CapacityLine& line) {
  JsonObject object(out);
  object.text("pool", pool_name(state, line.pool));
  governance::CapacityCounts::fields(
      line.counts,
      [&object](int, std::string_view name, const auto& value) { object.number(name, value); });
}

std::string usage_json(const model::State& state, const governance::Ledger& ledger,
                       governance::UsageBy by, std::string_view word,
                       const governance::Window& window, base::Instant now) {
  std::vector<governance::UsageLine> lines = ledger.usage(by, window, now);
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
    return a.counts.allocated > b.counts.allocated;
  });
  std::string json;
  {
    JsonObject object(json);
    object.text("by", word);
    object.time("from", window.from);
    object.time("until", std::min(window.until, now));
    {
      JsonList items(object.value("items"));
      for (const auto& line : lines)
        append_usage_line(items.next(), state, line);
    }
    JsonList capacity(object.value("capacity"));
    for (const auto& line : ledger.capacity(window, now))
      append_capacity_line(capacity.next(), state, line);
  }
  return json;
}

}  // namespace

void report_usage(Desk& desk, const ExchangePtr& exchange) {
  static constexpr std::string_view kKeys[] = {"queue", "user", "class", "kind", "pool"};
  const auto word = exchange->query.choice("by", kKeys);
  const auto from = exchange->query.time("from");
  const auto until = exchange->query.time("until");
  if (!word) return exchange->refuse(word.error());
  if (!from) return exchange->refuse(from.error());
  if (!until) return exchange->refuse(until.error());
  const governance::Window window{.from = from->value_or(base::Instant{0}),
                                  .until = until->value_or(base::kNever)};
  if (window.until <= window.from)
    return exchange->refuse({.code = Code::InvalidArgument,
                             .message = "the window ends before it begins",
                             .field = "until",
                             .hint = "give a time after `from`"});
  const auto by = static_cast<governance::UsageBy>(
      std::find(std::begin(kKeys), std::end(kKeys), *word) - std::begin(kKeys));
  answer_from_loop(desk, exchange,
                   [&desk, by, word = *word, window](const controller::Controller& loop,
                                                     base::Instant now) -> Result<std::string> {
                     const governance::Ledger* ledger = desk.port.ledger();
                     if (ledger == nullptr)
                       return base::fail(Code::Unsupported, "this server keeps no ledger");
                     return usage_json(loop.state(), *ledger, by, word, window, now);
                   });
}

void give_metrics(Desk& desk, const ExchangePtr& exchange) {
  if (!desk.options.metrics)
    return exchange->refuse({.code = Code::NotFound, .message = "this server gives no metrics"});
  exchange->answer(platform::HttpResponse{
      .status = 200,
      .headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},
      .body = desk.options.metrics()});
}

void give_openapi(Desk&, const ExchangePtr& exchange) {
  exchange->answer(platform::HttpResponse{.status = 200,
                                          .headers = {{"Content-Type", "application/yaml"}},
                                          .body = std::string(openapi_text())});
}

}  // namespace api
