#include "cli/completion.h"

#include <fmt/format.h>

#include "cli/command_tree.h"

namespace cli {
namespace {

// The command that lists what may be completed; empty: nothing to ask.
std::string_view lister(Offers offers) {
  switch (offers) {
    case Offers::Workloads:
      return "queue";
    case Offers::Queues:
      return "queues";
    case Offers::Nodes:
      return "nodes";
    default:
      return "";
  }
}

template <class Visit>
void each_flag(const Verb& verb, Visit visit) {
  for (const Flag& flag : verb.flags)
    visit(flag);
  for (const Flag& flag : shared_flags())
    if (find_flag(verb, flag.name) == &flag) visit(flag);
  if (!verb.talks_to_server) return;
  for (const Flag& flag : server_flags())
    if (find_flag(verb, flag.name) == &flag) visit(flag);
}

// In single quotes for any of the three shells.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

// ---- bash ----

std::string bash_words(Offers offers, std::string_view choices) {
  if (offers == Offers::Choices)
    return fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"))", choices);
  if (offers == Offers::Files) return "COMPREPLY=($(compgen -f -- \"$cur\"))";
  if (offers == Offers::Folders) return "COMPREPLY=($(compgen -d -- \"$cur\"))";
  if (const std::string_view verb = lister(offers); !verb.empty())
    return fmt::format("COMPREPLY=($(compgen -W \"$(_berth_ask {})\" -- \"$cur\"))", verb);
  return "COMPREPLY=()";
}

std::string bash_verb(const Verb& verb) {
  std::string flags, values;
  each_flag(verb, [&](const Flag& flag) {
    flags += fmt::format(" --{}", flag.name);
    if (flag.value.empty()) return;
    const std::string pattern = flag.letter == 0 ? fmt::format("--{}", flag.name)
                                                 : fmt::format("--{}|-{}", flag.name, flag.letter);
    values +=
        fmt::format("        {}) {}; return ;;\n", pattern, bash_words(flag.offers, flag.choices));
  });
  std::string arguments = "COMPREPLY=()";
  if (!verb.arguments.empty())
    arguments = bash_words(verb.arguments.front().offers, verb.arguments.front().choices);
  return fmt::format(
      "    {0})\n      case \"$prev\" in\n{1}      esac\n"
      "      if [[ \"$cur\" == -* ]]; then\n"
      "        COMPREPLY=($(compgen -W \"{2}\" -- \"$cur\"))\n"
      "      else\n        {3}\n      fi ;;\n",
      verb.name, values, flags.substr(1), arguments);
}

std::string bash_script() {
  std::string names, cases;
  for (const Verb& verb : verbs()) {
    names += fmt::format("{}{}", names.empty() ? "" : " ", verb.name);
    cases += bash_verb(verb);
  }
  return fmt::format(
      "# bash completion of berth; load it with: source <(berth completion bash)\n"
      "_berth_ask() {{ timeout 2 berth \"$1\" -o name 2>/dev/null; }}\n"
      "_berth() {{\n"
      "  local cur=\"${{COMP_WORDS[COMP_CWORD]}}\" prev=\"${{COMP_WORDS[COMP_CWORD-1]}}\" "
      "verb=\"\" i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    [[ \"${{COMP_WORDS[i]}}\" == -- ]] && return\n"
      "    if [[ -z \"$verb\" && \"${{COMP_WORDS[i]}}\" != -* ]]; then "
      "verb=\"${{COMP_WORDS[i]}}\"; fi\n"
      "  done\n"
      "  case \"$verb\" in\n"
      "    '') COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")) ;;\n{}  esac\n}}\n"
      "complete -F _berth berth\n",
      names, cases);
}

// ---- zsh ----

std::string zsh_action(Offers offers, std::string_view choices) {
  if (offers == Offers::Choices) return fmt::format("({})", choices);
  if (offers == Offers::Files) return "_files";
  if (offers == Offers::Folders) return "_files -/";
  if (const std::string_view verb = lister(offers); !verb.empty())
    return fmt::format("{{_berth_ask {}}}", verb);
  return " ";
}

