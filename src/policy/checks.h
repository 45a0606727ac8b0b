#pragma once
// Whether a definition or a workload is acceptable against the present State. What is wrong with a
// document by itself is found earlier (manifest/parse.h); here the numbers of others matter.
// Errors name the field and give both numbers.

#include "base/result.h"
#include "model/pool.h"
#include "model/queue.h"
#include "model/state.h"
#include "model/workload.h"
#include "model/workload_class.h"

namespace policy {

base::Result<base::Done> check_pool(const model::State& state, const model::Pool& pool);
base::Result<base::Done> check_queue(const model::State& state, const model::Queue& queue);
base::Result<base::Done> check_class(const model::State& state,
                                     const model::WorkloadClass& workload_class);
base::Result<base::Done> check_workload(const model::State& state, const model::Workload& workload);

inline constexpr std::int32_t kMaxMembers = 100'000;
inline constexpr std::size_t kMaxTreeDepth = 16;

}  // namespace policy
