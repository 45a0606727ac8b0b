#include "cli/command_line.h"

#include <algorithm>
#include <optional>

#include <CLI/CLI.hpp>

#include "base/assert.h"
#include "base/text.h"

namespace cli {
namespace {

using base::Code;

tl::unexpected<base::Error> usage(std::string message, std::string hint) {
  return tl::unexpected(base::Error{.code = Code::InvalidArgument,
                                    .message = std::move(message),
                                    .field = {},
                                    .hint = std::move(hint)});
}

std::string see_help(const Verb& verb) { return fmt::format("see: berth {} --help", verb.name); }

// The flag of any verb; used for words that stand before the verb is known.
const Flag* any_flag(std::string_view word) {
  for (const Verb& verb : verbs()) {
    const Flag* flag = word.starts_with("--") ? find_flag(verb, word.substr(2, word.find('=') - 2))
                       : word.size() >= 2     ? find_flag(verb, word[1])
                                              : nullptr;
    if (flag != nullptr) return flag;
  }
  return nullptr;
}

bool is_flag_word(std::string_view word) { return word.size() >= 2 && word[0] == '-'; }

// Whether the flag of this word takes the next word as its value.
bool takes_next(const Flag* flag, std::string_view word) {
  if (flag == nullptr || flag->value.empty()) return false;
  return word.starts_with("--") ? word.find('=') == std::string_view::npos : word.size() == 2;
}

// Position of the verb: the first word that is neither a flag nor the value of one.
std::optional<std::size_t> verb_position(std::span<const std::string> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") return std::nullopt;
    if (!is_flag_word(words[i])) return i;
    if (takes_next(any_flag(words[i]), words[i])) ++i;
  }
  return std::nullopt;
}

base::Result<const Verb*> known_verb(const std::string& word) {
  if (const Verb* verb = find_verb(word)) return verb;
  std::vector<std::string_view> names;
  for (const Verb& verb : verbs())
    names.push_back(verb.name);
  const auto near = base::nearest(word, names);
  return usage(fmt::format("unknown command \"{}\"", word),
               near ? fmt::format("did you mean: berth {}", *near) : "see: berth help");
}

// Splits the words of a verb that takes a command where the command begins.
std::size_t command_begin(const Verb& verb, std::span<const std::string> words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--") return i;
    if (!is_flag_word(words[i])) return verb.takes_command ? i : words.size() + 1;
    const Flag* flag =
        words[i].starts_with("--")
            ? find_flag(verb, std::string_view(words[i]).substr(2, words[i].find('=') - 2))
            : find_flag(verb, words[i][1]);
    if (takes_next(flag, words[i])) ++i;
  }
  return words.size() + 1;
}

base::Error unknown_flag(const Verb& verb, std::string_view word) {
  std::vector<std::string> spelled;
  for (const auto flags : {verb.flags, shared_flags(), server_flags()})
    for (const Flag& flag : flags)
      spelled.push_back(fmt::format("--{}", flag.name));
  const std::vector<std::string_view> names(spelled.begin(), spelled.end());
  const std::string_view bare = word.substr(0, word.find('='));
  const auto near = base::nearest(bare, names);
  return {.code = Code::InvalidArgument,
          .message = fmt::format("berth {} has no flag {}", verb.name, bare),
          .field = {},
          .hint = near ? fmt::format("did you mean {}", *near) : see_help(verb)};
}

std::string cli11_name(const Flag& flag) {
  return flag.letter == 0 ? fmt::format("--{}", flag.name)
                          : fmt::format("-{},--{}", flag.letter, flag.name);
}

// CLI11 finds the flags; what it does not know comes back as remaining words, so that our own
// message can name the nearest flag.
base::Result<std::vector<std::string>> parse_flags(const Verb& verb, std::vector<std::string> words,
                                                   Invocation& into) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::map<std::string, std::vector<std::string>> values;
  std::map<std::string, bool> switches;
  const auto add = [&](std::span<const Flag> flags) {
    for (const Flag& flag : flags) {
      const std::string name(flag.name);
      // A verb's own flag hides a shared one of the same name.
      if (values.contains(name) || switches.contains(name)) continue;
      if (flag.value.empty())
        app.add_flag(cli11_name(flag), switches[name]);
      else
        app.add_option(cli11_name(flag), values[name])
            ->expected(1)
            ->allow_extra_args(false)
            ->take_all();
    }
  };
  add(verb.flags);
  add(shared_flags());
  if (verb.talks_to_server) add(server_flags());
  try {
    std::reverse(words.begin(), words.end());
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return usage(error.what(), see_help(verb));
  }
  for (auto& [name, given] : values)
    if (!given.empty()) into.flags[name] = std::move(given);
  for (const auto& [name, is_given] : switches)
    if (is_given) into.flags[name] = {"true"};
  return app.remaining();
}

