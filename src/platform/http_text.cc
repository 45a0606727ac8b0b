#include <array>
#include <ctime>

#include <fmt/format.h>

#include "base/json_text.h"
#include "platform/internal/http_text.h"
#include "platform/system_clock.h"

namespace platform {

namespace {

// "Tue, 01 Dec 2026 09:30:00 GMT", whatever the locale is.
std::string http_date() {
  static constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed",
                                                         "Thu", "Fri", "Sat"};
  static constexpr std::array<std::string_view, 12> kMonths{
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds = system_now().millis / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT",
                     kDays[static_cast<std::size_t>(parts.tm_wday)], parts.tm_mday,
                     kMonths[static_cast<std::size_t>(parts.tm_mon)], parts.tm_year + 1900,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

bool is_framing(std::string_view name) {
  for (const std::string_view own : {"Content-Length", "Transfer-Encoding", "Connection", "Date"})
    if (equals_ignoring_case(name, own)) return true;
  return false;
}

void append_clean(std::string& out, std::string_view text) {
  for (const char c : text)
    if (c != '\r' && c != '\n' && c != '\0') out += c;
}

}  // namespace

bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

std::string print_response_head(const HttpResponse& response, BodyForm form, AfterResponse after) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nDate: {}\r\n", response.status,
                                 status_text(response.status), http_date());
  for (const auto& [name, value] : response.headers) {
    if (is_framing(name)) continue;
    append_clean(head, name);
    head += ": ";
    append_clean(head, value);
    head += "\r\n";
  }
  if (form == BodyForm::Sized) head += fmt::format("Content-Length: {}\r\n", response.body.size());
  if (form == BodyForm::Chunked) head += "Transfer-Encoding: chunked\r\n";
  if (after == AfterResponse::Close) head += "Connection: close\r\n";
  head += "\r\n";
  return head;
}

void append_chunk(std::string& out, std::string_view bytes) {
  if (bytes.empty()) return;  // an empty chunk would end the body
  out += fmt::format("{:x}\r\n", bytes.size());
  out += bytes;
  out += "\r\n";
}

HttpResponse plain_problem(int status, std::string_view code, std::string_view detail) {
  std::string body = "{\"type\":";
  base::append_json_string(body, fmt::format("urn:berth:problem:{}", code));
  body += ",\"title\":";
  base::append_json_string(body, status_text(status));
  body += fmt::format(",\"status\":{},\"detail\":", status);
  base::append_json_string(body, detail);
  body += ",\"instance\":\"\",\"code\":";
  base::append_json_string(body, code);
  body += "}\n";
  return {.status = status,
          .headers = {{"Content-Type", "application/problem+json"}},
          .body = std::move(body)};
}

}  // namespace platform
