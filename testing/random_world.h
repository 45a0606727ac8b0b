#pragma once
// Small random installations and what happens to them, driven by Choices: queue trees up to three
// deep with guarantees, lending and ceilings, one to three pools, mixed nodes, every form of device
// request, gangs, holds, cancels, lost nodes, sick devices, changed quotas. Made so that conflicts
// are common: few devices, many claims on them.
//
//   RandomWorld random(layout_numbers, history_numbers);
//   random.set_up();
//   while (random.step()) check(random.world().state());

#include <cstdint>
#include <string>
#include <vector>

#include "testing/builders.h"
#include "testing/choices.h"
#include "testing/world.h"

namespace testkit {

struct RandomWorldOptions {
  bool has_shares = true;    // shares, memory and slices beside whole devices
  bool has_failures = true;  // lost nodes, sick devices, failing work
  bool has_changes = true;   // quotas, classes and policy change while work runs
  bool has_groups = true;    // several groups, several device options
  int max_steps = 60;
};

class RandomWorld {
 public:
  // `layout` is how the installation looks, `history` what happens in it.
  RandomWorld(std::vector<std::uint16_t> layout, std::vector<std::uint16_t> history,
              RandomWorldOptions options = {});

  void set_up();
  // One thing happens, then the world mostly settles; false without more numbers or steps.
  bool step();
  World& world() { return world_; }
  // What has been done so far, a line each, for the report of a failed property.
  const std::string& story() const { return story_; }

 private:
  void set_up_pools();
  void set_up_nodes();
  void set_up_classes();
  void set_up_queues();
  QueueBuilder random_queue(const std::string& path, bool is_leaf);
  NodeBuilder random_node(int number);
  WorkloadBuilder random_workload();
  void shape_group(WorkloadBuilder& workload);
  model::PolicySet random_policy();
  void submit_some();
  void change_something();
  void fail_something();
  void advance_time();
  model::WorkloadId any_workload();
  void tell(std::string line);

  Choices layout_;
  Choices history_;
  Choices* choices_ = &layout_;  // of the two, what is drawn from now
  RandomWorldOptions options_;
  World world_;
  std::vector<std::string> pools_, leaf_pools_, queues_, leaf_queues_, classes_;
  std::string story_;
  int steps_ = 0;
  int submitted_ = 0;
};

}  // namespace testkit
