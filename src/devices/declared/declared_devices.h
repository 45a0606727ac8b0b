#pragma once
// Devices that the configuration declares, for machines whose devices cannot be probed and for
// trying Berth without any: scheduled like real ones, marked as declared wherever they are shown,
// never measured.
//
//   devices:
//     - {model: H800, count: 8}
//     - {model: prototype, vendor: acme, count: 2, memory: 32Gi}

#include <string>
#include <vector>

#include "base/amount.h"
#include "base/result.h"
#include "devices/device_source.h"

namespace devices::declared {

inline constexpr std::int64_t kDevicesMax = 1024;  // of one node

struct DeclaredRow {
  std::string model;
  std::string vendor;  // empty: of the catalogue, else "nvidia"
  std::int64_t count = 1;
  base::Bytes memory;  // zero: of the catalogue
  bool is_shareable = true;
};

class DeclaredDevices : public DeviceSource {
 public:
  // uuids become "<node>-declared-<n>". An error names the field, "devices[1].memory".
  static base::Result<DeclaredDevices> make(const std::string& node,
                                            const std::vector<DeclaredRow>& rows);

  std::vector<model::Device> devices() override { return devices_; }
  std::optional<DeviceSample> sample(std::size_t) override { return std::nullopt; }

 private:
  explicit DeclaredDevices(std::vector<model::Device> devices) : devices_(std::move(devices)) {}

  std::vector<model::Device> devices_;
};

}  // namespace devices::declared
