#include "storm/organisation.h"

#include <utility>

#include <fmt/format.h>

#include "policy/default_policy.h"

namespace storm {

using base::Random;
using manifest::Document;

namespace {

constexpr std::uint64_t kPurpose = 2;
constexpr std::int64_t kGi = std::int64_t{1} << 30;
constexpr std::int64_t kOrdinary_s = 420;  // most workloads run no longer

template <class T>
const T& one_of(const std::vector<T>& options, Random& random) {
  return options[random.below(options.size())];
}

Document document(auto body) { return {.body = std::move(body), .source = {}}; }

Document a_pool(std::string name, std::string parent = {}) {
  model::Pool pool;
  pool.name = std::move(name);
  return document(manifest::PoolDocument{.pool = std::move(pool), .parent = std::move(parent)});
}

// Profiles of 1, 2 and all of `slices` memory slices, each at every multiple of its own length.
void partition(model::Device& device, std::int32_t slices) {
  device.memory_slices = slices;
  for (const std::int32_t length : {1, 2, slices}) {
    model::SliceProfile profile{.name = fmt::format("{}s", length),
                                .memory_slices = length,
                                .memory = device.memory / slices * length,
                                .starts = {}};
    for (std::int32_t start = 0; start + length <= slices; start += length)
      profile.starts.push_back(start);
    device.profiles.push_back(std::move(profile));
  }
}

}  // namespace

Organisation::Organisation(const Scenario& scenario, const Swarm& swarm) : swarm_(swarm) {
  Random random = Random(scenario.seed).fork(kPurpose);
  make_pools(random);
  make_classes(random);
  Random queues = random.fork(1);
  make_queues(queues);
  for (std::int64_t number = 1; number <= swarm_.nodes; ++number) {
    Random own = random.fork(static_cast<std::uint64_t>(100 + number));
    controller::NodeReport report = random_node(number, own);
    if (!scenario.nodes || scenario.nodes->contains(number)) nodes_.push_back(std::move(report));
  }
}

void Organisation::make_pools(Random& random) {
  const auto shape = random.below(4);  // one, two flat, two below one, three flat
  const bool is_tree = shape == 2;
  if (is_tree) {
    documents_.push_back(a_pool("all"));
    pools_ = {"all"};
  }
  const std::int64_t count = shape == 3 ? 3 : shape == 0 ? 1 : 2;
  for (std::int64_t i = 1; i <= count; ++i) {
    leaf_pools_.push_back(fmt::format("p{}", i));
    documents_.push_back(a_pool(leaf_pools_.back(), is_tree ? "all" : ""));
    pools_.push_back(leaf_pools_.back());
  }
  documents_.push_back(
      document(manifest::TopologyDocument{{.name = "fabric", .levels = {"hall", "rack"}}}));
}

void Organisation::make_classes(Random& random) {
  classes_ = {"training", "batch", "training", "batch", "urgent", "urgent"};
  if (swarm_.has_floor) classes_.push_back("inference");
  documents_.push_back(random_class(random));
  model::WorkloadClass batch = policy::default_classes().back();
  batch.id = {};
  batch.grace = base::seconds(20);
  batch.evictions_per_day = 50;
  if (random.chance(1, 3)) batch.max_runtime = base::minutes(random.between(2, 20));
  documents_.push_back(document(manifest::ClassDocument{batch}));
  model::WorkloadClass urgent;
  urgent.name = "urgent";
  urgent.priority = 500;
  urgent.min_runtime = {};
  urgent.may_preempt = {"batch", "training"};
  urgent.retries = 2;
  documents_.push_back(document(manifest::ClassDocument{urgent}));
  documents_.push_back(random_policy(random));
}

Document Organisation::random_class(Random& random) const {
  model::WorkloadClass training;
  training.name = "training";
  training.priority = random.between(150, 300);
  training.min_runtime = base::seconds(random.chance(1, 2) ? 0 : random.between(1, 120));
  training.grace = base::seconds(random.between(1, 30));
  training.evictions_per_day = static_cast<std::int32_t>(random.between(2, 20));
  training.retries = static_cast<std::int32_t>(random.below(4));
  const auto order = random.below(3);
  training.order = order == 0   ? model::Order::Priority
                   : order == 1 ? model::Order::Fifo
                                : model::Order::Deadline;
  return document(manifest::ClassDocument{training});
}

Document Organisation::random_policy(Random& random) const {
  model::PolicySet policy;
  policy.name = fmt::format("storm-{}", random.below(1000));
  if (random.chance(1, 5)) policy.sharing = model::Sharing::OneLine;
  if (random.chance(1, 5)) policy.order = model::Order::Fifo;
  policy.uses_class_priority = !random.chance(1, 5);
  policy.allows_reclaim = swarm_.allows_reclaim;
  policy.allows_preemption = swarm_.allows_preemption;
  if (random.chance(1, 3)) policy.claim_lifetime = base::seconds(random.between(5, 60));
  policy.keeps_finished = swarm_.forgets_early ? base::minutes(30) : base::days(7);
  // Of a stream of its own: whatever else is drawn stays what it was.
  Random rules = random.fork(3);
  if (rules.chance(1, 2)) policy.placement = static_cast<model::PlacementRule>(rules.below(7));
  return document(manifest::PolicyDocument{policy});
}

controller::NodeReport Organisation::random_node(std::int64_t number, Random& random) const {
  controller::NodeReport report;
  model::Node& node = report.node;
  node.name = fmt::format("n{}", number);
  // Every pool has a node, and the first node has all that work may ask for: what nothing can ever
  // run tests little.
  const bool is_first = number == 1;
  report.pool = leaf_pools_[static_cast<std::size_t>(number - 1) % leaf_pools_.size()];
  const std::int64_t cores = random.chance(1, 3) ? 8 : 64;
  node.allocatable.set(model::kCpu, cores * 1000);
  node.allocatable.set(model::kMemory, (random.chance(1, 4) ? 16 : 256) * kGi);
  const bool is_small = random.chance(1, 5);
  const std::int64_t devices = !is_first && random.chance(1, 12) ? 0 : random.chance(1, 4) ? 8 : 4;
  const bool is_whole = !is_first && random.chance(1, 6);
  const bool is_sliced = is_first || random.chance(1, 2);
  for (std::int64_t i = 0; i < devices; ++i) {
    model::Device device;
    device.uuid = fmt::format("{}-d{}", node.name, i);
    device.vendor = "nvidia";
    device.model = is_small ? "A800" : "H800";
    device.memory = base::Bytes((is_small ? 40 : 80) * kGi);
    device.is_shareable = !(swarm_.has_shares && is_whole);
    device.link_group = static_cast<std::int32_t>(i / 4 + 1);
    if (swarm_.has_slices && is_sliced) partition(device, 4);
    node.devices.push_back(std::move(device));
  }
  if (swarm_.has_constraints && !is_first && random.chance(1, 5))
    node.taints.push_back({.key = "dedicated", .value = number % 2 == 0 ? "infra" : "vision"});
  if (swarm_.has_constraints && (is_first || random.chance(1, 3)))
    node.attributes["net"] = "ib";
  else if (swarm_.has_constraints && number % 2 == 0)
    node.attributes["net"] = "ethernet";
  node.topology.push_back(
      {.topology = "fabric", .domains = {"hall-1", fmt::format("rack-{}", number / 3 + 1)}});
  return report;
}

// A guarantee stands on leaf queues and leaf pools only; an inner queue may have a ceiling.
Document Organisation::random_queue(const std::string& path, bool is_leaf, Random& random) const {
  manifest::QueueDocument made;
  made.queue.name = path;
  for (const std::string& pool : leaf_pools_) {
    if (!swarm_.has_quotas) break;
    manifest::QuotaRow row{.pool = pool, .resource = "gpu", .guarantee = {}, .lend = {}, .max = {}};
    std::int64_t guarantee = 0;
    if (is_leaf && random.chance(3, 4)) {
      guarantee = random.between(0, 6) * 1000;
      row.guarantee = guarantee;
      if (random.chance(1, 3)) row.lend = random.between(0, guarantee / 1000) * 1000;
    }
    if (random.chance(1, 7))
      row.max = guarantee + random.between(3, 12) * 1000 + (is_leaf ? 0 : 16'000);
    if (row.guarantee || row.max) made.quotas.push_back(row);
  }
  if (random.chance(1, 4)) made.queue.weight = random.between(1, 3);
  if (random.chance(1, 5)) made.queue.priority = random.between(0, 1);
  if (random.chance(1, 8)) made.queue.passing = model::Passing::Strict;
  if (swarm_.has_shares && random.chance(1, 2)) made.queue.shares_devices_across_tenants = true;
  if (random.chance(1, 12)) made.queue.exclusive = model::Exclusive::Device;
  made.queue.claim_backoff = base::seconds(random.between(5, 120));
  return document(std::move(made));
}

void Organisation::make_queues(Random& random) {
  const auto add = [&](const std::string& path, bool is_leaf) {
    queue_documents_.push_back(random_queue(path, is_leaf, random));
    if (is_leaf) leaf_queues_.push_back(path);
  };
  for (std::int64_t t = 1; t <= swarm_.tenants; ++t) {
    const std::string tenant = fmt::format("t{}", t);
    const auto teams = static_cast<std::int64_t>(random.below(3));
    add(tenant, teams == 0);
    for (std::int64_t i = 1; i <= teams; ++i)
      add(fmt::format("{}/q{}", tenant, i), true);
  }
  documents_.insert(documents_.end(), queue_documents_.begin(), queue_documents_.end());
}

Document Organisation::random_quota(Random& random) const {
  return random_queue(one_of(leaf_queues_, random), true, random);
}

Document Organisation::zero_quota(Random& random) const {
  manifest::QueueDocument made;
  made.queue.name = one_of(leaf_queues_, random);
  for (const std::string& pool : leaf_pools_)
    made.quotas.push_back({.pool = pool, .resource = "gpu", .guarantee = 0, .lend = 0, .max = 0});
  return document(std::move(made));
}

model::DeviceRequest Organisation::random_request(Random& random) const {
  model::DeviceRequest request;
  const auto form = random.below(10);
  if (swarm_.has_shares && form < 2) {
    request.share = base::MilliDevice(random.between(1, 10) * 100);
    if (random.chance(1, 2)) request.memory = base::Bytes(random.between(1, 60) * kGi);
  } else if (swarm_.has_shares && form == 2) {
    request.memory = base::Bytes(random.between(1, 85) * kGi);
  } else if (swarm_.has_shares && form == 3) {
    request.memory_percent = static_cast<std::int32_t>(random.between(1, 100));
  } else if (swarm_.has_slices && form < 6) {
    request.slice = one_of<std::string>({"1s", "2s", "4s"}, random);
  } else {
    request.count = base::Count(one_of<std::int64_t>({1, 1, 2, 4}, random));
  }
  if (swarm_.has_constraints && random.chance(1, 10))
    request.models = {random.chance(1, 2) ? "A800" : "H800"};
  return request;
}

void Organisation::shape_group(model::TaskGroup& group, Random& random) const {
  const std::int64_t members = swarm_.has_gangs ? one_of<std::int64_t>({1, 2, 1, 3, 4}, random) : 1;
  group.members = static_cast<std::int32_t>(members);
  group.min_members = group.members;
  if (swarm_.has_elastic && random.chance(1, 4))
    group.min_members = static_cast<std::int32_t>(random.between(1, members));
  group.per_member.set(model::kCpu, random.between(1, 4) * 1000);
  if (random.chance(1, 4)) group.per_member.set(model::kMemory, random.between(1, 40) * kGi);
  if (random.chance(1, 12)) return;  // no device at all
  group.device_options.push_back(random_request(random));
  if (swarm_.has_groups && random.chance(1, 6))
    group.device_options.push_back(random_request(random));
}

void Organisation::constrain(manifest::WorkloadDocument& work, base::Instant now,
                             Random& random) const {
  model::Workload& workload = work.workload;
  if (random.chance(1, 3)) {
    work.pools = {one_of(pools_, random)};
    const std::string& other = one_of(leaf_pools_, random);
    if (random.chance(1, 2) && work.pools[0] != "all" && work.pools[0] != other)
      work.pools.push_back(other);
  }
  if (swarm_.has_constraints && random.chance(1, 12)) workload.constraints.attributes["net"] = "ib";
  if (swarm_.has_constraints && random.chance(1, 3))
    workload.constraints.tolerations.push_back(
        {.key = "dedicated", .value = random.chance(1, 2) ? "infra" : ""});
  if (swarm_.has_time_limits && random.chance(1, 4))
    workload.time_limit = base::seconds(random.between(10, kOrdinary_s));
  if (swarm_.has_deadlines && random.chance(1, 4))
    workload.deadline = now + base::minutes(random.between(1, 120));
  if (random.chance(1, 6)) workload.priority_boost = random.between(-5, 5);
  if (!swarm_.has_retries) return;
  if (random.chance(1, 3)) workload.retry.max = static_cast<std::int32_t>(random.below(4));
  if (random.chance(1, 4))
    workload.retry.rules.push_back(
        {.on = model::EndClass::UserError,
         .code = random.chance(1, 2) ? std::optional<std::int32_t>(13) : std::nullopt,
         .action = random.chance(1, 4) ? model::RetryAction::Hold : model::RetryAction::Retry});
}

Document Organisation::random_work(std::int64_t number, base::Instant now, Random& random) const {
  manifest::WorkloadDocument work;
  model::Workload& workload = work.workload;
  if (!random.chance(1, 6)) workload.name = fmt::format("w{}", number);
  work.queue = one_of(leaf_queues_, random);
  work.class_name = one_of(classes_, random);
  workload.kind = model::Kind::TrainingJob;
  model::TaskGroup group;
  group.name = "member";
  shape_group(group, random);
  workload.groups.push_back(group);
  if (swarm_.has_groups && random.chance(1, 6)) {
    model::TaskGroup second;
    second.name = "second";
    shape_group(second, random);
    workload.groups.push_back(second);
  }
  workload.command.argv = {"true"};
  constrain(work, now, random);
  if (random.chance(1, 3)) workload.checkpoint.every = base::minutes(2);
  if (random.chance(1, 4)) {
    workload.checkpoint.signal = "SIGUSR1";
    workload.checkpoint.grace = base::seconds(10);
  }
  // Long ones are few and make the rest wait, as in the field.
  const std::int64_t seconds = random.chance(1, 6) ? random.between(kOrdinary_s, 4 * kOrdinary_s)
                                                   : random.between(2, kOrdinary_s);
  workload.annotations["berth.sim/runtime-ms"] = std::to_string(seconds * 1000);
  return document(std::move(work));
}

}  // namespace storm
