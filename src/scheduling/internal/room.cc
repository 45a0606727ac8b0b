#include "scheduling/internal/room.h"

#include <algorithm>
#include <utility>

namespace scheduling::internal {

using model::MemberPlacement;
using model::NodeId;
using model::PoolId;
using model::QueueId;
using model::State;
using model::WorkloadRecord;

Room::Room(const State& state, ClusterView& view, RoomMemory& memory, const Request& request,
           PoolId pool, std::int64_t need)
    : state_(state),
      view_(view),
      memory_(memory),
      request_(request),
      pool_(pool),
      need_(need),
      counts_(is_filled_node_by_node(*request.workload, need) &&
              request.workload->constraints.topology.required.empty()),
      mark_(view.mark()) {}

Room::~Room() {
  view_.rollback(mark_);
  for (std::size_t i = 0; i < memory_.used; ++i)
    memory_.slots[memory_.opened[i].node.node->id.value - 1] = -1;
  memory_.used = 0;
}

QueueId Room::tenant_of(const WorkloadRecord& record) const {
  return state_.queues.at(record.workload.queue).tenant();
}

PoolTrial Room::place_now() {
  const std::size_t mark = view_.mark();
  PoolTrial trial = place_in_pool(state_, view_, request_, pool_);
  view_.rollback(mark);
  return trial;
}

// Members that the node takes one after another: the order in which nodes are filled does not
// matter to any one of them.
std::int64_t Room::count(const FreeNode& node) {
  const auto& options = request_.workload->groups.front().device_options;
  if (!options.empty() && options.front().is_whole() && node.whole < options.front().count.value)
    return 0;
  if (need_ == 1) return place_member(state_, node, request_, 0) ? 1 : 0;
  FreeNode& left = memory_.scratch;
  left = node;
  std::int64_t members = 0;
  while (members < need_) {
    const auto member = place_member(state_, left, request_, 0);
    if (!member) break;
    occupy(left, *request_.workload, *member, request_.tenant);
    ++members;
  }
  return members;
}

RoomMemory::Opened& Room::opened(NodeId id) {
  if (memory_.slots.size() < id.value) memory_.slots.resize(id.value, -1);
  std::int32_t& slot = memory_.slots[id.value - 1];
  if (slot < 0) {
    slot = static_cast<std::int32_t>(memory_.used++);
    if (memory_.opened.size() < memory_.used) memory_.opened.emplace_back();
    RoomMemory::Opened& fresh = memory_.opened[memory_.used - 1];
    fresh.node = view_.node(id);
    fresh.members = count(fresh.node);
  }
  return memory_.opened[static_cast<std::size_t>(slot)];
}

void Room::change(const WorkloadRecord& record, Change change) {
  if (counts_ && !fit_) fit_ = need_ == 1 ? 0 : place_now().placed;
  const QueueId tenant = tenant_of(record);
  const auto& members = record.attempts.back().placement.members;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const MemberPlacement& member = members[i];
    if (!counts_) {
      if (change == Change::Open)
        view_.give(record.workload, member, tenant);
      else
        view_.take(record.workload, member, tenant);
      continue;
    }
    RoomMemory::Opened& at = opened(member.node);
    if (change == Change::Open)
      vacate(at.node, record.workload, member, tenant);
    else
      occupy(at.node, record.workload, member, tenant);
    // Members on one node stand together: it is counted once, after the last of them.
    if (i + 1 < members.size() && members[i + 1].node == member.node) continue;
    if (at.node.node->pool != pool_) continue;
    const std::int64_t before = std::exchange(at.members, count(at.node));
    *fit_ += at.members - before;
  }
}

void Room::open(const WorkloadRecord& record) { change(record, Change::Open); }
void Room::close(const WorkloadRecord& record) { change(record, Change::Close); }

bool Room::fits() {
  if (counts_) return fit_.value_or(0) >= need_;
  return !surely_too_small(view_, *request_.workload, pool_) && place_now().is_complete();
}

void Room::give_in_view(const std::vector<const WorkloadRecord*>& gone) {
  if (!counts_) return;  // done when they were opened
  for (const WorkloadRecord* record : gone)
    for (const MemberPlacement& member : record->attempts.back().placement.members)
      view_.give(record->workload, member, tenant_of(*record));
}

PoolTrial Room::place(const std::vector<const WorkloadRecord*>& gone) {
  const std::size_t mark = view_.mark();
  give_in_view(gone);
  PoolTrial trial = place_now();
  view_.rollback(mark);
  return trial;
}

bool Room::has_room_at(const model::Placement& placement,
                       const std::vector<const WorkloadRecord*>& gone) {
  const std::size_t mark = view_.mark();
  give_in_view(gone);
  const bool fits = std::ranges::all_of(placement.members, [&](const MemberPlacement& member) {
    if (!has_room_for(state_, view_.node(member.node), request_, member)) return false;
    view_.take(*request_.workload, member, request_.tenant);
    return true;
  });
  view_.rollback(mark);
  return fits;
}

}  // namespace scheduling::internal
