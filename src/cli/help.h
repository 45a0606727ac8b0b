#pragma once
// Help text made from the command tree: an overview of every verb, and a page for each with its
// flags and examples. At most 80 columns, no colour.

#include <string>

#include "cli/command_tree.h"

namespace cli {

std::string help_overview();
std::string help_of(const Verb& verb);

}  // namespace cli
