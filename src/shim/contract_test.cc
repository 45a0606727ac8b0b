// The contract of all backends (tests/backends/contract.h) for the local one, with real processes.

#include "tests/backends/contract.h"

#include "tests/backends/local_node.h"

namespace backends_test {
namespace {

class LocalDriver : public BackendDriver {
 public:
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

INSTANTIATE_TEST_SUITE_P(Local, BackendContract,
                         ::testing::Values(+[]() -> std::unique_ptr<BackendDriver> {
                           return std::make_unique<LocalDriver>();
                         }));

}  // namespace
}  // namespace backends_test
