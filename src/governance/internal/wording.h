#pragma once
// How the two languages stand side by side in the code: one call, both sentences, the same
// arguments by position. And the short phrases that reasons have inside a sentence, where the full
// sentences of the catalogue would not fit.

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "governance/language.h"
#include "model/explanation.h"
#include "model/reason.h"

namespace governance::internal {

// Without the spaces that follow a full-width closing bracket, where an argument ended in one.
std::string tightened(std::string chinese);

// Both texts are literals of this folder and take the same arguments; "{1}" reorders.
template <class... Args>
std::string say(Language language, std::string_view english, std::string_view chinese,
                const Args&... args) {
  if (language == Language::English) return fmt::format(fmt::runtime(english), args...);
  return tightened(fmt::format(fmt::runtime(chinese), args...));
}

// "devices in use": why a node, a holder or a pool is out of the question, in a few words. Without
// a phrase of its own a reason has its sentence.
std::string_view phrase_of(model::Reason reason, Language language);

std::string_view test_name(model::Test test, Language language);

}  // namespace governance::internal
