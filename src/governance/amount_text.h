#pragma once
// Amounts, times and names as a sentence needs them: with units, with the zone, exact.
//
//   amount_text(state, model::kDevice, 2500, Language::English)   "2.5 GPUs"
//   amount_text(state, model::kMemory, 3 << 29, Language::Chinese)  "1.5Gi 内存"

#include <cstdint>
#include <string>

#include "base/instant.h"
#include "governance/language.h"
#include "model/ids.h"
#include "model/resources.h"
#include "model/state.h"

namespace governance {

// `amount` in the base unit of the resource. Memory of every kind is named, because bytes alone do
// not say of what.
std::string amount_text(const model::State& state, model::ResourceId resource, std::int64_t amount,
                        Language language);

// "10:12 UTC" on the day of `now`, else "2026-12-02 10:12 UTC"; seconds only where they are not
// zero; kNever is "never".
std::string time_text(base::Instant time, base::Instant now, Language language);
// The same with the distance of a time to come: "10:12 UTC (in 9m)".
std::string time_text_with_distance(base::Instant time, base::Instant now, Language language);
// Two units, rounded down: "3d4h".
std::string duration_text(base::Duration duration, Language language);

// Device-time as people count it, from milli-devices times milliseconds: "12.5 GPU-hours", to a
// tenth, rounded down.
std::string device_time_text(std::int64_t milli_device_millis, Language language);

// Names by id; "pool 3" and the like when State does not know it (any more).
std::string pool_text(const model::State& state, model::PoolId pool, Language language);
std::string queue_text(const model::State& state, model::QueueId queue, Language language);
std::string node_text(const model::State& state, model::NodeId node);
// Its name, or without one its number.
std::string workload_text(const model::State& state, model::WorkloadId workload);

}  // namespace governance
