#include "cli/event_text.h"

#include <fmt/format.h>
#include <boost/json.hpp>

#include "cli/console.h"
#include "cli/json_access.h"

namespace cli {
namespace {

namespace json = boost::json;

// The record inside {"decided": {"decision": {"body": {"start": {…}}}}} or {"membersEnded": {…}}.
const json::value& innermost(const json::value& body) {
  if (const json::value* decision = value_at(body, "decided.decision.body"))
    return innermost(*decision);
  if (body.is_object() && body.get_object().size() == 1) return body.get_object().begin()->value();
  return body;
}

std::string attempt_text(const json::value& attempt) {
  return fmt::format("{}.{}", text_at(attempt, "workload"), text_at(attempt, "ordinal"));
}

std::string victims_text(const json::value& record) {
  std::string out;
  for (const json::value& victim : array_at(record, "victims"))
    out += fmt::format("{}{}", out.empty() ? "" : ", ", attempt_text(victim));
  return out;
}

// "rank 0 ok, rank 1 oom, rank 2 signal 9, rank 3 user_error exit 3"
std::string ends_text(const json::value& record) {
  std::string out;
  for (const json::value& end : array_at(record, "members")) {
    const std::string end_class = text_at(end, "endClass");
    const std::int64_t signal = integer_at(end, "signal").value_or(0);
    const std::int64_t code = integer_at(end, "exitCode").value_or(0);
    out += fmt::format("{}rank {}", out.empty() ? "" : ", ", text_at(end, "rank"));
    if (end_class != "signal") out += " " + end_class;
    if (signal != 0)
      out += fmt::format(" signal {}", signal);
    else if (code != 0)
      out += fmt::format(" exit {}", code);
  }
  return out;
}

std::string subject(const std::string& kind, const json::value& record) {
  if (kind == "start") return attempt_text(*value_at(record, "attempt"));
  if (kind == "evict") {
    const std::string owner = text_at(record, "owner");
    return fmt::format("{}, {}{}", victims_text(record), text_at(record, "cause"),
                       owner.empty() || owner == "0" ? "" : " for " + owner);
  }
  if (kind == "workloadSubmitted") {
    const std::string number = text_at(record, "workload.id"),
                      name = text_at(record, "workload.name");
    return name.empty() ? number : fmt::format("{} {}", number, name);
  }
  if (kind == "commandRefused")
    return fmt::format("{}: {}", text_at(record, "command"), text_at(record, "message"));
  std::string out = text_at(record, "workload");
  if (const json::value* attempt = value_at(record, "attempt");
      attempt != nullptr && attempt->is_object())
    out = attempt_text(*attempt);
  if (kind == "membersEnded") out += ", " + ends_text(record);
  for (const char* key : {"reason", "node.name", "queue.name", "pool.name", "workloadClass.name",
                          "class.name", "policy.name", "node", "condition", "health", "version"}) {
    const std::string text = text_at(record, key);
    if (text.empty() || text == "0") continue;
    out += fmt::format("{}{}", out.empty() ? "" : ", ", text);
  }
  return out;
}

}  // namespace

std::string event_line(const json::value& event) {
  const std::string kind = text_at(event, "kind");
  const json::value* body = value_at(event, "body");
  const bool is_start_without_attempt =
      kind == "start" && (body == nullptr || value_at(innermost(*body), "attempt") == nullptr);
  std::string what =
      body == nullptr || is_start_without_attempt ? "" : subject(kind, innermost(*body));
  const std::string actor = text_at(event, "actor");
  if (!actor.empty()) what += fmt::format("{}by {}", what.empty() ? "" : "  ", actor);
  return printable(fmt::format("{:>6}  {}  {:<21}{}", text_at(event, "sequence"),
                               text_at(event, "at"), kind, what));
}

}  // namespace cli
