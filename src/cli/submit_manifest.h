#pragma once
// The manifest that `berth submit` and `berth run` stand for: their flags as JSON text, so that
// the server checks one form of request only. What is wrong with a flag is said here, in terms of
// the flag; what only the server knows (queues, pools, classes) is said there.

#include <string>

#include "base/result.h"
#include "cli/command_line.h"
#include "cli/settings.h"

namespace cli {

// `directory` is the caller's, absolute; `environment` is where `--env NAME` takes its value from.
base::Result<std::string> submit_manifest(const Invocation& invocation,
                                          const std::string& directory,
                                          const Environment& environment);

}  // namespace cli
