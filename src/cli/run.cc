#include "cli/run.h"

#include "cli/completion.h"
#include "cli/help.h"
#include "cli/session.h"

namespace cli {
namespace {

constexpr int kUsageExit = 2;

struct Handler {
  std::string_view verb;
  base::Result<int> (*run)(Session&);
};
constexpr Handler kHandlers[] = {
    {"apply", apply},
    {"submit", submit},
    {"run", run_in_foreground},
    {"cancel", cancel},
    {"hold", hold},
    {"release", release},
    {"queue", list_workloads},
    {"show", show_one},
    {"why", why},
    {"logs", logs},
    {"nodes", list_nodes},
    {"devices", list_devices},
    {"queues", list_queues},
    {"classes", list_classes},
    {"pools", list_pools},
    {"usage", list_usage},
    {"get", list_any},
    {"events", events},
    {"cordon", change_node},
    {"uncordon", change_node},
    {"drain", change_node},
};

Format format_of(std::string_view name) {
  if (name == "wide") return Format::Wide;
  if (name == "json") return Format::Json;
  if (name == "yaml") return Format::Yaml;
  return name == "name" ? Format::Name : Format::Table;
}

int print_help(const Invocation& invocation, const Console& console) {
  if (invocation.verb->name != "help") {
    console.out(help_of(*invocation.verb));
    return 0;
  }
  if (invocation.arguments.empty()) {
    console.out(help_overview());
    return 0;
  }
  const std::string words[] = {invocation.arguments.front(), "--help"};
  const base::Result<Invocation> asked = parse_command_line(words);
  if (!asked) {
    print_error(console, asked.error());
    return kUsageExit;
  }
  console.out(help_of(*asked->verb));
  return 0;
}

int print_completion(const Invocation& invocation, const Console& console) {
  const std::string& shell = invocation.arguments.front();
  if (const auto script = completion_script(shell)) {
    console.out(*script);
    return 0;
  }
  print_error(console, {.code = base::Code::InvalidArgument,
                        .message = fmt::format("no completion for \"{}\"", shell),
                        .field = {},
                        .hint = "it is one of: bash zsh fish"});
  return kUsageExit;
}

// A value that a flag cannot have is a mistake of usage, wherever it was noticed.
bool is_usage(const base::Error& error) {
  return error.code == base::Code::InvalidArgument &&
         (error.field.starts_with("--") || error.field == "KIND" || error.field == "command");
}

int run_verb(const Invocation& invocation, Surroundings& surroundings) {
  const base::Result<Settings> settings = load_settings(invocation, surroundings.environment);
  if (!settings) {
    print_error(surroundings.console, settings.error());
    return settings.error().code == base::Code::InvalidArgument ? kUsageExit : 1;
  }
  surroundings.console.has_color = surroundings.console.is_terminal && settings->has_color;
  Interrupts interrupts;
  Server server(*settings, interrupts.flag());
  Session session{.invocation = invocation,
                  .environment = surroundings.environment,
                  .console = surroundings.console,
                  .server = server,
                  .interrupts = interrupts,
                  .format = format_of(settings->output),
                  .directory = surroundings.directory,
                  .clock = surroundings.clock,
                  .input = surroundings.input};
  for (const Handler& handler : kHandlers) {
    if (handler.verb != invocation.verb->name) continue;
    const base::Result<int> code = handler.run(session);
    if (code) return *code;
    if (interrupts.is_raised()) return 130;
    print_error(surroundings.console, code.error());
    // A command that is missing has no flag to name, but is usage all the same.
    return is_usage(code.error()) ? kUsageExit : exit_code_of(code.error().code);
  }
  print_error(surroundings.console,
              {.code = base::Code::Unsupported,
               .message = fmt::format("berth {} is not part of this build", invocation.verb->name),
               .field = {},
               .hint = "see: berth help"});
  return 1;
}

int run_role(const std::function<int(const Invocation&)>& role, const Invocation& invocation,
             const Console& console) {
  if (role) return role(invocation);
  print_error(console,
              {.code = base::Code::Unsupported,
               .message = fmt::format("berth {} is not part of this build", invocation.verb->name),
               .field = {},
               .hint = "see: berth help"});
  return 1;
}

}  // namespace

int run(std::span<const std::string> words, Surroundings surroundings) {
  surroundings.console.has_color =
      surroundings.console.is_terminal && !surroundings.environment.contains("NO_COLOR");
  const base::Result<Invocation> invocation = parse_command_line(words);
  if (!invocation) {
    print_error(surroundings.console, invocation.error());
    return kUsageExit;
  }
  const std::string_view verb = invocation->verb->name;
  // A role that parses its own flags explains them itself.
  const bool explains_itself = invocation->verb->parses_itself && verb != "help";
  if ((invocation->wants_help && !explains_itself) || verb == "help")
    return print_help(*invocation, surroundings.console);
  if (verb == "version") {
    surroundings.console.out(fmt::format("berth {}\n", surroundings.version));
    return 0;
  }
  if (verb == "completion") return print_completion(*invocation, surroundings.console);
  if (verb == "serve") return run_role(surroundings.serve, *invocation, surroundings.console);
  if (verb == "simulate") return run_role(surroundings.simulate, *invocation, surroundings.console);
  if (verb == "storm") return run_role(surroundings.storm, *invocation, surroundings.console);
  if (verb == "doctor") return run_role(surroundings.doctor, *invocation, surroundings.console);
  return run_verb(*invocation, surroundings);
}

}  // namespace cli
