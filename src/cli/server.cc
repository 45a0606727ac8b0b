#include "cli/server.h"

#include <boost/json.hpp>

#include "cli/json_access.h"
#include "platform/random_bytes.h"
#include "platform/url.h"

namespace cli {
namespace {

using base::Code;
namespace json = boost::json;

constexpr Code kCodes[] = {Code::InvalidArgument,  Code::NotFound,           Code::AlreadyExists,
                           Code::Conflict,         Code::FailedPrecondition, Code::Unauthenticated,
                           Code::PermissionDenied, Code::TooLarge,           Code::Exhausted,
                           Code::Unavailable,      Code::DataLoss,           Code::Unsupported,
                           Code::Internal};

Code code_of_status(int status) {
  switch (status) {
    case 400:
    case 422:
      return Code::InvalidArgument;
    case 401:
      return Code::Unauthenticated;
    case 403:
      return Code::PermissionDenied;
    case 404:
      return Code::NotFound;
    case 409:
    case 412:
      return Code::Conflict;
    case 413:
    case 431:
      return Code::TooLarge;
    case 501:
      return Code::Unsupported;
    case 502:
    case 503:
    case 504:
      return Code::Unavailable;
    default:
      return Code::Internal;
  }
}

base::Result<json::value> parsed(const std::string& body) {
  boost::system::error_code broken;
  json::value value = json::parse(body, broken);
  if (broken)
    return base::fail_field(Code::Internal, "", "the answer is no JSON: " + broken.message(),
                            "is this really a Berth server?");
  return value;
}

bool is_success(int status) { return status >= 200 && status < 300; }

}  // namespace

Server::Server(Settings settings, const std::atomic<bool>* stop)
    : settings_(std::move(settings)), stop_(stop) {}

platform::HttpCall Server::call_to(std::string_view path, const Query& query) const {
  platform::HttpCall call;
  call.url = fmt::format("{}/api/v1{}", settings_.server, path);
  char separator = '?';
  for (const auto& [name, value] : query) {
    if (value.empty()) continue;
    call.url += fmt::format("{}{}={}", separator, name, platform::percent_encode(value));
    separator = '&';
  }
  if (!settings_.token.empty())
    call.headers.emplace_back("Authorization", "Bearer " + settings_.token);
  call.headers.emplace_back("Accept", "application/json");
  call.stop = stop_;
  return call;
}

base::Error Server::unreachable(const base::Error& error) const {
  if (error.code != Code::Unavailable) return error;
  return {.code = Code::Unavailable,
          .message = fmt::format("no server answers at {} (from {}): {}", settings_.server,
                                 settings_.server_from, error.message),
          .field = {},
          .hint = "start one with: berth serve; or name another with --server or BERTH_SERVER"};
}

base::Error Server::problem(const platform::HttpResponse& response) const {
  base::Error error{
      .code = code_of_status(response.status), .message = {}, .field = {}, .hint = {}};
  boost::system::error_code broken;
  const json::value value = json::parse(response.body, broken);
  if (!broken) {
    const std::string code = text_at(value, "code");
    for (const Code known : kCodes)
      if (base::code_name(known) == code) error.code = known;
    error.message = text_at(value, "detail");
    error.field = text_at(value, "field");
    error.hint = text_at(value, "hint");
  }
  if (error.message.empty())
    error.message = fmt::format("the server answered {} {}", response.status,
                                platform::status_text(response.status));
  if (error.code == Code::Unauthenticated && error.hint.empty())
    error.hint =
        "give a token with --token or BERTH_TOKEN; the first one is in the server's admin.token";
  return error;
}

base::Result<platform::HttpResponse> Server::raw(std::string_view path, const Query& query) {
  base::Result<platform::HttpResponse> response = client_.call(call_to(path, query));
  if (!response) return tl::unexpected(unreachable(response.error()));
  if (!is_success(response->status)) return tl::unexpected(problem(*response));
  return response;
}

base::Result<json::value> Server::get(std::string_view path, const Query& query) {
  const base::Result<platform::HttpResponse> response = raw(path, query);
  if (!response) return tl::unexpected(response.error());
  return parsed(response->body);
}

base::Result<json::value> Server::list(std::string_view path, Query query, std::size_t most) {
  json::array items;
  query.emplace_back("limit", "");
  query.emplace_back("cursor", "");
  constexpr std::size_t kPage = 1000;
  while (items.size() < most) {
    query[query.size() - 2].second = std::to_string(std::min(kPage, most - items.size()));
    const base::Result<json::value> page = get(path, query);
    if (!page) return page;
    const std::span<const json::value> more = array_at(*page, "items");
    items.insert(items.end(), more.begin(), more.end());
    query.back().second = text_at(*page, "cursor");
    if (query.back().second.empty() || more.empty()) break;
  }
  return json::value(json::object{{"items", std::move(items)}});
}

base::Result<json::value> Server::post(std::string_view path, const Query& query, std::string body,
                                       std::string_view content_type) {
  platform::HttpCall call = call_to(path, query);
  call.method = "POST";
  call.headers.emplace_back("Content-Type", std::string(content_type));
  call.headers.emplace_back("Idempotency-Key", platform::random_hex(16));
  call.body = std::move(body);
  const base::Result<platform::HttpResponse> response = client_.call(call);
  if (!response) return tl::unexpected(unreachable(response.error()));
  if (!is_success(response->status)) return tl::unexpected(problem(*response));
  return parsed(response->body);
}

base::Result<base::Done> Server::stream(std::string_view path, const Query& query,
                                        std::string_view accept,
                                        const std::function<bool(std::string_view)>& sink) {
  platform::HttpCall call = call_to(path, query);
  call.headers.back().second = std::string(accept);
  call.timeout = base::Duration{};
  const base::Result<platform::HttpResponse> response = client_.stream(call, sink);
  if (!response) return tl::unexpected(unreachable(response.error()));
  if (!is_success(response->status)) return tl::unexpected(problem(*response));
  return base::Done{};
}

int exit_code_of(Code code) {
  switch (code) {
    case Code::NotFound:
      return 3;
    case Code::Unauthenticated:
    case Code::PermissionDenied:
      return 4;
    case Code::Unavailable:
      return 5;
    default:
      return 1;
  }
}

}  // namespace cli
