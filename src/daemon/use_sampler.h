#pragma once
// Reads every few seconds what devices and machine really do, on a thread of its own: a driver may
// take its time, or hang with a device that fell off the bus, and the loop must not wait for it.
// Readers get what was read last.
//
// Thread contract: readers from any thread.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "api/loop_port.h"
#include "backends/local/metrics.h"
#include "base/instant.h"
#include "daemon/machine_use.h"
#include "devices/device_source.h"

namespace berthd {

class UseSampler {
 public:
  // `devices` outlives the sampler.
  UseSampler(backends::local::DeviceMetrics& devices, base::Duration every);
  ~UseSampler();
  UseSampler(const UseSampler&) = delete;
  UseSampler& operator=(const UseSampler&) = delete;

  // Nothing, or nothing in it: not measured.
  std::optional<devices::DeviceSample> device(std::int32_t index) const;
  api::NodeUse machine() const;

 private:
  void run();
  void sample();

  backends::local::DeviceMetrics& source_;
  const base::Duration every_;
  std::optional<ProcessorTime> last_time_;  // the thread's own
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_ending_ = false;                                     // guarded
  std::vector<std::optional<devices::DeviceSample>> devices_;  // guarded
  api::NodeUse machine_;                                       // guarded
  std::thread thread_;                                         // last: it uses everything above
};

}  // namespace berthd
