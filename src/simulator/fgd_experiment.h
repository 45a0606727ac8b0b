#pragma once
// The experiment of "Beware of Fragmentation" (Weng and others, ATC 2023): members of a recorded
// mix arrive one by one at a cluster that nobody leaves, until 130 % of its devices have been asked
// for; who does not fit is dropped. What differs between policies is where members go. The
// product's own placement decides (scheduling/placer.h), by the rule that the policy names.
//
// For one seed: the pods of the list by name, shuffled; then more, drawn from the list with
// replacement, until the next one would exceed 130 %. The nodes stand in an order drawn from the
// seed, which decides between equal scores.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "model/placement.h"
#include "model/policy_set.h"
#include "model/request_mix.h"
#include "model/state.h"
#include "simulator/trace.h"

namespace simulator {

struct FgdPolicy {
  std::string_view name;  // as in the published tables
  model::PlacementRule rule;
};
inline constexpr std::array<FgdPolicy, 7> kFgdPolicies{
    {{"Random", model::PlacementRule::Random},
     {"DotProd", model::PlacementRule::DotProduct},
     {"Clustering", model::PlacementRule::Clustering},
     {"Packing", model::PlacementRule::Packing},
     {"BestFit", model::PlacementRule::BestFit},
     {"FGD", model::PlacementRule::Fragmentation},
     {"Berth", model::PlacementRule::Value}}};

inline constexpr std::int64_t kFgdArrivedMax = 130;  // percent of the cluster's devices

// What the rules know of the requests: how often each kind comes, or only what came so far, as the
// daemon learns it.
enum class FgdMix { Known, Learned };

// Means over all arrivals at which so many percent (rounded) had been asked for, in millionths.
struct FgdPoint {
  std::int64_t arrivals = 0;   // 0: none came there
  double allocated = 0;        // of all devices
  double fragmented = 0;       // of all devices
  double fragmented_idle = 0;  // of what is free
};

struct FgdRun {
  std::vector<FgdPoint> points;  // by percent, 0..kFgdArrivedMax
  std::int64_t decisions = 0;
  std::int64_t placed = 0;
  std::int64_t micros = 0;  // of processor time that deciding took
};

// A list of pods and the nodes, ready to run.
class FgdWorkload {
 public:
  FgdWorkload(std::string name, const Trace& trace, const Nodes& nodes);

  const std::string& name() const { return name_; }
  const model::RequestMix& mix() const { return mix_; }
  // All policies at the same arrivals and the same order of nodes.
  std::vector<FgdRun> run(std::span<const FgdPolicy> policies, base::Seed seed,
                          FgdMix mix = FgdMix::Known) const;

 private:
  std::vector<std::size_t> arrivals(base::Random random) const;
  FgdRun measured(const model::State& state, const std::vector<std::size_t>& order,
                  const std::vector<std::optional<model::Placement>>& placements) const;

  std::string name_;
  std::vector<TraceJob> pods_;  // by name
  const Nodes& nodes_;
  std::int64_t capacity_milli_ = 0;
  model::RequestMix mix_;
};

}  // namespace simulator
