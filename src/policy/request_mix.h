#pragma once
// The mix of requests as placement uses it (model/request_mix.h), from how often each kind of
// member is asked for and what the nodes have.

#include <cstdint>
#include <string>
#include <vector>

#include "model/request_mix.h"
#include "model/state.h"
#include "model/workload.h"

namespace policy {

// One member of the group: by its first device option, as a kind. A part that is asked for by
// memory alone, and a slice, count as no device: what they take depends on the device.
model::RequestKind kind_of_member(const model::TaskGroup& group);

// What the nodes with devices of one model have together.
struct ModelSupply {
  std::string model;
  std::int64_t milli = 0;  // of devices
  std::int64_t cpu = 0;    // milli-cores
};

// Prices of sizes, the cpu that comes with them and the load on each model that members bound to
// models put on it, when as much is asked for as there is. Equal kinds may come several times;
// kinds of weight 0 are left out. Sizes beyond the kMostSizes most frequent count as the next
// larger one.
inline constexpr std::size_t kMostSizes = 32;
model::RequestMix make_mix(std::vector<model::WeighedKind> kinds,
                           const std::vector<ModelSupply>& supplies);

// Counts the members that a submitted workload wants. Weights are halved whenever kMostMembers
// members have come since, and of more than kMostKinds kinds the one with the least weight is
// forgotten: what is kept is bounded whatever is asked for.
inline constexpr std::int64_t kMostMembers = 16'384;
inline constexpr std::size_t kMostKinds = 512;
void count_requests(model::RequestCounts& counts, const model::Workload& workload);

// Whether a rule in force reads the mix, and so much was asked for since it was made that it should
// be made anew: half as much again as it was made of, at least 16 members, 1024 at most.
bool is_mix_due(const model::State& state);

// From what was counted and the nodes that there are.
model::RequestMix mix_of(const model::State& state);

}  // namespace policy
