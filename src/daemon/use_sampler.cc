#include "daemon/use_sampler.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "platform/file.h"

namespace berthd {

namespace {

// More than any machine has; asking for one that is not there costs a comparison.
constexpr std::int32_t kMostDevices = 256;
constexpr base::Duration kFirstPause = base::milliseconds(500);

}  // namespace

UseSampler::UseSampler(backends::local::DeviceMetrics& devices, base::Duration every)
    : source_(devices), every_(every), thread_([this] { run(); }) {}

UseSampler::~UseSampler() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

std::optional<devices::DeviceSample> UseSampler::device(std::int32_t index) const {
  const std::lock_guard lock(mutex_);
  if (index < 0 || static_cast<std::size_t>(index) >= devices_.size()) return std::nullopt;
  return devices_[static_cast<std::size_t>(index)];
}

api::NodeUse UseSampler::machine() const {
  const std::lock_guard lock(mutex_);
  return machine_;
}

void UseSampler::run() {
  // The second reading soon after the first, for two of them make a rate.
  base::Duration pause = std::min(every_, kFirstPause);
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    lock.unlock();
    sample();
    lock.lock();
    changed_.wait_for(lock, std::chrono::milliseconds(pause.millis), [this] { return is_ending_; });
    pause = every_;
  }
}

void UseSampler::sample() {
  std::vector<std::optional<devices::DeviceSample>> devices;
  for (std::int32_t i = 0; i < kMostDevices; ++i)
    if (const auto sample = source_.sample(i)) {
      devices.resize(static_cast<std::size_t>(i) + 1);
      devices.back() = sample;
    }
  api::NodeUse machine;
  if (const auto text = platform::read_file("/proc/meminfo"))
    machine.memory_used = memory_used(*text);
  const auto stat = platform::read_file("/proc/stat");
  const auto time = stat ? processor_time(*stat) : std::nullopt;
  // Right after the start there is only one reading, and that is no rate.
  if (time && last_time_) machine.cpu_percent = busy_percent(*last_time_, *time);
  last_time_ = time;
  const std::lock_guard lock(mutex_);
  devices_ = std::move(devices);
  machine_ = machine;
}

}  // namespace berthd
