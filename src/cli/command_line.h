#pragma once
// What a person typed, as a value. The grammar is the command tree (command_tree.h):
//
//   berth <verb> [flags] [arguments] [-- command words]
//
// Flags may stand before or after the verb. Where a verb takes a command, everything from `--` or
// from the first word that is no flag on belongs to the command and is left as it is.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command_tree.h"

namespace cli {

struct Invocation {
  const Verb* verb = nullptr;
  // By long name; a switch that was given has the value "true".
  std::map<std::string, std::vector<std::string>, std::less<>> flags;
  std::vector<std::string> arguments;
  std::vector<std::string> command;
  bool wants_help = false;

  bool has(std::string_view flag) const { return flags.contains(flag); }
  // The last value given, or `otherwise`.
  std::string value(std::string_view flag, std::string_view otherwise = {}) const;
  // Every value given, in order.
  std::vector<std::string> values(std::string_view flag) const;
};

// `words` are the arguments without the program's name. Code::InvalidArgument with a hint that
// names the nearest verb or flag when something is not understood. No words: the verb `help`.
base::Result<Invocation> parse_command_line(std::span<const std::string> words);

}  // namespace cli
