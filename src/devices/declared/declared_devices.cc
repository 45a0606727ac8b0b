#include "devices/declared/declared_devices.h"

#include <utility>

#include "devices/catalogue.h"

namespace devices::declared {

using base::Code;

base::Result<DeclaredDevices> DeclaredDevices::make(const std::string& node,
                                                    const std::vector<DeclaredRow>& rows) {
  std::vector<model::Device> made;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const DeclaredRow& row = rows[i];
    const auto field = [&](const char* name) { return fmt::format("devices[{}].{}", i, name); };
    if (row.model.empty())
      return base::fail_field(Code::InvalidArgument, field("model"), "is missing",
                              "name the model, for example H800");
    const std::int64_t room = kDevicesMax - static_cast<std::int64_t>(made.size());
    if (row.count < 1 || row.count > room)
      return base::fail_field(Code::InvalidArgument, field("count"),
                              fmt::format("{} is not between 1 and {}", row.count, room),
                              fmt::format("a node has at most {} devices", kDevicesMax));
    const CatalogueRow* known = find_model(row.model);
    model::Device device;
    device.model = known != nullptr ? std::string(known->model) : row.model;
    device.vendor = !row.vendor.empty() ? row.vendor
                    : known != nullptr  ? std::string(known->vendor)
                                        : std::string("nvidia");
    device.memory = row.memory;
    if (device.memory.value == 0 && known != nullptr)
      device.memory = base::Bytes(known->memory_gib << 30);
    if (device.memory.value <= 0)
      return base::fail_field(
          Code::InvalidArgument, field("memory"),
          fmt::format("is needed, because the model {} is not known", row.model),
          "write the memory of one device, for example 32Gi");
    device.source = model::DeviceSource::Declared;
    device.is_shareable = row.is_shareable;
    set_partitions(device);
    for (std::int64_t n = 0; n < row.count; ++n) {
      device.uuid = fmt::format("{}-declared-{}", node, made.size());
      made.push_back(device);
    }
  }
  return DeclaredDevices(std::move(made));
}

}  // namespace devices::declared
