// What one planning cycle costs, by nodes and by queued workloads.
//
//   Cold        a planner built from the State, then one cycle: what a restart pays
//   Warm        nothing changed since the last cycle: what an idle turn pays
//   OneStart    one workload ends, the next one starts: what a busy turn pays
//
// Worlds: nodes of 8 GPUs in one pool, four queues with guarantees, all nodes full, the queue made
// of 16 shapes that cannot start. Times are of this machine only; compare runs of one machine.

#include <cstdint>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "testing/builders.h"
#include "testing/world.h"

namespace {

using testkit::World;

std::unique_ptr<World> full_world(std::int64_t nodes, std::int64_t queued) {
  auto world = std::make_unique<World>(testkit::WorldOptions{.plans_by_itself = false});
  world->define(testkit::a_pool("h800"));
  for (std::int64_t i = 0; i < nodes; ++i)
    world->see(testkit::a_node("n" + std::to_string(i)).in_pool("h800").gpus(8));
  for (int i = 0; i < 4; ++i)
    world->define(testkit::a_queue("q" + std::to_string(i)).guarantee("h800", 2 * nodes));
  auto training = testkit::a_class("training");
  training.min_runtime = base::hours(1);
  world->define(training);
  for (std::int64_t i = 0; i < nodes; ++i)
    world->submit(testkit::a_workload("running" + std::to_string(i))
                      .in_queue("q" + std::to_string(i % 4))
                      .gpus(8));
  world->cycle();
  world->settle();
  for (std::int64_t i = 0; i < queued; ++i)
    world->submit(testkit::a_workload("waiting" + std::to_string(i))
                      .in_queue("q" + std::to_string(i % 4))
                      .gang(static_cast<std::int32_t>(1 + i % 16))
                      .gpus(8));
  world->cycle();
  return world;
}

void report(benchmark::State& bench, const World& world) {
  bench.counters["nodes"] = static_cast<double>(world.state().nodes.size());
  bench.counters["queued"] = static_cast<double>(bench.range(1));
}

void cold_cycle(benchmark::State& bench) {
  const auto world = full_world(bench.range(0), bench.range(1));
  for (auto unused : bench)
    benchmark::DoNotOptimize(world->plan_fresh());
  report(bench, *world);
}

void warm_cycle(benchmark::State& bench) {
  const auto world = full_world(bench.range(0), bench.range(1));
  for (auto unused : bench)
    benchmark::DoNotOptimize(world->plan_only());
  report(bench, *world);
}

// Ends the oldest running workload and plans; the starts are counted as items.
void one_start(benchmark::State& bench) {
  const auto world = full_world(bench.range(0), bench.range(1));
  std::uint64_t next = 1;
  std::int64_t starts = 0;
  for (auto unused : bench) {
    world->end(model::WorkloadId(next++));
    const model::Plan plan = world->cycle();
    for (const model::Decision& decision : plan.decisions)
      starts += std::holds_alternative<model::Start>(decision.body) ? 1 : 0;
    world->settle();  // only the backend's reports: this world does not plan by itself
  }
  bench.SetItemsProcessed(starts);
  report(bench, *world);
}

void sizes(benchmark::internal::Benchmark* bench) {
  bench->Unit(benchmark::kMicrosecond);
  for (const std::int64_t nodes : {100, 1000, 5000})
    for (const std::int64_t queued : {100, 10'000})
      bench->Args({nodes, queued});
}

BENCHMARK(cold_cycle)->Apply(sizes);
BENCHMARK(warm_cycle)->Apply(sizes);
BENCHMARK(one_start)->Apply([](benchmark::internal::Benchmark* bench) {
  // Each iteration uses up one running workload, so there are fewer of them than nodes.
  bench->Unit(benchmark::kMicrosecond)->Iterations(80);
  for (const std::int64_t nodes : {100, 1000, 5000})
    for (const std::int64_t queued : {100, 10'000})
      bench->Args({nodes, queued});
});

}  // namespace
