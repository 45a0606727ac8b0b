#include "cli/help.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"

namespace cli {
namespace {

struct GroupTitle {
  Group group;
  std::string_view title;
};
constexpr GroupTitle kGroups[] = {
    {Group::Do, "Do"}, {Group::Ask, "Ask"}, {Group::System, "Run the system"}};

constexpr std::size_t kWidth = 80;

// Words of `text` on lines of at most 80 columns, each after `indent` spaces.
std::string wrapped(std::string_view text, std::size_t indent) {
  std::string out, line(indent, ' ');
  bool is_empty = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!is_empty && base::display_width(line) + 1 + base::display_width(word) > kWidth) {
      out += line + "\n";
      line.assign(indent, ' ');
      is_empty = true;
    }
    if (!is_empty) line += ' ';
    line += word;
    is_empty = false;
  }
  return is_empty ? out : out + line + "\n";
}

std::string spelled(const Flag& flag) {
  std::string text = flag.letter == 0 ? "    " : fmt::format("-{}, ", flag.letter);
  text += fmt::format("--{}", flag.name);
  if (!flag.value.empty()) text += fmt::format(" {}", flag.value);
  return text;
}

std::string flag_lines(std::span<const Flag> flags, const Verb& verb) {
  std::string out;
  for (const Flag& flag : flags) {
    if (find_flag(verb, flag.name) != &flag) continue;  // hidden by the verb's own
    std::string text(flag.text);
    if (flag.is_repeatable) text += "; may be repeated";
    const std::string left = fmt::format("  {}", spelled(flag));
    constexpr std::size_t kColumn = 32;
    const std::string body = wrapped(text, kColumn);
    out += left.size() + 2 > kColumn ? left + "\n" + body : left + body.substr(left.size());
  }
  return out;
}

std::string usage_line(const Verb& verb) {
  std::string line = fmt::format("berth {}", verb.name);
  if (!verb.flags.empty() || verb.talks_to_server) line += " [flags]";
  for (const Argument& argument : verb.arguments) {
    std::string name(argument.name);
    if (argument.most != 1 && argument.name.find(' ') == std::string_view::npos) name += " …";
    line += argument.least == 0 ? fmt::format(" [{}]", name) : fmt::format(" {}", name);
  }
  if (verb.takes_command) line += " -- COMMAND [ARGUMENT …]";
  return line;
}

}  // namespace

std::string help_overview() {
  std::string out =
      "Berth schedules AI work on accelerators: who gets which devices, when, why and\n"
      "for how long, and how they come back.\n\n"
      "  berth <command> [flags] [arguments]\n";
  for (const GroupTitle& group : kGroups) {
    out += fmt::format("\n{}\n", group.title);
    for (const Verb& verb : verbs())
      if (verb.group == group.group) out += fmt::format("  {:<12}{}\n", verb.name, verb.summary);
  }
  out +=
      "\nStart here\n"
      "  berth serve                                the scheduler, in another terminal\n"
      "  berth submit --gpus 1 -- python train.py   queue work\n"
      "  berth queue                                see it wait and run\n"
      "  berth why 1                                see why\n"
      "\nExit codes: 0 done, 1 refused or failed, 2 usage, 3 not found, 4 not allowed,\n"
      "5 server not reachable; berth run returns the code of the process.\n"
      "berth <command> --help explains one command.\n";
  return out;
}

std::string help_of(const Verb& verb) {
  std::string out =
      fmt::format("berth {}: {}\n\n  {}\n", verb.name, verb.summary, usage_line(verb));
  if (!verb.text.empty()) out += "\n" + wrapped(verb.text, 0);
  if (!verb.flags.empty()) out += "\nFlags\n" + flag_lines(verb.flags, verb);
  out += "\nFlags of every command\n" + flag_lines(shared_flags(), verb);
  if (verb.talks_to_server) out += flag_lines(server_flags(), verb);
  if (!verb.examples.empty()) {
    out += "\nExamples\n";
    for (const Example& example : verb.examples)
      out += fmt::format("  {}\n{}", example.line, wrapped(example.text, 6));
  }
  return out;
}

}  // namespace cli
