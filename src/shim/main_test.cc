// The tests of this folder run real shims, so their program plays all the parts: `shim` as berth
// does, `host FOLDER FAULTS` as a daemon that starts attempt 1 and is then killed, else the tests.

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "platform/fault_point.h"
#include "shim/shim.h"
#include "tests/backends/local_node.h"

namespace {

// A daemon in miniature: the effects are given on the command line, and it dies where a fault says.
int host(const std::string& data_folder, const std::string& faults, const std::string& script,
         bool is_stopping) {
  const auto armed = platform::arm_faults(faults);
  if (!armed) return 3;
  backends::local::LocalOptions options;
  options.data_folder = data_folder;
  options.node_name = "here";
  auto backend = backends::local::LocalBackend::make(options);
  if (!backend) return 3;
  backends_test::Observations observations;
  (*backend)->watch(observations.sink());
  controller::StartEffect start;
  start.attempt = backends_test::attempt_id(1);
  start.epoch = model::Epoch(1);
  start.workload.id = model::WorkloadId(1);
  start.workload.groups.resize(1);
  start.workload.command.argv = {"sh", "-c", script};
  start.placement.members.resize(2);
  start.node_names.assign(2, "here");
  (*backend)->start(start);
  if (is_stopping) {
    controller::StopEffect stop;
    stop.attempt = start.attempt;
    stop.epoch = model::Epoch(1);
    (*backend)->stop(stop);
  }
  // To be killed from outside, where no fault ends it first.
  while (true)
    ::pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc >= 2 && std::string_view(argv[1]) == "shim") return shim::run(argc, argv);
  if (argc == 6 && std::string_view(argv[1]) == "host")
    return host(argv[2], argv[3], argv[4], std::string_view(argv[5]) == "stop");
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
