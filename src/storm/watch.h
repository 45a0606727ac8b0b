#pragma once
// Stands beside a run and judges it. Follows the journal as it becomes durable with a State of its
// own (so State against replay is compared all the time), checks the invariants after every event,
// and asks the oracles at sampled moments: the incremental planner against a fresh one,
// explanations against the evaluator, the whole State against a recount and against a checkpoint of
// itself.
//
// Knows nothing of faults: whatever failed, what it checks must hold.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/random.h"
#include "controller/controller.h"
#include "controller/journal_chain.h"
#include "governance/ledger.h"
#include "invariants/event_check.h"
#include "invariants/journal_check.h"
#include "model/state.h"
#include "storm/violations.h"

namespace storm {

struct WatchCounts {
  std::int64_t events = 0, starts = 0, evictions = 0, waits = 0;
  std::int64_t full_checks = 0, plans_compared = 0, explanations = 0, states_compared = 0;
  void add(const WatchCounts& other);
  bool operator==(const WatchCounts&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "events", self.events);
    visit(2, "starts", self.starts);
    visit(3, "evictions", self.evictions);
    visit(4, "waits", self.waits);
    visit(5, "fullChecks", self.full_checks);
    visit(6, "plansCompared", self.plans_compared);
    visit(7, "explanations", self.explanations);
    visit(8, "statesCompared", self.states_compared);
  }
};

class Watch {
 public:
  Watch(base::Seed seed, Violations& violations);

  // Reads what is new in the journal and checks after each event. False: it could not be read,
  // which is no violation by itself.
  bool catch_up(controller::Store& store);
  // A new process opened the journal: all that was ever acknowledged is there.
  void expect_nothing_lost(controller::Store& store);
  // After a turn that was committed; `now` is the process's clock. The oracles, some of the time.
  void look(const controller::Controller& controller, base::Instant now);
  // All of them, and the records: the journal from its beginning gives the same State again.
  void look_at_everything(const controller::Controller& controller, base::Instant now);

  void on_event(std::function<void(const model::Event&)> listener) {
    listener_ = std::move(listener);
  }
  // An answer named this event: it must be durable.
  void acknowledge(model::Sequence sequence);
  // `check` is called with that event when it is followed; not at all when it was already.
  void expect(model::Sequence sequence, std::function<void(const model::Event&)> check);

  const model::State& state() const { return state_; }
  const WatchCounts& counts() const { return counts_; }
  // Of everything that became durable: the chain's head.
  std::string digest() const;

 private:
  void follow(const model::Event& event);
  void follow_submission(const model::Event& event);
  void check_whole_state();
  void compare_states(const controller::Controller& controller);
  void compare_plans(const controller::Controller& controller, base::Instant now);
  void check_explanations(const controller::Controller& controller, base::Instant now,
                          std::int64_t at_most);
  void check_told(const model::WorkloadRecord& record, const model::Explanation& why);
  void check_checkpoint();
  void check_ledger();

  base::Random random_;
  Violations& violations_;
  model::State state_;
  invariants::JournalCheck journal_;
  invariants::EventCheck events_;
  std::size_t journal_seen_ = 0;
  governance::Ledger ledger_;
  controller::ChainLink head_{};
  std::map<std::uint64_t, controller::ChainLink> links_;  // some of them, by sequence
  model::Sequence acknowledged_;
  std::map<std::string, model::WorkloadId> by_key_;
  std::multimap<model::Sequence, std::function<void(const model::Event&)>> expected_;
  WatchCounts counts_;
  std::function<void(const model::Event&)> listener_;
};

}  // namespace storm
