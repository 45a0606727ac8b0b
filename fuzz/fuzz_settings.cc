// Text as the configuration of the daemon and as a scenario of storm: reading is total, and a
// scenario that was read prints to text that reads the same.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "manifest/daemon_config.h"
#include "storm/scenario.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = manifest::parse_daemon_config(text, "berth.yaml");
  ASSERT(config.has_value() || !config.error().message.empty());
  const auto scenario = storm::parse_scenario(text);
  if (!scenario) {
    ASSERT(!scenario.error().message.empty());
    return 0;
  }
  const auto again = storm::parse_scenario(storm::print_scenario(*scenario));
  ASSERT(again.has_value() && *again == *scenario);
  return 0;
}
