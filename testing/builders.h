#pragma once
// Builders with defaults, so that in a test only what matters is set:
//
//   world.define(a_queue("nlp").guarantee("h800", 8));
//   world.see(a_node("n1").in_pool("h800").gpus(8));
//   const auto w = world.submit(a_workload("w1").in_queue("nlp").gang(4).gpus(8));
//
// Names stay names until a World (testing/world.h) gives them ids. GPUs are counted in devices,
// cpu in cores; everything else in base units.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "base/amount.h"
#include "base/instant.h"
#include "model/node.h"
#include "model/pool.h"
#include "model/queue.h"
#include "model/workload.h"
#include "model/workload_class.h"

namespace testkit {

inline constexpr std::int64_t kGi = std::int64_t{1} << 30;

// A workload whose queue, class and pools are still names. Empty queue: "default"; empty class:
// "training".
struct WorkloadSpec {
  model::Workload workload;
  std::string queue = "default";
  std::string class_name = "training";
  std::vector<std::string> pools;
};

// One group of one member with one core; the shape calls are about the group opened last.
class WorkloadBuilder {
 public:
  explicit WorkloadBuilder(std::string name);

  WorkloadBuilder& in_queue(std::string queue);
  WorkloadBuilder& of_class(std::string class_name);
  WorkloadBuilder& of_kind(model::Kind kind);
  WorkloadBuilder& in_pools(std::vector<std::string> pools);  // in order of preference
  WorkloadBuilder& by(std::string user);

  WorkloadBuilder& group(std::string name);     // opens another group
  WorkloadBuilder& gang(std::int32_t members);  // all of them or none
  WorkloadBuilder& elastic(std::int32_t min, std::int32_t max);
  WorkloadBuilder& gpus(std::int64_t devices);  // whole ones, of each member
  WorkloadBuilder& share(std::int64_t milli, std::int64_t memory = 0);
  WorkloadBuilder& device_memory(std::int64_t bytes);
  WorkloadBuilder& device_memory_percent(std::int32_t percent);
  WorkloadBuilder& slice(std::string profile);
  WorkloadBuilder& of_models(std::vector<std::string> models);
  WorkloadBuilder& or_else(model::DeviceRequest option);  // a further option, less preferred
  WorkloadBuilder& cpus(std::int64_t cores);
  WorkloadBuilder& memory(std::int64_t bytes);
  WorkloadBuilder& resource(model::ResourceId resource, std::int64_t amount);

  WorkloadBuilder& on_attribute(std::string key, std::string value);
  WorkloadBuilder& tolerates(std::string key, std::string value = {});
  WorkloadBuilder& time_limit(base::Duration limit);
  WorkloadBuilder& estimate(base::Duration duration);
  WorkloadBuilder& deadline(base::Instant instant);
  WorkloadBuilder& boost(std::int64_t points);
  WorkloadBuilder& retry(model::RetryPolicy policy);

  const WorkloadSpec& spec() const { return spec_; }

 private:
  model::TaskGroup& open_group() { return spec_.workload.groups.back(); }
  model::DeviceRequest& request();

  WorkloadSpec spec_;
};
WorkloadBuilder a_workload(std::string name);

// Ready, 64 cores, 512 GiB, no device, in the pool "default".
class NodeBuilder {
 public:
  explicit NodeBuilder(std::string name);

  NodeBuilder& numbered(model::NodeId id);  // else the next free one
  NodeBuilder& in_pool(std::string pool);
  NodeBuilder& gpus(int count, std::string model = "H800", std::int64_t memory = 80 * kGi);
  NodeBuilder& unshareable();                          // every device: whole or not at all
  NodeBuilder& sliced_in(std::int32_t memory_slices);  // every device; profiles "1s", "2s", …
  NodeBuilder& cpus(std::int64_t cores);
  NodeBuilder& memory(std::int64_t bytes);
  NodeBuilder& resource(model::ResourceId resource, std::int64_t amount);
  NodeBuilder& attribute(std::string key, std::string value);
  NodeBuilder& taint(std::string key, std::string value = {},
                     model::TaintEffect effect = model::TaintEffect::NoStart);
  NodeBuilder& condition(model::NodeCondition condition);

  const model::Node& node() const { return node_; }
  const std::string& pool() const { return pool_; }

 private:
  model::Node node_;
  std::string pool_ = "default";
};
NodeBuilder a_node(std::string name);

struct QuotaSpec {
  std::string pool;
  model::ResourceId resource = model::kDevice;
  std::optional<std::int64_t> guarantee, lend, max;  // base units
};

// "search/nlp" hangs below "search", which must be defined first.
class QueueBuilder {
 public:
  explicit QueueBuilder(std::string path);

  QueueBuilder& numbered(model::QueueId id);  // else the next free one
  QueueBuilder& guarantee(std::string pool, std::int64_t gpus);
  QueueBuilder& lend(std::string pool, std::int64_t gpus);
  QueueBuilder& max(std::string pool, std::int64_t gpus);
  QueueBuilder& quota(QuotaSpec row);  // replaces the row of the same pool and resource
  QueueBuilder& weight(std::int64_t weight);
  QueueBuilder& priority(std::int64_t priority);
  QueueBuilder& strict();
  QueueBuilder& exclusive(model::Exclusive exclusive);
  QueueBuilder& shares_devices();
  QueueBuilder& claim_backoff(base::Duration duration);

  const model::Queue& queue() const { return queue_; }
  const std::vector<QuotaSpec>& quotas() const { return quotas_; }

 private:
  QuotaSpec& gpu_row(const std::string& pool);

  model::Queue queue_;
  std::vector<QuotaSpec> quotas_;
};
QueueBuilder a_queue(std::string path);

struct PoolSpec {
  model::Pool pool;
  std::string parent;  // empty: a root
};
PoolSpec a_pool(std::string name, std::string parent = {});

// The rights of `training`, minus its ten protected minutes.
model::WorkloadClass a_class(std::string name, std::int64_t priority = 200);

}  // namespace testkit
