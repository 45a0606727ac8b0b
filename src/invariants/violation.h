#pragma once
// Something that must never be, found to be so: which invariant (its number in
// docs/design/0002-invariants.md and a few words) and the evidence, with ids and amounts.

#include <string>
#include <vector>

namespace invariants {

struct Violation {
  std::string invariant;  // "1 device over-committed"
  std::string text;       // "node 3 device 0: 1200 of 1000 milli are taken"
  bool operator==(const Violation&) const = default;
};

// One line each, "[1 device over-committed] node 3 …", for reports.
std::string to_text(const std::vector<Violation>& violations);

}  // namespace invariants
