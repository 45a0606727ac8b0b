#include "platform/http_client.h"

#include <mutex>
#include <utility>

#include <curl/curl.h>

#include "base/assert.h"
#include "platform/system_clock.h"

namespace platform {

namespace {

constexpr std::size_t kMaxResponseHeaderBytes = 256 << 10;

// What one transfer collects; libcurl hands it back to the callbacks.
struct Transfer {
  CURL* handle = nullptr;
  const HttpCall* call = nullptr;
  const std::function<bool(std::string_view)>* sink = nullptr;
  HttpResponse response;
  std::size_t header_bytes = 0;
  base::Duration last_byte;
  bool is_stopped_by_sink = false;
  bool is_too_large = false;
  bool is_idle = false;
};

// Of the last response when there were several, as after "100 Continue".
std::size_t take_header(char* bytes, std::size_t size, std::size_t count, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  std::string_view line(bytes, size * count);
  transfer.header_bytes += line.size();
  if (transfer.header_bytes > kMaxResponseHeaderBytes) {
    transfer.is_too_large = true;
    return 0;
  }
  while (line.ends_with('\n') || line.ends_with('\r'))
    line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {
    transfer.response.headers.clear();
  } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ') || value.starts_with('\t'))
      value.remove_prefix(1);
    transfer.response.headers.emplace_back(line.substr(0, colon), value);
  }
  return size * count;
}

std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  const std::string_view piece(bytes, size * count);
  transfer.last_byte = steady_now();
  long status = 0;
  ::curl_easy_getinfo(transfer.handle, CURLINFO_RESPONSE_CODE, &status);
  if (transfer.sink != nullptr && status >= 200 && status < 300) {
    if ((*transfer.sink)(piece)) return piece.size();
    transfer.is_stopped_by_sink = true;
    return 0;
  }
  if (transfer.response.body.size() + piece.size() > transfer.call->max_body_bytes) {
    transfer.is_too_large = true;
    return 0;
  }
  transfer.response.body += piece;
  return piece.size();
}

// Called by libcurl about once a second while nothing moves, more often while something does.
int look_at_progress(void* context, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& transfer = *static_cast<Transfer*>(context);
  const HttpCall& call = *transfer.call;
  if (call.stop != nullptr && call.stop->load()) return 1;
  if (call.idle_timeout.millis > 0 && steady_now() - transfer.last_byte > call.idle_timeout) {
    transfer.is_idle = true;
    return 1;
  }
  return 0;
}

bool sends_body(const HttpCall& call) {
  return !call.body.empty() || call.method == "POST" || call.method == "PUT" ||
         call.method == "PATCH";
}

void set_request(CURL* handle, const HttpCall& call, curl_slist* headers) {
  ::curl_easy_setopt(handle, CURLOPT_URL, call.url.c_str());
  ::curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  if (call.method == "HEAD")
    ::curl_easy_setopt(handle, CURLOPT_NOBODY, 1L);
  else if (call.method != "GET" || sends_body(call))
    ::curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  if (sends_body(call)) {
    ::curl_easy_setopt(handle, CURLOPT_POSTFIELDS, call.body.data());
    ::curl_easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(call.body.size()));
  }
  ::curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
  ::curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  ::curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS,
                     static_cast<long>(call.connect_timeout.millis));
  ::curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(call.timeout.millis));
  ::curl_easy_setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
  if (!call.ca_file.empty()) ::curl_easy_setopt(handle, CURLOPT_CAINFO, call.ca_file.c_str());
}

void set_callbacks(CURL* handle, Transfer& transfer) {
  ::curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &take_header);
  ::curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
  ::curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &take_body);
  ::curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
  ::curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  ::curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, &look_at_progress);
  ::curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &transfer);
}

// Scheme, host and port only: a query may hold what does not belong in messages.
std::string server_of(const std::string& url) {
  const std::size_t scheme = url.find("://");
  return url.substr(0, url.find('/', scheme == std::string::npos ? 0 : scheme + 3));
}

base::Result<HttpResponse> outcome_of(CURLcode code, const char* detail, Transfer& transfer) {
  const std::string server = server_of(transfer.call->url);
  if (code == CURLE_OK || transfer.is_stopped_by_sink) return std::move(transfer.response);
  if (transfer.is_too_large)
    return base::fail(base::Code::TooLarge, "the response of {} has more than {} bytes", server,
                      transfer.call->max_body_bytes);
  if (transfer.is_idle)
    return base::fail(base::Code::Unavailable, "{} sent nothing for {} ms", server,
                      transfer.call->idle_timeout.millis);
  switch (code) {
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return base::fail(base::Code::InvalidArgument,
                        "\"{}\" is not an address of the form http://host:port", server);
    case CURLE_ABORTED_BY_CALLBACK:
      return base::fail(base::Code::Unavailable, "the call of {} was stopped", server);
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST: {
      auto failure = base::fail(base::Code::Unavailable, "{} cannot be reached: {}", server,
                                *detail != '\0' ? detail : ::curl_easy_strerror(code));
      failure.value().hint = "check the address, and that the server runs";
      return failure;
    }
    default:
      return base::fail(base::Code::Unavailable, "{} broke off: {}", server,
                        *detail != '\0' ? detail : ::curl_easy_strerror(code));
  }
}

}  // namespace

struct HttpClient::Parts {
  CURL* handle = nullptr;
  Parts() {
    static std::once_flag initialised;
    std::call_once(initialised, [] { ::curl_global_init(CURL_GLOBAL_DEFAULT); });
    handle = ::curl_easy_init();
    ASSERT(handle != nullptr);
  }
  ~Parts() { ::curl_easy_cleanup(handle); }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  base::Result<HttpResponse> perform(const HttpCall& call,
                                     const std::function<bool(std::string_view)>* sink);
};

base::Result<HttpResponse> HttpClient::Parts::perform(
    const HttpCall& call, const std::function<bool(std::string_view)>* sink) {
  curl_slist* headers = ::curl_slist_append(nullptr, "Expect:");  // never wait for 100 Continue
  for (const auto& [name, value] : call.headers) {
    if ((name + value).find_first_of("\r\n") != std::string::npos) {
      ::curl_slist_free_all(headers);
      return base::fail(base::Code::InvalidArgument, "header {} has a line break", name);
    }
    headers = ::curl_slist_append(headers, (name + ": " + value).c_str());
  }
  char detail[CURL_ERROR_SIZE] = "";
  Transfer transfer{.handle = handle, .call = &call, .sink = sink, .last_byte = steady_now()};
  ::curl_easy_reset(handle);  // options only; the connection stays open
  set_request(handle, call, headers);
  set_callbacks(handle, transfer);
  ::curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, detail);
  const CURLcode code = ::curl_easy_perform(handle);
  long status = 0;
  ::curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  ::curl_slist_free_all(headers);
  ::curl_easy_setopt(handle, CURLOPT_HTTPHEADER, nullptr);
  transfer.response.status = static_cast<int>(status);
  return outcome_of(code, detail, transfer);
}

HttpClient::HttpClient() : parts_(std::make_unique<Parts>()) {}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

base::Result<HttpResponse> HttpClient::call(const HttpCall& call) {
  return parts_->perform(call, nullptr);
}

base::Result<HttpResponse> HttpClient::stream(const HttpCall& call,
                                              const std::function<bool(std::string_view)>& sink) {
  return parts_->perform(call, &sink);
}

}  // namespace platform
