#pragma once
// NVIDIA devices through NVML, the driver's own library, which is looked for when the program runs:
// a machine without it simply has no NVIDIA devices. The few functions used are declared here, by
// the stable part of NVML's binary interface; one that an old driver lacks leaves its reading
// empty.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "devices/device_source.h"

namespace devices::nvidia {

class Nvml : public DeviceSource {
 public:
  // Code::NotFound when there is no such library, Code::Unavailable when the driver does not
  // answer.
  static base::Result<std::unique_ptr<Nvml>> load(const std::string& library = "libnvidia-ml.so.1");
  ~Nvml() override;

  std::vector<model::Device> devices() override;
  std::optional<DeviceSample> sample(std::size_t index) override;

 private:
  struct Library;
  struct Known;
  explicit Nvml(std::unique_ptr<Library> library);
  base::Result<base::Done> enumerate();

  std::unique_ptr<Library> library_;
  std::vector<Known> known_;  // fixed once loaded
};

}  // namespace devices::nvidia
