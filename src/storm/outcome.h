#pragma once
// What one run was like: enough to judge, count and report it; everything in it follows from the
// scenario, except `failure` of a run whose process died.

#include <cstdint>
#include <string>
#include <vector>

#include "storm/fault_plan.h"
#include "storm/watch.h"

namespace storm {

// What a run must have seen to mean something.
inline constexpr std::int64_t kFewestStarts = 100, kFewestEvictions = 5, kFewestFaults = 5;

struct Outcome {
  std::uint64_t seed = 0;
  std::string violation;  // the label of the first one; empty: none
  std::string report;     // all that was kept, a line each
  std::int64_t violations = 0;
  // Until the faults stopped.
  std::int64_t starts = 0, evictions = 0, faults = 0;
  std::int64_t turns = 0, deaths = 0, takeovers = 0, fenced = 0, failed_commits = 0;
  std::int64_t requests = 0, refused = 0;
  std::int64_t simulated_millis = 0;
  WatchCounts watched;
  Coverage coverage;
  std::string digest;                   // of the journal
  std::vector<std::int64_t> hits_made;  // of a failed run: row, passage, row, passage, …

  // Enough happened to mean something: what little a quiet run shows is not counted as tested.
  bool is_meaningful() const {
    return starts >= kFewestStarts && evictions >= kFewestEvictions && faults >= kFewestFaults;
  }
  bool is_good() const { return violation.empty(); }
  static void fields(auto& self, auto&& visit) {
    visit(1, "seed", self.seed);
    visit(2, "violation", self.violation);
    visit(3, "report", self.report);
    visit(4, "violations", self.violations);
    visit(5, "starts", self.starts);
    visit(6, "evictions", self.evictions);
    visit(7, "faults", self.faults);
    visit(8, "turns", self.turns);
    visit(9, "deaths", self.deaths);
    visit(10, "takeovers", self.takeovers);
    visit(11, "fenced", self.fenced);
    visit(12, "failedCommits", self.failed_commits);
    visit(13, "requests", self.requests);
    visit(14, "refused", self.refused);
    visit(15, "simulatedMillis", self.simulated_millis);
    visit(16, "watched", self.watched);
    visit(17, "coverage", self.coverage);
    visit(18, "digest", self.digest);
    visit(19, "hitsMade", self.hits_made);
  }
};

}  // namespace storm
