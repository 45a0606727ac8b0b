#pragma once
// Everything Berth knows at one moment: a fold of the journal. lifecycle::apply is the only writer;
// everybody else reads. Holds no index that could be derived cheaply, except the counters that
// every decision needs (node use, queue held and pending); invariants/ recomputes those from
// scratch and compares.
//
// Owned by one thread (the controller's loop). Copyable, for tests.

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dense_table.h"
#include "base/fields.h"
#include "base/instant.h"
#include "model/attempt.h"
#include "model/ids.h"
#include "model/node.h"
#include "model/policy_set.h"
#include "model/pool.h"
#include "model/queue.h"
#include "model/reason.h"
#include "model/request_mix.h"
#include "model/resources.h"
#include "model/workload.h"
#include "model/workload_class.h"

namespace model {

enum class Phase {
  AwaitingApproval,
  Queued,
  Starting,
  Running,
  Stopping,
  Suspended,
  Lost,
  Completed,
  Failed,
  Cancelled
};
inline std::span<const std::string_view> enum_names(Phase) {
  static constexpr std::array<std::string_view, 10> kNames{
      "AwaitingApproval", "Queued", "Starting",  "Running", "Stopping",
      "Suspended",        "Lost",   "Completed", "Failed",  "Cancelled"};
  return kNames;
}
constexpr bool is_finished(Phase phase) { return phase >= Phase::Completed; }

struct WorkloadRecord {
  Workload workload;
  Phase phase = Phase::Queued;
  bool is_held = false;
  bool is_cancel_requested = false;
  std::vector<Attempt> attempts;         // by ordinal; only the last can be other than Ended
  base::Instant eligible_at;             // not tried before (back-off)
  base::Instant queued_since;            // of the present wait
  std::int32_t failures = 0;             // attempts that count against the retries
  std::vector<base::Instant> evictions;  // those that count for the limit a day, newest last
  std::vector<AttemptId> evicted_by;  // the attempts that it was evicted for; none may do it twice
  Reason wait_reason = Reason::None;  // of the last Wait or Refuse of the present wait
  ClaimId claim;                      // the claim that it owns; none
  base::Instant claim_allowed_at;     // after a lost claim: may not evict before
  Usage ask;  // what counts as its demand while it is pending: its charge in the first pool that
              // could ever fit it
  std::optional<base::Instant> finished;
  bool operator==(const WorkloadRecord&) const = default;

  const Attempt* live_attempt() const {
    return attempts.empty() || attempts.back().phase == AttemptPhase::Ended ? nullptr
                                                                            : &attempts.back();
  }
  // Waits to be started: queued and neither held nor owner of a claim.
  bool is_pending() const { return phase == Phase::Queued; }
};

// A part of a device in somebody's hands.
struct Occupant {
  AttemptId attempt;
  std::int32_t rank = 0;
  base::MilliDevice milli;
  base::Bytes memory;
  std::int32_t slice_start = -1;  // on the memory axis; -1: not a hardware slice
  std::int32_t slice_length = 0;
  bool operator==(const Occupant&) const = default;
};

struct DeviceUse {
  base::MilliDevice milli;          // sum over occupants, 0..1000
  base::Bytes memory;               // sum over occupants
  base::MilliDevice secured_milli;  // set aside for claims, beyond what is occupied
  base::Bytes secured_memory;
  std::vector<Occupant> occupants;  // in the order of arrival
  bool operator==(const DeviceUse&) const = default;
};

struct NodeRecord {
  Node node;
  Quantities used;                  // by members, kDevice included
  Quantities secured;               // set aside for claims
  std::vector<DeviceUse> devices;   // parallel to node.devices
  std::vector<AttemptId> attempts;  // with a member here; sorted, no doubles
  std::vector<ClaimId> claims;      // with a member here; sorted, no doubles
  bool operator==(const NodeRecord&) const = default;
};

struct PoolRecord {
  Pool pool;
  std::vector<PoolId> path;      // itself, parent, …, root
  std::vector<PoolId> children;  // by id
  std::vector<NodeId> nodes;     // of a leaf, by id
  // Nodes of a leaf that are equal in everything that decides whether something could ever run
  // there (policy/node_shape.h), by id: what is tested once per shape instead of once per node.
  std::map<std::string, std::vector<NodeId>> shapes;
  bool operator==(const PoolRecord&) const = default;
};

struct QueueRecord {
  Queue queue;
  std::vector<QueueId> path;      // itself, parent, …, the tenant
  std::vector<QueueId> children;  // by id
  Usage held;                     // starting + running + stopping + charging claims, own and below
  Usage claimed;  // of claims whose victims still charge their own queues; counts for admission
  Usage pending;  // asks of pending workloads, own and below
  bool operator==(const QueueRecord&) const = default;

  QueueId tenant() const { return path.back(); }
};

struct State {
  base::DenseTable<PoolId, PoolRecord> pools;
  base::DenseTable<NodeId, NodeRecord> nodes;
  base::DenseTable<QueueId, QueueRecord> queues;
  base::DenseTable<ClassId, WorkloadClass> classes;
  base::DenseTable<WorkloadId, WorkloadRecord> workloads;
  std::map<ClaimId, Claim> claims;
  std::map<std::string, Topology> topologies;
  std::map<ResourceId, std::string> resources;  // custom ones; the well-known have fixed names
  PolicySet policy;
  RequestCounts requests;
  RequestMix mix;  // by which placement by value and by fragmentation goes; empty: none is known

  std::map<std::string, PoolId, std::less<>> pool_by_name;
  std::map<std::string, NodeId, std::less<>> node_by_name;
  std::map<std::string, QueueId, std::less<>> queue_by_name;
  std::map<std::string, ClassId, std::less<>> class_by_name;
  std::map<std::pair<QueueId, std::string>, WorkloadId> workload_by_name;  // unfinished only
  std::map<std::string, WorkloadId, std::less<>> workload_by_request_key;

  // By pool (leaf and every ancestor) and resource. Capacity C = held + free + secured.
  Usage held;     // charges of all live attempts; claims are in `secured`
  Usage free;     // on ready nodes and devices that take new work: neither used nor secured
  Usage secured;  // set aside for claims on those same nodes and devices
  std::set<std::pair<base::Instant, WorkloadId>> finished;  // in the order of finishing

  Sequence last_sequence;
  base::Instant now;  // of the last event
  Epoch epoch;
  WorkloadId next_workload{1};  // ids are never reused, whatever is forgotten
  ClaimId next_claim{1};
  NodeId next_node{1};

  bool operator==(const State&) const = default;
};

std::string_view resource_name(const State& state, ResourceId resource);  // "cpu", "gpu", …

}  // namespace model
