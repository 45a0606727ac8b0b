#include "simulator/fragmentation.h"

#include <algorithm>
#include <map>
#include <utility>

#include "model/resources.h"

namespace simulator {

namespace {

// What is free on one node, by device.
struct FreeNode {
  std::int64_t cpu_milli = 0, memory = 0;
  std::int64_t total_milli = 0;
  std::vector<std::pair<std::int64_t, const std::string*>> devices;  // milli and model
};

bool accepts(const MemberKind& kind, const std::string& model) {
  return kind.models.empty() || std::binary_search(kind.models.begin(), kind.models.end(), model);
}

std::int64_t unusable_milli(const FreeNode& node, const MemberKind& kind) {
  if (node.cpu_milli < kind.cpu_milli || node.memory < kind.memory) return node.total_milli;
  std::int64_t fitting = 0, unusable = 0;
  for (const auto& [milli, model] : node.devices) {
    if (accepts(kind, *model) && milli >= kind.milli_of_device)
      ++fitting;
    else
      unusable += milli;
  }
  return fitting >= kind.devices ? unusable : node.total_milli;
}

FreeNode free_of(const model::NodeRecord& record) {
  FreeNode node;
  node.cpu_milli = record.node.allocatable.of(model::kCpu) - record.used.of(model::kCpu);
  node.memory = record.node.allocatable.of(model::kMemory) - record.used.of(model::kMemory);
  for (std::size_t i = 0; i < record.devices.size(); ++i) {
    const std::int64_t milli = base::kWholeDevice.value - record.devices[i].milli.value;
    if (milli <= 0 || !model::takes_new_work(record.node.devices[i].health)) continue;
    node.total_milli += milli;
    node.devices.emplace_back(milli, &record.node.devices[i].model);
  }
  return node;
}

}  // namespace

std::vector<MemberKind> member_mix(const Trace& trace) {
  std::map<MemberKind, std::int64_t> counts;
  for (const TraceJob& job : trace.jobs) {
    if (job.device.is_none()) continue;
    MemberKind kind{.cpu_milli = job.per_member.of(model::kCpu),
                    .memory = job.per_member.of(model::kMemory),
                    .devices = job.device.is_whole() ? job.device.count.value : 1,
                    .milli_of_device =
                        job.device.is_whole() ? base::kWholeDevice.value : job.device.share.value,
                    .models = job.device.models};
    std::sort(kind.models.begin(), kind.models.end());
    counts[kind] += job.members;
  }
  std::vector<MemberKind> mix;
  for (const auto& [kind, count] : counts) {
    mix.push_back(kind);
    mix.back().weight = count;
  }
  std::stable_sort(mix.begin(), mix.end(),
                   [](const MemberKind& a, const MemberKind& b) { return a.weight > b.weight; });
  if (mix.size() > kKindsMax) mix.resize(kKindsMax);
  return mix;
}

std::int64_t fragmentation_milli(const model::State& state, const std::vector<MemberKind>& mix) {
  std::int64_t total_weight = 0;
  for (const MemberKind& kind : mix)
    total_weight += kind.weight;
  if (total_weight == 0) return 0;
  __int128 weighted = 0;
  state.nodes.each([&](model::NodeId, const model::NodeRecord& record) {
    if (record.node.condition != model::NodeCondition::Ready) return;
    const FreeNode node = free_of(record);
    if (node.total_milli == 0) return;
    for (const MemberKind& kind : mix)
      weighted += static_cast<__int128>(unusable_milli(node, kind)) * kind.weight;
  });
  return static_cast<std::int64_t>(weighted / total_weight);
}

}  // namespace simulator
