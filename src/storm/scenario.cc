#include "storm/scenario.h"

#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "storm/fault_catalogue.h"

namespace storm {

namespace {

using base::Code;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  line = line.substr(0, line.find('#'));
  while (!line.empty()) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
  return words;
}

// "3" and "12-20", in order, runs joined.
std::string print_numbers(const std::set<std::int64_t>& numbers) {
  std::string text;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const std::int64_t first = *at;
    std::int64_t last = first;
    for (++at; at != numbers.end() && *at == last + 1; ++at)
      last = *at;
    text += last == first ? fmt::format(" {}", first) : fmt::format(" {}-{}", first, last);
  }
  return text;
}

base::Result<std::set<std::int64_t>> parse_numbers(const std::vector<std::string_view>& words) {
  constexpr std::int64_t kMost = 1'000'000;
  std::set<std::int64_t> numbers;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t dash = words[i].find('-');
    const auto first = base::parse_integer(words[i].substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : base::parse_integer(words[i].substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first || *last > kMost)
      return base::fail(Code::InvalidArgument, "\"{}\" is neither a number nor a range", words[i]);
    for (std::int64_t n = *first; n <= *last; ++n)
      numbers.insert(n);
  }
  return numbers;
}

base::Result<std::set<Hit>> parse_hits(const std::vector<std::string_view>& words) {
  std::set<Hit> hits;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t sign = words[i].find('@');
    const auto row = fault_named(words[i].substr(0, sign));
    if (!row || sign == std::string_view::npos)
      return base::fail(Code::InvalidArgument, "\"{}\" is not FAULT@PASSAGE", words[i]);
    const auto passage = base::parse_integer(words[i].substr(sign + 1));
    if (!passage || *passage < 1)
      return base::fail(Code::InvalidArgument, "\"{}\" is not FAULT@PASSAGE", words[i]);
    hits.insert({*row, *passage});
  }
  return hits;
}

base::Result<base::Done> read_line(const std::vector<std::string_view>& words, Scenario& scenario) {
  const std::string_view key = words[0];
  if (key == "nodes" || key == "actions") {
    auto numbers = parse_numbers(words);
    if (!numbers) return tl::unexpected(numbers.error());
    (key == "nodes" ? scenario.nodes : scenario.actions) = std::move(*numbers);
    return base::Done{};
  }
  if (key == "hits") {
    auto hits = parse_hits(words);
    if (!hits) return tl::unexpected(hits.error());
    scenario.hits = std::move(*hits);
    return base::Done{};
  }
  if (words.size() != 2)
    return base::fail(Code::InvalidArgument, "after \"{}\" stands one value", key);
  if (key == "journal") {
    scenario.journal = journal_named(words[1]);
    if (!scenario.journal)
      return base::fail(Code::InvalidArgument, "\"{}\" is neither memory nor sqlite", words[1]);
    return base::Done{};
  }
  if (key == "profile") {
    scenario.profile = std::string(words[1]);
    return base::Done{};
  }
  const auto number = base::parse_integer(words[1]);
  if (!number || *number < 0)
    return base::fail(Code::InvalidArgument, "\"{}\" is not a whole number from 0", words[1]);
  if (key == "seed")
    scenario.seed.value = static_cast<std::uint64_t>(*number);
  else if (key == "minutes")
    scenario.minutes = *number;
  else
    return base::fail(Code::InvalidArgument,
                      "\"{}\" is none of seed, profile, minutes, journal, nodes, actions and hits",
                      key);
  return base::Done{};
}

}  // namespace

std::string_view name_of(JournalKind kind) {
  return kind == JournalKind::Sqlite ? "sqlite" : "memory";
}

std::optional<JournalKind> journal_named(std::string_view name) {
  if (name == "memory") return JournalKind::Memory;
  if (name == "sqlite") return JournalKind::Sqlite;
  return std::nullopt;
}

std::string print_scenario(const Scenario& scenario) {
  std::string text = fmt::format("seed {}\nprofile {}\nminutes {}\n", scenario.seed.value,
                                 scenario.profile, scenario.minutes);
  if (scenario.journal) text += fmt::format("journal {}\n", name_of(*scenario.journal));
  if (scenario.nodes) text += "nodes" + print_numbers(*scenario.nodes) + "\n";
  if (scenario.actions) text += "actions" + print_numbers(*scenario.actions) + "\n";
  if (scenario.hits) {
    text += "hits";
    for (const auto& [row, passage] : *scenario.hits)
      text += fmt::format(" {}@{}", fault_catalogue()[row].name, passage);
    text += "\n";
  }
  return text;
}

base::Result<Scenario> parse_scenario(std::string_view text) {
  Scenario scenario;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const auto words = words_of(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (words.empty()) continue;
    auto read = read_line(words, scenario);
    if (read) continue;
    read.error().message = fmt::format("line {}: {}", number, read.error().message);
    return tl::unexpected(read.error());
  }
  return scenario;
}

std::string replay_command(const Scenario& scenario) {
  std::string command = fmt::format("berth storm --seed {}", scenario.seed.value);
  if (scenario.profile != "default") command += " --profile " + scenario.profile;
  if (scenario.minutes != Scenario{}.minutes)
    command += fmt::format(" --minutes {}", scenario.minutes);
  if (scenario.journal) command += fmt::format(" --journal-in {}", name_of(*scenario.journal));
  return command;
}

}  // namespace storm
