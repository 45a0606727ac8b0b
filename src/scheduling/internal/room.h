#pragma once
// Whether a workload would have room once certain live attempts are gone, asked again and again
// while attempts are added to and dropped from that set.
//
// Where each node takes members by itself (one group, at most one device option, no required
// domain, slices only one by one), placing reaches exactly the sum of what the nodes take: then
// only the nodes of attempts that come and go are counted again, on copies, and the cost of a
// change is that of its own members. Everything else is placed in the overlay of the view.
//
// Thread contract: none of its own; leaves the view as it was.

#include <cstdint>
#include <optional>
#include <vector>

#include "model/ids.h"
#include "model/state.h"
#include "scheduling/internal/cluster_view.h"
#include "scheduling/internal/placing.h"

namespace scheduling::internal {

// Copies of the nodes that were opened, kept between searches so that they cost no allocation.
struct RoomMemory {
  struct Opened {
    FreeNode node;
    std::int64_t members = 0;  // that fit
  };
  std::vector<Opened> opened;
  std::size_t used = 0;             // of `opened`
  std::vector<std::int32_t> slots;  // by node id - 1: index in `opened`; -1: not opened
  FreeNode scratch;
};

class Room {
 public:
  // `need` members of the request in the pool, where they do not all fit now.
  Room(const model::State& state, ClusterView& view, RoomMemory& memory, const Request& request,
       model::PoolId pool, std::int64_t need);
  ~Room();
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;

  // The live attempt of `record` is gone; and is there after all.
  void open(const model::WorkloadRecord& record);
  void close(const model::WorkloadRecord& record);
  bool fits();

  // Where the members would go; `gone` are the attempts that are open now.
  PoolTrial place(const std::vector<const model::WorkloadRecord*>& gone);
  // Whether they could go where `placement` says.
  bool has_room_at(const model::Placement& placement,
                   const std::vector<const model::WorkloadRecord*>& gone);

 private:
  enum class Change { Open, Close };
  void change(const model::WorkloadRecord& record, Change change);
  RoomMemory::Opened& opened(model::NodeId id);
  std::int64_t count(const FreeNode& node);
  PoolTrial place_now();
  void give_in_view(const std::vector<const model::WorkloadRecord*>& gone);
  model::QueueId tenant_of(const model::WorkloadRecord& record) const;

  const model::State& state_;
  ClusterView& view_;
  RoomMemory& memory_;
  const Request& request_;
  model::PoolId pool_;
  std::int64_t need_;
  bool counts_;
  std::size_t mark_;
  std::optional<std::int64_t> fit_;  // counting: members that fit now in sum
};

}  // namespace scheduling::internal
