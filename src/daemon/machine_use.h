#pragma once
// How busy this machine is, out of the texts of /proc. Of the whole machine, whoever uses it: what
// Berth gave away is State, this is what really happens.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/amount.h"

namespace berthd {

// Processor time since the machine was started, in the kernel's ticks.
struct ProcessorTime {
  std::int64_t busy = 0;
  std::int64_t total = 0;
  bool operator==(const ProcessorTime&) const = default;
};

// The first line of /proc/stat; nothing when it is not that.
std::optional<ProcessorTime> processor_time(std::string_view stat);
// Between two readings, 0..100; nothing when no time passed or the counters went back.
std::optional<std::int32_t> busy_percent(const ProcessorTime& before, const ProcessorTime& after);
// Of /proc/meminfo: all but what could be given to a process now, so caches are not in use.
std::optional<base::Bytes> memory_used(std::string_view meminfo);

}  // namespace berthd
