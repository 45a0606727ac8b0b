#pragma once
// The planner: State + policies + time -> decisions, each with its explanation. Pure; keeps indexes
// over one State, updated event by event, so that a cycle costs what changed and not what exists.
//
// Contract: a planner that observed every event since an empty State, and one built from the final
// State, give byte-equal plans. plan() searches on an overlay of its own that is rolled back before
// it returns; State is never touched. Same State, policies and cycle -> same bytes, anywhere.
//
//   const Plan plan = planner.plan(state.policy, {.now = t, .seed = Seed{7}, .question =
//   RunNow{}});
//
// Thread contract: used by the thread that owns the State, which must outlive the planner.

#include <cstdint>
#include <limits>
#include <memory>
#include <variant>

#include "base/instant.h"
#include "base/random.h"
#include "model/decision.h"
#include "model/event.h"
#include "model/ids.h"
#include "model/policy_set.h"
#include "model/state.h"
#include "model/workload.h"

namespace scheduling {

struct RunNow {};  // the cycle
struct Why {
  model::WorkloadId workload;
};  // the chain of tests for one workload, now
struct Fits {
  model::Workload workload;
};  // the same for one that was not submitted
using Question = std::variant<RunNow, Why, Fits>;

// Logical steps: one step is one workload tried in one pool. Never milliseconds, because a plan
// must not depend on the machine.
struct Budget {
  std::int64_t steps = std::numeric_limits<std::int64_t>::max();
};

struct Cycle {
  base::Instant now;
  base::Seed seed;
  Question question = RunNow{};
  Budget budget;
};

class Planner {
 public:
  explicit Planner(const model::State& state);
  ~Planner();
  Planner(Planner&&) noexcept;
  Planner& operator=(Planner&&) noexcept;

  // After lifecycle::apply(state, event), once per event, in order.
  void observe(const model::Event& event);

  // RunNow: decisions to journal and apply in their order. Why and Fits: `answer`; a Why about an
  // unknown workload has no answer.
  model::Plan plan(const model::PolicySet& policy, const Cycle& cycle) const;

  // The earliest time at which planning may give something new without any event; kNever: never.
  base::Instant next_due(base::Instant now) const;

 private:
  class Index;
  std::unique_ptr<Index> index_;
};

}  // namespace scheduling
