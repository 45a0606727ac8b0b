#pragma once
// The first line of an explanation, and what it shares with the lines of the steps.

#include <cstdint>
#include <string>

#include "base/instant.h"
#include "governance/language.h"
#include "model/explanation.h"
#include "model/state.h"

namespace governance::internal {

// Everything that turns one explanation into words.
struct Telling {
  const model::Explanation& explanation;
  const model::State& state;
  Language language = Language::English;
  base::Instant now;
};

std::string headline(const Telling& telling);

// The failed step that a person should hear about: of several pools the one that came closest to a
// start, because that is where waiting or asking for less helps first. Null when nothing failed.
const model::Step* step_to_tell(const model::Explanation& explanation);

// In the dimension of the step, "16 GPUs"; a bare number where it has none.
std::string step_amount(const Telling& telling, const model::Step& step, std::int64_t amount);
// "4 members"
std::string members_text(Language language, std::int64_t count);

}  // namespace governance::internal
