#pragma once
// A workload: the unit that is queued, admitted and explained. A tree of task groups; identical
// members inside a group. The four kinds of the manifests all become this. Immutable once
// submitted, except through events that replace it whole.

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/amount.h"
#include "base/fields.h"
#include "base/instant.h"
#include "model/device.h"
#include "model/ids.h"
#include "model/resources.h"
#include "model/workload_class.h"

namespace model {

enum class Kind { Workload, TrainingJob, InferenceService, Notebook, BatchInference };
inline std::span<const std::string_view> enum_names(Kind) {
  static constexpr std::array<std::string_view, 5> kNames{
      "Workload", "TrainingJob", "InferenceService", "Notebook", "BatchInference"};
  return kNames;
}

// What one member needs of devices. Exactly one form is used:
//   count >= 1                       whole devices
//   share 1..1000 (memory optional)  a part of one device
//   memory > 0 or memory_percent > 0 (share 0): device memory of one device
//   slice not empty                  a hardware partition, by profile name
// All empty: no device. Alternatives for "any of" stand in TaskGroup::device_options, in order.
struct DeviceRequest {
  base::Count count;
  base::MilliDevice share;
  base::Bytes memory;
  std::int32_t memory_percent = 0;  // 1..100
  std::string slice;
  std::vector<std::string> models;  // allowed models, any order; empty: any
  Isolation min_isolation = Isolation::None;
  bool is_none() const {
    return count.value == 0 && share.value == 0 && memory.value == 0 && memory_percent == 0 &&
           slice.empty();
  }
  bool is_whole() const { return count.value > 0; }
  friend auto operator<=>(const DeviceRequest&, const DeviceRequest&) = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "count", self.count);
    visit(2, "share", self.share);
    visit(3, "memory", self.memory);
    visit(4, "memoryPercent", self.memory_percent);
    visit(5, "slice", self.slice);
    visit(6, "models", self.models);
    visit(7, "minIsolation", self.min_isolation);
  }
};

// A group of identical members, or an inner node of the group tree (members 0, no shape).
// A gang: at any node of the tree, all or nothing of at least `min_members`.
struct TaskGroup {
  std::string name;
  std::int32_t parent = -1;      // index in Workload::groups, smaller than the own; -1: the root
  std::int32_t members = 1;      // wanted; 0 for an inner node
  std::int32_t min_members = 1;  // for an inner node: how many of its children
  std::int32_t step = 1;         // elastic growth goes in such steps above min_members
  Quantities per_member;         // cpu, memory, scratch, custom; no devices here
  std::vector<DeviceRequest> device_options;  // in order of preference; empty: no device
  friend auto operator<=>(const TaskGroup&, const TaskGroup&) = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "name", self.name);
    visit(2, "parent", self.parent);
    visit(3, "members", self.members);
    visit(4, "minMembers", self.min_members);
    visit(5, "step", self.step);
    visit(6, "perMember", self.per_member);
    visit(7, "deviceOptions", self.device_options);
  }
};

struct Toleration {
  std::string key;    // empty: every taint
  std::string value;  // empty: any value of the key
  friend auto operator<=>(const Toleration&, const Toleration&) = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "key", self.key);
    visit(2, "value", self.value);
  }
};

struct TopologyRequest {
  std::string required;           // level name: all members in one domain of it; empty: none
  std::string preferred;          // level name; empty: none
  std::int32_t segment_size = 0;  // members that must share a domain of segment_level; 0: none
  std::string segment_level;
  friend auto operator<=>(const TopologyRequest&, const TopologyRequest&) = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "required", self.required);
    visit(2, "preferred", self.preferred);
    visit(3, "segmentSize", self.segment_size);
    visit(4, "segmentLevel", self.segment_level);
  }
};

// Where a member may go. Part of what makes two workloads equal for the planner.
struct Constraints {
  std::vector<PoolId> pools;  // in order of preference; empty: every pool, by id
  std::map<std::string, std::string> attributes;  // all must match the node's
  std::vector<Toleration> tolerations;
  TopologyRequest topology;
  friend auto operator<=>(const Constraints&, const Constraints&) = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "pools", self.pools);
    visit(2, "attributes", self.attributes);
    visit(3, "tolerations", self.tolerations);
    visit(4, "topology", self.topology);
  }
};

