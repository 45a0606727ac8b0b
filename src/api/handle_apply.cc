// Manifests that are posted: parsed and checked here as a whole, then given to the loop one by one,
// in order, and answered together after their commits.

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <utility>

#include "api/internal/dto.h"
#include "api/internal/handlers.h"
#include "api/internal/problem.h"
#include "manifest/parse.h"

namespace api {

using base::Code;
using base::Result;
using controller::Reply;
using controller::Role;

namespace {

constexpr std::size_t kMaxKeyBytes = 128;

// What the parts of one request wait for. Filled on the loop's thread only.
struct Round {
  std::vector<manifest::Document> documents;
  std::vector<Result<Reply>> results;
  std::size_t waiting = 0;
  bool is_one = false;  // POST to a kind: the answer is the thing itself, not a list
};
using RoundPtr = std::shared_ptr<Round>;

bool is_workload(const manifest::Document& document) {
  return std::holds_alternative<manifest::WorkloadDocument>(document.body);
}

Role role_for(const manifest::Document& document) {
  return is_workload(document) ? Role::User : Role::Admin;
}

std::string_view kind_of(const manifest::Document& document) {
  static constexpr std::array<std::string_view, 6> kKinds{"Workload", "Queue",  "Pool",
                                                          "Class",    "Policy", "Topology"};
  if (const auto* workload = std::get_if<manifest::WorkloadDocument>(&document.body))
    return base::name_of(workload->workload.kind);
  return kKinds[document.body.index()];
}

// Told by Content-Type; without one that is known, by the text itself.
manifest::Notation notation_of(const platform::HttpRequest& request) {
  const std::string* type = platform::find_header(request.headers, "Content-Type");
  if (type == nullptr) return manifest::Notation::Detect;
  if (type->find("yaml") != std::string::npos) return manifest::Notation::Yaml;
  if (type->find("json") != std::string::npos) return manifest::Notation::Json;
  return manifest::Notation::Detect;
}

Result<std::vector<manifest::Document>> documents_of(const Exchange& exchange) {
  auto documents = manifest::parse(exchange.request.body,
                                   {.source = "", .notation = notation_of(exchange.request)});
  if (!documents) return documents;
  for (const manifest::Document& document : *documents)
    if (exchange.caller.role < role_for(document)) {
      auto refused = base::fail(Code::PermissionDenied, "{} may not define a {}",
                                exchange.caller.user, kind_of(document));
      refused.value().hint = "rules are changed by the role admin";
      return refused;
    }
  return documents;
}

// A key is the caller's own: two users may choose the same one. The parts of a request differ.
Result<std::string> request_key(const Exchange& exchange, std::size_t index, std::size_t count) {
  const std::string* key = platform::find_header(exchange.request.headers, "Idempotency-Key");
  if (key == nullptr) return std::string();
  const bool is_plain =
      std::all_of(key->begin(), key->end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (key->empty() || key->size() > kMaxKeyBytes || !is_plain)
    return base::fail_field(Code::InvalidArgument, "Idempotency-Key", "not a key",
                            "use 1 to 128 printable ASCII characters without spaces");
  std::string own = exchange.caller.user + "/" + *key;
  if (count > 1) own += fmt::format("#{}", index);
  return own;
}

void append_result(std::string& out, const Round& round, std::size_t index,
                   const model::State* state, base::Instant now, std::string_view path) {
  const Result<Reply>& result = round.results[index];
  if (result) return append_applied(out, *result, state, now);
  out += "{\"action\":\"refused\",\"kind\":\"";
  out += kind_of(round.documents[index]);
  out += "\",\"name\":\"\",\"sequence\":0,\"error\":";
  append_problem(out, result.error(), path);
  out += '}';
}

void respond(const ExchangePtr& exchange, const Round& round, const model::State* state,
             base::Instant now) {
  const bool is_single = round.results.size() == 1;
  if (is_single && !round.results[0]) return exchange->refuse(round.results[0].error());
  const bool has_refusals =
      std::any_of(round.results.begin(), round.results.end(), [](const auto& r) { return !r; });
  platform::HttpResponse response{.status = has_refusals ? 207 : 200,
                                  .headers = {{"Content-Type", "application/json"}},
                                  .body = {}};
  if (round.is_one) {
    const Reply& reply = *round.results[0];
    // A dry run has created nothing, whatever it would have.
    if (reply.action == controller::Action::Created && reply.sequence) response.status = 201;
    if (response.status == 201 && reply.workload)
      response.headers.emplace_back("Location",
                                    fmt::format("/api/v1/workloads/{}", reply.workload.value));
    append_result(response.body, round, 0, state, now, exchange->request.path);
  } else {
    response.body = "{\"items\":[";
    for (std::size_t i = 0; i < round.results.size(); ++i) {
      if (i > 0) response.body += ',';
      append_result(response.body, round, i, state, now, exchange->request.path);
    }
    response.body += "]}";
  }
  response.body += '\n';
  exchange->answer(std::move(response));
}

// The words of a dry run need State; a plain answer does not go to the loop again.
void finish(Desk& desk, const ExchangePtr& exchange, const RoundPtr& round) {
  const bool needs_state = std::any_of(round->results.begin(), round->results.end(),
                                       [](const auto& r) { return r && r->would; });
  if (!needs_state) return respond(exchange, *round, nullptr, {});
  if (!desk.port.read([exchange, round](const controller::Controller& loop, base::Instant now) {
        respond(exchange, *round, &loop.state(), now);
      }))
    exchange->refuse_stopping();
}

void submit(Desk& desk, const ExchangePtr& exchange, std::vector<manifest::Document> documents,
            bool is_one) {
  const auto dry_run = exchange->query.truth("dryRun");
  if (!dry_run) return exchange->refuse(dry_run.error());
  const std::size_t count = documents.size();
  std::vector<controller::Command> commands;
  for (std::size_t i = 0; i < count; ++i) {
    auto key = request_key(*exchange, i, count);
    if (!key) return exchange->refuse(key.error());
    commands.push_back(
        {.body = controller::Apply{.document = documents[i],
                                   .request_key =
                                       is_workload(documents[i]) ? std::move(*key) : std::string(),
                                   .is_dry_run = *dry_run},
         .caller = exchange->caller});
  }
  const auto round = std::make_shared<Round>();
  round->documents = std::move(documents);
  round->waiting = count;
  round->is_one = is_one;
  for (std::size_t i = 0; i < count; ++i)
    round->results.emplace_back(
        base::fail(Code::Unavailable, "the server is stopping or overloaded"));
  // Answers may come on the loop's thread while this one still hands in commands, so a refused
  // hand-in is counted there too.
  for (std::size_t i = 0; i < count; ++i) {
    const auto answered = [&desk, exchange, round, i](Result<Reply> result) {
      round->results[i] = std::move(result);
      if (--round->waiting == 0) finish(desk, exchange, round);
    };
    if (desk.port.command(std::move(commands[i]), answered)) continue;
    if (!desk.port.read([answered](const controller::Controller&, base::Instant) {
          answered(base::fail(Code::Unavailable, "the server is overloaded"));
        }))
      return exchange->refuse_stopping();
  }
}

void create_of_kind(Desk& desk, const ExchangePtr& exchange, std::string_view kind) {
  auto documents = documents_of(*exchange);
  if (!documents) return exchange->refuse(documents.error());
  if (documents->size() != 1)
    return exchange->refuse(
        {.code = Code::InvalidArgument,
         .message = fmt::format("{} documents where one is expected", documents->size()),
         .field = {},
         .hint = "post several to /api/v1/apply"});
  const std::string_view given = kind_of(documents->front());
  const bool fits = kind == "Workload" ? is_workload(documents->front()) : given == kind;
  if (!fits)
    return exchange->refuse(
        {.code = Code::InvalidArgument,
         .message = fmt::format("a {} was posted where a {} is expected", given, kind),
         .field = "kind",
         .hint = "post it to the path of its kind, or to /api/v1/apply"});
  submit(desk, exchange, std::move(*documents), true);
}

}  // namespace

void apply_manifests(Desk& desk, const ExchangePtr& exchange) {
  auto documents = documents_of(*exchange);
  if (!documents) return exchange->refuse(documents.error());
  submit(desk, exchange, std::move(*documents), false);
}

void create_workload(Desk& desk, const ExchangePtr& exchange) {
  create_of_kind(desk, exchange, "Workload");
}
void create_training_job(Desk& desk, const ExchangePtr& exchange) {
  create_of_kind(desk, exchange, "TrainingJob");
}
void create_inference_service(Desk& desk, const ExchangePtr& exchange) {
  create_of_kind(desk, exchange, "InferenceService");
}
void create_notebook(Desk& desk, const ExchangePtr& exchange) {
  create_of_kind(desk, exchange, "Notebook");
}
void create_batch_inference(Desk& desk, const ExchangePtr& exchange) {
  create_of_kind(desk, exchange, "BatchInference");
}
void apply_queue(Desk& desk, const ExchangePtr& exchange) {
  create_of_kind(desk, exchange, "Queue");
}
void apply_pool(Desk& desk, const ExchangePtr& exchange) { create_of_kind(desk, exchange, "Pool"); }
void apply_class(Desk& desk, const ExchangePtr& exchange) {
  create_of_kind(desk, exchange, "Class");
}
void apply_policy(Desk& desk, const ExchangePtr& exchange) {
  create_of_kind(desk, exchange, "Policy");
}
void apply_topology(Desk& desk, const ExchangePtr& exchange) {
  create_of_kind(desk, exchange, "Topology");
}

}  // namespace api
