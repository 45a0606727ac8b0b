#include "model/state.h"

#include <string_view>

namespace model {

std::string_view resource_name(const State& state, ResourceId resource) {
  switch (resource.value) {
    case kCpu.value:
      return "cpu";
    case kMemory.value:
      return "memory";
    case kScratch.value:
      return "scratch";
    case kDevice.value:
      return "gpu";
    case kDeviceMemory.value:
      return "device_memory";
    case kNetwork.value:
      return "network";
    default:
      break;
  }
  const auto custom = state.resources.find(resource);
  return custom != state.resources.end() ? std::string_view(custom->second) : "?";
}

}  // namespace model
