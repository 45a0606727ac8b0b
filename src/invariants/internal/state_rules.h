#pragma once
// The rules of invariants/state_check.h by subject. Each function appends what it finds wrong.

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "invariants/violation.h"
#include "model/state.h"

namespace invariants::internal {

// Collects violations under one invariant's name.
class Findings {
 public:
  explicit Findings(std::vector<Violation>& out) : out_(out) {}
  template <class... Args>
  void add(std::string invariant, fmt::format_string<Args...> text, Args&&... args) {
    out_.push_back({std::move(invariant), fmt::format(text, std::forward<Args>(args)...)});
  }

 private:
  std::vector<Violation>& out_;
};

// Of one thing; the functions below walk over all of them.
void check_node_allocations(const model::NodeRecord& node, Findings& findings);  // 1, 2
void check_attempt_allocations(const model::State& state, const model::WorkloadRecord& record,
                               const model::Attempt& attempt, Findings& findings);  // 3, 5
void check_workload_phase(const model::State& state, const model::WorkloadRecord& record,
                          Findings& findings);  // 3, 20

void check_allocations(const model::State& state, Findings& findings);  // 1 to 3, 5, 13
void check_phases(const model::State& state, Findings& findings);       // 3, 20
void check_counters(const model::State& state, Findings& findings);     // 10
void check_indexes(const model::State& state, Findings& findings);      // 10

}  // namespace invariants::internal
