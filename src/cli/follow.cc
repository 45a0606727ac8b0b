#include "cli/follow.h"

#include <algorithm>

#include <boost/json.hpp>

#include "base/text.h"
#include "cli/json_access.h"
#include "platform/event_stream.h"
#include "platform/system_clock.h"

namespace cli {
namespace {

namespace json = boost::json;

constexpr base::Duration kPause = base::milliseconds(250);

// Waits between attempts to reach a server that is away, and says when it was away for too long.
class Patience {
 public:
  explicit Patience(const Waiting& waiting) : waiting_(waiting) {}

  void answered() { is_away_ = false; }
  // False: give up, or it is stopped.
  bool wait() {
    const base::Duration now = platform::steady_now();
    if (!is_away_) since_ = now;
    is_away_ = true;
    return now - since_ < kPatience && waiting_.wait(kPause);
  }

 private:
  const Waiting& waiting_;
  bool is_away_ = false;
  base::Duration since_;
};

std::int64_t header_number(const platform::HttpResponse& response, std::string_view name,
                           std::int64_t otherwise) {
  const std::string* text = platform::find_header(response.headers, name);
  if (text == nullptr) return otherwise;
  return base::parse_integer(*text).value_or(otherwise);
}

Query log_query(const LogWanted& wanted) {
  return {{"member", std::to_string(wanted.member)},
          {"stream", wanted.is_error_stream ? "stderr" : "stdout"}};
}

std::string log_path(const LogWanted& wanted) {
  return fmt::format("/attempts/{}/logs", wanted.attempt);
}

// Where the last `wanted.tail` lines begin: asked for once, so that what follows goes by offset.
base::Result<std::int64_t> tail_offset(Server& server, const LogWanted& wanted) {
  if (wanted.tail.empty()) return 0;
  Query query = log_query(wanted);
  query.emplace_back("tail", wanted.tail);
  const base::Result<platform::HttpResponse> response = server.raw(log_path(wanted), query);
  if (!response) return tl::unexpected(response.error());
  return header_number(*response, "Berth-Log-Offset", 0);
}

// Whether the member has ended, so that its log cannot grow any more.
base::Result<bool> has_ended(Server& server, const LogWanted& wanted) {
  const base::Result<json::value> attempt = server.get("/attempts/" + wanted.attempt);
  if (!attempt) return tl::unexpected(attempt.error());
  if (text_at(*attempt, "state") == "ended") return true;
  for (const json::value& member : array_at(*attempt, "members"))
    if (integer_at(member, "rank") == wanted.member) return value_at(member, "end") != nullptr;
  return false;
}

bool may_come_back(const base::Error& error) { return error.code == base::Code::Unavailable; }

}  // namespace

Waiting until_signal(Interrupts& interrupts) {
  return {.is_stopped = [&interrupts] { return interrupts.is_raised(); },
          .wait = [&interrupts](base::Duration time) { return interrupts.wait(time); }};
}

base::Result<base::Done> follow_events(Server& server, const Waiting& waiting, EventsWanted wanted,
                                       const std::function<bool(const json::value&)>& visit,
                                       const std::function<void()>& broken) {
  Patience patience(waiting);
  bool has_begun = wanted.is_patient;
  while (!waiting.is_stopped()) {
    platform::EventStreamParser parser;
    bool is_done = false;
    const Query query{{"after", std::to_string(wanted.after)},
                      {"kinds", wanted.kinds},
                      {"workload", wanted.workload}};
    const base::Result<base::Done> ended =
        server.stream("/events", query, "text/event-stream", [&](std::string_view bytes) {
          has_begun = true;
          patience.answered();
          for (const platform::StreamEvent& event : parser.feed(bytes)) {
            boost::system::error_code fault;
            const json::value value = json::parse(event.data, fault);
            const std::int64_t sequence = fault ? 0 : integer_at(value, "sequence").value_or(0);
            // A stream that begins again may repeat; what was shown is not shown twice.
            if (sequence <= wanted.after) continue;
            wanted.after = sequence;
            if (!visit(value)) is_done = true;
            if (is_done) return false;
          }
          return true;
        });
    if (is_done || waiting.is_stopped()) return base::Done{};
    if (!ended && (!may_come_back(ended.error()) || !has_begun)) return ended;
    if (has_begun && broken) broken();
    has_begun = true;
    if (!patience.wait())
      return waiting.is_stopped() ? base::Result<base::Done>(base::Done{}) : ended;
  }
  return base::Done{};
}

base::Result<base::Done> follow_log(Server& server, const Waiting& waiting, LogWanted wanted,
                                    const std::function<void(std::string_view)>& sink) {
  const base::Result<std::int64_t> begin = tail_offset(server, wanted);
  if (!begin) return tl::unexpected(begin.error());
  std::int64_t offset = *begin;
  Patience patience(waiting);
  bool is_last = false;
  while (!waiting.is_stopped()) {
    Query query = log_query(wanted);
    query.emplace_back("offset", std::to_string(offset));
    query.emplace_back("follow", "true");
    const base::Result<base::Done> ended =
        server.stream(log_path(wanted), query, "text/plain", [&](std::string_view bytes) {
          patience.answered();
          offset += static_cast<std::int64_t>(bytes.size());
          sink(bytes);
          return true;
        });
    if (ended && is_last) return base::Done{};
    if (!ended && !may_come_back(ended.error())) return ended;
    // A stream ends when its member does, and when the server stops: ask which it was.
    if (ended)
      if (const base::Result<bool> over = has_ended(server, wanted); over && *over) {
        is_last = true;
        continue;
      }
    if (!patience.wait() && !waiting.is_stopped()) return ended;
  }
  return base::Done{};
}

base::Result<base::Done> read_log(Server& server, const LogWanted& wanted,
                                  const std::function<void(std::string_view)>& sink) {
  Query query = log_query(wanted);
  query.emplace_back("tail", wanted.tail);
  query.emplace_back("offset", "");
  while (true) {
    const base::Result<platform::HttpResponse> response = server.raw(log_path(wanted), query);
    if (!response) return tl::unexpected(response.error());
    sink(response->body);
    const auto size = static_cast<std::int64_t>(response->body.size());
    const std::int64_t next = header_number(*response, "Berth-Log-Offset", 0) + size;
    if (size == 0 || next >= header_number(*response, "Berth-Log-Size", next)) return base::Done{};
    query[query.size() - 2].second.clear();
    query.back().second = std::to_string(next);
  }
}

}  // namespace cli
