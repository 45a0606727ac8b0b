#include "storm/hardware.h"

#include <algorithm>

#include "base/fields.h"

namespace storm {

void Hardware::expect(const controller::StartEffect& effect) {
  expected_.insert_or_assign(effect.attempt, effect);
}

void Hardware::see(const backends::simulated::RunChange& change) {
  if (change.began) {
    if (!ever_.insert(change.attempt).second)
      violations_.add("8 started twice in truth", "attempt {}", model::to_text(change.attempt));
    Run run{.effect = expected_.at(change.attempt), .members = {}};
    for (std::size_t rank = 0; rank < run.effect.placement.members.size(); ++rank)
      run.members.insert(static_cast<std::int32_t>(rank));
    const auto [place, is_new] = runs_.insert_or_assign(change.attempt, std::move(run));
    check_devices(place->second);
    return;
  }
  const auto found = runs_.find(change.attempt);
  if (found == runs_.end()) return;
  for (const std::int32_t rank : change.gone)
    found->second.members.erase(rank);
  if (found->second.members.empty()) runs_.erase(found);
}

// O(runs), at starts only.
void Hardware::check_devices(const Run& begun) {
  std::map<std::pair<std::string, std::int32_t>, std::int64_t> milli;
  std::map<std::pair<std::string, std::int32_t>, std::set<std::int32_t>> slices;
  const auto add = [&](const Run& run, bool is_begun) {
    for (const std::int32_t rank : run.members) {
      const auto& member = run.effect.placement.members[static_cast<std::size_t>(rank)];
      const std::string& node = run.effect.node_names[static_cast<std::size_t>(rank)];
      for (const auto& part : member.devices) {
        const std::pair key{node, part.device};
        if (!is_begun && !milli.contains(key)) continue;  // not where something begins
        milli[key] += part.milli.value;
        if (part.slice_start >= 0 && !slices[key].insert(part.slice_start).second)
          violations_.add("1 device occupied twice in truth", "{} device {}: slice at {} for {}",
                          node, part.device, part.slice_start, model::to_text(run.effect.attempt));
      }
    }
  };
  add(begun, true);
  for (const auto& [attempt, run] : runs_)
    if (&run != &begun) add(run, false);
  for (const auto& [key, sum] : milli)
    if (sum > 1000)
      violations_.add("1 device occupied twice in truth", "{} device {}: {} of 1000 milli with {}",
                      key.first, key.second, sum, model::to_text(begun.effect.attempt));
}

std::set<model::AttemptId> Hardware::alive() const {
  std::set<model::AttemptId> alive;
  for (const auto& [attempt, run] : runs_)
    alive.insert(attempt);
  return alive;
}

std::vector<model::AttemptId> Hardware::users_of(const std::string& node,
                                                 std::int32_t device) const {
  std::vector<model::AttemptId> users;
  for (const auto& [attempt, run] : runs_)
    for (const std::int32_t rank : run.members) {
      const auto place = static_cast<std::size_t>(rank);
      const auto& parts = run.effect.placement.members[place].devices;
      const bool uses =
          run.effect.node_names[place] == node &&
          std::ranges::find(parts, device, &model::DeviceAssignment::device) != parts.end();
      if (uses && (users.empty() || users.back() != attempt)) users.push_back(attempt);
    }
  return users;
}

void Hardware::compare(const model::State& state) const {
  std::set<model::AttemptId> believed;
  state.workloads.each([&believed](model::WorkloadId, const model::WorkloadRecord& record) {
    if (const model::Attempt* live = record.live_attempt()) believed.insert(live->id);
  });
  for (const auto& [attempt, run] : runs_)
    if (!believed.contains(attempt))
      violations_.add("3 ghost in truth", "attempt {} exists and State does not know it",
                      model::to_text(attempt));
  for (const model::AttemptId attempt : believed)
    if (!runs_.contains(attempt))
      violations_.add("3 orphan in State", "attempt {} is live in State and does not exist",
                      model::to_text(attempt));
}

void Hardware::compare_devices(const std::vector<controller::NodeReport>& machines,
                               const model::State& state) const {
  for (const controller::NodeReport& machine : machines) {
    const auto id = state.node_by_name.find(machine.node.name);
    if (id == state.node_by_name.end()) continue;  // no pool takes it
    const auto& believed = state.nodes.at(id->second).node.devices;
    for (const model::Device& device : machine.node.devices) {
      const auto found = std::ranges::find(believed, device.uuid, &model::Device::uuid);
      if (found == believed.end() || found->health != device.health)
        violations_.add("7 a device is not what it is believed to be", "{} device {} is {}",
                        machine.node.name, device.uuid, base::name_of(device.health));
    }
  }
}

}  // namespace storm
