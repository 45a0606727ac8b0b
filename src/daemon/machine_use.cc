#include "daemon/machine_use.h"

#include <array>
#include <charconv>
#include <cstddef>

namespace berthd {

namespace {

// The number at the beginning of `text`, blanks before it left out; moves `text` behind it.
std::optional<std::int64_t> take_number(std::string_view& text) {
  while (text.starts_with(' '))
    text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// "MemTotal:    8024068 kB", in bytes.
std::optional<std::int64_t> bytes_of(std::string_view meminfo, std::string_view key) {
  const std::size_t at = meminfo.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  meminfo.remove_prefix(at + key.size());
  const auto kib = take_number(meminfo);
  if (!kib) return std::nullopt;
  return *kib * 1024;
}

}  // namespace

std::optional<ProcessorTime> processor_time(std::string_view stat) {
  constexpr std::string_view kKey = "cpu ";
  if (!stat.starts_with(kKey)) return std::nullopt;
  stat.remove_prefix(kKey.size());
  // user nice system idle iowait irq softirq steal; guests come after and are in user already.
  std::array<std::int64_t, 8> parts{};
  for (std::int64_t& part : parts) {
    const auto number = take_number(stat);
    if (!number) return std::nullopt;
    part = *number;
  }
  ProcessorTime time;
  for (const std::int64_t part : parts)
    time.total += part;
  time.busy = time.total - parts[3] - parts[4];
  return time;
}

std::optional<std::int32_t> busy_percent(const ProcessorTime& before, const ProcessorTime& after) {
  const std::int64_t total = after.total - before.total;
  const std::int64_t busy = after.busy - before.busy;
  if (total <= 0 || busy < 0 || busy > total) return std::nullopt;
  return static_cast<std::int32_t>(busy * 100 / total);
}

std::optional<base::Bytes> memory_used(std::string_view meminfo) {
  const auto total = bytes_of(meminfo, "MemTotal:");
  const auto available = bytes_of(meminfo, "MemAvailable:");
  if (!total || !available || *available > *total) return std::nullopt;
  return base::Bytes(*total - *available);
}

}  // namespace berthd
