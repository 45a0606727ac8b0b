// Verbs that ask about work: queue, show, why.

#include <boost/json.hpp>

#include "base/text.h"
#include "cli/json_access.h"
#include "cli/relative_time.h"
#include "cli/session.h"
#include "cli/yaml_text.h"
#include "platform/url.h"

namespace cli {
namespace {

namespace json = boost::json;

Color color_of_state(std::string_view state) {
  if (state == "Running") return Color::Useful;
  if (state == "Completed" || state == "Cancelled") return Color::Idle;
  if (state == "Failed" || state == "Lost") return Color::Broken;
  if (state == "Stopping" || state == "Suspended" || state == "AwaitingApproval")
    return Color::Warning;
  if (state == "Starting") return Color::Lent;
  return Color::Plain;
}

// How the last attempt ended, for finished work: "exit 3", "signal 9", "timeout".
std::string end_text(const json::value& workload) {
  const std::string end_class = text_at(workload, "endClass");
  if (end_class.empty() || end_class == "ok") return "";
  const std::int64_t signal = integer_at(workload, "signal").value_or(0);
  if (signal != 0) return fmt::format("{}, signal {}", end_class, signal);
  return fmt::format("{}, exit {}", end_class, integer_at(workload, "exitCode").value_or(0));
}

bool is_finished(std::string_view state) {
  return state == "Completed" || state == "Failed" || state == "Cancelled";
}

std::string reason_text(const json::value& workload) {
  if (flag_at(workload, "held")) return "Held";
  const std::string reason = text_at(workload, "reason");
  if (!reason.empty()) return reason;
  // How an earlier attempt ended is no reason of one that runs.
  return is_finished(text_at(workload, "state")) ? end_text(workload) : "";
}

// Devices of the whole workload: "8", and of a gang also its members: "16 (2x8)".
std::string gpus_text(const json::value& workload) {
  const std::int64_t members = integer_at(workload, "members").value_or(1);
  const std::int64_t milli = integer_at(workload, "gpus.milli").value_or(0);
  if (members > 1 && milli > 0 && milli % members == 0)
    return fmt::format("{} ({}x{})", text_at(workload, "gpus.text"), members,
                       base::print_milli(milli / members));
  return text_at(workload, "gpus.text");
}

Table workload_table(const json::value& list, bool is_wide, base::Instant now) {
  Table table({{.title = "NUMBER", .is_number = true},
               {.title = "NAME", .may_shrink = true, .least = 8},
               {.title = "QUEUE", .may_shrink = true, .least = 10},
               {.title = "CLASS", .may_shrink = true, .least = 6},
               {.title = "STATE"},
               {.title = "GPUS", .is_number = true},
               {.title = "AGE", .is_number = true},
               {.title = "REASON", .may_shrink = true, .least = 16},
               {.title = "KIND", .is_wide_only = true},
               {.title = "USER", .is_wide_only = true},
               {.title = "STARTED", .is_wide_only = true},
               {.title = "LIMIT", .is_wide_only = true},
               {.title = "NODES", .is_wide_only = true}},
              is_wide);
  for (const json::value& item : array_at(list, "items")) {
    const std::string state = text_at(item, "state");
    const std::string reason = reason_text(item);
    const bool is_held = flag_at(item, "held");
    table.add({{text_at(item, "number")},
               {text_at(item, "name")},
               {text_at(item, "queue")},
               {text_at(item, "class")},
               {state, is_held ? Color::Idle : color_of_state(state)},
               {gpus_text(item)},
               {relative_time(text_at(item, "submitted"), now)},
               {reason, state == "Queued" && !is_held ? Color::Warning : Color::Plain},
               {text_at(item, "kind")},
               {text_at(item, "user")},
               {relative_time(text_at(item, "started"), now)},
               {text_at(item, "timeLimit.text")},
               {joined_at(item, "nodes")}});
  }
  return table;
}

// ---- show ----

// Lines of "Key:   value"; those without a value are left out.
class Sheet {
 public:
  void add(std::string_view key, std::string_view value) {
    if (!value.empty())
      text_ += fmt::format("{:<14}{}\n", fmt::format("{}:", key), printable(value));
  }
  void heading(std::string_view title) { text_ += fmt::format("\n{}\n", title); }
  void add_table(const Table& table, std::size_t width, bool has_color) {
    text_ += table.print(width, has_color);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string time_text(const json::value& value, std::string_view path, base::Instant now) {
  const std::string absolute = text_at(value, path);
  if (absolute.empty()) return "";
  const std::string relative = relative_time(absolute, now);
  return fmt::format("{} ({}{})", absolute, relative, relative.starts_with("in ") ? "" : " ago");
}

std::string argv_text(const json::value& workload) {
  std::string out;
  for (const json::value& word : array_at(workload, "command.argv")) {
    if (!word.is_string()) continue;
    const std::string_view text = word.get_string();
    const bool is_plain =
        !text.empty() && text.find_first_of(" \t\n'\"\\$`|&;<>()*?#~") == std::string_view::npos;
    if (!out.empty()) out += ' ';
    out += is_plain ? std::string(text) : json::serialize(word);
  }
  return out;
}

std::string map_text(const json::value& value, std::string_view path) {
  const json::value* found = value_at(value, path);
  if (found == nullptr || !found->is_object()) return "";
  std::string out;
  for (const auto& [key, mapped] : found->get_object()) {
    if (!out.empty()) out += ", ";
    out += fmt::format("{}={}", std::string_view(key),
                       mapped.is_string() ? std::string_view(mapped.get_string()) : "");
  }
  return out;
}

std::string devices_text(const json::value& member) {
  std::string out;
  for (const json::value& device : array_at(member, "devices")) {
    if (!out.empty()) out += ' ';
    const std::int64_t milli = integer_at(device, "milli").value_or(1000);
    const std::string slice = text_at(device, "slice");
    out += fmt::format("{}:{}", text_at(device, "model"), text_at(device, "device"));
    if (!slice.empty())
      out += fmt::format("/{}", slice);
    else if (milli != 1000)
      out += fmt::format("*{}", base::print_milli(milli));
  }
  return out;
}

void add_attempts(Sheet& sheet, const json::value& workload, const Session& session,
                  base::Instant now) {
  const std::span<const json::value> attempts = array_at(workload, "attempts");
  if (attempts.empty()) return;
  Table table({{.title = "ATTEMPT"},
               {.title = "STATE"},
               {.title = "STARTED"},
               {.title = "ENDED"},
               {.title = "END", .may_shrink = true, .least = 10},
               {.title = "STOPPED BY"}});
  for (const json::value& attempt : attempts) {
    const std::string stop_for = text_at(attempt, "stopFor");
    std::string stopped = text_at(attempt, "stopCause");
    if (!stop_for.empty() && stop_for != "0") stopped += " for " + stop_for;
    const std::string end_class = text_at(attempt, "endClass");
    const bool is_ended = text_at(attempt, "state") == "ended";
    table.add({{text_at(attempt, "id")},
               {text_at(attempt, "state")},
               {relative_time(text_at(attempt, "started"), now)},
               {relative_time(text_at(attempt, "ended"), now)},
               {is_ended ? (end_class == "ok" ? "ok" : end_text(attempt)) : ""},
               {stopped}});
  }
  sheet.heading("Attempts");
  sheet.add_table(table, session.console.width, session.console.has_color);
  const std::span<const json::value> members = array_at(attempts.back(), "members");
  if (members.empty()) return;
  Table placed({{.title = "RANK", .is_number = true},
                {.title = "GROUP"},
                {.title = "NODE"},
                {.title = "DEVICES", .may_shrink = true, .least = 10},
                {.title = "END", .may_shrink = true}});
  for (const json::value& member : members) {
    const std::string note = text_at(member, "end.note");
    std::string end = text_at(member, "end.endClass");
    if (!end.empty() && end != "ok") end = end_text(*value_at(member, "end"));
    placed.add({{text_at(member, "rank")},
                {text_at(member, "group")},
                {text_at(member, "node")},
                {devices_text(member)},
                {note.empty() ? end : end + ": " + note}});
  }
  sheet.heading(fmt::format("Members of {}", text_at(attempts.back(), "id")));
  sheet.add_table(placed, session.console.width, session.console.has_color);
}

std::string workload_sheet(const json::value& workload, const Session& session) {
  const base::Instant now = session.clock();
  Sheet sheet;
  sheet.add("Number", text_at(workload, "number"));
  sheet.add("Name", text_at(workload, "name"));
  sheet.add("Kind", text_at(workload, "kind"));
  sheet.add("Queue", text_at(workload, "queue"));
  sheet.add("Class", text_at(workload, "class"));
  sheet.add("User", text_at(workload, "user"));
  const std::string reason = reason_text(workload);
  sheet.add("State", reason.empty() ? text_at(workload, "state")
                                    : fmt::format("{} ({})", text_at(workload, "state"), reason));
  sheet.add("Devices", gpus_text(workload));
  sheet.add("Members", text_at(workload, "members"));
  sheet.add("Pools", joined_at(workload, "pools", ", "));
  sheet.add("Submitted", time_text(workload, "submitted", now));
  sheet.add("Started", time_text(workload, "started", now));
  sheet.add("Finished", time_text(workload, "finished", now));
  sheet.add("Time limit", text_at(workload, "timeLimit.text"));
  sheet.add("Ends by", time_text(workload, "endsBy", now));
  sheet.add("Nodes", joined_at(workload, "nodes", ", "));
  sheet.add("Labels", map_text(workload, "labels"));
  sheet.add("Command", argv_text(workload));
  sheet.add("Directory", text_at(workload, "command.directory"));
  sheet.add("Exit code", text_at(workload, "exitCode"));
  add_attempts(sheet, workload, session, now);
  if (text_at(workload, "state") == "Queued")
    sheet.heading(fmt::format("Why it waits: berth why {}", text_at(workload, "number")));
  return sheet.text();
}

// Empty: there is no such kind.
std::string plural_of(std::string_view kind) {
  struct Plural {
    std::string_view one, many;
  };
  constexpr Plural kPlurals[] = {{"workload", "workloads"}, {"queue", "queues"},
                                 {"pool", "pools"},         {"class", "classes"},
                                 {"node", "nodes"},         {"attempt", "attempts"}};
  for (const Plural& plural : kPlurals)
    if (kind == plural.one || kind == plural.many) return std::string(plural.many);
  return "";
}

}  // namespace

base::Result<int> list_workloads(Session& session) {
  const Invocation& typed = session.invocation;
  const base::Result<std::int64_t> limit = number_flag(typed, "limit", 1000);
  if (!limit) return tl::unexpected(limit.error());
  const Query query{{"queue", typed.value("queue")},
                    {"state", typed.value("state", typed.has("all") ? "" : "active")},
                    {"owner", typed.value("user")},
                    {"label", typed.value("label")}};
  return repeatedly(session, [&]() -> base::Result<base::Done> {
    const base::Result<json::value> list =
        session.server.list("/workloads", query, static_cast<std::size_t>(*limit));
    if (!list) return tl::unexpected(list.error());
    print_list(
        session, *list, "number",
        [&] { return workload_table(*list, session.is_wide(), session.clock()); },
        typed.has("all") ? "no workloads" : "nothing waits or runs; --all shows finished work");
    return base::Done{};
  });
}

base::Result<int> show_one(Session& session) {
  const std::vector<std::string>& words = session.invocation.arguments;
  const std::string& name = words.back();
  const std::string plural = words.size() == 2 ? plural_of(words.front()) : "workloads";
  if (plural.empty())
    return base::fail_field(base::Code::InvalidArgument, "KIND",
                            fmt::format("there is no kind \"{}\" to show", words.front()),
                            "it is one of: workload queue pool class node attempt");
  const base::Result<json::value> value =
      session.server.get(fmt::format("/{}/{}", plural, platform::percent_encode(name)));
  if (!value) return tl::unexpected(value.error());
  print_one(session, *value,
            plural == "workloads"  ? "number"
            : plural == "attempts" ? "id"
                                   : "name",
            [&] {
              return plural == "workloads" ? workload_sheet(*value, session)
                                           : printable_lines(yaml_text(*value));
            });
  return 0;
}

base::Result<int> why(Session& session) {
  const base::Result<json::value> answer = session.server.get(
      workload_path(session.invocation.arguments.front(), "/why"),
      {{"lang", session.invocation.value("lang")}, {"queue", session.invocation.value("queue")}});
  if (!answer) return tl::unexpected(answer.error());
  print_one(session, *answer, "verdict", [&] { return printable_lines(text_at(*answer, "text")); });
  return 0;
}

}  // namespace cli
