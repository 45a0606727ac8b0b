#pragma once
// Starting a shim. The process that is started detaches the shim and ends once the member runs or
// its end is recorded (shim/shim.h), so it is short-lived and the only child that the daemon has.

#include <sys/types.h>

#include <string>
#include <vector>

#include "backends/local/folder.h"
#include "base/result.h"

namespace backends::local {

struct Launch {
  pid_t pid = 0;
  Descriptor process;  // readable when it has ended; then take_exit_code
};

// `command` is what "--job <folder>" is appended to. The daemon's environment is not passed on.
base::Result<Launch> launch_shim(const std::vector<std::string>& command,
                                 const std::string& folder);
// Waits for a launch that has ended; -1 when it did not end by itself.
int take_exit_code(const Launch& launch);

}  // namespace backends::local
