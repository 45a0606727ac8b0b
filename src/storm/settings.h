#pragma once
// What `berth storm` was asked for, from its command line.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "storm/scenario.h"

namespace storm {

struct Settings {
  Scenario scenario;         // of --seed or --scenario; the first of --seeds
  std::int64_t seeds = 1;    // how many, from scenario.seed on
  std::int64_t workers = 0;  // processes; 0: one for each processor
  bool shrinks = false;
  bool shows_coverage = false;
  bool shows_journal = false;
  bool stops_at_first = false;
  // Findings that are known and open: a label a line; runs that violate nothing else do not fail.
  std::vector<std::string> known;
  std::filesystem::path out;  // where --shrink writes its scenario; empty: standard output
};

struct UsageAnswer {  // help or a complaint instead of settings
  std::string text;
  int exit_code = 0;
};

std::variant<Settings, UsageAnswer> settings_of(std::span<const std::string> words);

}  // namespace storm
