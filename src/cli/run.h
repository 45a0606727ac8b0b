#pragma once
// The command line from its words to its exit code. What a verb needs beyond REST, starting a
// daemon or checking a data folder, belongs to other roles, which the program hands in.
//
// Exit codes: 0 done, 1 refused or failed, 2 usage, 3 not found, 4 not allowed, 5 server not
// reachable; `run` returns the code of the process.

#include <functional>
#include <span>
#include <string>

#include "base/instant.h"
#include "cli/command_line.h"
#include "cli/console.h"
#include "cli/settings.h"

namespace cli {

struct Surroundings {
  Console console;
  Environment environment;
  std::string directory;  // the caller's working directory
  std::string version;
  std::function<base::Instant()> clock;
  std::function<std::string()> input;  // all of standard input
  // Roles of other folders; each gets what was typed and returns the exit code.
  std::function<int(const Invocation&)> serve, simulate, storm, doctor;
};

// `words` are the arguments without the program's name.
int run(std::span<const std::string> words, Surroundings surroundings);

}  // namespace cli
