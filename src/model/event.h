#pragma once
// What happened, as the journal keeps it: the only thing that changes State, through
// lifecycle::apply. Only append alternatives and fields; numbers keep their meaning for ever.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "base/instant.h"
#include "model/attempt.h"
#include "model/decision.h"
#include "model/ids.h"
#include "model/node.h"
#include "model/policy_set.h"
#include "model/pool.h"
#include "model/queue.h"
#include "model/request_mix.h"
#include "model/workload.h"
#include "model/workload_class.h"

namespace model {

// ---- configuration ----
struct PoolDefined {
  static constexpr std::string_view kKind = "poolDefined";
  Pool pool;  // new id, or the id of the pool that it replaces
  bool operator==(const PoolDefined&) const = default;
  static void fields(auto& self, auto&& visit) { visit(1, "pool", self.pool); }
};
struct TopologyDefined {
  static constexpr std::string_view kKind = "topologyDefined";
  Topology topology;
  bool operator==(const TopologyDefined&) const = default;
  static void fields(auto& self, auto&& visit) { visit(1, "topology", self.topology); }
};
struct QueueDefined {
  static constexpr std::string_view kKind = "queueDefined";
  Queue queue;
  bool operator==(const QueueDefined&) const = default;
  static void fields(auto& self, auto&& visit) { visit(1, "queue", self.queue); }
};
struct ClassDefined {
  static constexpr std::string_view kKind = "classDefined";
  WorkloadClass workload_class;
  bool operator==(const ClassDefined&) const = default;
  static void fields(auto& self, auto&& visit) { visit(1, "class", self.workload_class); }
};
struct ResourceDefined {
  static constexpr std::string_view kKind = "resourceDefined";
  ResourceId resource;
  std::string name;
  bool operator==(const ResourceDefined&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "resource", self.resource);
    visit(2, "name", self.name);
  }
};
struct PolicyChanged {
  static constexpr std::string_view kKind = "policyChanged";
  PolicySet policy;
  bool operator==(const PolicyChanged&) const = default;
  static void fields(auto& self, auto&& visit) { visit(1, "policy", self.policy); }
};

// ---- observations ----
struct NodeSeen {  // new, or with other contents than before
  static constexpr std::string_view kKind = "nodeSeen";
  Node node;
  bool operator==(const NodeSeen&) const = default;
  static void fields(auto& self, auto&& visit) { visit(1, "node", self.node); }
};
struct NodeConditionChanged {
  static constexpr std::string_view kKind = "nodeConditionChanged";
  NodeId node;
  NodeCondition condition = NodeCondition::Ready;
  std::string note;
  bool operator==(const NodeConditionChanged&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "node", self.node);
    visit(2, "condition", self.condition);
    visit(3, "note", self.note);
  }
};
struct DeviceHealthChanged {
  static constexpr std::string_view kKind = "deviceHealthChanged";
  NodeId node;
  std::int32_t device = 0;
  Health health = Health::Ok;
  std::string note;
  bool operator==(const DeviceHealthChanged&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "node", self.node);
    visit(2, "device", self.device);
    visit(3, "health", self.health);
    visit(4, "note", self.note);
  }
};
struct AttemptRunning {  // every member is up
  static constexpr std::string_view kKind = "attemptRunning";
  AttemptId attempt;
  bool operator==(const AttemptRunning&) const = default;
  static void fields(auto& self, auto&& visit) { visit(1, "attempt", self.attempt); }
};
struct MembersEnded {  // confirmed: nothing of these members is left
  static constexpr std::string_view kKind = "membersEnded";
  AttemptId attempt;
  std::vector<MemberEnd> members;
  bool operator==(const MembersEnded&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "attempt", self.attempt);
    visit(2, "members", self.members);
  }
};

// ---- commands ----
struct WorkloadSubmitted {
  static constexpr std::string_view kKind = "workloadSubmitted";
  Workload workload;
  bool operator==(const WorkloadSubmitted&) const = default;
  static void fields(auto& self, auto&& visit) { visit(1, "workload", self.workload); }
};
struct WorkloadHeld {
  static constexpr std::string_view kKind = "workloadHeld";
  WorkloadId workload;
  bool operator==(const WorkloadHeld&) const = default;
  static void fields(auto& self, auto&& visit) { visit(1, "workload", self.workload); }
};
struct WorkloadReleased {
  static constexpr std::string_view kKind = "workloadReleased";
  WorkloadId workload;
  bool operator==(const WorkloadReleased&) const = default;
  static void fields(auto& self, auto&& visit) { visit(1, "workload", self.workload); }
};
struct CancelRequested {
  static constexpr std::string_view kKind = "cancelRequested";
  WorkloadId workload;
  bool operator==(const CancelRequested&) const = default;
  static void fields(auto& self, auto&& visit) { visit(1, "workload", self.workload); }
};
struct CommandRefused {  // for the audit; changes nothing else
  static constexpr std::string_view kKind = "commandRefused";
  std::string command;  // "submit", "cancel 1042"
  std::string code;     // base::code_name
  std::string message;
  bool operator==(const CommandRefused&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "command", self.command);
    visit(2, "code", self.code);
    visit(3, "message", self.message);
  }
};

// ---- decisions, timers, housekeeping ----
struct Decided {
  static constexpr std::string_view kKind = "decided";
  Decision decision;
  bool operator==(const Decided&) const = default;
  static void fields(auto& self, auto&& visit) { visit(1, "decision", self.decision); }
};
struct ControllerStarted {
  static constexpr std::string_view kKind = "controllerStarted";
  Epoch epoch;
  std::string version;
  bool operator==(const ControllerStarted&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "epoch", self.epoch);
    visit(2, "version", self.version);
  }
};
struct MixChanged {  // what is asked for has moved
  static constexpr std::string_view kKind = "mixChanged";
  RequestMix mix;
  bool operator==(const MixChanged&) const = default;
  static void fields(auto& self, auto&& visit) { visit(1, "mix", self.mix); }
};
struct WorkloadsForgotten {  // finished long ago; the journal still has them
  static constexpr std::string_view kKind = "workloadsForgotten";
  std::vector<WorkloadId> workloads;
  bool operator==(const WorkloadsForgotten&) const = default;
  static void fields(auto& self, auto&& visit) { visit(1, "workloads", self.workloads); }
};

using EventBody =
    std::variant<PoolDefined, TopologyDefined, QueueDefined, ClassDefined, ResourceDefined,
                 PolicyChanged, NodeSeen, NodeConditionChanged, DeviceHealthChanged, AttemptRunning,
                 MembersEnded, WorkloadSubmitted, WorkloadHeld, WorkloadReleased, CancelRequested,
                 CommandRefused, Decided, ControllerStarted, WorkloadsForgotten, MixChanged>;

struct Event {
  Sequence sequence;  // gap-free from 1
  base::Instant at;   // never before its predecessor's
  std::string actor;  // the user who asked; empty: Berth itself
  EventBody body;
  bool operator==(const Event&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "sequence", self.sequence);
    visit(2, "at", self.at);
    visit(3, "actor", self.actor);
    visit(4, "body", self.body);
  }
};

// "workloadSubmitted", or for decisions the decision's own kind: "start", "evict", …
std::string_view kind_of(const Event& event);

}  // namespace model
