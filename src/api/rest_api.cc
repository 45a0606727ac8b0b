#include "api/rest_api.h"

#include <utility>

#include <fmt/ranges.h>

#include "api/internal/exchange.h"
#include "api/internal/problem.h"
#include "api/internal/routes.h"
#include "platform/system_clock.h"

namespace api {

using base::Code;
using platform::HttpResponse;

struct RestApi::Parts {
  Desk desk;

  // True: it was one of the paths that are open to everybody.
  bool answer_openly(const platform::HttpRequest& request, const platform::HttpReply& reply) const;
  void answer_known(ExchangePtr exchange);
};

namespace {

HttpResponse plain(std::string text) {
  return {.status = 200, .headers = {{"Content-Type", "text/plain"}}, .body = std::move(text)};
}

bool is_reading(const std::string& method) { return method == "GET" || method == "HEAD"; }

base::Error no_such_path(const std::string& path) {
  return {.code = Code::NotFound,
          .message = fmt::format("there is nothing at {}", path),
          .field = {},
          .hint = "GET /api/v1/openapi.yaml describes what there is"};
}

base::Error not_allowed(const controller::Caller& caller, controller::Role least) {
  static constexpr std::string_view kNames[] = {"viewer", "user", "operator", "admin"};
  return {.code = Code::PermissionDenied,
          .message = fmt::format("{} has the role {}; this needs {}", caller.user,
                                 kNames[static_cast<std::size_t>(caller.role)],
                                 kNames[static_cast<std::size_t>(least)]),
          .field = {},
          .hint = "use a token with that role"};
}

std::string credential_of(const platform::HttpRequest& request) {
  const std::string* given = platform::find_header(request.headers, "Authorization");
  return given != nullptr ? *given : std::string();
}

}  // namespace

bool RestApi::Parts::answer_openly(const platform::HttpRequest& request,
                                   const platform::HttpReply& reply) const {
  if (!is_reading(request.method)) return false;
  if (request.path == "/livez") {
    reply.send(plain("ok\n"));
    return true;
  }
  if (request.path == "/readyz") {
    const auto ready = desk.port.readiness();
    reply.send(ready ? plain("ok\n") : problem(ready.error(), request.path));
    return true;
  }
  if (!desk.options.files || request.path == "/api" || request.path.starts_with("/api/") ||
      request.path == "/metrics")
    return false;
  auto file = desk.options.files(request);
  reply.send(file ? std::move(*file) : problem(no_such_path(request.path), request.path));
  return true;
}

void RestApi::Parts::answer_known(ExchangePtr exchange) {
  const platform::HttpRequest& request = exchange->request;
  Match match = find_route(request.method, request.path);
  if (match.route == nullptr && match.allowed.empty())
    return exchange->refuse(no_such_path(request.path));
  if (match.route == nullptr) {
    HttpResponse response =
        problem({.code = Code::Unsupported,
                 .message = fmt::format("{} is not possible on {}", request.method, request.path),
                 .field = {},
                 .hint = fmt::format("possible: {}", fmt::join(match.allowed, ", "))},
                request.path);
    response.status = 405;
    response.headers.emplace_back("Allow", fmt::format("{}", fmt::join(match.allowed, ", ")));
    return exchange->answer(std::move(response));
  }
  const Route& route = *match.route;
  if (desk.options.on_answer)
    exchange->told = [name = fmt::format("{} {}", route.method, route.path),
                      tell = desk.options.on_answer, began = platform::steady_micros()](
                         int status) { tell(name, status, platform::steady_micros() - began); };
  if (exchange->caller.role < route.role)
    return exchange->refuse(not_allowed(exchange->caller, route.role));
  auto query = Query::parse(request.query, route.parameters);
  if (!query) return exchange->refuse(query.error());
  exchange->query = std::move(*query);
  exchange->names = std::move(match.names);
  route.handler(desk, exchange);
}

RestApi::RestApi(RestOptions options, LoopPort& port, controller::Identity& identity)
    : parts_(std::make_shared<Parts>(Parts{.desk = {.options = std::move(options),
                                                    .port = port,
                                                    .identity = identity,
                                                    .feed = EventFeed::on(port)}})) {}

RestApi::~RestApi() = default;

void RestApi::handle(platform::HttpRequest request, platform::HttpReply reply) {
  if (parts_->answer_openly(request, reply)) return;
  auto caller = parts_->desk.identity.authenticate(credential_of(request));
  // Who is not known learns nothing, not even which paths there are.
  if (!caller) return reply.send(problem(caller.error(), request.path));
  parts_->answer_known(
      std::make_shared<Exchange>(std::move(request), std::move(reply), std::move(*caller)));
}

}  // namespace api
