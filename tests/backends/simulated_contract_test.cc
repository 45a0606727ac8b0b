// The contract of all backends for the simulated one, in virtual time.

#include "tests/backends/contract.h"

#include <utility>

#include "backends/simulated/simulated_backend.h"

namespace backends_test {
namespace {

class SimulatedDriver : public BackendDriver {
 public:
  SimulatedDriver()
      : backend_({.start_delay = base::milliseconds(10), .stop_delay = base::milliseconds(100)},
                 nodes(), kBegin) {
    watch();
  }

  controller::ClusterBackend& backend() override { return backend_; }
  controller::StartEffect short_work(std::uint64_t workload) override {
    controller::StartEffect effect = endless_work(workload);
    effect.workload.annotations.emplace(backends::simulated::kRuntimeAnnotation, "1000");
    return effect;
  }
  controller::StartEffect endless_work(std::uint64_t workload) override {
    controller::StartEffect effect;
    effect.attempt = {.workload = model::WorkloadId(workload), .ordinal = 1};
    effect.epoch = model::Epoch(1);
    effect.workload.id = model::WorkloadId(workload);
    effect.workload.groups.resize(1);
    effect.placement.members.resize(2);
    effect.node_names = {"n1", "n1"};
    return effect;
  }
  // Until nothing is under way any more.
  bool reach(const std::function<bool(const Seen&)>& is_there) override {
    while (!is_there(seen_)) {
      const base::Instant next = backend_.next_event_time();
      if (next == base::kNever) return false;
      backend_.advance(next);
    }
    return true;
  }
  Seen seen() override { return seen_; }
  // The simulated cluster is the world itself, so only its watcher changes.
  void restart() override {
    seen_.clear();
    watch();
  }

 private:
  static constexpr base::Instant kBegin{1'700'000'000'000};

  static std::vector<controller::NodeReport> nodes() {
    controller::NodeReport report;
    report.node.name = "n1";
    report.node.allocatable.set(model::kCpu, 64'000);
    return {report};
  }
  void watch() {
    backend_.watch(
        [this](controller::Observation observation) { seen_.push_back(std::move(observation)); });
  }

  Seen seen_;
  backends::simulated::SimulatedBackend backend_;
};

INSTANTIATE_TEST_SUITE_P(Simulated, BackendContract,
                         ::testing::Values(+[]() -> std::unique_ptr<BackendDriver> {
                           return std::make_unique<SimulatedDriver>();
                         }));

}  // namespace
}  // namespace backends_test
