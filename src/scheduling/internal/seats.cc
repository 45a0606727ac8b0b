#include "scheduling/internal/seats.h"

#include <algorithm>
#include <utility>

#include "scheduling/internal/protection.h"

namespace scheduling::internal {

using model::AttemptId;
using model::NodeRecord;
using model::State;

namespace {

Seat seat_of(const State& state, const NodeRecord& record, AttemptId id) {
  const model::WorkloadRecord& owner = state.workloads.at(id.workload);
  const model::Attempt& attempt = owner.attempts.back();
  Seat seat{.attempt = id,
            .queue = owner.workload.queue,
            .workload_class = owner.workload.workload_class,
            .tenant = state.queues.at(owner.workload.queue).tenant(),
            .members = 0,
            .sizes = {},
            .is_stopping = attempt.phase == model::AttemptPhase::Stopping,
            .since = attempt.running_since.value_or(attempt.decided),
            .ripe_at = protected_until(state, owner),
            .milli = attempt.charge.of({record.node.pool, model::kDevice}),
            .holds = {}};
  for (const model::MemberPlacement& member : attempt.placement.members)
    if (member.node == record.node.id) {
      ++seat.members;
      count_member(seat.sizes, member, +1);
      seat.holds.add(owner.workload.groups[static_cast<std::size_t>(member.group)].per_member);
    }
  return seat;
}

}  // namespace

void refresh_seats(Seats& row, const State& state, const NodeRecord& record, AttemptId changed) {
  std::vector<Seat> before = std::exchange(row.seats, {});
  row.seats.reserve(record.attempts.size());
  auto known = before.begin();
  for (const AttemptId id : record.attempts) {
    while (known != before.end() && known->attempt < id)
      ++known;
    const bool is_known = known != before.end() && known->attempt == id && id != changed;
    row.seats.push_back(is_known ? std::move(*known) : seat_of(state, record, id));
  }
  row.is_ready = record.node.condition == model::NodeCondition::Ready;
  row.parts.clear();
  row.barred.clear();
  for (std::size_t i = 0; i < record.devices.size(); ++i) {
    for (const model::Occupant& occupant : record.devices[i].occupants) {
      const auto seat = std::ranges::lower_bound(record.attempts, occupant.attempt);
      row.parts.push_back({.device = static_cast<std::int32_t>(i),
                           .seat = static_cast<std::int32_t>(seat - record.attempts.begin()),
                           .milli = static_cast<std::int32_t>(occupant.milli.value)});
    }
    row.barred.push_back(takes_new_work(record.node.devices[i].health)
                             ? static_cast<std::int32_t>(record.devices[i].secured_milli.value)
                             : 1000);
  }
  row.left = record.node.allocatable;
  row.left.add(record.secured, -1);
}

Glance glance_at_unpinned(const State& state, const Seats& row) {
  const auto is_pinned = [&state](const Seat& seat) {
    const model::WorkloadClass& own = state.classes.at(seat.workload_class);
    return own.reclaimable == model::Reclaimable::Never &&
           own.preemptible == model::Preemptible::Never;
  };
  Glance left{.cpu = row.left.of(model::kCpu), .memory = row.left.of(model::kMemory)};
  std::vector<std::int32_t> pinned = row.barred;
  for (const SeatPart& part : row.parts)
    if (is_pinned(row.seats[static_cast<std::size_t>(part.seat)]))
      pinned[static_cast<std::size_t>(part.device)] += part.milli;
  for (const std::int32_t milli : pinned) {
    if (milli == 0) ++left.devices;
    left.most_milli = std::max(left.most_milli, 1000 - milli);
  }
  for (const Seat& seat : row.seats) {
    if (!is_pinned(seat)) continue;
    left.cpu -= seat.holds.of(model::kCpu);
    left.memory -= seat.holds.of(model::kMemory);
  }
  return left;
}

}  // namespace scheduling::internal
