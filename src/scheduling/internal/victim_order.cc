#include "scheduling/internal/victim_order.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "policy/eligibility.h"

namespace scheduling::internal {

using model::Attempt;
using model::AttemptId;
using model::NodeId;
using model::WorkloadRecord;

namespace {

Candidate candidate_of(const TrialWorld& world, const Taker& taker, const WorkloadRecord& record) {
  const Attempt& attempt = record.attempts.back();
  const base::Duration ran = world.now - attempt.running_since.value_or(attempt.decided);
  const std::int64_t milli = attempt.charge.of({taker.pool, model::kDevice});
  return {.lost_work = milli * ran.millis, .record = &record, .id = record.workload.id};
}

void sort_candidates(std::vector<Candidate>& candidates) {
  std::ranges::sort(candidates, [](const Candidate& a, const Candidate& b) {
    return a.lost_work != b.lost_work ? a.lost_work < b.lost_work : a.id < b.id;
  });
}

bool is_candidate(const TrialWorld& world, const Taker& taker, const Losers& losers,
                  const Seat& seat) {
  if (seat.is_stopping || seat.ripe_at > world.now) return false;
  const auto loser = std::ranges::lower_bound(losers.queues, seat.queue, {}, &Loser::queue);
  return loser != losers.queues.end() && loser->queue == seat.queue &&
         may_lose(world, taker, *loser, seat.workload_class) &&
         !world.stopping.contains(seat.attempt);
}

struct SeatCandidate {
  std::int64_t lost_work = 0;
  std::int32_t seat = 0;  // index; grows with the id of the workload
  friend auto operator<=>(const SeatCandidate&, const SeatCandidate&) = default;
};

void candidates_on(const TrialWorld& world, const Taker& taker, const Losers& losers,
                   const Seats& row, std::vector<SeatCandidate>& found) {
  found.clear();
  for (std::size_t i = 0; i < row.seats.size(); ++i) {
    const Seat& seat = row.seats[i];
    if (!is_candidate(world, taker, losers, seat)) continue;
    const base::Duration ran = world.now - seat.since;
    found.push_back({.lost_work = seat.milli * ran.millis, .seat = static_cast<std::int32_t>(i)});
  }
  std::ranges::sort(found);
}

// What one member is short of on a node, in sums, as candidates go one after another.
class Shortage {
 public:
  Shortage(const FreeNode& node, const Seats& row, const model::TaskGroup& group) : row_(row) {
    std::int64_t free = 0;
    std::int64_t most_free = 0;
    for (const FreeDevice& device : node.devices) {
      if (!device.is_usable) continue;
      free += device.milli;
      most_free = std::max<std::int64_t>(most_free, device.milli);
    }
    if (!group.device_options.empty()) {
      const model::DeviceRequest& option = group.device_options.front();
      milli_ =
          option.is_whole() ? 1000 * option.count.value - free : option.share.value - most_free;
    }
    for (const auto& a : group.per_member.amounts())
      if (a.amount > node.free.of(a.resource))
        quantities_.add(a.resource, a.amount - node.free.of(a.resource));
  }

  bool is_met() const { return milli_ <= 0 && quantities_.empty(); }

  void leave(std::int32_t seat) {
    for (const SeatPart& part : row_.parts)
      if (part.seat == seat) milli_ -= part.milli;
    if (quantities_.empty()) return;
    for (const auto& a : row_.seats[static_cast<std::size_t>(seat)].holds.amounts())
      quantities_.set(a.resource, std::max<std::int64_t>(0, quantities_.of(a.resource) - a.amount));
  }

 private:
  const Seats& row_;
  std::int64_t milli_ = 0;
  model::Quantities quantities_;
};

// The lost work up to which enough would go; nothing: all of them are not enough.
std::optional<std::int64_t> lost_work_on(const FreeNode& node, const Seats& row,
                                         const model::TaskGroup& group,
                                         const std::vector<SeatCandidate>& candidates) {
  Shortage shortage(node, row, group);
  std::int64_t lost_work = 0;
  for (const SeatCandidate& candidate : candidates) {
    shortage.leave(candidate.seat);
    lost_work += candidate.lost_work;
    if (shortage.is_met()) return lost_work;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Candidate> candidates_in_pool(const TrialWorld& world, const Taker& taker,
                                          const Losers& losers) {
  std::vector<Candidate> found;
  if (losers.queues.empty()) return found;
  const auto& live = world.live.by_pool.at(taker.pool);
  for (const Loser& loser : losers.queues) {
    for (const auto& [ripe_at, id] : live.at(loser.queue)) {
      if (ripe_at > world.now) break;
      const WorkloadRecord& record = world.state.workloads.at(id);
      if (may_lose(world, taker, loser, record.workload.workload_class))
        found.push_back(candidate_of(world, taker, record));
    }
  }
  sort_candidates(found);
  return found;
}

std::vector<Candidate> candidates_on_node(const TrialWorld& world, const Taker& taker,
                                          const Losers& losers, NodeId node) {
  const Seats& row = world.view.seats(node);
  std::vector<SeatCandidate> seats;
  candidates_on(world, taker, losers, row, seats);
  std::vector<Candidate> found;
  for (const SeatCandidate& candidate : seats) {
    const model::WorkloadId id =
        row.seats[static_cast<std::size_t>(candidate.seat)].attempt.workload;
    found.push_back(
        {.lost_work = candidate.lost_work, .record = &world.state.workloads.at(id), .id = id});
  }
  return found;
}

namespace {

// Nodes of the pool of shapes that could ever take a member.
std::vector<NodeId> nodes_that_could_fit(const TrialWorld& world, const Taker& taker) {
  const model::TaskGroup& group = taker.workload->groups.front();
  std::vector<NodeId> fitting;
  for (const auto& [shape, nodes] : world.state.pools.at(taker.pool).shapes) {
    const bool could_fit =
        !nodes.empty() && policy::never_fits(world.state.nodes.at(nodes.front()).node, group,
                                             taker.workload->constraints) == model::Reason::None;
    if (could_fit) fitting.insert(fitting.end(), nodes.begin(), nodes.end());
  }
  return fitting;
}

}  // namespace

std::vector<NodeId> nodes_by_lost_work(const TrialWorld& world, const Taker& taker,
                                       const Losers& losers, const std::vector<NodeId>* only) {
  const model::TaskGroup& group = taker.workload->groups.front();
  std::vector<std::pair<std::int64_t, NodeId>> order;
  std::vector<SeatCandidate> candidates;
  const GlanceAsk ask = glance_ask(group);
  for (const NodeId id : only != nullptr ? *only : nodes_that_could_fit(world, taker)) {
    const FreeNode& node = world.view.node(id);
    if (!node.is_ready || !world.view.unpinned_at(id).could_take(ask)) continue;
    const Seats& row = world.view.seats(id);
    candidates_on(world, taker, losers, row, candidates);
    if (const auto lost_work = lost_work_on(node, row, group, candidates))
      order.emplace_back(*lost_work, id);
  }
  std::ranges::sort(order);
  std::vector<NodeId> by_lost_work;
  by_lost_work.reserve(order.size());
  for (const auto& [lost_work, id] : order)
    by_lost_work.push_back(id);
  return by_lost_work;
}

}  // namespace scheduling::internal
