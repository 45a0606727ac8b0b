#pragma once
// What is free, node by node, in the form in which the planner searches, with indexes that find a
// fitting node without looking at all of them. Mirrors State between plans; inside a plan it is an
// overlay: take, give and secure are remembered and rolled back. Cost of a change: O(devices of the
// node * log nodes).

#include <cstdint>
#include <memory>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "model/attempt.h"
#include "model/ids.h"
#include "model/placement.h"
#include "model/policy_set.h"
#include "model/state.h"
#include "model/workload.h"
#include "scheduling/internal/free_node.h"
#include "scheduling/internal/node_set.h"
#include "scheduling/internal/seats.h"

namespace scheduling::internal {

class Ranking;

class ClusterView {
 public:
  // Built again when a pool is defined; node events only need load().
  explicit ClusterView(const model::State& state);
  ~ClusterView();

  // Reads the node again from State. Between plans only. `Less` promises that the node cannot host
  // more than before.
  enum class Change { More, Less };
  void load(model::NodeId id, Change change);
  // The same where only what is known of one attempt on the node has changed; none: of nobody.
  void load_seats(model::NodeId id, model::AttemptId changed);

  const FreeNode& node(model::NodeId id) const { return nodes_[id.value - 1]; }
  // `seats` and `unpinned` are as State has them, `free` as the overlay has it.
  const Seats& seats(model::NodeId id) const { return seats_[id.value - 1]; }
  // Another one whenever the node or its seats were read from State.
  std::uint64_t version(model::NodeId id) const { return versions_[id.value - 1]; }
  const Glance& unpinned_at(model::NodeId id) const { return unpinned_[id.value - 1]; }
  const Glance& free_at(model::NodeId id) const { return free_[id.value - 1]; }
  bool has(model::NodeId id) const {
    return id.value >= 1 && id.value <= nodes_.size() && nodes_[id.value - 1].node != nullptr;
  }

  // Ready nodes of a leaf pool by how many whole free devices they have.
  using ByWhole = std::vector<NodeSet>;
  // Partly used devices of ready nodes by (free milli, node, device).
  using Holes = std::set<std::tuple<std::int32_t, model::NodeId, std::int32_t>>;
  struct PoolView {
    ByWhole by_whole;
    Holes holes;
    std::int64_t whole = 0;  // sum over by_whole
    // Nodes that may host more than before, in the order in which they grew. A trial that failed
    // at length n can only succeed now on the nodes from n on.
    std::vector<model::NodeId> growth;
  };
  const PoolView& pool(model::PoolId id) const;
  // Forgets how pools grew: whoever stopped reading somewhere has to look at everything again.
  void forget_growth();
  std::int32_t most_whole(model::PoolId id) const;

  // The nodes of a leaf pool by how good a rule finds them, as the overlay has them. Made at the
  // first question; valid until a node joins.
  Ranking& ranking(model::PoolId pool, model::PlacementRule rule);
  // Rules read the mix of requests of State: they are made anew when it has changed.
  void forget_rankings();

  // ---- the overlay ----
  std::size_t mark() const { return undo_.size(); }
  void rollback(std::size_t mark);
  // What was taken and given stays: there is nothing to roll back to any more. For whoever has no
  // State that follows.
  void keep() { undo_.clear(); }
  bool is_untouched() const { return undo_.empty(); }

  void take(const model::Workload& workload, const model::MemberPlacement& member,
            model::QueueId tenant);
  // What the member of a live attempt holds becomes free.
  void give(const model::Workload& workload, const model::MemberPlacement& member,
            model::QueueId tenant);
  // Sets aside what is free of what the member needs, as a claim does; gives how much that is.
  model::Quantities secure(const model::Workload& workload, const model::MemberPlacement& member,
                           model::QueueId tenant);

 private:
  template <class Edit>
  void change(model::NodeId id, Edit&& edit);
  void enter_indexes(model::NodeId id);
  void leave_indexes(model::NodeId id);
  PoolView& pool_of(const FreeNode& node);

  const model::State* state_;
  std::vector<FreeNode> nodes_;                                  // by id - 1
  std::vector<Seats> seats_;                                     // by id - 1
  std::vector<Glance> unpinned_;                                 // by id - 1
  std::vector<std::uint64_t> versions_;                          // by id - 1
  std::vector<Glance> free_;                                     // by id - 1
  std::vector<PoolView> pools_;                                  // by id - 1
  std::vector<std::vector<std::unique_ptr<Ranking>>> rankings_;  // by id - 1 of the pool
  std::vector<std::pair<model::NodeId, FreeNode>> undo_;
};

}  // namespace scheduling::internal
