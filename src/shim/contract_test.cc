// The contract of all backends (tests/backends/contract.h) for the local one, with real processes.

#include "tests/backends/contract.h"

#include "tests/backends/local_node.h"

namespace backends_test {
namespace {

class LocalDriver : public BackendDriver {
 public:
  explicit LocalDriver(bool uses_control_groups) {
    node_.options().uses_control_groups = uses_control_groups;
  }

  controller::ClusterBackend& backend() override { return node_.backend(); }
  controller::StartEffect short_work(std::uint64_t workload) override {
    return node_.effect(workload, {"true"}, 2);
  }
  controller::StartEffect endless_work(std::uint64_t workload) override {
    return node_.effect(workload, {"sleep", "1000"}, 2);
  }
  bool reach(const std::function<bool(const Seen&)>& is_there) override {
    node_.backend();
    return node_.observations().wait(is_there);
  }
  Seen seen() override { return node_.observations().all(); }
  void restart() override { node_.close(); }

 private:
  LocalNode node_;
};

std::unique_ptr<BackendDriver> with_groups() { return std::make_unique<LocalDriver>(true); }
std::unique_ptr<BackendDriver> without_groups() { return std::make_unique<LocalDriver>(false); }

INSTANTIATE_TEST_SUITE_P(Local, BackendContract, ::testing::Values(&with_groups));
INSTANTIATE_TEST_SUITE_P(LocalWithoutControlGroups, BackendContract,
                         ::testing::Values(&without_groups));

}  // namespace
}  // namespace backends_test
