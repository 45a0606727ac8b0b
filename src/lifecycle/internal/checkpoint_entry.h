#pragma once
// What a checkpoint is made of: one StoredState with all that is small or one of a kind, then an
// entry for each pool, queue, class, node and workload, by id within each kind. An entry at a time
// is in memory beside the State. Field numbers keep their meaning for ever, as in the model.
//
// Nothing of State is left out, derived counters and name tables included: a restart must continue
// with exactly the State that was running, and recomputing would hide a difference that the
// invariants are there to find.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "model/state.h"

namespace lifecycle::internal {

struct StoredOccupant : model::Occupant {
  static void fields(auto& self, auto&& visit) {
    visit(1, "attempt", self.attempt);
    visit(2, "rank", self.rank);
    visit(3, "milli", self.milli);
    visit(4, "memory", self.memory);
    visit(5, "sliceStart", self.slice_start);
    visit(6, "sliceLength", self.slice_length);
  }
};

struct StoredDeviceUse {
  base::MilliDevice milli;
  base::Bytes memory;
  base::MilliDevice secured_milli;
  base::Bytes secured_memory;
  std::vector<StoredOccupant> occupants;
  static void fields(auto& self, auto&& visit) {
    visit(1, "milli", self.milli);
    visit(2, "memory", self.memory);
    visit(3, "securedMilli", self.secured_milli);
    visit(4, "securedMemory", self.secured_memory);
    visit(5, "occupants", self.occupants);
  }
};

struct StoredNode {
  model::Node node;
  model::Quantities used;
  model::Quantities secured;
  std::vector<StoredDeviceUse> devices;
  std::vector<model::AttemptId> attempts;
  std::vector<model::ClaimId> claims;
  static void fields(auto& self, auto&& visit) {
    visit(1, "node", self.node);
    visit(2, "used", self.used);
    visit(3, "secured", self.secured);
    visit(4, "devices", self.devices);
    visit(5, "attempts", self.attempts);
    visit(6, "claims", self.claims);
  }
};

struct StoredPool : model::PoolRecord {
  static void fields(auto& self, auto&& visit) {
    visit(1, "pool", self.pool);
    visit(2, "path", self.path);
    visit(3, "children", self.children);
    visit(4, "nodes", self.nodes);
    visit(5, "shapes", self.shapes);
  }
};

struct StoredQueue : model::QueueRecord {
  static void fields(auto& self, auto&& visit) {
    visit(1, "queue", self.queue);
    visit(2, "path", self.path);
    visit(3, "children", self.children);
    visit(4, "held", self.held);
    visit(5, "claimed", self.claimed);
    visit(6, "pending", self.pending);
  }
};

struct StoredWorkload : model::WorkloadRecord {
  static void fields(auto& self, auto&& visit) {
    visit(1, "workload", self.workload);
    visit(2, "phase", self.phase);
    visit(3, "isHeld", self.is_held);
    visit(4, "isCancelRequested", self.is_cancel_requested);
    visit(5, "attempts", self.attempts);
    visit(6, "eligibleAt", self.eligible_at);
    visit(7, "queuedSince", self.queued_since);
    visit(8, "failures", self.failures);
    visit(9, "evictions", self.evictions);
    visit(10, "evictedBy", self.evicted_by);
    visit(11, "waitReason", self.wait_reason);
    visit(12, "claim", self.claim);
    visit(13, "claimAllowedAt", self.claim_allowed_at);
    visit(14, "ask", self.ask);
    visit(15, "finished", self.finished);
  }
};

struct StoredWorkloadName {
  model::QueueId queue;
  std::string name;
  model::WorkloadId workload;
  static void fields(auto& self, auto&& visit) {
    visit(1, "queue", self.queue);
    visit(2, "name", self.name);
    visit(3, "workload", self.workload);
  }
};

struct StoredFinish {
  base::Instant at;
  model::WorkloadId workload;
  static void fields(auto& self, auto&& visit) {
    visit(1, "at", self.at);
    visit(2, "workload", self.workload);
  }
};

struct StoredState {
  model::Sequence last_sequence;
  base::Instant now;
  model::Epoch epoch;
  model::WorkloadId next_workload;
  model::ClaimId next_claim;
  model::NodeId next_node;
  model::PolicySet policy;
  std::map<model::ClaimId, model::Claim> claims;
  std::map<std::string, model::Topology> topologies;
  std::map<model::ResourceId, std::string> resources;
  std::map<std::string, model::PoolId, std::less<>> pool_by_name;
  std::map<std::string, model::NodeId, std::less<>> node_by_name;
  std::map<std::string, model::QueueId, std::less<>> queue_by_name;
  std::map<std::string, model::ClassId, std::less<>> class_by_name;
  std::vector<StoredWorkloadName> workload_by_name;
  std::map<std::string, model::WorkloadId, std::less<>> workload_by_request_key;
  model::Usage held;
  model::Usage free;
  model::Usage secured;
  std::vector<StoredFinish> finished;
  model::RequestMix mix;
  model::RequestCounts requests;
  static void fields(auto& self, auto&& visit) {
    visit(1, "lastSequence", self.last_sequence);
    visit(2, "now", self.now);
    visit(3, "epoch", self.epoch);
    visit(4, "nextWorkload", self.next_workload);
    visit(5, "nextClaim", self.next_claim);
    visit(6, "nextNode", self.next_node);
    visit(7, "policy", self.policy);
    visit(8, "claims", self.claims);
    visit(9, "topologies", self.topologies);
    visit(10, "resources", self.resources);
    visit(11, "poolByName", self.pool_by_name);
    visit(12, "nodeByName", self.node_by_name);
    visit(13, "queueByName", self.queue_by_name);
    visit(14, "classByName", self.class_by_name);
    visit(15, "workloadByName", self.workload_by_name);
    visit(16, "workloadByRequestKey", self.workload_by_request_key);
    visit(17, "held", self.held);
    visit(18, "free", self.free);
    visit(19, "secured", self.secured);
    visit(20, "finished", self.finished);
    visit(21, "mix", self.mix);
    visit(22, "requests", self.requests);
  }
};

struct Entry {
  std::variant<StoredPool, StoredQueue, model::WorkloadClass, StoredNode, StoredWorkload> body;
  static void fields(auto& self, auto&& visit) { visit(1, "body", self.body); }
};

}  // namespace lifecycle::internal
