#pragma once
// The only writer of State: what happened, applied. Pure and total: every event that can be written
// by the controller has a defined effect on every State, replay gives the same State again, and an
// event about something that is already gone changes nothing but the clock and the sequence.

#include "model/event.h"
#include "model/state.h"

namespace lifecycle {

// Precondition (ASSERT): event.sequence == state.last_sequence + 1 and event.at >= state.now.
void apply(model::State& state, const model::Event& event);

}  // namespace lifecycle
