// What the daemon reads of this machine and of its own folders: records of members, tokens, and the
// texts of /proc. Whatever is in them, reading ends with a value or an Error, and what was read is
// written to text that reads the same.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "backends/local/cgroup.h"
#include "backends/local/job_record.h"
#include "backends/local/process_identity.h"
#include "base/assert.h"
#include "base/json_text.h"
#include "devices/machine.h"
#include "identity/tokens/token_file.h"

namespace {

template <class T>
void round_trip(std::string_view text) {
  const auto record = backends::local::parse_record<T>(text, "record");
  if (!record) {
    ASSERT(!record.error().message.empty());
    return;
  }
  const auto again = backends::local::parse_record<T>(base::to_json(*record), "record");
  ASSERT(again.has_value() && *again == *record);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  round_trip<backends::local::JobSpec>(text);
  round_trip<backends::local::AttemptRecord>(text);
  round_trip<backends::local::ProcessRecord>(text);
  round_trip<backends::local::StopRequest>(text);
  round_trip<backends::local::ExitRecord>(text);
  static_cast<void>(backends::local::parse_process_status(text));
  static_cast<void>(backends::local::parse_cgroup_mounts(text));
  static_cast<void>(backends::local::signal_from_name(text));
  ASSERT(devices::memory_total(std::string(text)).value >= 0);
  static_cast<void>(identity::parse_tokens(std::string(text)));
  return 0;
}
