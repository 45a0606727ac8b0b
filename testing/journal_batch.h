#pragma once
// A journal of batches of five events, each known from its number alone, so that whoever opens the
// journal later knows what must be there.

#include <cstdint>
#include <string>
#include <vector>

#include "model/event.h"

namespace testkit {

inline constexpr std::uint64_t kBatch = 5;  // events

// Of batch 0 the sequences 1 to 5.
inline std::vector<model::Event> batch(std::uint64_t number) {
  std::vector<model::Event> events;
  for (std::uint64_t i = number * kBatch + 1; i <= (number + 1) * kBatch; ++i)
    events.push_back(
        {.sequence = model::Sequence(i),
         .at = base::Instant{static_cast<std::int64_t>(i)},
         .actor = "ann",
         .body = model::CommandRefused{
             .command = "submit", .code = "NotFound", .message = std::string(700, 'm')}});
  return events;
}

}  // namespace testkit
