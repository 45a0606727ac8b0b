#pragma once
// Which node of a pool is the best for one member by a rule, kept from one question to the next.
//
// For each kind of member that is asked for there is a row: one score a node, and the largest of
// every block of nodes above it. A row is brought up to date when it is read, from a log of the
// nodes that changed: a change costs nothing for members that nobody asks for, and a question costs
// the changes since the last of its kind, each node once, plus a look at the blocks. The score of a
// node is that of its contents alone; tenants, who may bar each other from a node, are tested by
// the caller, from the best node down. Equal scores: the smallest node id first.
//
// Memory: two bytes a node and row, at most kMostBytes of rows; the row that was read longest ago
// goes first. Thread contract: none of its own.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/ids.h"
#include "model/policy_set.h"
#include "model/state.h"
#include "model/workload.h"
#include "scheduling/internal/placing.h"
#include "scheduling/internal/score_rule.h"

namespace scheduling::internal {

class Ranking {
 public:
  // Over all nodes that the pool has now; for one that joins later a new ranking is needed.
  Ranking(const model::State& state, const ClusterView& view, model::PoolId pool,
          model::PlacementRule rule);
  ~Ranking();

  // What is free on the node has changed.
  void note(const FreeNode& node);

  // Where a member might go. `device` as in Score.
  struct Candidate {
    model::NodeId node;
    std::int32_t device = -1;
  };
  // The best node for a member of the group; nothing when it fits on none.
  std::optional<Candidate> best(const Request& request, std::int32_t group);
  // One that the lot falls on, and a device of it: each that fits with equal chance.
  std::optional<Candidate> by_lot(const Request& request, std::int32_t group, std::uint64_t lot);
  // All on which it fits, the best first; of `among` only, which are nodes of the pool.
  std::vector<Candidate> in_order(const Request& request, std::int32_t group);
  std::vector<Candidate> in_order(const Request& request, std::int32_t group,
                                  std::span<const model::NodeId> among);

  model::PlacementRule rule() const { return rule_; }

 private:
  static constexpr std::size_t kMostBytes = std::size_t{48} << 20;
  using SlotIndex = std::uint32_t;  // of a node: its place in the order of ids

  struct Slot {
    std::int64_t cpu = 0, memory = 0, milli = 0;  // free
    std::int64_t worth = 0;
    std::uint32_t first_device = 0;  // in `devices_`
    std::uint16_t device_count = 0;
    std::uint16_t sizes = 0;             // as in ScoredNode
    std::int16_t whole = 0, most = 0;    // devices, milli of one
    std::int16_t shape = 0, model = -1;  // indexes
    bool is_ready = false, knows_worth = false;
  };
  struct Row;

  SlotIndex slot_of(model::NodeId id) const { return slots_[id.value - nodes_.front().value]; }
  ScoredNode scored(const Slot& slot) const;
  void enter_nodes(model::PoolId pool);
  Row& row(const Request& request, std::int32_t group);
  Row& make_row(std::uint64_t hash, const Request& request, std::int32_t group);
  void drop_oldest_row();
  void catch_up(Row& row, const Request& request, std::int32_t group);
  Score score_at(Row& row, SlotIndex slot, const Request& request, std::int32_t group);
  Score score_of_placed(const Row& row, SlotIndex slot, const Request& request, std::int32_t group);
  Candidate candidate(Row& row, SlotIndex slot, const Request& request, std::int32_t group);
  std::vector<Candidate> sorted(Row& row, std::vector<SlotIndex> slots, const Request& request,
                                std::int32_t group);

  const model::State& state_;
  const ClusterView& view_;
  model::PlacementRule rule_;
  std::unique_ptr<const ScoreRule> scores_;
  std::vector<model::NodeId> nodes_;  // by slot
  std::vector<SlotIndex> slots_;      // by id, from the first node's on
  std::vector<Slot> table_;           // by slot
  std::vector<std::int16_t> devices_;
  std::vector<model::NodeId> shapes_;  // a node of each shape of the pool
  std::vector<SlotIndex> log_;         // slots that changed
  std::uint64_t log_begin_ = 0;        // how many entries were dropped before it
  std::vector<std::uint32_t> seen_;    // by slot: the last pass over the log that met it
  std::uint32_t pass_ = 0;
  std::map<std::uint64_t, std::vector<std::unique_ptr<Row>>> rows_;  // by hash
  std::size_t row_count_ = 0;
  std::uint64_t reads_ = 0;
};

}  // namespace scheduling::internal