enum class RetryAction { Retry, RetryElsewhere, Fail, Hold, NotCounted };
inline std::span<const std::string_view> enum_names(RetryAction) {
  static constexpr std::array<std::string_view, 5> kNames{"retry", "retry_elsewhere", "fail",
                                                          "hold", "not_counted"};
  return kNames;
}

// How an attempt ended.
enum class EndClass {
  Ok,
  UserError,
  ExecError,
  Signal,
  OutOfMemory,
  Timeout,
  Preempted,
  Reclaimed,
  Rotated,
  IdleStopped,
  Cancelled,
  NodeLost,
  DeviceFault,
  Infrastructure
};
inline std::span<const std::string_view> enum_names(EndClass) {
  static constexpr std::array<std::string_view, 14> kNames{
      "ok",        "user_error", "exec_error",   "signal",        "oom",
      "timeout",   "preempted",  "reclaimed",    "rotated",       "idle_stopped",
      "cancelled", "node_lost",  "device_fault", "infrastructure"};
  return kNames;
}

struct RetryRule {
  EndClass on = EndClass::UserError;
  std::optional<std::int32_t> code;  // exit code or signal; nothing: any
  RetryAction action = RetryAction::Fail;
  bool operator==(const RetryRule&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "on", self.on);
    visit(2, "code", self.code);
    visit(3, "action", self.action);
  }
};

struct RetryPolicy {
  std::optional<std::int32_t> max;  // nothing: the class's
  std::vector<RetryRule> rules;     // first match wins; none: lifecycle's defaults
  bool operator==(const RetryPolicy&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "max", self.max);
    visit(2, "rules", self.rules);
  }
};

// What a backend runs for each member.
struct Command {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;
  std::string directory;  // empty: the backend's default
  std::string image;      // container image; empty: the backend's own file system
  bool operator==(const Command&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "argv", self.argv);
    visit(2, "environment", self.environment);
    visit(3, "directory", self.directory);
    visit(4, "image", self.image);
  }
};

struct Checkpoint {
  base::Duration every;  // zero: none known
  std::string signal;    // sent before the stop signal, "SIGUSR1"; empty: none
  base::Duration grace;  // from that signal to the stop signal
  bool operator==(const Checkpoint&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "every", self.every);
    visit(2, "signal", self.signal);
    visit(3, "grace", self.grace);
  }
};

struct Workload {
  WorkloadId id;
  std::string name;  // unique among the unfinished of its queue; empty: none
  Kind kind = Kind::Workload;
  QueueId queue;
  ClassId workload_class;
  std::string user;
  base::Instant submitted;
  std::vector<TaskGroup> groups;  // at least one with members
  Constraints constraints;
  std::int64_t priority_boost = 0;           // inside the class, -100..100
  std::optional<base::Duration> time_limit;  // enforced
  std::optional<base::Duration> estimate;    // believed, not enforced
  std::optional<base::Instant> deadline;
  Command command;
  Checkpoint checkpoint;
  RetryPolicy retry;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::string request_key;  // the submitter's Idempotency-Key; empty: none
  bool operator==(const Workload&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "id", self.id);
    visit(2, "name", self.name);
    visit(3, "kind", self.kind);
    visit(4, "queue", self.queue);
    visit(5, "class", self.workload_class);
    visit(6, "user", self.user);
    visit(7, "submitted", self.submitted);
    visit(8, "groups", self.groups);
    visit(9, "constraints", self.constraints);
    visit(10, "priorityBoost", self.priority_boost);
    visit(11, "timeLimit", self.time_limit);
    visit(12, "estimate", self.estimate);
    visit(13, "deadline", self.deadline);
    visit(14, "command", self.command);
    visit(15, "checkpoint", self.checkpoint);
    visit(16, "retry", self.retry);
    visit(17, "labels", self.labels);
    visit(18, "annotations", self.annotations);
    visit(19, "requestKey", self.request_key);
  }
};

// Members that must start together: what the planner places (groups' members; min of each group).
std::int32_t member_count(const Workload& workload);

}  // namespace model
