#pragma once
// `berth simulate --experiment fgd`: every list of pods in a folder under every policy, ten seeds
// each, as a table beside the published one, fgd.csv and a page.

#include <span>
#include <string>

namespace simulator {

// The words behind `simulate`; gives the exit code.
int fgd_main(std::span<const std::string> words);

}  // namespace simulator
