#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "telemetry/internal/gauges.h"

namespace telemetry {

namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

// One gauge under construction; values of equal labels are summed, which is what "_other" needs.
class Gauge {
 public:
  Gauge(std::string name, std::string help) : name_(std::move(name)), help_(std::move(help)) {}

  void add(Labels labels, double value) { values_[std::move(labels)] += value; }
  prometheus::MetricFamily family() const {
    prometheus::MetricFamily family;
    family.name = name_;
    family.help = help_;
    family.type = prometheus::MetricType::Gauge;
    for (const auto& [labels, value] : values_) {
      prometheus::ClientMetric& metric = family.metric.emplace_back();
      for (const auto& [name, text] : labels)
        metric.label.push_back({name, text});
      metric.gauge.value = value;
    }
    return family;
  }

 private:
  std::string name_, help_;
  std::map<Labels, double> values_;
};

// The first names keep their own series, in the order of the names, so that it does not depend on
// the order of arrival who is summed.
class BoundedNames {
 public:
  template <class Map>
  BoundedNames(const Map& by_name, std::size_t most) {
    for (const auto& [name, id] : by_name) {
      if (names_.size() == most) break;
      names_.emplace(id.value, name);
    }
  }
  template <class Id>
  std::string of(Id id) const {
    const auto found = names_.find(id.value);
    return found == names_.end() ? std::string(kOther) : found->second;
  }

 private:
  std::map<std::uint64_t, std::string> names_;
};

double devices(std::int64_t milli) { return static_cast<double>(milli) / 1000.0; }

void add_usage(Gauge& gauge, const std::string& queue, const BoundedNames& pools,
               const model::Usage& usage) {
  for (const model::DimensionAmount& amount : usage.amounts())
    if (amount.dimension.resource == model::kDevice)
      gauge.add({{"pool", pools.of(amount.dimension.pool)}, {"queue", queue}},
                devices(amount.amount));
}

void add_queues(const model::State& state, const BoundedNames& queues, const BoundedNames& pools,
                std::vector<prometheus::MetricFamily>& families) {
  Gauge held("berth_queue_held_devices",
             "Devices a queue is charged with, those below it included");
  Gauge asked("berth_queue_pending_devices", "Devices that waiting workloads of a queue ask for");
  Gauge guarantee("berth_queue_guarantee_devices", "Devices a queue can always count on");
  Gauge most("berth_queue_max_devices", "Devices a queue may hold at most; absent: unlimited");
  state.queues.each([&](model::QueueId id, const model::QueueRecord& record) {
    const std::string queue = queues.of(id);
    add_usage(held, queue, pools, record.held);
    add_usage(asked, queue, pools, record.pending);
    for (const model::Quota& quota : record.queue.quotas) {
      if (quota.dimension.resource != model::kDevice) continue;
      const Labels labels{{"pool", pools.of(quota.dimension.pool)}, {"queue", queue}};
      if (quota.guarantee) guarantee.add(labels, devices(*quota.guarantee));
      if (quota.max) most.add(labels, devices(*quota.max));
    }
  });
  for (const Gauge* gauge : {&held, &asked, &guarantee, &most})
    families.push_back(gauge->family());
}

void add_workloads(const model::State& state, const BoundedNames& queues,
                   std::vector<prometheus::MetricFamily>& families) {
  Gauge pending("berth_pending_workloads",
                "Workloads of a queue that wait, without those below it");
  Gauge active("berth_active_workloads", "Workloads of a queue with a live attempt");
  state.queues.each([&](model::QueueId id, const model::QueueRecord&) {
    pending.add({{"queue", queues.of(id)}}, 0);
    active.add({{"queue", queues.of(id)}}, 0);
  });
  state.workloads.each([&](model::WorkloadId, const model::WorkloadRecord& record) {
    if (is_finished(record.phase)) return;
    (record.live_attempt() != nullptr ? active : pending)
        .add({{"queue", queues.of(record.workload.queue)}}, 1);
  });
  families.push_back(pending.family());
  families.push_back(active.family());
}

void add_pools(const model::State& state, const BoundedNames& pools,
               std::vector<prometheus::MetricFamily>& families) {
  Gauge gauge("berth_pool_devices", "Healthy devices of a pool by what becomes of them");
  const auto add = [&](const model::Usage& usage, const char* what) {
    for (const model::DimensionAmount& amount : usage.amounts())
      if (amount.dimension.resource == model::kDevice)
        gauge.add({{"pool", pools.of(amount.dimension.pool)}, {"state", what}},
                  devices(amount.amount));
  };
  add(state.held, "held");
  add(state.free, "free");
  add(state.secured, "secured");
  families.push_back(gauge.family());
}

void add_nodes(const model::State& state, std::vector<prometheus::MetricFamily>& families) {
  Gauge nodes("berth_nodes", "Nodes by condition");
  Gauge unhealthy("berth_unhealthy_devices", "Devices by health, the healthy ones left out");
  for (const std::string_view name : enum_names(model::NodeCondition{}))
    nodes.add({{"condition", std::string(name)}}, 0);
  state.nodes.each([&](model::NodeId, const model::NodeRecord& record) {
    nodes.add({{"condition", std::string(base::name_of(record.node.condition))}}, 1);
    for (const model::Device& device : record.node.devices)
      if (device.health != model::Health::Ok)
        unhealthy.add({{"health", std::string(base::name_of(device.health))}}, 1);
  });
  families.push_back(nodes.family());
  families.push_back(unhealthy.family());
}

}  // namespace

std::vector<prometheus::MetricFamily> gauges_of(const model::State& state, GaugeLimits limits) {
  const BoundedNames queues(state.queue_by_name, limits.max_queues);
  const BoundedNames pools(state.pool_by_name, limits.max_pools);
  std::vector<prometheus::MetricFamily> families;
  add_workloads(state, queues, families);
  add_queues(state, queues, pools, families);
  add_pools(state, pools, families);
  add_nodes(state, families);
  Gauge sequence("berth_journal_sequence", "Position of the last event in the journal");
  sequence.add({}, static_cast<double>(state.last_sequence.value));
  Gauge claims("berth_claims", "Claims that hold freed capacity for their owner");
  claims.add({}, static_cast<double>(state.claims.size()));
  families.push_back(sequence.family());
  families.push_back(claims.family());
  return families;
}

}  // namespace telemetry
