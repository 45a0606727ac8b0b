#include "daemon/ledger_book.h"

#include <limits>

#include "base/assert.h"
#include "lifecycle/apply.h"
#include "platform/log.h"

namespace berthd {

base::Result<std::int64_t> LedgerBook::read() {
  is_complete_ = false;
  std::int64_t events = 0;
  // The store checks its chain, so what comes is in order and as it was written.
  const auto done = store_.read(state_.last_sequence, std::numeric_limits<std::size_t>::max(),
                                [this, &events](const model::Event& event) {
                                  observe(event);
                                  ++events;
                                  return true;
                                });
  if (!done) return tl::unexpected(done.error());
  is_complete_ = true;
  return events;
}

void LedgerBook::observe(const std::vector<model::Event>& events) {
  if (!is_complete_) return;
  if (!events.empty() && events.front().sequence.value > state_.last_sequence.value + 1) {
    if (const auto caught_up = read(); !caught_up) {
      LOG(Warning, "ledger_incomplete", {"error", base::to_text(caught_up.error())});
      return;
    }
  }
  for (const model::Event& event : events)
    if (state_.last_sequence < event.sequence) observe(event);
}

void LedgerBook::observe(const model::Event& event) {
  ASSERT(event.sequence.value == state_.last_sequence.value + 1);
  lifecycle::apply(state_, event);
  ledger_.observe(state_, event);
}

}  // namespace berthd
