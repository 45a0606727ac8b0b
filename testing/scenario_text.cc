#include "testing/scenario_text.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace testkit {

using base::Code;
using base::Result;

namespace {

constexpr std::array<std::string_view, 6> kFacts{"pool",  "node",   "queue",
                                                 "class", "policy", "world"};

bool is_fact(std::string_view word) {
  return std::find(kFacts.begin(), kFacts.end(), word) != kFacts.end();
}

// Words between blanks; a comma between words is only for the reader.
std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  const auto flush = [&] {
    while (!word.empty() && word.back() == ',')
      word.pop_back();
    if (!word.empty()) words.push_back(std::exchange(word, {}));
  };
  for (const char c : line) {
    if (c == '#' && word.empty()) break;
    if (c == ' ' || c == '\t' || c == '\r')
      flush();
    else
      word.push_back(c);
  }
  flush();
  return words;
}

void add_word(Phrase& phrase, const std::string& word) {
  const auto equals = word.find('=');
  if (equals == std::string::npos || equals == 0)
    phrase.words.push_back(word);
  else
    phrase.values[word.substr(0, equals)] = word.substr(equals + 1);
}

// "queue a guarantee=8  queue b": a fact's keyword begins the next fact.
std::vector<Phrase> facts_of(const std::vector<std::string>& words) {
  std::vector<Phrase> phrases;
  for (const std::string& word : words) {
    const bool is_name = !phrases.empty() && phrases.back().words.size() == 1;
    if (is_fact(word) && !is_name) phrases.emplace_back();
    add_word(phrases.back(), word);
  }
  return phrases;
}

// "submit a gpus=1 ; submit b": parts between semicolons.
std::vector<Phrase> phrases_of(const std::vector<std::string>& words, std::size_t from,
                               std::size_t to) {
  std::vector<Phrase> phrases;
  Phrase phrase;
  const auto flush = [&] {
    if (!phrase.words.empty() || !phrase.values.empty())
      phrases.push_back(std::exchange(phrase, {}));
  };
  for (std::size_t i = from; i < to; ++i) {
    if (words[i] == ";")
      flush();
    else
      add_word(phrase, words[i]);
  }
  flush();
  return phrases;
}

Result<ScenarioLine> line_of(const std::vector<std::string>& words, int number) {
  ScenarioLine line{.number = number};
  const auto arrow =
      static_cast<std::size_t>(std::find(words.begin(), words.end(), "=>") - words.begin());
  if (arrow < words.size()) line.expectations = phrases_of(words, arrow + 1, words.size());
  if (words[0] == "at") {
    if (arrow < 2) return base::fail(Code::InvalidArgument, "line {}: at which time", number);
    const auto at = base::parse_duration(words[1]);
    if (!at) return base::fail(Code::InvalidArgument, "line {}: {}", number, at.error().message);
    line.kind = ScenarioLine::Kind::At;
    line.at = *at;
    line.phrases = phrases_of(words, 2, arrow);
  } else if (words[0] == "ask") {
    line.kind = ScenarioLine::Kind::Ask;
    line.phrases = phrases_of(words, 1, arrow);
    if (line.phrases.size() != 1)
      return base::fail(Code::InvalidArgument, "line {}: ask one thing", number);
  } else if (is_fact(words[0])) {
    line.phrases = facts_of({words.begin(), words.begin() + static_cast<std::ptrdiff_t>(arrow)});
  } else {
    return base::fail(Code::InvalidArgument,
                      "line {}: '{}' begins no line; use at, ask, pool, node, queue, class, "
                      "policy or world",
                      number, words[0]);
  }
  return line;
}

}  // namespace

const std::string* Phrase::value(std::string_view key) const {
  const auto found = values.find(key);
  return found == values.end() ? nullptr : &found->second;
}

std::string Phrase::word(std::size_t index) const {
  return index < words.size() ? words[index] : std::string{};
}

Result<std::vector<ScenarioLine>> parse_scenario(std::string_view text) {
  std::vector<ScenarioLine> lines;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = std::min(text.find('\n'), text.size());
    const std::vector<std::string> words = split(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty()) continue;
    if (words[0] == "=>") {
      if (lines.empty())
        return base::fail(Code::InvalidArgument, "line {}: expects before anything happens",
                          number);
      for (Phrase& phrase : phrases_of(words, 1, words.size()))
        lines.back().expectations.push_back(std::move(phrase));
      continue;
    }
    Result<ScenarioLine> line = line_of(words, number);
    if (!line) return tl::unexpected(line.error());
    lines.push_back(std::move(*line));
  }
  return lines;
}

}  // namespace testkit
