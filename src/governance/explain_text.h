#pragma once
// An explanation in words: first one line that a person can act on, then the chain of tests with
// its numbers. Words are made from the data at the moment of reading; the numbers are those of the
// decision, whatever has happened since. Names come from State: what it has forgotten shows as a
// number.
//
//   Blocked: needs 4 × 8 GPUs in pool h800, 2 × 8 fit now; a (nlp) holds 16 GPUs and may be taken
//   back at 10:12 UTC (in 9m)

#include <string>

#include "base/instant.h"
#include "governance/language.h"
#include "model/explanation.h"
#include "model/state.h"

namespace governance {

// Lines separated by '\n', none at the end. `now` is the reader's: distances are counted from it.
std::string explain(const model::Explanation& explanation, const model::State& state,
                    Language language, base::Instant now);

// Only the first line of it.
std::string explain_in_one_line(const model::Explanation& explanation, const model::State& state,
                                Language language, base::Instant now);

}  // namespace governance
