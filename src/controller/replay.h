#pragma once
// From a store back to a State: the latest checkpoint and the events after it. What a restart, a
// failed commit and `berth doctor` begin with.

#include <cstdint>

#include "base/result.h"
#include "controller/store.h"
#include "model/state.h"

namespace controller {

struct Replay {
  model::State state;
  std::int64_t events = 0;  // that were applied, after the checkpoint
};

enum class ReplayFrom { Checkpoint, Beginning };

// Code::DataLoss names the first event that cannot be right. A damaged checkpoint is not the end:
// the journal has everything, so it is replayed from the beginning then.
base::Result<Replay> replay(Store& store, ReplayFrom from = ReplayFrom::Checkpoint);

}  // namespace controller
