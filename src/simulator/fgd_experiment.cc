#include "simulator/fgd_experiment.h"

#include <time.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "lifecycle/apply.h"
#include "model/event.h"
#include "model/state.h"
#include "policy/default_policy.h"
#include "policy/request_mix.h"
#include "scheduling/placer.h"

namespace simulator {

namespace {

constexpr std::int64_t kWhole = 1000;
constexpr model::PoolId kPool{1};
constexpr model::QueueId kQueue{1};
constexpr model::ClassId kClass{1};

template <class T>
void shuffle(std::vector<T>& items, base::Random& random) {
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1], items[random.below(i)]);
}

class StateMaker {
 public:
  void happen(model::EventBody body) {
    lifecycle::apply(state_, {.sequence = model::Sequence(++sequence_),
                              .at = base::Instant{},
                              .actor = {},
                              .body = std::move(body)});
  }
  model::State state() { return std::move(state_); }

 private:
  model::State state_;
  std::uint64_t sequence_ = 0;
};

std::vector<policy::ModelSupply> supplies_of(const Nodes& nodes) {
  std::map<std::string, policy::ModelSupply> by_model;
  for (const controller::NodeReport& report : nodes) {
    if (report.node.devices.empty()) continue;
    policy::ModelSupply& supply = by_model[report.node.devices.front().model];
    supply.milli += kWhole * static_cast<std::int64_t>(report.node.devices.size());
    supply.cpu += report.node.allocatable.of(model::kCpu);
  }
  std::vector<policy::ModelSupply> supplies;
  for (auto& [model, supply] : by_model) {
    supply.model = model;
    supplies.push_back(supply);
  }
  return supplies;
}

model::Workload workload_of(const TraceJob& job) {
  model::Workload workload;
  workload.name = job.name;
  workload.queue = kQueue;
  workload.workload_class = kClass;
  model::TaskGroup group{.name = "member", .per_member = job.per_member};
  if (!job.device.is_none()) group.device_options.push_back(job.device);
  workload.groups.push_back(std::move(group));
  return workload;
}

// The nodes in the order of the seed, and what is asked for.
model::State cluster_of(const Nodes& nodes, model::RequestMix mix, base::Random random) {
  std::vector<std::size_t> order(nodes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(order, random);
  StateMaker maker;
  maker.happen(model::PoolDefined{{.id = kPool, .name = "cluster"}});
  model::WorkloadClass own = policy::default_classes().front();
  own.id = kClass;
  maker.happen(model::ClassDefined{own});
  maker.happen(model::QueueDefined{{.id = kQueue, .name = "all"}});
  std::uint32_t next = 0;
  for (const std::size_t index : order) {
    model::Node node = nodes[index].node;
    node.id = model::NodeId(++next);
    node.backend = "simulated";
    node.pool = kPool;
    maker.happen(model::NodeSeen{std::move(node)});
  }
  maker.happen(model::MixChanged{std::move(mix)});
  return maker.state();
}

std::int64_t thread_micros() {
  timespec used{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0) return 0;
  return used.tv_sec * 1'000'000 + used.tv_nsec / 1000;
}

// What is free and what of it is of no use, followed beside the planner and from the definition.
class Gauge {
 public:
  Gauge(const model::State& state, const model::RequestMix& mix) {
    std::int64_t sum = 0;
    for (const model::WeighedKind& kind : mix.kinds)
      sum += kind.weight;
    for (const model::WeighedKind& kind : mix.kinds) {
      if (weight_ * 100 >= sum * 95) break;
      kinds_.push_back(kind);
      weight_ += kind.weight;
    }
    state.nodes.each([this](model::NodeId, const model::NodeRecord& record) {
      nodes_.push_back({.cpu = record.node.allocatable.of(model::kCpu),
                        .devices = std::vector<std::int64_t>(record.node.devices.size(), kWhole),
                        .model = record.node.devices.front().model});
      Node& node = nodes_.back();
      capacity_ += kWhole * static_cast<std::int64_t>(node.devices.size());
      node.useless = useless(node);
      useless_ += node.useless;
    });
  }

  void take(const model::MemberPlacement& member, std::int64_t cpu) {
    Node& node = nodes_[member.node.value - 1];
    node.cpu -= cpu;
    for (const model::DeviceAssignment& part : member.devices) {
      node.devices[static_cast<std::size_t>(part.device)] -= part.milli.value;
      used_ += part.milli.value;
    }
    useless_ -= node.useless;
    node.useless = useless(node);
    useless_ += node.useless;
  }

  void add_to(FgdPoint& point) const {
    const auto capacity = static_cast<double>(capacity_);
    const double useless = static_cast<double>(useless_) / static_cast<double>(weight_);
    ++point.arrivals;
    point.allocated += 1e6 * static_cast<double>(used_) / capacity;
    point.fragmented += 1e6 * useless / capacity;
    point.fragmented_idle +=
        used_ == capacity_ ? 0 : 1e6 * useless / static_cast<double>(capacity_ - used_);
  }

 private:
  struct Node {
    std::int64_t cpu = 0;
    std::vector<std::int64_t> devices;
    std::string model;
    std::int64_t useless = 0;  // times the weight of the mix
  };

  std::int64_t useless(const Node& node) const {
    const std::int64_t all = std::accumulate(node.devices.begin(), node.devices.end(), 0L);
    std::int64_t sum = 0;
    for (const auto& [kind, weight] : kinds_) {
      const std::int64_t milli = kind.milli.value;
      std::int64_t fitting = 0, small = 0;
      for (const std::int64_t free : node.devices) {
        if (free >= milli)
          ++fitting;
        else
          small += free;
      }
      const bool fits =
          kind.devices > 0 && fitting >= kind.devices && node.cpu >= kind.cpu &&
          (kind.models.empty() || std::ranges::binary_search(kind.models, node.model));
      sum += weight * (fits ? small : all);
    }
    return sum;
  }

  std::vector<model::WeighedKind> kinds_;
  std::int64_t weight_ = 0;
  std::vector<Node> nodes_;  // by id - 1
  std::int64_t capacity_ = 0, used_ = 0;
  std::int64_t useless_ = 0;
};

}  // namespace

