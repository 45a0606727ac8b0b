#include "backends/local/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <set>
#include <utility>

#include "backends/local/folder.h"

namespace backends::local {
namespace {

using base::Done;
using base::Result;

constexpr std::string_view kRootName = "berth";
constexpr std::int64_t kCpuPeriodUs = 100'000;

Result<Done> write_value(const std::string& path, std::string_view value) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file.is_open()) return tl::unexpected(system_error("cannot open", path, errno));
  if (::write(file.value(), value.data(), value.size()) < 0)
    return tl::unexpected(system_error("cannot write", path, errno));
  return Done{};
}

bool is_present(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

bool make_group(const std::string& path) {
  return ::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::int32_t> read_pids(const std::string& path) {
  std::vector<std::int32_t> pids;
  const Result<std::string> text = read_small_file(AT_FDCWD, path.c_str());
  if (!text) return pids;
  for (const std::string_view line : split(*text, '\n')) {
    std::int32_t pid = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), pid);
    if (error == std::errc{} && pid > 0) pids.push_back(pid);
  }
  return pids;
}

// `path` and the groups that a member made below it, innermost last.
std::vector<std::string> groups_below(const std::string& path) {
  std::vector<std::string> groups{path};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const Result<Folder> folder = Folder::open(groups[i]);
    if (!folder) continue;
    for (const std::string& name : folder->entries()) {
      struct stat status{};
      if (::fstatat(folder->descriptor(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
          S_ISDIR(status.st_mode))
        groups.push_back(groups[i] + "/" + name);
    }
  }
  return groups;
}

// Makes "<mount>/berth/<instance>"; empty when this user may not.
std::string make_base(const CgroupMount& mount, const std::string& instance) {
  const std::string root = fmt::format("{}/{}", mount.path, kRootName);
  const std::string base = fmt::format("{}/{}", root, instance);
  return make_group(root) && make_group(base) ? base : std::string();
}

// A limit counts as enforceable when it could be set on a group of our own.
bool can_limit(const std::string& base, const char* file, std::string_view value) {
  if (base.empty()) return false;
  const std::string leaf = base + "/probe";
  if (!make_group(leaf)) return false;
  const bool is_set = write_value(leaf + "/" + file, value).has_value();
  ::rmdir(leaf.c_str());
  return is_set;
}

// Hands the controllers down from the mount to the base. Each alone, because one that is missing
// must not take the others with it.
void enable_controllers(const CgroupMount& mount, const std::string& base) {
  const std::string root = fmt::format("{}/{}", mount.path, kRootName);
  for (const std::string& group : {mount.path, root, base})
    for (const char* controller : {"+memory", "+cpu", "+pids"})
      static_cast<void>(write_value(group + "/cgroup.subtree_control", controller));
}

std::string child_of(const std::string& base, const std::string& name) {
  return base.empty() ? std::string() : base + "/" + name;
}

Result<Done> set_memory_limit(const JobSpec& job) {
  if (job.memory_bytes <= 0 || job.cgroup.memory.empty()) return Done{};
  const std::string value = std::to_string(job.memory_bytes);
  const std::string& leaf = job.cgroup.memory;
  if (job.cgroup.are_limits_v2) {
    if (is_present(leaf + "/memory.swap.max"))
      static_cast<void>(write_value(leaf + "/memory.swap.max", "0"));
    // Killing one process of a member leaves the others waiting for it; all of it goes.
    static_cast<void>(write_value(leaf + "/memory.oom.group", "1"));
    return write_value(leaf + "/memory.max", value);
  }
  const Result<Done> limited = write_value(leaf + "/memory.limit_in_bytes", value);
  if (!limited) return limited;
  // Memory and swap together; absent when the kernel does not account for swap.
  if (is_present(leaf + "/memory.memsw.limit_in_bytes"))
    static_cast<void>(write_value(leaf + "/memory.memsw.limit_in_bytes", value));
  return Done{};
}

Result<Done> set_cpu_limit(const JobSpec& job) {
  if (job.cpu_milli <= 0 || job.cgroup.cpu.empty()) return Done{};
  // 1000 milli-cores are one whole period; the kernel takes no quota below 1 ms.
  const std::int64_t quota = std::max<std::int64_t>(job.cpu_milli * kCpuPeriodUs / 1000, 1000);
  if (job.cgroup.are_limits_v2)
    return write_value(job.cgroup.cpu + "/cpu.max", fmt::format("{} {}", quota, kCpuPeriodUs));
  const Result<Done> period =
      write_value(job.cgroup.cpu + "/cpu.cfs_period_us", std::to_string(kCpuPeriodUs));
  if (!period) return period;
  return write_value(job.cgroup.cpu + "/cpu.cfs_quota_us", std::to_string(quota));
}

}  // namespace

