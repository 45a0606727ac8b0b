#pragma once
// `berth storm`: the deterministic fault simulation. Exit codes: 0 nothing was violated, 1
// something was (the seed and the command that replays it are printed), 2 wrong usage.

#include <span>
#include <string>

namespace storm {

// `words` are the arguments after "storm".
int main(std::span<const std::string> words);

}  // namespace storm
