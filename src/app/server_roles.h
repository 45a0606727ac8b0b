#pragma once
// What was typed on the command line, handed to the roles of the daemon's folder. The command tree
// knows the words, the daemon knows their meaning; neither may include the other, so they meet
// here.

#include <string>

#include "cli/command_line.h"
#include "cli/settings.h"

namespace app {

struct ServerSurroundings {
  std::string version;
  cli::Environment environment;
  bool is_terminal = false;
};

// `berth serve`; the exit code.
int serve(const cli::Invocation& typed, const ServerSurroundings& surroundings);

// `berth doctor`: 0 when the data folder is sound, 1 when it is damaged or cannot be read.
int doctor(const cli::Invocation& typed, const cli::Environment& environment);

}  // namespace app