std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo) {
  // "36 35 98:0 / /mnt rw,noatime master:1 - cgroup name rw,memory"
  std::vector<CgroupMount> mounts;
  for (const std::string_view line : split(mountinfo, '\n')) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const auto before = split(line.substr(0, dash), ' ');
    const auto after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    if (after[0] != "cgroup" && after[0] != "cgroup2") continue;
    CgroupMount mount{
        .path = std::string(before[4]), .controllers = {}, .is_v2 = after[0] == "cgroup2"};
    if (!mount.is_v2)
      for (const std::string_view option : split(after[2], ','))
        mount.controllers.emplace_back(option);
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

CgroupLadder CgroupLadder::probe(const std::string& instance, std::string_view mounts) {
  CgroupLadder ladder;
  CgroupLeaves& bases = ladder.bases_;
  const std::vector<CgroupMount> found = parse_cgroup_mounts(mounts);
  for (const CgroupMount& mount : found) {
    if (!mount.is_v2) continue;
    const std::string base = make_base(mount, instance);
    if (base.empty() || !make_group(base + "/shims")) continue;
    enable_controllers(mount, base);
    bases.tracking = base;
    bases.is_tracking_v2 = true;
    bases.shims = base + "/shims";
    if (can_limit(base, "memory.max", "max")) bases.memory = base;
    if (can_limit(base, "cpu.max", "max")) bases.cpu = base;
    if (can_limit(base, "pids.max", "max")) bases.pids = base;
    bases.are_limits_v2 = !bases.memory.empty() || !bases.cpu.empty() || !bases.pids.empty();
    break;
  }
  if (bases.are_limits_v2) return ladder;
  for (const CgroupMount& mount : found) {
    const auto has = [&](std::string_view controller) {
      return std::find(mount.controllers.begin(), mount.controllers.end(), controller) !=
             mount.controllers.end();
    };
    if (has("memory")) {
      const std::string base = make_base(mount, instance);
      if (can_limit(base, "memory.limit_in_bytes", "1073741824")) bases.memory = base;
    }
    if (has("cpu")) {
      const std::string base = make_base(mount, instance);
      if (can_limit(base, "cpu.cfs_quota_us", "100000")) bases.cpu = base;
    }
    if (has("pids")) {
      const std::string base = make_base(mount, instance);
      if (can_limit(base, "pids.max", "max")) bases.pids = base;
    }
    if (has("freezer") && bases.tracking.empty()) {
      const std::string base = make_base(mount, instance);
      if (base.empty() || !make_group(base + "/shims")) continue;
      bases.tracking = base;
      bases.shims = base + "/shims";
    }
  }
  return ladder;
}

CgroupLeaves CgroupLadder::leaves(const std::string& name) const {
  CgroupLeaves leaves = bases_;
  leaves.tracking = child_of(bases_.tracking, name);
  leaves.memory = child_of(bases_.memory, name);
  leaves.cpu = child_of(bases_.cpu, name);
  leaves.pids = child_of(bases_.pids, name);
  return leaves;
}

std::map<std::string, std::string> CgroupLadder::enforcement() const {
  const std::string limits = bases_.are_limits_v2 ? "cgroup v2" : "cgroup v1";
  const auto say = [&](const std::string& base) { return base.empty() ? "not enforced" : limits; };
  std::string stop = "process tree";
  if (!bases_.tracking.empty())
    stop = bases_.is_tracking_v2 ? "cgroup v2 kill" : "cgroup v1 freezer";
  return {{"memory", say(bases_.memory)},  {"cpu", say(bases_.cpu)},
          {"processes", say(bases_.pids)}, {"stop", stop},
          {"scratch", "not enforced"},     {"gpu", "environment"}};
}

void CgroupLadder::remove_bases() const {
  for (const std::string& group :
       {bases_.shims, bases_.tracking, bases_.memory, bases_.cpu, bases_.pids})
    if (!group.empty()) ::rmdir(group.c_str());
}

Result<Done> make_leaves(const JobSpec& job) {
  for (const std::string& leaf :
       {job.cgroup.tracking, job.cgroup.memory, job.cgroup.cpu, job.cgroup.pids})
    if (!leaf.empty() && !make_group(leaf))
      return tl::unexpected(system_error("cannot make cgroup", leaf, errno));
  const Result<Done> memory = set_memory_limit(job);
  if (!memory) return memory;
  const Result<Done> cpu = set_cpu_limit(job);
  if (!cpu) return cpu;
  if (job.processes_max > 0 && !job.cgroup.pids.empty())
    return write_value(job.cgroup.pids + "/pids.max", std::to_string(job.processes_max));
  return Done{};
}

std::vector<std::string> entry_files(const CgroupLeaves& leaves) {
  std::vector<std::string> files;
  for (const std::string& leaf : {leaves.tracking, leaves.memory, leaves.cpu, leaves.pids}) {
    const std::string file = leaf + "/cgroup.procs";
    if (!leaf.empty() && std::find(files.begin(), files.end(), file) == files.end())
      files.push_back(file);
  }
  return files;
}

std::vector<std::int32_t> members_of(const CgroupLeaves& leaves) {
  std::vector<std::int32_t> pids;
  if (leaves.tracking.empty()) return pids;
  for (const std::string& group : groups_below(leaves.tracking))
    for (const std::int32_t pid : read_pids(group + "/cgroup.procs"))
      pids.push_back(pid);
  return pids;
}

void signal_members(const CgroupLeaves& leaves, int signal) {
  // A process is held by a pidfd first and must still be listed afterwards: so the signal reaches a
  // member or nobody, even when a pid is reused in between.
  std::vector<std::pair<std::int32_t, Descriptor>> held;
  for (const std::int32_t pid : members_of(leaves)) {
    Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (process.is_open()) held.emplace_back(pid, std::move(process));
  }
  const std::vector<std::int32_t> listed = members_of(leaves);
  const std::set<std::int32_t> still(listed.begin(), listed.end());
  for (const auto& [pid, process] : held)
    if (still.contains(pid)) ::syscall(SYS_pidfd_send_signal, process.value(), signal, nullptr, 0);
}

void kill_members(const CgroupLeaves& leaves) {
  if (leaves.tracking.empty()) return;
  if (leaves.is_tracking_v2) {
    if (write_value(leaves.tracking + "/cgroup.kill", "1")) return;
    // Before Linux 5.14 there is no cgroup.kill.
    signal_members(leaves, SIGKILL);
    return;
  }
  // Frozen processes cannot fork past the signal; it reaches them when they thaw.
  static_cast<void>(write_value(leaves.tracking + "/freezer.state", "FROZEN"));
  signal_members(leaves, SIGKILL);
  static_cast<void>(write_value(leaves.tracking + "/freezer.state", "THAWED"));
}

std::int64_t out_of_memory_kills(const CgroupLeaves& leaves) {
  if (leaves.memory.empty()) return 0;
  const std::string file =
      leaves.memory + (leaves.are_limits_v2 ? "/memory.events" : "/memory.oom_control");
  const Result<std::string> text = read_small_file(AT_FDCWD, file.c_str());
  if (!text) return 0;
  for (const std::string_view line : split(*text, '\n')) {
    constexpr std::string_view kKey = "oom_kill ";
    if (!line.starts_with(kKey)) continue;
    std::int64_t count = 0;
    std::from_chars(line.data() + kKey.size(), line.data() + line.size(), count);
    return count;
  }
  return 0;
}

void remove_leaves(const CgroupLeaves& leaves) {
  for (const std::string& leaf : {leaves.tracking, leaves.memory, leaves.cpu, leaves.pids}) {
    if (leaf.empty()) continue;
    std::vector<std::string> groups = groups_below(leaf);
    std::reverse(groups.begin(), groups.end());
    for (const std::string& group : groups)
      ::rmdir(group.c_str());
  }
}

}  // namespace backends::local