base::Result<base::Done> check_values(const Invocation& invocation) {
  for (const auto& [name, given] : invocation.flags) {
    const Flag* flag = find_flag(*invocation.verb, name);
    ASSERT(flag != nullptr);
    if (given.size() > 1 && !flag->is_repeatable)
      return usage(fmt::format("--{} is given {} times", name, given.size()), "give it once");
    if (flag->offers != Offers::Choices) continue;
    for (const std::string& value : given) {
      const std::string padded = fmt::format(" {} ", flag->choices);
      if (value.find(' ') == std::string::npos &&
          padded.find(fmt::format(" {} ", value)) != std::string::npos)
        continue;
      return usage(fmt::format("--{} cannot be \"{}\"", name, value),
                   fmt::format("it is one of: {}", flag->choices));
    }
  }
  return base::Done{};
}

base::Result<base::Done> check_arguments(const Invocation& invocation) {
  const Verb& verb = *invocation.verb;
  std::size_t least = 0, most = 0;
  std::string names;
  for (const Argument& argument : verb.arguments) {
    least += static_cast<std::size_t>(argument.least);
    most = argument.most < 0 ? invocation.arguments.size()
                             : most + static_cast<std::size_t>(argument.most);
    names += fmt::format(" {}", argument.name);
  }
  if (invocation.arguments.size() < least)
    return usage(fmt::format("berth {} needs{}", verb.name, names), see_help(verb));
  if (invocation.arguments.size() > most)
    return usage(
        fmt::format("berth {} does not take \"{}\"", verb.name, invocation.arguments[most]),
        see_help(verb));
  return base::Done{};
}

}  // namespace

std::string Invocation::value(std::string_view flag, std::string_view otherwise) const {
  const auto found = flags.find(flag);
  return found == flags.end() ? std::string(otherwise) : found->second.back();
}

std::vector<std::string> Invocation::values(std::string_view flag) const {
  const auto found = flags.find(flag);
  return found == flags.end() ? std::vector<std::string>{} : found->second;
}

base::Result<Invocation> parse_command_line(std::span<const std::string> words) {
  Invocation invocation;
  const auto position = verb_position(words);
  if (!position) {
    for (const std::string& word : words)
      if (word == "--version") {
        invocation.verb = find_verb("version");
        return invocation;
      } else if (word != "-h" && word != "--help") {
        return usage(fmt::format("a command is missing before \"{}\"", word), "see: berth help");
      }
    invocation.verb = find_verb("help");
    return invocation;
  }
  const base::Result<const Verb*> verb = known_verb(words[*position]);
  if (!verb) return tl::unexpected(verb.error());
  invocation.verb = *verb;

  std::vector<std::string> rest(words.begin(),
                                words.begin() + static_cast<std::ptrdiff_t>(*position));
  const auto after = words.subspan(*position + 1);
  if (invocation.verb->parses_itself) {
    invocation.arguments.assign(after.begin(), after.end());
    invocation.wants_help = std::ranges::find(after, "--help") != after.end() ||
                            std::ranges::find(after, "-h") != after.end();
    return invocation;
  }
  const std::size_t begin = std::min(command_begin(*invocation.verb, after), after.size());
  rest.insert(rest.end(), after.begin(), after.begin() + static_cast<std::ptrdiff_t>(begin));
  auto command = after.subspan(begin);
  if (!command.empty() && command.front() == "--") command = command.subspan(1);
  const bool has_stray = !command.empty() && !invocation.verb->takes_command;
  if (!has_stray) invocation.command.assign(command.begin(), command.end());

  auto remaining = parse_flags(*invocation.verb, std::move(rest), invocation);
  if (!remaining) return tl::unexpected(remaining.error());
  if (has_stray) remaining->insert(remaining->end(), command.begin(), command.end());
  for (std::string& word : *remaining) {
    if (is_flag_word(word) && !has_stray)
      return tl::unexpected(unknown_flag(*invocation.verb, word));
    invocation.arguments.push_back(std::move(word));
  }
  if (invocation.has("help")) {
    invocation.wants_help = true;
    return invocation;
  }
  if (auto checked = check_values(invocation); !checked) return tl::unexpected(checked.error());
  if (auto checked = check_arguments(invocation); !checked) return tl::unexpected(checked.error());
  return invocation;
}

}  // namespace cli
