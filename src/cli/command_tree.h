#pragma once
// The command tree as data: every verb with its arguments, flags and examples. Parsing
// (command_line.h), help (help.h) and shell completion (completion.h) all read this one table, so
// that none of them can know a flag that the others do not.
//
// Immutable; everything points into read-only memory.

#include <span>
#include <string_view>

namespace cli {

// What a shell may offer for a value or an argument.
enum class Offers { Nothing, Files, Folders, Workloads, Queues, Nodes, Choices };

struct Flag {
  std::string_view name;   // "queue", written --queue
  char letter = 0;         // 'q', written -q; 0: none
  std::string_view value;  // "QUEUE"; empty: a switch
  std::string_view text;   // one line, lower case, no period
  Offers offers = Offers::Nothing;
  std::string_view choices = {};  // "table wide json", when offers is Choices
  bool is_repeatable = false;
};

struct Argument {
  std::string_view name;  // "WORKLOAD"
  int least = 1;
  int most = 1;  // -1: any number
  Offers offers = Offers::Nothing;
  std::string_view choices = {};
};

struct Example {
  std::string_view line;
  std::string_view text;
};

enum class Group { Do, Ask, System };

struct Verb {
  std::string_view name;
  Group group = Group::Ask;
  std::string_view summary;  // one line
  std::string_view text;     // a paragraph more for its own help; may be empty
  std::span<const Argument> arguments;
  std::span<const Flag> flags;
  std::span<const Example> examples;
  bool takes_command = false;   // the words after -- are a command to run
  bool parses_itself = false;   // its flags are parsed by the role that it starts
  bool talks_to_server = true;  // has --server and --token
};

std::span<const Verb> verbs();
// Nothing when there is no such verb.
const Verb* find_verb(std::string_view name);
// The flags that every verb has.
std::span<const Flag> shared_flags();
// The flags of every verb that talks to a server.
std::span<const Flag> server_flags();
// By long name, among the verb's own, the shared and the server's flags.
const Flag* find_flag(const Verb& verb, std::string_view name);
const Flag* find_flag(const Verb& verb, char letter);

}  // namespace cli
