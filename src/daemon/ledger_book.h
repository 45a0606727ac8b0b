#pragma once
// The ledger of a daemon: every committed event from the first one on, folded beside the
// controller. The ledger wants to see the State right after each event, and the controller only
// shows the State after a whole commit, so the book keeps a State of its own.
//
//   LedgerBook book(store);
//   book.read();              // after recovery: history
//   book.observe(committed);  // then every commit, in order
//
// Thread contract: one thread at a time; the daemon's main thread until the loop starts, then the
// loop's.

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "controller/store.h"
#include "governance/ledger.h"
#include "model/event.h"
#include "model/state.h"

namespace berthd {

class LedgerBook {
 public:
  // `store` outlives the book.
  explicit LedgerBook(controller::Store& store) : store_(store) {}

  // What the journal has and the book has not; gives how many events that were. After an error the
  // book stays incomplete, for sums with a hole in them are worse than none.
  base::Result<std::int64_t> read();
  // Events that the book has already are passed over; those that are missing before them, because
  // a commit was told to have failed and is there all the same, are read from the store.
  void observe(const std::vector<model::Event>& events);

  // Null while history is not complete.
  const governance::Ledger* ledger() const { return is_complete_ ? &ledger_ : nullptr; }

 private:
  void observe(const model::Event& event);

  controller::Store& store_;
  model::State state_;
  governance::Ledger ledger_{state_};
  bool is_complete_ = false;
};

}  // namespace berthd
