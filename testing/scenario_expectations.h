#pragma once
// What a scenario expects, compared with what a World did. Each function gives what is wrong as
// text, empty when the expectation is met.

#include <string>
#include <vector>

#include "model/decision.h"
#include "model/explanation.h"
#include "testing/scenario_text.h"
#include "testing/world.h"

namespace testkit {

// What happened during one line.
struct Window {
  std::vector<model::Decision> decisions;
  std::string subject;  // the workload that an expectation means when it names none
};

std::string check_expectation(const World& world, const Window& window, const Phrase& expected);

// Of an `ask`: the verdict and numbers of one explanation.
std::string check_answer(const World& world, const model::Explanation& answer,
                         const Phrase& expected);

// "blocked: place failed NotEnoughFree need=2 have=1 …", for the report of a failure.
std::string describe(const World& world, const model::Explanation& explanation);

}  // namespace testkit