std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_verb(const Verb& verb) {
  std::string specs;
  each_flag(verb, [&](const Flag& flag) {
    const std::string tail =
        flag.value.empty() ? fmt::format("[{}]", zsh_text(flag.text))
                           : fmt::format("[{}]:{}:{}", zsh_text(flag.text), zsh_text(flag.value),
                                         zsh_action(flag.offers, flag.choices));
    const std::string star = flag.is_repeatable ? "*" : "";
    specs += fmt::format(" \\\n        {}", quoted(fmt::format("{}--{}{}", star, flag.name, tail)));
    if (flag.letter != 0)
      specs +=
          fmt::format(" \\\n        {}", quoted(fmt::format("{}-{}{}", star, flag.letter, tail)));
  });
  for (const Argument& argument : verb.arguments)
    specs += fmt::format(" \\\n        {}",
                         quoted(fmt::format("*:{}:{}", zsh_text(argument.name),
                                            zsh_action(argument.offers, argument.choices))));
  if (verb.takes_command) specs += " \\\n        '*::command:_normal'";
  return fmt::format("      {})\n        _arguments{} ;;\n", verb.name, specs);
}

std::string zsh_script() {
  std::string list, cases;
  for (const Verb& verb : verbs()) {
    list +=
        fmt::format("    {}\n", quoted(fmt::format("{}:{}", verb.name, zsh_text(verb.summary))));
    cases += zsh_verb(verb);
  }
  return fmt::format(
      "#compdef berth\n"
      "# zsh completion of berth; put it as _berth into a folder of $fpath.\n"
      "_berth_ask() {{ local -a names; names=(${{(f)\"$(timeout 2 berth $1 -o name "
      "2>/dev/null)\"}}); "
      "compadd -a names }}\n"
      "_berth() {{\n"
      "  local -a verbs\n  verbs=(\n{}  )\n"
      "  if (( CURRENT == 2 )); then _describe command verbs; return; fi\n"
      "  local verb=$words[2]\n"
      "  words=(\"${{(@)words[2,-1]}}\"); (( CURRENT -= 1 ))\n"
      "  case $verb in\n{}  esac\n}}\n"
      "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _berth \"$@\"; else compdef _berth "
      "berth; fi\n",
      list, cases);
}

// ---- fish ----

std::string fish_values(Offers offers, std::string_view choices) {
  if (offers == Offers::Choices) return fmt::format(" -x -a {}", quoted(choices));
  if (offers == Offers::Files) return " -r -F";
  if (offers == Offers::Folders) return " -x -a '(__fish_complete_directories)'";
  if (const std::string_view verb = lister(offers); !verb.empty())
    return fmt::format(" -x -a '(__berth_ask {})'", verb);
  return " -x";
}

std::string fish_script() {
  std::string out =
      "# fish completion of berth; put it into ~/.config/fish/completions/berth.fish\n"
      "function __berth_ask; timeout 2 berth $argv[1] -o name 2>/dev/null; end\n"
      "complete -c berth -f\n";
  for (const Verb& verb : verbs()) {
    out += fmt::format("complete -c berth -n __fish_use_subcommand -a {} -d {}\n", verb.name,
                       quoted(verb.summary));
    const std::string when = fmt::format("'__fish_seen_subcommand_from {}'", verb.name);
    each_flag(verb, [&](const Flag& flag) {
      const std::string letter = flag.letter == 0 ? "" : fmt::format(" -s {}", flag.letter);
      out += fmt::format("complete -c berth -n {} -l {}{} -d {}{}\n", when, flag.name, letter,
                         quoted(flag.text),
                         flag.value.empty() ? "" : fish_values(flag.offers, flag.choices));
    });
    if (verb.takes_command)
      out += fmt::format("complete -c berth -n {} -x -a '(__fish_complete_subcommand)'\n", when);
    if (!verb.arguments.empty() && verb.arguments.front().offers != Offers::Nothing)
      out +=
          fmt::format("complete -c berth -n {}{}\n", when,
                      fish_values(verb.arguments.front().offers, verb.arguments.front().choices));
  }
  return out;
}

}  // namespace

std::optional<std::string> completion_script(std::string_view shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") return zsh_script();
  if (shell == "fish") return fish_script();
  return std::nullopt;
}

}  // namespace cli
