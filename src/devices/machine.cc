#include "devices/machine.h"

#include <sched.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include "platform/file.h"

namespace devices {
namespace {

constexpr std::int64_t kMib = std::int64_t{1} << 20;
constexpr std::int64_t kGib = std::int64_t{1} << 30;

// Nothing for what is no amount: a negative one stands for "no limit", and above `kMostRead` no
// machine comes, so that a thousandfold still fits.
constexpr std::int64_t kMostRead = std::numeric_limits<std::int64_t>::max() / 1024;

std::optional<std::int64_t> first_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0 || value > kMostRead) return std::nullopt;
  return value;
}

std::optional<std::int64_t> number_in(const char* path) {
  const auto text = platform::read_file(path);
  return text ? first_number(*text) : std::nullopt;
}

// Limits of the container, where its own group is mounted as the root: v2, then v1. The number that
// v1 shows for "no limit" is larger than any machine.
std::int64_t container_memory() {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  if (const auto limit = number_in("/sys/fs/cgroup/memory.max")) return *limit;
  return number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes").value_or(kNone);
}

std::int64_t processors_milli() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    return static_cast<std::int64_t>(CPU_COUNT(&set)) * 1000;
  return static_cast<std::int64_t>(::sysconf(_SC_NPROCESSORS_ONLN)) * 1000;
}

std::int64_t container_processors_milli() {
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  // "200000 100000", or "max 100000".
  if (const auto text = platform::read_file("/sys/fs/cgroup/cpu.max")) {
    const std::size_t space = text->find(' ');
    const auto quota = first_number(*text);
    if (!quota || space == std::string::npos) return kNone;
    const auto period = first_number(std::string_view(*text).substr(space + 1));
    return period && *period > 0 ? *quota * 1000 / *period : kNone;
  }
  const auto quota = number_in("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
  const auto period = number_in("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  return quota && period && *quota > 0 && *period > 0 ? *quota * 1000 / *period : kNone;
}

std::int64_t network_devices() {
  std::error_code error;
  std::int64_t count = 0;
  for (std::filesystem::directory_iterator entry("/sys/class/infiniband", error), end;
       !error && entry != end; entry.increment(error))
    ++count;
  return count;
}

}  // namespace

base::Bytes memory_total(const std::string& meminfo) {
  constexpr std::string_view kKey = "MemTotal:";
  const std::size_t at = meminfo.find(kKey);
  if (at == std::string::npos) return {};
  std::string_view rest = std::string_view(meminfo).substr(at + kKey.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return base::Bytes(first_number(rest).value_or(0) * 1024);
}

Machine probe_machine(const std::string& scratch_folder) {
  Machine machine;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) machine.name = name.data();
  machine.cpu = base::MilliCpu(std::min(processors_milli(), container_processors_milli()));
  if (const auto meminfo = platform::read_file("/proc/meminfo"))
    machine.memory = base::Bytes(std::min(memory_total(*meminfo).value, container_memory()));
  struct statvfs space{};
  if (::statvfs(scratch_folder.c_str(), &space) == 0)
    machine.scratch =
        base::Bytes(static_cast<std::int64_t>(space.f_bavail * space.f_frsize) / kGib * kGib);
  machine.network = base::Count(network_devices());
  return machine;
}

model::Quantities allocatable(const Machine& machine) {
  const std::int64_t reserve = std::clamp(machine.memory.value / 16, 256 * kMib, 8 * kGib);
  model::Quantities amounts;
  amounts.set(model::kCpu, machine.cpu.value);
  amounts.set(model::kMemory, std::max<std::int64_t>(machine.memory.value - reserve, 0));
  amounts.set(model::kScratch, machine.scratch.value);
  amounts.set(model::kNetwork, machine.network.value);
  return amounts;
}

}  // namespace devices
