#pragma once
// The evidence of a decision: an ordered chain of tests with the numbers at that time. Data, stored
// with the decision; text is made from it (governance/explain_text.h). It must be true: the
// independent evaluator (invariants/explanation_check.h) reads only State and gives the same
// outcome and numbers for each step.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/instant.h"
#include "model/ids.h"
#include "model/reason.h"
#include "model/resources.h"

namespace model {

enum class Verdict { Starts, Blocked, Infeasible, Waiting, Running, Finished };
inline std::span<const std::string_view> enum_names(Verdict) {
  static constexpr std::array<std::string_view, 6> kNames{"starts",  "blocked", "infeasible",
                                                          "waiting", "running", "finished"};
  return kNames;
}

enum class QuestionKind { RunNow, Why, When, WhatIf, Fits };
inline std::span<const std::string_view> enum_names(QuestionKind) {
  static constexpr std::array<std::string_view, 5> kNames{"run_now", "why", "when", "what_if",
                                                          "fits"};
  return kNames;
}

// One test of the chain. The meaning of the numbers of each test is the specification that planner
// and evaluator are both written from (docs/design/0001-explanation-steps.md).
enum class Test {
  Eligible,   // not held, not backing off; until = when it may be tried again
  Feasible,   // on an empty, healthy cluster: need members, have = members that could ever fit
  QueueMax,   // per queue on the path and dimension: have = held, need = asked, limit = max
  Guarantee,  // unreclaimable work: have = held, need = asked, limit = guarantee, per queue
  UnlentGuarantee,  // work beyond its guarantee: have = free, need = asked, limit = kept for others
  QueueOrder,       // a strict queue: the head that must go first is holders[0]
  Place,    // in one pool: need = members, have = members that fit now, rejected nodes by reason
  Victims,  // taking back in one pool: need = amount short, have = amount that may be taken
  Claim,    // waits for victims that are stopping: need = amount still to come
  Topology  // largest domain of the required level: need = members, have = fit there
};
inline std::span<const std::string_view> enum_names(Test) {
  static constexpr std::array<std::string_view, 10> kNames{
      "eligible",    "feasible", "queue_max", "guarantee", "unlent_guarantee",
      "queue_order", "place",    "victims",   "claim",     "topology"};
  return kNames;
}

enum class Outcome { Passed, Failed };
inline std::span<const std::string_view> enum_names(Outcome) {
  static constexpr std::array<std::string_view, 2> kNames{"passed", "failed"};
  return kNames;
}

// Who holds what is missing, how much of it, and whether and when it could be taken back.
struct Holder {
  WorkloadId workload;  // none: the queue as a whole
  QueueId queue;
  std::int64_t amount = 0;             // in the unit of the step's dimension
  Reason protection = Reason::None;    // None: may be taken back now; else why not
  std::optional<base::Instant> until;  // when it ends by its enforced limit, or protection ends
  bool operator==(const Holder&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "workload", self.workload);
    visit(2, "queue", self.queue);
    visit(3, "amount", self.amount);
    visit(4, "protection", self.protection);
    visit(5, "until", self.until);
  }
};

struct Rejection {
  Reason reason = Reason::None;
  std::int64_t count = 0;        // nodes
  std::vector<NodeId> examples;  // the first by id, at most three
  bool operator==(const Rejection&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "reason", self.reason);
    visit(2, "count", self.count);
    visit(3, "examples", self.examples);
  }
};

struct Step {
  Test test = Test::Eligible;
  Outcome outcome = Outcome::Passed;
  Reason reason = Reason::None;  // None when passed
  std::optional<Dimension> dimension;
  std::optional<QueueId> queue;  // which queue of the path the numbers are of
  std::int64_t need = 0;
  std::int64_t have = 0;
  std::optional<std::int64_t> limit;
  std::vector<Holder> holders;         // largest amount first, then id; at most kMaxHolders
  std::vector<Rejection> rejected;     // by reason
  std::optional<base::Instant> until;  // when this test may have another outcome by itself
  bool operator==(const Step&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "test", self.test);
    visit(2, "outcome", self.outcome);
    visit(3, "reason", self.reason);
    visit(4, "dimension", self.dimension);
    visit(5, "queue", self.queue);
    visit(6, "need", self.need);
    visit(7, "have", self.have);
    visit(8, "limit", self.limit);
    visit(9, "holders", self.holders);
    visit(10, "rejected", self.rejected);
    visit(11, "until", self.until);
  }
};

inline constexpr std::size_t kMaxHolders = 8;

struct Explanation {
  WorkloadId workload;  // none for a Fits question about a request that was not submitted
  base::Instant at;
  QuestionKind question = QuestionKind::RunNow;
  Verdict verdict = Verdict::Blocked;
  std::vector<Step> steps;  // the last one decided, unless the verdict is Starts
  bool operator==(const Explanation&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "workload", self.workload);
    visit(2, "at", self.at);
    visit(3, "question", self.question);
    visit(4, "verdict", self.verdict);
    visit(5, "steps", self.steps);
  }
};

// The reason of the deciding step; None when it starts.
Reason reason_of(const Explanation& explanation);

}  // namespace model
