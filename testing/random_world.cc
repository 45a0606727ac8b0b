#include "testing/random_world.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "policy/request_mix.h"

namespace testkit {

namespace {

WorldOptions world_options(Choices& choices) {
  WorldOptions options;
  options.start_delay = base::seconds(choices.chance(1, 4) ? 5 : 0);
  options.stop_delay = base::seconds(choices.chance(1, 2) ? 20 : 0);
  return options;
}

}  // namespace

RandomWorld::RandomWorld(std::vector<std::uint16_t> layout, std::vector<std::uint16_t> history,
                         RandomWorldOptions options)
    : layout_(std::move(layout)),
      history_(std::move(history)),
      options_(options),
      world_(world_options(layout_)) {}

void RandomWorld::tell(std::string line) {
  story_ += fmt::format("{:>8} ", (world_.now() - kStart).millis / 1000);
  story_ += std::move(line);
  story_ += '\n';
}

void RandomWorld::set_up() {
  set_up_pools();
  set_up_classes();
  set_up_nodes();
  set_up_queues();
  if (choices_->chance(1, 4)) world_.define(random_policy());
  choices_ = &history_;
}

void RandomWorld::set_up_pools() {
  const auto shape = choices_->below(4);  // one, two flat, two below one, three flat
  if (shape == 2) {
    world_.define(a_pool("all"));
    pools_ = {"all", "p1", "p2"};
    leaf_pools_ = {"p1", "p2"};
    world_.define(a_pool("p1", "all"));
    world_.define(a_pool("p2", "all"));
    return;
  }
  const std::int64_t count = shape == 3 ? 3 : shape == 1 ? 2 : 1;
  for (std::int64_t i = 1; i <= count; ++i) {
    leaf_pools_.push_back(fmt::format("p{}", i));
    world_.define(a_pool(leaf_pools_.back()));
  }
  pools_ = leaf_pools_;
}

void RandomWorld::set_up_classes() {
  classes_ = {"training", "batch", "training", "floor"};
  auto training = a_class("training", 200);
  training.min_runtime = base::seconds(choices_->one_of<std::int64_t>({0, 60}));
  training.evictions_per_day = static_cast<std::int32_t>(choices_->between(1, 5));
  training.retries = static_cast<std::int32_t>(choices_->below(3));
  training.order = choices_->one_of<model::Order>(
      {model::Order::Priority, model::Order::Fifo, model::Order::Deadline});
  world_.define(training);
  auto batch = a_class("batch", 100);
  batch.reclaimable = model::Reclaimable::Always;
  batch.order = model::Order::Deadline;
  batch.retries = 1;
  if (choices_->chance(1, 3)) batch.max_runtime = base::minutes(10);
  world_.define(batch);
  auto floor = a_class("floor", 400);
  floor.reclaimable = model::Reclaimable::Never;
  floor.preemptible = model::Preemptible::Never;
  if (choices_->chance(1, 3)) floor.may_preempt = {"batch"};
  world_.define(floor);
}

NodeBuilder RandomWorld::random_node(int number) {
  auto node = a_node(fmt::format("n{}", number)).in_pool(choices_->one_of(leaf_pools_));
  const std::string model = choices_->chance(1, 5) ? "A800" : "H800";
  node.gpus(static_cast<int>(choices_->one_of<std::int64_t>({4, 2, 8, 1, 0})), model,
            (model == "H800" ? 80 : 40) * kGi);
  node.cpus(choices_->one_of<std::int64_t>({32, 16, 4}));
  node.memory(choices_->one_of<std::int64_t>({64, 8}) * kGi);
  if (options_.has_shares && choices_->chance(1, 5)) node.unshareable();
  if (options_.has_shares && choices_->chance(1, 4)) node.sliced_in(4);
  if (choices_->chance(1, 6)) node.taint("dedicated", "infra");
  if (choices_->chance(1, 4)) node.attribute("net", "ib");
  return node;
}

void RandomWorld::set_up_nodes() {
  const auto count = choices_->between(1, 4);
  for (int i = 1; i <= count; ++i)
    world_.see(random_node(i));
}

// A guarantee stands on leaf queues and leaf pools only; an inner queue may have a ceiling. Lending
// never exceeds the guarantee and a ceiling never lies below it, as configuration requires.
QueueBuilder RandomWorld::random_queue(const std::string& path, bool is_leaf) {
  auto queue = a_queue(path);
  for (const std::string& pool : leaf_pools_) {
    std::int64_t guarantee = 0;
    if (is_leaf && choices_->chance(2, 3)) {
      guarantee = choices_->below(5);
      queue.guarantee(pool, guarantee);
      if (choices_->chance(1, 3)) queue.lend(pool, choices_->between(0, guarantee));
    }
    if (choices_->chance(1, 4))
      queue.max(pool, guarantee + choices_->below(4) + (is_leaf ? 0 : 16));
  }
  if (choices_->chance(1, 4)) queue.weight(choices_->between(1, 3));
  if (choices_->chance(1, 5)) queue.priority(choices_->below(2));
  if (choices_->chance(1, 6)) queue.strict();
  if (options_.has_shares && choices_->chance(1, 3)) queue.shares_devices();
  if (choices_->chance(1, 10))
    queue.exclusive(choices_->one_of<model::Exclusive>(
        {model::Exclusive::Device, model::Exclusive::Node, model::Exclusive::Pool}));
  return queue;
}

void RandomWorld::set_up_queues() {
  const auto tenants = choices_->between(1, 3);
  for (std::int64_t t = 1; t <= tenants; ++t) {
    const std::string tenant = fmt::format("t{}", t);
    const auto teams = choices_->below(3);
    world_.define(random_queue(tenant, teams == 0));
    (teams == 0 ? leaf_queues_ : queues_).push_back(tenant);
    for (std::int64_t i = 1; i <= teams; ++i) {
      const std::string team = fmt::format("{}/q{}", tenant, i);
      const auto projects = choices_->chance(1, 5) ? 2 : 0;
      world_.define(random_queue(team, projects == 0));
      (projects == 0 ? leaf_queues_ : queues_).push_back(team);
      for (int p = 1; p <= projects; ++p) {
        leaf_queues_.push_back(fmt::format("{}/x{}", team, p));
        world_.define(random_queue(leaf_queues_.back(), true));
      }
    }
  }
}

void RandomWorld::shape_group(WorkloadBuilder& workload) {
  const auto members = static_cast<std::int32_t>(choices_->one_of<std::int64_t>({1, 2, 1, 3}));
  if (choices_->chance(1, 6))
    workload.elastic(1, members);
  else
    workload.gang(members);
  if (choices_->chance(1, 3)) workload.cpus(choices_->between(1, 6));
  if (choices_->chance(1, 4)) workload.memory(choices_->between(1, 40) * kGi);
  switch (choices_->below(options_.has_shares ? 8 : 4)) {
    case 4:
      workload.share(choices_->between(1, 10) * 100, choices_->below(3) * 20 * kGi);
      break;
    case 5:
      workload.device_memory(choices_->between(1, 90) * kGi);
      break;
    case 6:
      workload.device_memory_percent(static_cast<std::int32_t>(choices_->between(1, 100)));
      break;
    case 7:
      workload.slice(choices_->one_of<std::string>({"1s", "2s", "4s", "9s"}));
      break;
    case 3:
      break;  // no device at all
    default:
      workload.gpus(choices_->one_of<std::int64_t>({1, 2, 1, 4}));
  }
}

WorkloadBuilder RandomWorld::random_workload() {
  auto workload = a_workload(fmt::format("w{}", ++submitted_));
  workload.in_queue(choices_->one_of(leaf_queues_)).of_class(choices_->one_of(classes_));
  shape_group(workload);
  const bool has_device = !workload.spec().workload.groups.back().device_options.empty();
  if (choices_->chance(1, 8) && has_device)
    workload.of_models({choices_->chance(1, 2) ? "A800" : "H800"});
  if (options_.has_groups && choices_->chance(1, 6)) {
    model::DeviceRequest option;
    option.count = base::Count(choices_->between(1, 2));
    if (!workload.spec().workload.groups.back().device_options.empty()) workload.or_else(option);
  }
  if (options_.has_groups && choices_->chance(1, 6)) shape_group(workload.group("second"));
  if (choices_->chance(1, 3)) {
    std::vector<std::string> pools{choices_->one_of(pools_)};
    if (choices_->chance(1, 2)) {
      const std::string other = choices_->one_of(leaf_pools_);
      if (other != pools[0] && pools[0] != "all") pools.push_back(other);
    }
    workload.in_pools(pools);
  }
  if (choices_->chance(1, 16)) workload.on_attribute("net", "ib");
  if (choices_->chance(1, 4))
    workload.tolerates("dedicated", choices_->chance(1, 2) ? "infra" : "");
  if (choices_->chance(1, 6)) workload.time_limit(base::seconds(choices_->between(10, 600)));
  if (choices_->chance(1, 6)) workload.boost(choices_->between(-5, 5));
  if (choices_->chance(1, 6)) workload.deadline(world_.now() + base::minutes(choices_->below(60)));
  return workload;
}

model::PolicySet RandomWorld::random_policy() {
  model::PolicySet policy;
  if (choices_->chance(1, 3)) policy.sharing = model::Sharing::OneLine;
  if (choices_->chance(1, 3)) policy.order = model::Order::Fifo;
  policy.uses_class_priority = !choices_->chance(1, 4);
  policy.allows_reclaim = !choices_->chance(1, 4);
  policy.allows_preemption = !choices_->chance(1, 4);
  if (choices_->chance(1, 3)) policy.claim_lifetime = base::seconds(10);
  if (choices_->chance(1, 2))
    policy.placement = static_cast<model::PlacementRule>(choices_->below(7));
  return policy;
}

model::WorkloadId RandomWorld::any_workload() {
  if (submitted_ == 0) return {};
  return model::WorkloadId(static_cast<std::uint64_t>(choices_->between(1, submitted_)));
}

void RandomWorld::submit_some() {
  const auto count = choices_->chance(1, 4) ? choices_->between(2, 3) : 1;
  for (std::int64_t i = 0; i < count; ++i) {
    const WorkloadBuilder workload = random_workload();
    const model::WorkloadId id = world_.submit(workload);
    if (choices_->chance(1, 2)) world_.runs_for(id, base::seconds(choices_->between(5, 900)));
    tell(fmt::format("submit {} to {} as {}", id.value, workload.spec().queue,
                     workload.spec().class_name));
  }
}

void RandomWorld::fail_something() {
  const model::NodeId node(static_cast<std::uint32_t>(
      choices_->between(1, static_cast<int>(world_.state().nodes.size()))));
  const auto& devices = world_.state().nodes.at(node).node.devices;
  if (!devices.empty() && choices_->chance(1, 3)) {
    const auto device =
        static_cast<std::int32_t>(choices_->below(static_cast<int>(devices.size())));
    const auto health = static_cast<model::Health>(choices_->below(8));
    tell(fmt::format("device {} of node {} becomes {}", device, node.value, base::name_of(health)));
    return world_.set_health(node, device, health);
  }
  const auto condition = static_cast<model::NodeCondition>(choices_->below(5));
  tell(fmt::format("node {} becomes {}", node.value, base::name_of(condition)));
  world_.set_condition(node, condition);
}

void RandomWorld::change_something() {
  switch (choices_->below(5)) {
    case 0:
      tell("a queue changes");
      world_.define(random_queue(choices_->one_of(leaf_queues_), true));
      break;
    case 1:
      tell("the policy changes");
      world_.define(random_policy());
      break;
    case 2:
      tell("the mix is learned");
      world_.record(model::MixChanged{policy::mix_of(world_.state())});
      break;
    case 3: {
      const auto number = static_cast<int>(world_.state().nodes.size()) + 1;
      tell(fmt::format("node {} appears", number));
      if (number < 7) world_.see(random_node(number));
      break;
    }
    default: {
      auto training = a_class("training", choices_->between(50, 450));
      training.min_runtime = base::seconds(choices_->below(120));
      tell("class training changes");
      world_.define(training);
    }
  }
}

void RandomWorld::advance_time() {
  const auto duration =
      base::seconds(choices_->one_of<std::int64_t>({1, 10, 60, 600, 3600, 30 * 3600}));
  tell(fmt::format("{} s pass", duration.millis / 1000));
  world_.advance(duration);
}

bool RandomWorld::step() {
  if (choices_->is_exhausted() || steps_ >= options_.max_steps) return false;
  ++steps_;
  const auto kind = choices_->below(16);
  const model::WorkloadId workload =
      kind >= 10 && kind <= 13 ? any_workload() : model::WorkloadId{};
  if (kind <= 6)
    submit_some();
  else if (kind <= 9)
    advance_time();
  else if (kind <= 13 && workload.is_none())
    submit_some();
  else if (kind == 10 || kind == 11) {
    const bool fails = options_.has_failures && choices_->chance(1, 3);
    tell(fmt::format("{} ends{}", workload.value, fails ? " badly" : ""));
    world_.end(workload, fails ? model::EndClass::UserError : model::EndClass::Ok, fails ? 1 : 0);
  } else if (kind == 12) {
    tell(fmt::format("cancel {}", workload.value));
    world_.cancel(workload);
  } else if (kind == 13) {
    const bool is_held = world_.record_of(workload).is_held;
    tell(fmt::format("{} {}", is_held ? "release" : "hold", workload.value));
    if (is_held)
      world_.release(workload);
    else
      world_.hold(workload);
  } else if (kind == 14 && options_.has_failures)
    fail_something();
  else if (kind == 15 && options_.has_changes)
    change_something();
  else
    advance_time();
  if (!choices_->chance(1, 6)) world_.settle();  // else several things happen before the next cycle
  return true;
}

}  // namespace testkit
