#pragma once
// The lines of a scenario as words: facts, actions, expectations. Nothing is looked up here.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/result.h"

namespace testkit {

// "submit a queue=nlp gpus=8": leading words, then key=value pairs.
struct Phrase {
  std::vector<std::string> words;
  std::map<std::string, std::string, std::less<>> values;

  const std::string* value(std::string_view key) const;
  std::string word(std::size_t index) const;  // empty when there are fewer
};

struct ScenarioLine {
  enum class Kind { Fact, At, Ask };
  Kind kind = Kind::Fact;
  int number = 0;
  base::Duration at;            // of At
  std::vector<Phrase> phrases;  // the facts, the actions, or the one question
  std::vector<Phrase> expectations;
};

base::Result<std::vector<ScenarioLine>> parse_scenario(std::string_view text);

}  // namespace testkit
