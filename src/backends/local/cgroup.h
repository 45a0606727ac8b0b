#pragma once
// Control groups as a ladder: v2 with controllers, else v1 controllers for limits beside an empty
// v2 hierarchy for tracking, else v1 freezer for tracking, else none. What a machine offers is
// found out by doing it once (CgroupLadder::probe), and reported as what is enforced; nothing is
// promised that was not tried.
//
// A leaf belongs to one member of one attempt. The shim makes it, the process enters it before
// exec, and the shim empties and removes it.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backends/local/job_record.h"
#include "base/result.h"

namespace backends::local {

class CgroupLadder {
 public:
  // `instance` tells daemons of one machine apart: a short name, stable for one data folder.
  // `mounts` is the text of /proc/self/mountinfo.
  static CgroupLadder probe(const std::string& instance, std::string_view mounts);

  // Leaves for "1042.1.0".
  CgroupLeaves leaves(const std::string& name) const;
  // resource -> how it is enforced: "memory" -> "cgroup v1", "cpu" -> "not enforced".
  std::map<std::string, std::string> enforcement() const;
  // Removes the groups above the leaves, as far as they are empty. Only when no member lives.
  void remove_bases() const;

 private:
  CgroupLeaves bases_;  // the folders above the leaves
};

struct CgroupMount {
  std::string path;
  std::vector<std::string> controllers;  // of a v1 hierarchy
  bool is_v2 = false;
};
std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo);

// Makes the leaves and sets the limits. A limit that cannot be set is an error: the ladder found it
// enforceable, so a member must not run without it.
base::Result<base::Done> make_leaves(const JobSpec& job);
// Files to write "0" to, from the process that is to enter.
std::vector<std::string> entry_files(const CgroupLeaves& leaves);
// Pids in the tracking leaf and below.
std::vector<std::int32_t> members_of(const CgroupLeaves& leaves);
// Sends the signal to each member; one that ends meanwhile is no error, and nobody else is hit.
void signal_members(const CgroupLeaves& leaves, int signal);
// One round of killing all: cgroup.kill, or freeze, SIGKILL and thaw. Repeat until none is left.
void kill_members(const CgroupLeaves& leaves);
// How often the kernel has killed a process of the leaf for its memory limit.
std::int64_t out_of_memory_kills(const CgroupLeaves& leaves);
// Removes the empty leaves and what members have made below them.
void remove_leaves(const CgroupLeaves& leaves);

}  // namespace backends::local
