// Configuration that cannot hold is refused with both numbers.

#include "policy/checks.h"

#include <gtest/gtest.h>

#include "policy/charge.h"
#include "policy/default_policy.h"
#include "testing/world.h"

namespace {

using base::Code;
using testkit::a_node;
using testkit::a_pool;
using testkit::a_queue;
using testkit::a_workload;

struct Checks : testing::Test {
  testkit::World world;
  model::PoolId pool;

  void SetUp() override {
    for (auto& workload_class : policy::default_classes())
      world.define(workload_class);
    pool = world.define(a_pool("h800"));
  }
  model::Queue queue(const char* name, model::QueueId parent, model::Quota row) {
    model::Queue result;
    result.id = world.state().queues.next_id();
    result.name = name;
    result.parent = parent;
    row.dimension = {pool, model::kDevice};
    result.quotas.push_back(row);
    return result;
  }
};

TEST_F(Checks, MaxBelowTheGuaranteeIsRefused) {
  const auto checked = policy::check_queue(
      world.state(), queue("a", {}, {.dimension = {}, .guarantee = 8000, .lend = {}, .max = 4000}));
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().field, "spec.quotas.max");
  EXPECT_NE(checked.error().message.find("4000"), std::string::npos);
  EXPECT_NE(checked.error().message.find("8000"), std::string::npos);
}

TEST_F(Checks, ChildrenTogetherCannotBeGuaranteedMoreThanTheirParent) {
  const auto parent = world.define(a_queue("search").guarantee("h800", 8));
  world.define(a_queue("search/nlp").guarantee("h800", 6));
  const auto checked = policy::check_queue(
      world.state(),
      queue("search/ads", parent, {.dimension = {}, .guarantee = 3000, .lend = {}, .max = {}}));
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().code, Code::FailedPrecondition);
  EXPECT_NE(checked.error().message.find("9000"), std::string::npos);
}

TEST_F(Checks, WorkGoesToLeafQueuesOnly) {
  world.define(a_queue("search"));
  world.define(a_queue("search/nlp"));
  const auto checked = policy::check_workload(
      world.state(), world.resolved(a_workload("w").in_queue("search").gpus(1)));
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().field, "metadata.queue");
  EXPECT_NE(checked.error().hint.find("search/nlp"), std::string::npos);
}

TEST_F(Checks, ADeviceIsAskedForInOneForm) {
  world.define(a_queue("nlp"));
  model::Workload workload = world.resolved(a_workload("w").in_queue("nlp").gpus(1));
  workload.groups[0].device_options[0].share = base::MilliDevice(500);
  EXPECT_FALSE(policy::check_workload(world.state(), workload).has_value());
}

TEST_F(Checks, DemandBeyondExactSumsIsRefused) {
  world.define(a_queue("nlp"));
  const auto ask = [](const char* name) {
    return a_workload(name).in_queue("nlp").memory(std::int64_t{1} << 52);
  };
  world.submit(ask("a"));
  world.submit(ask("b"));
  const auto checked = policy::check_workload(world.state(), world.resolved(ask("c")));
  ASSERT_FALSE(checked.has_value());
  EXPECT_EQ(checked.error().code, Code::TooLarge);
}

TEST_F(Checks, APoolNeitherMovesNorParentsItself) {
  model::Pool moved = world.state().pools.at(pool).pool;
  moved.parent = pool;
  EXPECT_FALSE(policy::check_pool(world.state(), moved).has_value());
}

TEST_F(Checks, NodesAreOnlyInLeafPools) {
  world.see(a_node("n1").in_pool("h800").gpus(8));
  model::Pool child{
      .id = world.state().pools.next_id(), .name = "a", .parent = pool, .selector = {}};
  EXPECT_FALSE(policy::check_pool(world.state(), child).has_value());
}

TEST(Charge, AFullLayoutOfSlicesIsExactlyOneDevice) {
  model::Device device;
  device.memory_slices = 7;
  device.profiles.push_back({.name = "1g", .memory_slices = 1, .memory = {}, .starts = {}});
  std::int64_t sum = 0;
  for (int start = 0; start < 7; ++start)
    sum += policy::charge_of(
        device, {.device = 0, .milli = {}, .memory = {}, .slice = "1g", .slice_start = start});
  EXPECT_EQ(sum, 1000);
}

}  // namespace
