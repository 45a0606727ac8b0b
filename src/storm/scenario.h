#pragma once
// One run, as a value: everything that decides what happens in it. The same scenario gives the same
// journal, byte for byte. A seed alone is a whole run; the kept lists are what shrinking leaves of
// one: without a list everything of the seed is in.
//
//   seed 42
//   profile default
//   minutes 180
//   journal sqlite                 # or memory; left out: as the seed draws it
//   nodes 1 3                      # of the seed's nodes
//   actions 5 9 12-20              # of the seed's script
//   hits store.read@3 link.stop.lost@17   # the passages at which a fault happens
//
// Text is for files in tests/storm/regressions; lines after '#' are for people.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/random.h"
#include "base/result.h"

namespace storm {

using Hit = std::pair<std::size_t, std::int64_t>;  // row of the catalogue, passage from 1

enum class JournalKind { Memory, Sqlite };
std::string_view name_of(JournalKind kind);
// Nothing for a name that is none.
std::optional<JournalKind> journal_named(std::string_view name);

struct Scenario {
  base::Seed seed;
  std::string profile = "default";
  std::int64_t minutes = 180;  // of simulated time in which things happen
  std::optional<JournalKind> journal;
  std::optional<std::set<std::int64_t>> nodes;
  std::optional<std::set<std::int64_t>> actions;
  std::optional<std::set<Hit>> hits;
  bool operator==(const Scenario&) const = default;
};

std::string print_scenario(const Scenario& scenario);
// Code::InvalidArgument names the line that is not understood.
base::Result<Scenario> parse_scenario(std::string_view text);
// The command that lives through it again, for a scenario that is a seed and nothing else.
std::string replay_command(const Scenario& scenario);

}  // namespace storm
