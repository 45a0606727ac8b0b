#pragma once
// Which process is meant, beyond its pid: boot, pid and start time together name one process for
// ever. And who descends from whom, which holds even where there are no cgroups, because the shim
// is the subreaper of everything its member starts.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/local/folder.h"
#include "backends/local/job_record.h"
#include "base/result.h"

namespace backends::local {

// Of the running kernel; Code::Unavailable when /proc is not mounted.
base::Result<std::string> read_boot_id();

// What /proc/<pid>/stat says. Nothing when there is no such process.
struct ProcessStatus {
  std::int32_t pid = 0;
  std::int32_t parent = 0;
  std::int32_t session = 0;
  char state = '?';  // 'Z': ended, not yet waited for
  std::uint64_t start_time = 0;
};
std::optional<ProcessStatus> read_process_status(std::int32_t pid);
// The same from the text of the file; the name in it may hold spaces and parentheses.
std::optional<ProcessStatus> parse_process_status(std::string_view text);

// The present process or a child that cannot have been waited for yet.
base::Result<ProcessRecord> identify(std::int32_t pid, const std::string& cgroup);

// A pidfd of exactly that process; Code::NotFound when it has ended, or when its pid belongs to
// somebody else now.
base::Result<Descriptor> open_process(const ProcessRecord& record);

// Everything below `root`, itself excluded, without those that ended already.
std::vector<std::int32_t> descendants_of(std::int32_t root);

// Does the process catch this signal? A signal that asks for a checkpoint would end those that do
// not know it.
bool catches_signal(std::int32_t pid, int signal);

// "SIGUSR1", "USR1" -> 10; nothing for a name that is not a signal.
std::optional<int> signal_from_name(std::string_view name);

}  // namespace backends::local
