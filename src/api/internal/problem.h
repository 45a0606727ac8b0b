#pragma once
// Errors as application/problem+json (RFC 9457): the status of each code, and the body.

#include <string>
#include <string_view>

#include "base/result.h"
#include "platform/http_message.h"

namespace api {

int status_of(base::Code code);

// `instance` is the path of the request.
void append_problem(std::string& out, const base::Error& error, std::string_view instance);
platform::HttpResponse problem(const base::Error& error, std::string_view instance);

}  // namespace api
