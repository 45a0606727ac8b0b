#pragma once
// What this machine can give besides devices: processors, memory, scratch space, network devices.
// The tighter of the machine and of the container that the daemon runs in counts.

#include <cstdint>
#include <string>

#include "base/amount.h"
#include "model/resources.h"

namespace devices {

struct Machine {
  std::string name;  // host name
  base::MilliCpu cpu;
  base::Bytes memory;
  base::Bytes scratch;  // free on the file system of the scratch folder, whole GiB
  base::Count network;  // RDMA network devices
};

// `scratch_folder` must exist, else scratch is zero.
Machine probe_machine(const std::string& scratch_folder);

// What members may have: all but a reserve for the system of 1/16 of the memory, 256 MiB at least
// and 8 GiB at most.
model::Quantities allocatable(const Machine& machine);

// The value in bytes of "MemTotal:    8024068 kB" in the text of /proc/meminfo; zero when absent.
base::Bytes memory_total(const std::string& meminfo);

}  // namespace devices
