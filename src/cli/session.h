#pragma once
// What a verb works with: what was typed, where to write, whom to ask. One session runs one verb.
// Verbs return the exit code, or an Error that run() prints as one line with its hint.

#include <functional>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

#include "base/instant.h"
#include "base/result.h"
#include "cli/command_line.h"
#include "cli/console.h"
#include "cli/interrupts.h"
#include "cli/server.h"
#include "cli/table.h"

namespace cli {

enum class Format { Table, Wide, Json, Yaml, Name };

struct Session {
  const Invocation& invocation;
  const Environment& environment;
  Console& console;
  Server& server;
  Interrupts& interrupts;
  Format format = Format::Table;
  std::string directory;  // of the caller
  std::function<base::Instant()> clock;
  std::function<std::string()> input;  // all of standard input

  bool is_wide() const { return format == Format::Wide; }
};

// For people, on the error stream.
void note(const Session& session, std::string_view text);

// "error: …" and "hint: …", on the error stream.
void print_error(const Console& console, const base::Error& error);

// A list {"items": [...]}: as JSON or YAML what the server said, as names the members of
// `name_key` one a line, else the table. Nothing to show: `when_empty` on the error stream.
void print_list(const Session& session, const boost::json::value& list, std::string_view name_key,
                const std::function<Table()>& table, std::string_view when_empty);

// One thing: JSON or YAML as the server said, its name, or `text`.
void print_one(const Session& session, const boost::json::value& value, std::string_view name_key,
               const std::function<std::string()>& text);

// Runs `show` once, or with --watch every two seconds until a signal comes.
base::Result<int> repeatedly(Session& session,
                             const std::function<base::Result<base::Done>()>& show);

// The path of a workload that was addressed by number or name.
std::string workload_path(std::string_view workload, std::string_view rest = {});

// A non-negative number given with `flag`, or `otherwise`.
base::Result<std::int64_t> number_flag(const Invocation& invocation, std::string_view flag,
                                       std::int64_t otherwise);

// ---- the verbs ----
base::Result<int> apply(Session& session);
base::Result<int> submit(Session& session);
base::Result<int> run_in_foreground(Session& session);
base::Result<int> cancel(Session& session);
base::Result<int> hold(Session& session);
base::Result<int> release(Session& session);
base::Result<int> list_workloads(Session& session);
base::Result<int> show_one(Session& session);
base::Result<int> why(Session& session);
base::Result<int> logs(Session& session);
base::Result<int> list_nodes(Session& session);
base::Result<int> list_devices(Session& session);
base::Result<int> list_queues(Session& session);
base::Result<int> list_classes(Session& session);
base::Result<int> list_pools(Session& session);
base::Result<int> list_usage(Session& session);
base::Result<int> list_any(Session& session);
base::Result<int> events(Session& session);
base::Result<int> change_node(Session& session);

}  // namespace cli
