#pragma once
// Held amounts and entitlements of queues and the free amounts of pools as the plan sees them:
// State's counters plus what this plan has decided so far. One column a dimension, filled from
// State when the dimension is first asked for and kept up to date queue by queue, so that a plan
// costs what changed. Entitlements are those of State, before the plan's own decisions.
//
// Thread contract: none of its own.

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/ids.h"
#include "model/resources.h"
#include "model/state.h"
#include "policy/quota.h"

namespace scheduling::internal {

class QuotaView {
 public:
  explicit QuotaView(const model::State& state) : state_(&state), table_(state) {}

  const policy::QuotaTable& table() const { return table_; }

  // Held and claimed together: what admission counts.
  std::int64_t held(model::QueueId queue, model::Dimension dimension) const {
    return column(dimension).held[queue.value - 1];
  }
  // That without what attempts hold that are told to stop: what a queue may still lose.
  std::int64_t staying(model::QueueId queue, model::Dimension dimension) const {
    const Column& here = column(dimension);
    return here.held[queue.value - 1] - here.leaving[queue.value - 1];
  }
  std::int64_t free(model::Dimension dimension) const { return column(dimension).free; }
  std::int64_t entitlement(model::QueueId queue, model::Dimension dimension) const;
  // What others keep of their guarantees, `own` left out.
  std::int64_t kept_for_others(model::QueueId own, model::Dimension dimension) const {
    return table_.kept_for_others(*state_, own, dimension, started_);
  }

  // Overlay: `queue` and its path hold `sign` times the usage more, the pools have it less.
  void hold(model::QueueId queue, const model::Usage& usage, std::int64_t sign);
  // Of what is free in the leaf pool and above.
  void set_aside(model::PoolId leaf, const model::Quantities& amounts);
  // Only what is held changes, not what is free: a victim that will leave.
  void hold_only(model::QueueId queue, const model::Usage& usage, std::int64_t sign);
  // It is still held, by an attempt that this plan tells to stop.
  void leave(model::QueueId queue, const model::Usage& usage);
  std::size_t mark() const { return overlay_.size(); }
  void rollback(std::size_t mark);

  // Between plans, after an event: the counters of the queue and of those above it moved; or those
  // of any queue did.
  void refresh(model::QueueId queue);
  void refresh_all() { columns_.clear(); }
  // Between plans: an attempt with this charge was told to stop (+1), or ended after that (-1).
  void note_leaving(model::QueueId queue, const model::Usage& usage, std::int64_t sign);
  // Before a plan: what is free follows State.
  void refresh_free();

 private:
  struct Column {
    model::Dimension dimension;
    std::int64_t free = 0;
    std::int64_t capacity = 0;
    std::vector<std::int64_t> held;      // by queue id - 1
    std::vector<std::int64_t> leaving;   // of held, by attempts that are told to stop
    std::vector<std::int64_t> wanted;    // of leaf queues: held and pending, without the overlay
    std::vector<std::int64_t> entitled;  // empty: not computed since something it rests on moved
  };
  // What the overlay added, so that it can be taken out again and reach a column that comes late.
  struct Change {
    model::Dimension dimension;
    model::QueueId queue;  // none: of what is free
    std::int64_t amount = 0;
    bool is_started = false;  // by `hold`: counts against what the queue keeps of its guarantee
    bool is_leaving = false;  // of what the queue has leaving, and not of what it holds
  };
  Column& column(model::Dimension dimension) const;
  Column fresh_column(model::Dimension dimension) const;
  void read_queue(Column& column, model::QueueId queue, const model::QueueRecord& record) const;
  void read_free(Column& column) const;
  static void add(Column& column, const Change& change, std::int64_t sign);
  void change(const Change& change);

  const model::State* state_;
  policy::QuotaTable table_;
  mutable std::vector<Column> columns_;  // a handful: in the order in which they were asked for
  std::map<std::pair<model::Dimension, model::QueueId>, std::int64_t>
      leaving_;  // without the overlay
  std::vector<Change> overlay_;
  policy::QuotaTable::Holdings started_;
};

}  // namespace scheduling::internal
