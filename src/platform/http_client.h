#pragma once
// An HTTP client for the command line, webhooks and tests. One HttpClient is one keep-alive
// connection for one thread at a time. A response of any status is a value; only a peer that could
// not be reached, that broke off or that sent too much is an Error.
//
//   HttpClient client;
//   auto response = client.call({.url = server + "/api/v1/workloads",
//                                .headers = {{"Authorization", "Bearer " + token}}});
//   if (!response) return response.error();       // Code::Unavailable: not reachable
//   if (response->status != 200) ...

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/instant.h"
#include "base/result.h"
#include "platform/http_message.h"

namespace platform {

struct HttpCall {
  std::string method = "GET";
  std::string url;  // http or https
  HttpHeaders headers;
  std::string body;  // sent when not empty, or when the method is POST, PUT or PATCH
  base::Duration connect_timeout = base::seconds(5);
  base::Duration timeout = base::seconds(30);  // of the whole call; zero: none, for streams
  base::Duration idle_timeout{};  // ends a stream on which nothing came for so long; zero: never
  std::size_t max_body_bytes = 64 << 20;  // of a response that is collected; Code::TooLarge beyond
  std::string ca_file;                    // trusted instead of the system's; empty: the system's
  const std::atomic<bool>* stop = nullptr;  // the call ends soon after this becomes true
};

class HttpClient {
 public:
  HttpClient();
  ~HttpClient();
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;

  // Redirects are not followed.
  base::Result<HttpResponse> call(const HttpCall& call);
  // Hands the body of a 2xx response to `sink` as it arrives; a sink that returns false ends the
  // call without an error. The body of any other status is collected in the response as usual.
  base::Result<HttpResponse> stream(const HttpCall& call,
                                    const std::function<bool(std::string_view)>& sink);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace platform
