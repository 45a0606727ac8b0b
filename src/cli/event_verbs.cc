// The verbs that follow: events and logs.

#include <boost/json.hpp>

#include "base/text.h"
#include "cli/event_text.h"
#include "cli/follow.h"
#include "cli/json_access.h"
#include "cli/session.h"
#include "cli/yaml_text.h"

namespace cli {
namespace {

namespace json = boost::json;

void print_event(const Session& session, const json::value& event) {
  switch (session.format) {
    case Format::Json:
      return session.console.out(json::serialize(event) + "\n");
    case Format::Yaml:
      return session.console.out("---\n" + yaml_text(event));
    case Format::Name:
      return session.console.out(text_at(event, "sequence") + "\n");
    case Format::Table:
    case Format::Wide:
      return session.console.out(event_line(event) + "\n");
  }
}

// The events that are there, page by page.
base::Result<base::Done> print_pages(Session& session, const EventsWanted& wanted,
                                     std::int64_t limit) {
  std::string after = std::to_string(wanted.after);
  while (limit > 0) {
    const base::Result<json::value> page = session.server.get(
        "/events", {{"after", after},
                    {"kinds", wanted.kinds},
                    {"workload", wanted.workload},
                    {"limit", std::to_string(std::min<std::int64_t>(limit, 1000))}});
    if (!page) return tl::unexpected(page.error());
    const std::span<const json::value> items = array_at(*page, "items");
    for (const json::value& event : items)
      print_event(session, event);
    limit -= static_cast<std::int64_t>(items.size());
    const std::string next = text_at(*page, "cursor");
    // A page without a matching event still moves on; one that does not move is the end.
    if (next.empty() || next == after) break;
    after = next;
  }
  return base::Done{};
}

bool is_attempt(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return false;
  return base::parse_integer(text.substr(0, dot)).has_value() &&
         base::parse_integer(text.substr(dot + 1)).has_value();
}

base::Result<std::string> attempt_of(Session& session, const std::string& word) {
  if (is_attempt(word)) return word;
  const base::Result<json::value> workload =
      session.server.get(workload_path(word), {{"queue", session.invocation.value("queue")}});
  if (!workload) return tl::unexpected(workload.error());
  const std::span<const json::value> attempts = array_at(*workload, "attempts");
  if (!attempts.empty()) return text_at(attempts.back(), "id");
  return tl::unexpected(
      base::Error{.code = base::Code::FailedPrecondition,
                  .message = fmt::format("workload {} has not started, so it wrote nothing", word),
                  .field = {},
                  .hint = fmt::format("see: berth why {}", word)});
}

}  // namespace

base::Result<int> events(Session& session) {
  const Invocation& typed = session.invocation;
  const bool follows = typed.has("follow");
  base::Result<std::int64_t> after = number_flag(typed, "after", -1);
  if (!after) return tl::unexpected(after.error());
  base::Result<std::int64_t> limit =
      number_flag(typed, "limit", std::numeric_limits<std::int64_t>::max());
  if (!limit) return tl::unexpected(limit.error());
  if (*limit == 0) return 0;
  if (*after < 0) {
    const base::Result<json::value> server = session.server.get("/server");
    if (!server) return tl::unexpected(server.error());
    after = std::max<std::int64_t>(
        0, integer_at(*server, "sequence").value_or(0) - (follows ? 10 : 100));
  }
  const EventsWanted wanted{
      .after = *after, .kinds = typed.value("kinds"), .workload = typed.value("workload")};
  if (!follows) {
    if (auto done = print_pages(session, wanted, *limit); !done)
      return tl::unexpected(done.error());
    return 0;
  }
  std::int64_t left = *limit;
  const auto done = follow_events(
      session.server, until_signal(session.interrupts), wanted,
      [&](const json::value& event) {
        print_event(session, event);
        return --left > 0;
      },
      [&] { note(session, "the server went away; waiting for it"); });
  if (!done) return tl::unexpected(done.error());
  return 0;
}

base::Result<int> logs(Session& session) {
  const Invocation& typed = session.invocation;
  const base::Result<std::int64_t> member = number_flag(typed, "member", 0);
  if (!member) return tl::unexpected(member.error());
  if (const auto tail = number_flag(typed, "tail", 0); !tail) return tl::unexpected(tail.error());
  const base::Result<std::string> attempt = attempt_of(session, typed.arguments.front());
  if (!attempt) return tl::unexpected(attempt.error());
  const LogWanted wanted{.attempt = *attempt,
                         .member = *member,
                         .is_error_stream = typed.has("stderr"),
                         .tail = typed.value("tail")};
  const auto sink = [&](std::string_view bytes) { session.console.out(bytes); };
  const auto done = typed.has("follow")
                        ? follow_log(session.server, until_signal(session.interrupts), wanted, sink)
                        : read_log(session.server, wanted, sink);
  if (!done) return tl::unexpected(done.error());
  return 0;
}

}  // namespace cli
