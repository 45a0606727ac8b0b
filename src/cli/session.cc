#include "cli/session.h"

#include <boost/json.hpp>

#include "base/text.h"
#include "cli/json_access.h"
#include "cli/yaml_text.h"
#include "platform/url.h"

namespace cli {
namespace {

namespace json = boost::json;

constexpr base::Duration kWatchEvery = base::seconds(2);

}  // namespace

void note(const Session& session, std::string_view text) {
  session.console.err(printable(text) + "\n");
}

void print_error(const Console& console, const base::Error& error) {
  const std::string place = error.field.empty() ? "" : error.field + ": ";
  console.err(fmt::format("{} {}\n", colored("error:", Color::Broken, console.has_color),
                          printable(place + error.message)));
  if (!error.hint.empty())
    console.err(fmt::format("{} {}\n", colored("hint:", Color::Heading, console.has_color),
                            printable(error.hint)));
}

void print_list(const Session& session, const json::value& list, std::string_view name_key,
                const std::function<Table()>& table, std::string_view when_empty) {
  const std::span<const json::value> items = array_at(list, "items");
  switch (session.format) {
    case Format::Json:
      session.console.out(pretty_json(list));
      return;
    case Format::Yaml:
      session.console.out(yaml_text(list));
      return;
    case Format::Name:
      for (const json::value& item : items)
        session.console.out(printable(text_at(item, name_key)) + "\n");
      return;
    case Format::Table:
    case Format::Wide:
      break;
  }
  if (items.empty()) return note(session, when_empty);
  const std::size_t width = session.is_wide() ? 0 : session.console.width;
  session.console.out(table().print(width, session.console.has_color));
}

void print_one(const Session& session, const json::value& value, std::string_view name_key,
               const std::function<std::string()>& text) {
  switch (session.format) {
    case Format::Json:
      return session.console.out(pretty_json(value));
    case Format::Yaml:
      return session.console.out(yaml_text(value));
    case Format::Name:
      return session.console.out(printable(text_at(value, name_key)) + "\n");
    case Format::Table:
    case Format::Wide:
      return session.console.out(text());
  }
}

base::Result<int> repeatedly(Session& session,
                             const std::function<base::Result<base::Done>()>& show) {
  const bool watches = session.invocation.has("watch");
  while (true) {
    if (watches && session.console.is_terminal) session.console.out("\x1b[H\x1b[2J");
    if (const base::Result<base::Done> shown = show(); !shown) {
      if (session.interrupts.is_raised()) return 0;
      // A watch outlives a restart of the server.
      if (!watches || shown.error().code != base::Code::Unavailable)
        return tl::unexpected(shown.error());
      print_error(session.console, shown.error());
    }
    if (!watches || !session.interrupts.wait(kWatchEvery)) return 0;
  }
}

std::string workload_path(std::string_view workload, std::string_view rest) {
  return fmt::format("/workloads/{}{}", platform::percent_encode(workload), rest);
}

base::Result<std::int64_t> number_flag(const Invocation& invocation, std::string_view flag,
                                       std::int64_t otherwise) {
  if (!invocation.has(flag)) return otherwise;
  const base::Result<std::int64_t> number = base::parse_integer(invocation.value(flag));
  if (number && *number >= 0) return *number;
  return base::fail_field(
      base::Code::InvalidArgument, fmt::format("--{}", flag),
      fmt::format("\"{}\" is not a number of 0 or more", invocation.value(flag)),
      fmt::format("write for example --{} 100", flag));
}

}  // namespace cli
