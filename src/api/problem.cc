#include "api/internal/problem.h"

#include <fmt/format.h>

#include "api/internal/json_object.h"
#include "base/assert.h"

namespace api {

using base::Code;

namespace {

std::string_view title_of(Code code) {
  switch (code) {
    case Code::InvalidArgument:
      return "The request is not valid";
    case Code::NotFound:
      return "Not found";
    case Code::AlreadyExists:
      return "The name is taken";
    case Code::Conflict:
      return "The state has changed";
    case Code::FailedPrecondition:
      return "Not possible now";
    case Code::Unauthenticated:
      return "Who is asking is not known";
    case Code::PermissionDenied:
      return "Not allowed";
    case Code::TooLarge:
      return "Too large";
    case Code::Exhausted:
      return "Out of room";
    case Code::Unavailable:
      return "Not available now";
    case Code::DataLoss:
      return "Stored data is damaged";
    case Code::Unsupported:
      return "Not supported here";
    case Code::Internal:
      return "Internal error";
  }
  ASSERT(false);
  return {};
}

}  // namespace

int status_of(Code code) {
  switch (code) {
    case Code::InvalidArgument:
      return 400;
    case Code::NotFound:
      return 404;
    case Code::AlreadyExists:
    case Code::Conflict:
    case Code::FailedPrecondition:
      return 409;
    case Code::Unauthenticated:
      return 401;
    case Code::PermissionDenied:
      return 403;
    case Code::TooLarge:
      return 413;
    case Code::Exhausted:
      return 507;
    case Code::Unavailable:
      return 503;
    case Code::Unsupported:
      return 501;
    case Code::DataLoss:
    case Code::Internal:
      return 500;
  }
  ASSERT(false);
  return 500;
}

void append_problem(std::string& out, const base::Error& error, std::string_view instance) {
  const std::string_view code = base::code_name(error.code);
  JsonObject object(out);
  object.text("type", fmt::format("urn:berth:problem:{}", code));
  object.text("title", title_of(error.code));
  object.number("status", status_of(error.code));
  object.text("detail", error.message);
  object.text("instance", instance);
  object.text("code", code);
  object.text_if_any("field", error.field);
  object.text_if_any("hint", error.hint);
}

platform::HttpResponse problem(const base::Error& error, std::string_view instance) {
  platform::HttpResponse response{.status = status_of(error.code),
                                  .headers = {{"Content-Type", "application/problem+json"}},
                                  .body = {}};
  if (error.code == Code::Unauthenticated)
    response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"berth\"");
  append_problem(response.body, error, instance);
  response.body += '\n';
  return response;
}

}  // namespace api
