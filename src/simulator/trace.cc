#include "simulator/trace.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "model/resources.h"

namespace simulator {

using base::Code;

namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;
constexpr std::int64_t kMostNodes = 1'000'000;
constexpr std::int64_t kMostDevices = 64;
constexpr std::int64_t kCoresOfDevice = 12;  // generous: shapes are about devices
constexpr std::int64_t kMemoryOfDevice = 128 * kGib;
constexpr std::int64_t kNodesOfRack = 8;
constexpr std::int64_t kWeightMax = 1'000'000;

controller::NodeReport node_of_shape(std::int64_t index, std::int64_t devices,
                                     std::string_view model) {
  controller::NodeReport report{.pool = "cluster"};
  model::Node& node = report.node;
  node.name = fmt::format("node-{:04}", index);
  node.allocatable.set(model::kCpu, std::max<std::int64_t>(devices, 1) * kCoresOfDevice * 1000);
  node.allocatable.set(model::kMemory, std::max<std::int64_t>(devices, 1) * kMemoryOfDevice);
  node.topology = {
      {.topology = "fabric", .domains = {fmt::format("rack-{:03}", index / kNodesOfRack)}}};
  for (std::int64_t i = 0; i < devices; ++i)
    node.devices.push_back({.uuid = fmt::format("{}-gpu-{}", node.name, i),
                            .vendor = "simulated",
                            .model = std::string(model),
                            .memory = memory_of_model(model),
                            .source = model::DeviceSource::Declared});
  return report;
}

}  // namespace

std::int64_t TraceJob::device_milli() const {
  return members *
         (device.is_whole() ? device.count.value * base::kWholeDevice.value : device.share.value);
}

void sort_by_submission(std::vector<TraceJob>& jobs) {
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const TraceJob& a, const TraceJob& b) { return a.submitted < b.submitted; });
}

std::vector<TraceQueue> queues_by_demand(const std::vector<TraceJob>& jobs,
                                         std::int64_t capacity_milli) {
  // Milli-device-milliseconds of a large trace are about 4 * 10^15; times the capacity they need
  // 128 bits.
  std::map<std::string, __int128> demand;
  __int128 total = 0;
  for (const TraceJob& job : jobs) {
    const __int128 time = static_cast<__int128>(job.device_milli()) * job.runtime.millis;
    demand[job.queue] += time;
    total += time;
  }
  const std::int64_t devices = capacity_milli / base::kWholeDevice.value;
  std::vector<TraceQueue> queues;
  std::vector<std::pair<__int128, std::size_t>> remainders;
  std::int64_t given = 0;
  for (const auto& [name, time] : demand) {
    TraceQueue queue{.name = name};
    if (total > 0) {
      queue.weight =
          std::max<std::int64_t>(1, static_cast<std::int64_t>(time * kWeightMax / total));
      const auto whole = static_cast<std::int64_t>(time * devices / total);
      queue.guarantee_milli = whole * base::kWholeDevice.value;
      given += whole;
      remainders.emplace_back(-(time * devices % total), queues.size());
    }
    queues.push_back(std::move(queue));
  }
  std::sort(remainders.begin(), remainders.end());
  for (std::size_t i = 0; given < devices && i < remainders.size(); ++i, ++given)
    if (remainders[i].first < 0)
      queues[remainders[i].second].guarantee_milli += base::kWholeDevice.value;
  return queues;
}

base::Result<Nodes> nodes_of_shape(std::string_view shape) {
  const auto refuse = [shape] {
    return base::fail_field(Code::InvalidArgument, "--nodes",
                            fmt::format("'{}' is not a cluster", shape),
                            "write NODESxDEVICES, like 75x8 or 75x8:A800");
  };
  std::string_view model = "GPU";
  if (const std::size_t colon = shape.find(':'); colon != std::string_view::npos) {
    model = shape.substr(colon + 1);
    shape = shape.substr(0, colon);
    if (model.empty()) return refuse();
  }
  const std::size_t cross = shape.find('x');
  if (cross == std::string_view::npos) return refuse();
  const auto count = base::parse_integer(shape.substr(0, cross));
  const auto devices = base::parse_integer(shape.substr(cross + 1));
  if (!count || !devices || *count < 1 || *count > kMostNodes || *devices < 0 ||
      *devices > kMostDevices)
    return refuse();
  Nodes nodes;
  nodes.reserve(static_cast<std::size_t>(*count));
  for (std::int64_t i = 0; i < *count; ++i)
    nodes.push_back(node_of_shape(i, *devices, model));
  return nodes;
}

std::int64_t capacity_milli(const Nodes& nodes) {
  std::int64_t devices = 0;
  for (const controller::NodeReport& report : nodes)
    devices += static_cast<std::int64_t>(report.node.devices.size());
  return devices * base::kWholeDevice.value;
}

base::Bytes memory_of_model(std::string_view model) {
  static constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> kKnown{
      {{"A10", 24}, {"V100M32", 32}, {"A800", 80}, {"H800", 80}, {"G2", 16}, {"G3", 32}}};
  for (const auto& [name, gib] : kKnown)
    if (name == model) return base::Bytes(gib * kGib);
  return base::Bytes(16 * kGib);
}

}  // namespace simulator
