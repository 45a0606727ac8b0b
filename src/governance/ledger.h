#pragma once
// Who used which devices for how long: a fold of the journal beside State. Device-time is counted
// in milli-devices times milliseconds, exactly, from the decision to start an attempt to its
// confirmed end, and attributed to hours, so that a question about whole hours is exact too.
//
// Conservation: of every pool, allocated + unallocated + down == installed, at every millisecond;
// and what all tenants were charged is what was allocated. Tests hold both against real histories.
// Sums are 64-bit: 10^5 devices of one account for 2.9 years.
//
//   Ledger ledger(state);                       // counts from state.now on
//   lifecycle::apply(state, event);  ledger.observe(state, event);
//   for (const UsageLine& line : ledger.usage(UsageBy::Queue, {}, now)) …
//
// An event costs what it changes: the accounts of the attempt that starts or ends, the devices of
// the nodes that it touches.

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/instant.h"
#include "model/attempt.h"
#include "model/event.h"
#include "model/ids.h"
#include "model/state.h"

namespace governance {

// A queue and a pool include those below them, so only one level of the tree adds up to the whole.
enum class UsageBy { Queue, User, Class, Kind, Pool };

// Whole hours: `from` is rounded down to one, `until` up.
struct Window {
  base::Instant from{0};
  base::Instant until = base::kNever;
};

struct UsageCounts {
  std::int64_t allocated = 0;  // milli-device-milliseconds
  std::int64_t lost = 0;       // of that, thrown away by evictions: since the last checkpoint, if
                               // the workload says how often it makes one, else since the start
  std::int64_t waited_ms = 0;  // from entering the queue to the start, of those that started
  std::int64_t started = 0;    // attempts; the following are those that ended
  std::int64_t completed = 0;
  std::int64_t failed = 0;
  std::int64_t cancelled = 0;
  std::int64_t evicted = 0;  // taken back for others: reclaimed, preempted, rotated
  bool operator==(const UsageCounts&) const = default;
  UsageCounts& operator+=(const UsageCounts& other);
  static void fields(auto& self, auto&& visit) {
    visit(1, "allocated", self.allocated);
    visit(2, "lost", self.lost);
    visit(3, "waitedMs", self.waited_ms);
    visit(4, "started", self.started);
    visit(5, "completed", self.completed);
    visit(6, "failed", self.failed);
    visit(7, "cancelled", self.cancelled);
    visit(8, "evicted", self.evicted);
  }
};

// What an account is of; only the part that belongs to `by` is set.
struct UsageKey {
  UsageBy by = UsageBy::Queue;
  model::QueueId queue;
  model::ClassId workload_class;
  model::PoolId pool;
  model::Kind kind = model::Kind::Workload;
  std::string user;
  friend auto operator<=>(const UsageKey&, const UsageKey&) = default;
};
// As people write it: "search/nlp", "TrainingJob", "ada"; a number for what State does not know.
std::string key_text(const model::State& state, const UsageKey& key);

struct UsageLine {
  UsageKey key;
  UsageCounts counts;
};

// What became of the devices of a pool, in milli-device-milliseconds.
struct CapacityCounts {
  std::int64_t installed = 0;
  std::int64_t allocated = 0;
  std::int64_t unallocated = 0;  // usable and nobody's, claims included
  std::int64_t down = 0;         // nobody's because node or device takes no work
  bool operator==(const CapacityCounts&) const = default;
  CapacityCounts& operator+=(const CapacityCounts& other);
  static void fields(auto& self, auto&& visit) {
    visit(1, "installed", self.installed);
    visit(2, "allocated", self.allocated);
    visit(3, "unallocated", self.unallocated);
    visit(4, "down", self.down);
  }
};

struct CapacityLine {
  model::PoolId pool;
  CapacityCounts counts;
};

class Ledger {
 public:
  // Attempts that live in `state` are counted from state.now on.
  explicit Ledger(const model::State& state);

  // Once per event, in order, after it was applied; `after` is the State then.
  void observe(const model::State& after, const model::Event& event);

  // By key. `now` is when the question is asked, not before the last event: what runs is counted up
  // to it. Accounts without anything in the window are left out.
  std::vector<UsageLine> usage(UsageBy by, const Window& window, base::Instant now) const;
  // By pool, inner pools included.
  std::vector<CapacityLine> capacity(const Window& window, base::Instant now) const;

 private:
  struct Account {
    std::int64_t rate = 0;                      // milli-devices now
    base::Instant since;                        // counted up to here
    std::map<std::int64_t, UsageCounts> hours;  // by hours since 1970
  };
  struct PoolAccount {
    CapacityCounts rate;  // milli-devices now
    base::Instant since;
    std::map<std::int64_t, CapacityCounts> hours;
  };
  struct Share {  // of an attempt in one account
    UsageKey key;
    std::int64_t milli = 0;
  };
  struct NodeShare {  // what a node is counted as
    std::vector<model::PoolId> path;
    CapacityCounts rate;
  };

  void start(const model::State& state, const model::Attempt& attempt, base::Instant at);
  void end(const model::State& state, const model::Attempt& attempt, base::Instant at);
  void count_node(const model::State& state, model::NodeId node, base::Instant at);
  void count_nodes_of(const model::State& state, const model::Placement& placement,
                      base::Instant at);
  static void accrue(Account& account, base::Instant to);
  static void accrue(PoolAccount& account, base::Instant to);

  std::map<UsageKey, Account> accounts_;
  std::map<model::PoolId, PoolAccount> pools_;
  std::map<model::AttemptId, std::vector<Share>> live_;
  std::map<model::NodeId, NodeShare> nodes_;
};

}  // namespace governance
