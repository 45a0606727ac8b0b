#include "devices/nvidia/nvml.h"

#include <dlfcn.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>
#include <utility>

#include "devices/catalogue.h"

namespace devices::nvidia {
namespace {

using base::Code;
using base::Done;
using base::Result;

// The binary interface, from the public documentation of NVML.
using Handle = struct OpaqueDevice*;
using Status = int;
constexpr Status kSuccess = 0;
constexpr Status kGpuIsLost = 15;
constexpr unsigned kTemperatureOfGpu = 0;
constexpr unsigned kTextMax = 96;

struct MemoryReading {
  unsigned long long total, free, used;
};
struct BusyReading {
  unsigned gpu, memory;
};
struct PciReading {  // nvmlPciInfo_t of version 3
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};

// /sys/bus/pci/devices/0000:3b:00.0/numa_node; NVML writes the domain with eight digits.
std::int32_t numa_node_of(const PciReading& pci) {
  std::string path = fmt::format("/sys/bus/pci/devices/{:04x}:{:02x}:{:02x}.0/numa_node",
                                 pci.domain, pci.bus, pci.device);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             std::fclose);
  if (file == nullptr) return -1;
  std::array<char, 32> text{};
  const std::size_t size = std::fread(text.data(), 1, text.size(), file.get());
  std::int32_t node = -1;
  std::from_chars(text.data(), text.data() + size, node);
  return node;
}

}  // namespace

struct Nvml::Library {
  void* handle = nullptr;
  bool is_initialised = false;

  Status (*init)() = nullptr;
  Status (*shutdown)() = nullptr;
  const char* (*error_text)(Status) = nullptr;
  Status (*count)(unsigned*) = nullptr;
  Status (*device_at)(unsigned, Handle*) = nullptr;
  Status (*name)(Handle, char*, unsigned) = nullptr;
  Status (*uuid)(Handle, char*, unsigned) = nullptr;
  Status (*memory)(Handle, MemoryReading*) = nullptr;
  Status (*busy)(Handle, BusyReading*) = nullptr;
  Status (*power)(Handle, unsigned*) = nullptr;
  Status (*temperature)(Handle, unsigned, unsigned*) = nullptr;
  Status (*pci)(Handle, PciReading*) = nullptr;

  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (is_initialised && shutdown != nullptr) shutdown();
    if (handle != nullptr) ::dlclose(handle);
  }

  template <class Function>
  void find(Function& function, const char* symbol) {
    function = reinterpret_cast<Function>(::dlsym(handle, symbol));
  }

  void find_all() {
    find(init, "nvmlInit_v2");
    find(shutdown, "nvmlShutdown");
    find(error_text, "nvmlErrorString");
    find(count, "nvmlDeviceGetCount_v2");
    find(device_at, "nvmlDeviceGetHandleByIndex_v2");
    find(name, "nvmlDeviceGetName");
    find(uuid, "nvmlDeviceGetUUID");
    find(memory, "nvmlDeviceGetMemoryInfo");
    find(busy, "nvmlDeviceGetUtilizationRates");
    find(power, "nvmlDeviceGetPowerUsage");
    find(temperature, "nvmlDeviceGetTemperature");
    find(pci, "nvmlDeviceGetPciInfo_v3");
  }

  std::string text_of(Status status) const {
    if (error_text == nullptr) return fmt::format("status {}", status);
    return error_text(status);
  }
};

struct Nvml::Known {
  Handle handle = nullptr;
  model::Device device;
};

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}
Nvml::~Nvml() = default;

Result<std::unique_ptr<Nvml>> Nvml::load(const std::string& library) {
  auto loaded = std::make_unique<Library>();
  loaded->handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded->handle == nullptr) {
    const char* reason = ::dlerror();
    return base::fail(Code::NotFound, "no NVIDIA driver library: {}",
                      reason == nullptr ? library.c_str() : reason);
  }
  loaded->find_all();
  if (loaded->init == nullptr || loaded->count == nullptr || loaded->device_at == nullptr ||
      loaded->name == nullptr || loaded->uuid == nullptr || loaded->memory == nullptr)
    return base::fail(Code::Unsupported, "{} lacks functions that are needed", library);
  const Status status = loaded->init();
  if (status != kSuccess)
    return base::fail(Code::Unavailable, "the NVIDIA driver does not answer: {}",
                      loaded->text_of(status));
  loaded->is_initialised = true;
  std::unique_ptr<Nvml> nvml(new Nvml(std::move(loaded)));
  const Result<Done> listed = nvml->enumerate();
  if (!listed) return tl::unexpected(listed.error());
  return nvml;
}

Result<Done> Nvml::enumerate() {
  unsigned count = 0;
  const Status counted = library_->count(&count);
  if (counted != kSuccess)
    return base::fail(Code::Unavailable, "cannot count the NVIDIA devices: {}",
                      library_->text_of(counted));
  for (unsigned i = 0; i < count; ++i) {
    Known known;
    std::array<char, kTextMax> name{}, uuid{};
    MemoryReading memory{};
    // One that does not answer at all cannot be named, so it cannot be offered either.
    if (library_->device_at(i, &known.handle) != kSuccess ||
        library_->name(known.handle, name.data(), kTextMax - 1) != kSuccess ||
        library_->uuid(known.handle, uuid.data(), kTextMax - 1) != kSuccess ||
        library_->memory(known.handle, &memory) != kSuccess)
      continue;
    model::Device& device = known.device;
    device.uuid = uuid.data();
    device.vendor = "nvidia";
    device.model = model_of_product(name.data());
    device.memory = base::Bytes(static_cast<std::int64_t>(memory.total));
    device.source = model::DeviceSource::Probed;
    PciReading pci{};
    if (library_->pci != nullptr && library_->pci(known.handle, &pci) == kSuccess)
      device.numa_node = numa_node_of(pci);
    set_partitions(device);
    known_.push_back(std::move(known));
  }
  return Done{};
}

std::vector<model::Device> Nvml::devices() {
  std::vector<model::Device> devices;
  for (const Known& known : known_) {
    model::Device& device = devices.emplace_back(known.device);
    MemoryReading memory{};
    if (library_->memory(known.handle, &memory) == kGpuIsLost)
      device.health = model::Health::Separate;
  }
  return devices;
}

std::optional<DeviceSample> Nvml::sample(std::size_t index) {
  if (index >= known_.size()) return std::nullopt;
  const Handle handle = known_[index].handle;
  DeviceSample sample;
  MemoryReading memory{};
  if (library_->memory(handle, &memory) == kSuccess)
    sample.memory_used = base::Bytes(static_cast<std::int64_t>(memory.used));
  BusyReading busy{};
  if (library_->busy != nullptr && library_->busy(handle, &busy) == kSuccess)
    sample.busy_percent = static_cast<std::int32_t>(busy.gpu);
  unsigned value = 0;
  if (library_->power != nullptr && library_->power(handle, &value) == kSuccess)
    sample.power_mw = value;
  if (library_->temperature != nullptr &&
      library_->temperature(handle, kTemperatureOfGpu, &value) == kSuccess)
    sample.temperature_c = static_cast<std::int32_t>(value);
  if (sample.is_empty()) return std::nullopt;
  return sample;
}

}  // namespace devices::nvidia
