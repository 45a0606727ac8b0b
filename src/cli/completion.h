#pragma once
// Completion scripts for bash, zsh and fish, made from the command tree. Names of workloads,
// queues and nodes are asked from the server when the user presses the key, with a short time limit
// and in silence: a shell must not hang or print because a server is down.

#include <optional>
#include <string>
#include <string_view>

namespace cli {

// Nothing when the shell is not one of the three.
std::optional<std::string> completion_script(std::string_view shell);

}  // namespace cli