FgdWorkload::FgdWorkload(std::string name, const Trace& trace, const Nodes& nodes)
    : name_(std::move(name)), pods_(trace.jobs), nodes_(nodes) {
  std::ranges::stable_sort(pods_, {}, &TraceJob::name);
  for (const controller::NodeReport& report : nodes)
    capacity_milli_ += kWhole * static_cast<std::int64_t>(report.node.devices.size());
  std::vector<model::WeighedKind> kinds;
  for (const TraceJob& pod : pods_)
    kinds.push_back({.kind = policy::kind_of_member(workload_of(pod).groups.front()), .weight = 1});
  mix_ = policy::make_mix(std::move(kinds), supplies_of(nodes));
}

std::vector<std::size_t> FgdWorkload::arrivals(base::Random random) const {
  std::vector<std::size_t> order(pods_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(order, random);
  std::int64_t sum = 0;
  for (const TraceJob& pod : pods_)
    sum += pod.device_milli();
  while (true) {
    const std::size_t drawn = random.below(pods_.size());
    const model::DeviceRequest& device = pods_[drawn].device;
    // As published: the next pod is tested with what it takes of one device.
    const std::int64_t of_one = device.is_whole() ? kWhole : device.share.value;
    if ((sum + of_one) * 100 > capacity_milli_ * kFgdArrivedMax) return order;
    order.push_back(drawn);
    sum += pods_[drawn].device_milli();
  }
}

namespace {

// Decides on every arrival in turn; nothing for those who do not fit.
class Deciding {
 public:
  Deciding(model::State state, model::PlacementRule rule, FgdMix mix)
      : state_(std::move(state)), is_learning_(mix == FgdMix::Learned) {
    state_.policy.placement = rule;
    if (is_learning_) state_.mix = {};
    placer_.emplace(state_, state_.policy);
  }

  std::optional<model::Placement> decide(const model::Workload& workload) {
    if (is_learning_) {
      policy::count_requests(state_.requests, workload);
      if (policy::is_mix_due(state_)) {
        state_.mix = policy::mix_of(state_);
        state_.requests.members_at_mix = state_.requests.members;
        placer_->observe_mix();
      }
    }
    return placer_->place(workload, kPool);
  }

 private:
  model::State state_;
  bool is_learning_;
  std::optional<scheduling::Placer> placer_;
};

}  // namespace

std::vector<FgdRun> FgdWorkload::run(std::span<const FgdPolicy> policies, base::Seed seed,
                                     FgdMix mix) const {
  const base::Random random(seed);
  const std::vector<std::size_t> order = arrivals(random.fork(1));
  const model::State state = cluster_of(nodes_, mix_, random.fork(2));
  std::vector<model::Workload> workloads;
  for (const TraceJob& pod : pods_)
    workloads.push_back(workload_of(pod));
  std::vector<FgdRun> runs;
  for (const FgdPolicy& policy : policies) {
    Deciding deciding(state, policy.rule, mix);
    std::vector<std::optional<model::Placement>> placements;
    placements.reserve(order.size());
    const std::int64_t before = thread_micros();
    for (const std::size_t index : order) {
      workloads[index].id = model::WorkloadId(placements.size() + 1);
      placements.push_back(deciding.decide(workloads[index]));
    }
    const std::int64_t micros = thread_micros() - before;
    runs.push_back(measured(state, order, placements));
    runs.back().micros = micros;
  }
  return runs;
}

FgdRun FgdWorkload::measured(const model::State& state, const std::vector<std::size_t>& order,
                             const std::vector<std::optional<model::Placement>>& placements) const {
  FgdRun run{.points = std::vector<FgdPoint>(kFgdArrivedMax + 1),
             .decisions = static_cast<std::int64_t>(order.size())};
  Gauge gauge(state, state.mix);
  std::int64_t arrived = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const TraceJob& pod = pods_[order[i]];
    arrived += pod.device_milli();
    if (placements[i]) {
      ++run.placed;
      gauge.take(placements[i]->members.front(), pod.per_member.of(model::kCpu));
    }
    const std::int64_t percent =
        std::min((200 * arrived + capacity_milli_) / (2 * capacity_milli_), kFgdArrivedMax);
    gauge.add_to(run.points[static_cast<std::size_t>(percent)]);
  }
  for (FgdPoint& point : run.points) {
    const auto arrivals = static_cast<double>(std::max<std::int64_t>(point.arrivals, 1));
    point.allocated /= arrivals;
    point.fragmented /= arrivals;
    point.fragmented_idle /= arrivals;
  }
  return run;
}

}  // namespace simulator
