#include "testing/builders.h"

#include <algorithm>
#include <utility>

#include "model/resources.h"

namespace testkit {

WorkloadBuilder::WorkloadBuilder(std::string name) {
  spec_.workload.name = std::move(name);
  spec_.workload.user = "someone";
  spec_.workload.command.argv = {"true"};
  model::TaskGroup group;
  group.name = "main";
  group.per_member.set(model::kCpu, 1000);
  spec_.workload.groups.push_back(group);
}

model::DeviceRequest& WorkloadBuilder::request() {
  if (open_group().device_options.empty()) open_group().device_options.emplace_back();
  return open_group().device_options.back();
}

WorkloadBuilder& WorkloadBuilder::in_queue(std::string queue) {
  spec_.queue = std::move(queue);
  return *this;
}
WorkloadBuilder& WorkloadBuilder::of_class(std::string class_name) {
  spec_.class_name = std::move(class_name);
  return *this;
}
WorkloadBuilder& WorkloadBuilder::of_kind(model::Kind kind) {
  spec_.workload.kind = kind;
  return *this;
}
WorkloadBuilder& WorkloadBuilder::in_pools(std::vector<std::string> pools) {
  spec_.pools = std::move(pools);
  return *this;
}
WorkloadBuilder& WorkloadBuilder::by(std::string user) {
  spec_.workload.user = std::move(user);
  return *this;
}
WorkloadBuilder& WorkloadBuilder::group(std::string name) {
  model::TaskGroup group;
  group.name = std::move(name);
  group.per_member.set(model::kCpu, 1000);
  spec_.workload.groups.push_back(std::move(group));
  return *this;
}
WorkloadBuilder& WorkloadBuilder::gang(std::int32_t members) { return elastic(members, members); }
WorkloadBuilder& WorkloadBuilder::elastic(std::int32_t min, std::int32_t max) {
  open_group().min_members = min;
  open_group().members = max;
  return *this;
}
WorkloadBuilder& WorkloadBuilder::gpus(std::int64_t devices) {
  if (devices > 0) request().count = base::Count(devices);
  return *this;
}
WorkloadBuilder& WorkloadBuilder::share(std::int64_t milli, std::int64_t memory) {
  request().share = base::MilliDevice(milli);
  request().memory = base::Bytes(memory);
  return *this;
}
WorkloadBuilder& WorkloadBuilder::device_memory(std::int64_t bytes) {
  request().memory = base::Bytes(bytes);
  return *this;
}
WorkloadBuilder& WorkloadBuilder::device_memory_percent(std::int32_t percent) {
  request().memory_percent = percent;
  return *this;
}
WorkloadBuilder& WorkloadBuilder::slice(std::string profile) {
  request().slice = std::move(profile);
  return *this;
}
WorkloadBuilder& WorkloadBuilder::of_models(std::vector<std::string> models) {
  request().models = std::move(models);
  return *this;
}
WorkloadBuilder& WorkloadBuilder::or_else(model::DeviceRequest option) {
  open_group().device_options.push_back(std::move(option));
  return *this;
}
WorkloadBuilder& WorkloadBuilder::cpus(std::int64_t cores) {
  return resource(model::kCpu, cores * 1000);
}
WorkloadBuilder& WorkloadBuilder::memory(std::int64_t bytes) {
  return resource(model::kMemory, bytes);
}
WorkloadBuilder& WorkloadBuilder::resource(model::ResourceId resource, std::int64_t amount) {
  open_group().per_member.set(resource, amount);
  return *this;
}
WorkloadBuilder& WorkloadBuilder::on_attribute(std::string key, std::string value) {
  spec_.workload.constraints.attributes[std::move(key)] = std::move(value);
  return *this;
}
WorkloadBuilder& WorkloadBuilder::tolerates(std::string key, std::string value) {
  spec_.workload.constraints.tolerations.push_back({std::move(key), std::move(value)});
  return *this;
}
WorkloadBuilder& WorkloadBuilder::time_limit(base::Duration limit) {
  spec_.workload.time_limit = limit;
  return *this;
}
WorkloadBuilder& WorkloadBuilder::estimate(base::Duration duration) {
  spec_.workload.estimate = duration;
  return *this;
}
WorkloadBuilder& WorkloadBuilder::deadline(base::Instant instant) {
  spec_.workload.deadline = instant;
  return *this;
}
WorkloadBuilder& WorkloadBuilder::boost(std::int64_t points) {
  spec_.workload.priority_boost = points;
  return *this;
}
WorkloadBuilder& WorkloadBuilder::retry(model::RetryPolicy policy) {
  spec_.workload.retry = std::move(policy);
  return *this;
}
WorkloadBuilder a_workload(std::string name) { return WorkloadBuilder(std::move(name)); }

NodeBuilder::NodeBuilder(std::string name) {
  node_.name = std::move(name);
  node_.backend = "test";
  node_.allocatable = {{model::kCpu, 64'000}, {model::kMemory, 512 * kGi}};
}
NodeBuilder& NodeBuilder::numbered(model::NodeId id) {
  node_.id = id;
  return *this;
}
NodeBuilder& NodeBuilder::in_pool(std::string pool) {
  pool_ = std::move(pool);
  return *this;
}
NodeBuilder& NodeBuilder::gpus(int count, std::string model, std::int64_t memory) {
  for (int i = 0; i < count; ++i) {
    model::Device device;
    device.uuid = node_.name + "-gpu" + std::to_string(node_.devices.size());
    device.vendor = "nvidia";
    device.model = model;
    device.memory = base::Bytes(memory);
    device.source = model::DeviceSource::Virtual;
    device.link_group = 1;
    node_.devices.push_back(std::move(device));
  }
  return *this;
}
NodeBuilder& NodeBuilder::unshareable() {
  for (model::Device& device : node_.devices)
    device.is_shareable = false;
  return *this;
}

// Profiles of 1, 2, 4, … slices, each starting at the multiples of its length, as MIG's do.
NodeBuilder& NodeBuilder::sliced_in(std::int32_t memory_slices) {
  for (model::Device& device : node_.devices) {
    device.memory_slices = memory_slices;
    device.profiles.clear();
    for (std::int32_t length = 1; length <= memory_slices; length *= 2) {
      model::SliceProfile profile;
      profile.name = std::to_string(length) + "s";
      profile.memory_slices = length;
      profile.memory = base::Bytes(device.memory.value * length / memory_slices);
      for (std::int32_t start = 0; start + length <= memory_slices; start += length)
        profile.starts.push_back(start);
      device.profiles.push_back(std::move(profile));
    }
  }
  return *this;
}
NodeBuilder& NodeBuilder::cpus(std::int64_t cores) { return resource(model::kCpu, cores * 1000); }
NodeBuilder& NodeBuilder::memory(std::int64_t bytes) { return resource(model::kMemory, bytes); }
NodeBuilder& NodeBuilder::resource(model::ResourceId resource, std::int64_t amount) {
  node_.allocatable.set(resource, amount);
  return *this;
}
NodeBuilder& NodeBuilder::attribute(std::string key, std::string value) {
  node_.attributes[std::move(key)] = std::move(value);
  return *this;
}
NodeBuilder& NodeBuilder::taint(std::string key, std::string value, model::TaintEffect effect) {
  node_.taints.push_back({std::move(key), std::move(value), effect});
  return *this;
}
NodeBuilder& NodeBuilder::condition(model::NodeCondition condition) {
  node_.condition = condition;
  return *this;
}
NodeBuilder a_node(std::string name) { return NodeBuilder(std::move(name)); }

QueueBuilder::QueueBuilder(std::string path) { queue_.name = std::move(path); }

QuotaSpec& QueueBuilder::gpu_row(const std::string& pool) {
  for (QuotaSpec& row : quotas_)
    if (row.pool == pool && row.resource == model::kDevice) return row;
  quotas_.push_back(QuotaSpec{.pool = pool});
  return quotas_.back();
}
QueueBuilder& QueueBuilder::numbered(model::QueueId id) {
  queue_.id = id;
  return *this;
}
QueueBuilder& QueueBuilder::guarantee(std::string pool, std::int64_t gpus) {
  gpu_row(pool).guarantee = gpus * 1000;
  return *this;
}
QueueBuilder& QueueBuilder::lend(std::string pool, std::int64_t gpus) {
  gpu_row(pool).lend = gpus * 1000;
  return *this;
}
QueueBuilder& QueueBuilder::max(std::string pool, std::int64_t gpus) {
  gpu_row(pool).max = gpus * 1000;
  return *this;
}
QueueBuilder& QueueBuilder::quota(QuotaSpec row) {
  std::erase_if(quotas_, [&](const QuotaSpec& other) {
    return other.pool == row.pool && other.resource == row.resource;
  });
  quotas_.push_back(std::move(row));
  return *this;
}
QueueBuilder& QueueBuilder::weight(std::int64_t weight) {
  queue_.weight = weight;
  return *this;
}
QueueBuilder& QueueBuilder::priority(std::int64_t priority) {
  queue_.priority = priority;
  return *this;
}
QueueBuilder& QueueBuilder::strict() {
  queue_.passing = model::Passing::Strict;
  return *this;
}
QueueBuilder& QueueBuilder::exclusive(model::Exclusive exclusive) {
  queue_.exclusive = exclusive;
  return *this;
}
QueueBuilder& QueueBuilder::shares_devices() {
  queue_.shares_devices_across_tenants = true;
  return *this;
}
QueueBuilder& QueueBuilder::claim_backoff(base::Duration duration) {
  queue_.claim_backoff = duration;
  return *this;
}
QueueBuilder a_queue(std::string path) { return QueueBuilder(std::move(path)); }

PoolSpec a_pool(std::string name, std::string parent) {
  PoolSpec spec;
  spec.pool.name = std::move(name);
  spec.parent = std::move(parent);
  return spec;
}

model::WorkloadClass a_class(std::string name, std::int64_t priority) {
  model::WorkloadClass made;
  made.name = std::move(name);
  made.priority = priority;
  made.min_runtime = base::seconds(0);
  return made;
}

}  // namespace testkit
