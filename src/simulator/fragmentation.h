#pragma once
// Fragmentation of the free devices, as FGD defines it (Weng and others, ATC 2023): the expected
// amount of free device, in milli-devices, that a job drawn from the trace's mix cannot use. For
// one node and one kind of member m: everything that is free on the node when m cannot run there
// (too little CPU or memory, wrong model, too few free devices), else what is free on devices with
// less left than m takes of one. The mix is the kinds of device-using members by how often they
// occur; beyond the kKindsMax most frequent ones the rest is left out.

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "model/state.h"
#include "simulator/trace.h"

namespace simulator {

struct MemberKind {
  std::int64_t cpu_milli = 0, memory = 0;
  std::int64_t devices = 0;          // that it needs
  std::int64_t milli_of_device = 0;  // that it takes of each
  std::vector<std::string> models;   // sorted; empty: any
  std::int64_t weight = 0;           // members of this kind in the trace
  friend auto operator<=>(const MemberKind&, const MemberKind&) = default;
};

inline constexpr std::size_t kKindsMax = 24;

std::vector<MemberKind> member_mix(const Trace& trace);

// Expected unusable milli-devices over all ready nodes. O(nodes * kinds * devices of a node).
std::int64_t fragmentation_milli(const model::State& state, const std::vector<MemberKind>& mix);

}  // namespace simulator
