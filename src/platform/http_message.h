#pragma once
// HTTP requests and responses as plain values, the same for server and client. No type of a library
// appears here.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace platform {

// In the order received or to be sent. Names compare without case.
using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// The value of the first header of that name; null: there is none.
const std::string* find_header(const HttpHeaders& headers, std::string_view name);

bool equals_ignoring_case(std::string_view a, std::string_view b);

struct HttpRequest {
  std::string method;  // "GET"
  std::string path;    // as sent, percent-encoded, without the query
  std::string query;   // as sent, without the question mark; see platform/url.h
  HttpHeaders headers;
  std::string body;
  std::string peer;  // address and port of the other end, for logs
};

struct HttpResponse {
  int status = 200;
  HttpHeaders headers;  // Content-Length, Date and Connection are the server's own business
  std::string body;
};

// "Not Found" for 404; "Status" for one that has no name here.
std::string_view status_text(int status);

}  // namespace platform
