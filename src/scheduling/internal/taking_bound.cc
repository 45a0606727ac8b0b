#include "scheduling/internal/taking_bound.h"

#include <algorithm>
#include <optional>
#include <span>

#include "policy/eligibility.h"
#include "scheduling/internal/protection.h"
#include "scheduling/internal/trial.h"

namespace scheduling::internal {

using model::AttemptId;
using model::NodeId;
using model::NodeRecord;
using model::QueueId;
using model::TaskGroup;
using model::WorkloadRecord;

namespace {

enum class Seen { State, Overlay };

// Counts one group on single nodes, as State has them or with what the plan decided so far.
class Count {
 public:
  Count(const TrialWorld& world, const Taker& taker, std::int64_t need,
        const std::vector<Loser>& losers, Seen seen = Seen::State)
      : seen_(seen),
        world_(world),
        taker_(taker),
        constraints_(taker.workload->constraints),
        group_(taker.workload->groups.front()),
        need_(need),
        losers_(losers),
        classes_(world.state.classes.next_id().value),
        rights_(losers.size() * classes_, Right::Unknown) {}

  // Whether nodes of this shape could ever take a member.
  bool could_ever_fit(const model::Node& shape) const {
    return policy::never_fits(shape, group_, constraints_) == model::Reason::None;
  }
  // From now on about nodes of this shape.
  void turn_to(const model::Node& shape) {
    part_milli_.assign(shape.devices.size(), 0);
    if (group_.device_options.empty() || group_.device_options.front().is_none()) return;
    const model::DeviceRequest& option = group_.device_options.front();
    for (std::size_t i = 0; i < shape.devices.size(); ++i) {
      if (option.is_whole()) {
        part_milli_[i] = policy::accepts_model(option, shape.devices[i]) ? 1000 : 0;
      } else if (const auto part = policy::part_of(option, shape.devices[i])) {
        part_milli_[i] = std::max<std::int64_t>(1, part->milli.value);
      }
    }
  }

  // Members on the node, which is of the present shape.
  std::int64_t on(NodeId id) {
    row_ = &world_.view.seats(id);
    if (!row_->is_ready) return 0;
    loser_.clear();
    for (const Seat& seat : row_->seats)
      loser_.push_back(loser_of(seat));
    std::int64_t members = std::min(need_, by_devices(id));
    if (members > 0) members = std::min(members, by_quantities(id));
    return members;
  }

 private:
  enum class Right : std::int8_t { Unknown, Stays, Loses };

  // The queue that may lose the attempt by now; null: it stays.
  const Loser* loser_of(const Seat& seat) {
    if (seat.is_stopping || seat.ripe_at > world_.now) return nullptr;
    const auto loser = std::ranges::lower_bound(losers_, seat.queue, {}, &Loser::queue);
    if (loser == losers_.end() || loser->queue != seat.queue) return nullptr;
    const auto row = static_cast<std::size_t>(loser - losers_.begin());
    Right& right = rights_[row * classes_ + seat.workload_class.value];
    if (right == Right::Unknown)
      right = may_lose(world_, taker_, *loser, seat.workload_class) ? Right::Loses : Right::Stays;
    if (right == Right::Stays) return nullptr;
    if (seen_ == Seen::Overlay && world_.stopping.contains(seat.attempt)) return nullptr;
    return &*loser;
  }

  const Loser* loser_at(const SeatPart& part) const {
    return loser_[static_cast<std::size_t>(part.seat)];
  }

  // Of each device, what is in the hands of those who stay, or set aside.
  void keep(NodeId id) {
    kept_.assign(row_->barred.begin(), row_->barred.end());
    if (seen_ == Seen::Overlay) {
      const auto& devices = world_.view.node(id).devices;
      for (std::size_t i = 0; i < kept_.size(); ++i)
        kept_[i] = std::max<std::int64_t>(kept_[i], 1000 - devices[i].milli);
      for (const SeatPart& part : row_->parts)
        kept_[static_cast<std::size_t>(part.device)] -= part.milli;
      for (std::size_t i = 0; i < kept_.size(); ++i)
        kept_[i] = std::max<std::int64_t>(kept_[i], row_->barred[i]);
    }
    for (const SeatPart& part : row_->parts)
      if (loser_at(part) == nullptr) kept_[static_cast<std::size_t>(part.device)] += part.milli;
  }

  std::int64_t by_devices(NodeId id) {
    if (group_.device_options.empty() || group_.device_options.front().is_none()) return need_;
    keep(id);
    const model::DeviceRequest& option = group_.device_options.front();
    if (option.is_whole()) return whole_devices() / option.count.value;
    std::int64_t parts = 0;
    for (std::size_t i = 0; i < kept_.size(); ++i)
      if (part_milli_[i] > 0 && kept_[i] < 1000) parts += (1000 - kept_[i]) / part_milli_[i];
    return parts;
  }

  // Devices whose first occupant is the attempt.
  struct Lost {
    const Loser* loser = nullptr;
    std::int32_t seat = 0;
    std::int64_t devices = 0;
  };
  void lose(const SeatPart& part) {
    const auto row = std::ranges::find(lost_, part.seat, &Lost::seat);
    if (row != lost_.end())
      ++row->devices;
    else
      lost_.push_back({.loser = loser_at(part), .seat = part.seat, .devices = 1});
  }

  // All that one queue loses before its last victim is less than its excess; the last may be the
  // one with the most devices here.
  std::int64_t lost_by(const Loser* loser) const {
    std::int64_t devices = 0;
    std::int64_t most = 0;
    for (const Lost& row : lost_) {
      if (row.loser != loser) continue;
      devices += row.devices;
      most = std::max(most, row.devices);
    }
    if (loser->excess == kNoLimit) return devices;
    return std::min(devices, (loser->excess - 1) / 1000 + most);
  }

  std::int64_t whole_devices() {
    std::int64_t devices = 0;
    lost_.clear();
    auto part = row_->parts.begin();
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      const auto first = part;
      while (part != row_->parts.end() && part->device == static_cast<std::int32_t>(i))
        ++part;
      if (part_milli_[i] == 0 || kept_[i] > 0) continue;
      if (first == part)
        ++devices;
      else
        lose(*first);
    }
    for (std::size_t i = 0; i < lost_.size(); ++i) {
      const auto earlier = std::span(lost_).first(i);
      if (std::ranges::find(earlier, lost_[i].loser, &Lost::loser) == earlier.end())
        devices += lost_by(lost_[i].loser);
    }
    return devices;
  }

  // What nobody who stays holds of the resource, and nobody set aside.
  std::int64_t left_of(NodeId id, model::ResourceId resource) const {
    std::int64_t left = row_->left.of(resource);
    // A node that shrank below what is used and set aside shows nothing free, and no less.
    if (seen_ == Seen::Overlay) {
      const NodeRecord& record = world_.state.nodes.at(id);
      left = std::min(left, record.used.of(resource) + world_.view.node(id).free.of(resource));
    }
    for (std::size_t i = 0; i < row_->seats.size(); ++i)
      if (loser_[i] == nullptr) left -= row_->seats[i].holds.of(resource);
    return std::max<std::int64_t>(0, left);
  }

  std::int64_t by_quantities(NodeId id) const {
    std::int64_t members = need_;
    for (const auto& a : group_.per_member.amounts())
      members = std::min(members, left_of(id, a.resource) / a.amount);
    return members;
  }

  Seen seen_;
  const TrialWorld& world_;
  const Taker& taker_;
  const model::Constraints& constraints_;
  const TaskGroup& group_;
  std::int64_t need_;
  const std::vector<Loser>& losers_;
  std::size_t classes_;
  std::vector<Right> rights_;             // by loser, by class
  std::vector<std::int64_t> part_milli_;  // by device: what a member takes of it; 0: nothing
  const Seats* row_ = nullptr;            // of the present node
  std::vector<const Loser*> loser_;       // by seat
  std::vector<std::int64_t> kept_;        // by device
  std::vector<Lost> lost_;
};

// Whether nobody may lose more than was counted with.
bool covers(const std::vector<Loser>& counted, const std::vector<Loser>& losers) {
  return std::ranges::all_of(losers, [&](const Loser& loser) {
    const auto known = std::ranges::lower_bound(counted, loser.queue, {}, &Loser::queue);
    return known != counted.end() && known->queue == loser.queue &&
           loser.by_reclaim <= known->by_reclaim && loser.by_preemption <= known->by_preemption &&
           loser.excess <= known->excess;
  });
}

// What queues may lose moves with every start and end: a quarter to spare keeps a count longer.
std::vector<Loser> with_spare(std::vector<Loser> losers) {
  for (Loser& loser : losers)
    if (loser.excess != kNoLimit) loser.excess += loser.excess / 4;
  return losers;
}

// One question. What is kept is read from State and with some excess to spare; what it is asked
// about is counted as things are now, and with no more than each queue may lose.
class Answer {
 public:
  Answer(const TrialWorld& world, const Taker& taker, std::int64_t need,
         const std::vector<Loser>& losers, TakingBound& bound)
      : world_(world),
        pool_(world.state.pools.at(taker.pool)),
        growth_(world.view.pool(taker.pool).growth),
        ripened_(world.live.ripened_in(taker.pool)),
        ask_(glance_ask(taker.workload->groups.front())),
        taker_(taker),
        need_(need),
        wanted_(need),
        losers_(losers),
        bound_(bound) {}

  bool is_hopeless() {
    if (!covers(bound_.losers, losers_) || is_far_behind()) forget();
    if (bound_.is_complete) {
      catch_up();
      return bound_.members < need_ || !is_enough_on_known();
    }
    if (is_enough_on_known()) return false;
    catch_up();
    return !is_enough_on_known() && !is_enough_further_on();
  }

  std::vector<NodeId> nodes() {
    if (!covers(bound_.losers, losers_) || is_far_behind()) forget();
    catch_up();
    wanted_ = kNoLimit;  // whatever is found, the others are looked for too
    if (!bound_.is_complete) is_enough_further_on();
    std::vector<NodeId> known;
    for (const auto& [id, row] : bound_.nodes)
      known.push_back(id);
    std::vector<NodeId> reachable;
    for (const NodeId id : known) {
      if (bound_.nodes.at(id).version != world_.view.version(id)) recount(id);
      const std::int64_t before = found_;
      if (bound_.nodes.contains(id) && !add(id) && found_ > before) reachable.push_back(id);
    }
    return reachable;
  }

 private:
  // Then to count anew costs less than to follow.
  bool is_far_behind() const {
    return growth_.size() - bound_.grown + ripened_.size() - bound_.ripened > pool_.nodes.size();
  }

  void forget() {
    bound_ = {.losers = with_spare(losers_),
              .nodes = {},
              .grown = growth_.size(),
              .ripened = ripened_.size(),
              .witness = {}};
  }

  // Most questions are answered by sums that are known: the counts are made when they are needed.
  Count& at_most() {
    if (!at_most_) at_most_.emplace(world_, taker_, need_, bound_.losers);
    return *at_most_;
  }
  Count& now() {
    const bool is_decided = !world_.view.is_untouched() || !world_.stopping.empty();
    if (!now_)
      now_.emplace(world_, taker_, need_, losers_, is_decided ? Seen::Overlay : Seen::State);
    return *now_;
  }

  void catch_up() {
    for (; bound_.grown < growth_.size(); ++bound_.grown)
      recount(growth_[bound_.grown]);
    for (; bound_.ripened < ripened_.size(); ++bound_.ripened)
      recount(ripened_[bound_.ripened]);
  }

  void recount(NodeId id) {
    if (!world_.view.unpinned_at(id).could_take(ask_)) return set(id, 0);
    const model::Node& node = world_.state.nodes.at(id).node;
    if (!at_most().could_ever_fit(node)) return set(id, 0);
    at_most().turn_to(node);
    set(id, at_most().on(id));
  }

  void set(NodeId id, std::int64_t members) {
    const auto found = bound_.nodes.find(id);
    const std::uint64_t version = world_.view.version(id);
    if (found != bound_.nodes.end()) {
      bound_.members += members - found->second.members;
      if (members > 0)
        found->second = {.members = members, .version = version};
      else
        bound_.nodes.erase(found);
    } else if (members > 0) {
      bound_.nodes.emplace(id, TakingBound::Row{.members = members, .version = version});
      bound_.members += members;
    }
  }

  // Walks round the known nodes, from that which was the last to be needed.
  bool is_enough_on_known() {
    found_ = 0;
    rest_ = bound_.members;
    const NodeId from = bound_.witness;
    return is_enough_between(bound_.nodes.lower_bound(from), std::nullopt) ||
           is_enough_between(bound_.nodes.begin(), from);
  }

  bool is_enough_between(std::map<NodeId, TakingBound::Row>::iterator at,
                         std::optional<NodeId> end) {
    while (at != bound_.nodes.end() && (!end || at->first < *end)) {
      // Where not all nodes are known yet, what is found here counts further on.
      if (bound_.is_complete && found_ + rest_ < wanted_) return false;
      const NodeId id = at->first;
      const std::int64_t known = at->second.members;
      const bool is_old = at->second.version != world_.view.version(id);
      ++at;
      rest_ -= known;
      if (add(id)) return true;
      if (is_old) recount(id);
    }
    return false;
  }

  // What the node takes now; true when it is enough with those before.
  bool add(NodeId id) {
    now().turn_to(world_.state.nodes.at(id).node);
    found_ += now().on(id);
    if (found_ < wanted_) return false;
    bound_.witness = id;
    return true;
  }

  bool is_enough_further_on() {
    std::size_t passed = 0;
    for (const auto& [shape, nodes] : pool_.shapes) {
      const std::size_t first =
          std::min(nodes.size(), bound_.scanned - std::min(bound_.scanned, passed));
      passed += nodes.size();
      if (first == nodes.size()) continue;
      const model::Node& example = world_.state.nodes.at(nodes.front()).node;
      if (at_most().could_ever_fit(example) && is_enough_among(nodes, first, example)) return true;
      bound_.scanned = passed;
    }
    bound_.is_complete = true;
    return false;
  }

  bool is_enough_among(const std::vector<NodeId>& nodes, std::size_t first,
                       const model::Node& example) {
    at_most().turn_to(example);
    for (std::size_t i = first; i < nodes.size(); ++i) {
      ++bound_.scanned;
      if (!world_.view.unpinned_at(nodes[i]).could_take(ask_)) continue;
      if (bound_.nodes.contains(nodes[i])) continue;  // it grew before it was reached
      const std::int64_t members = at_most().on(nodes[i]);
      set(nodes[i], members);
      if (members > 0 && add(nodes[i])) return true;
    }
    return false;
  }

  const TrialWorld& world_;
  const model::PoolRecord& pool_;
  const std::vector<NodeId>& growth_;
  const std::vector<NodeId>& ripened_;
  GlanceAsk ask_;
  const Taker& taker_;
  std::int64_t need_;    // no node is counted with more
  std::int64_t wanted_;  // so many are enough
  const std::vector<Loser>& losers_;
  TakingBound& bound_;
  std::optional<Count> at_most_;
  std::optional<Count> now_;
  std::int64_t found_ = 0;  // members on the nodes that were walked to
  std::int64_t rest_ = 0;   // at most, on the known nodes that were not
};

}  // namespace

// Slices are charged by where they start: their number does not follow from sums.
bool is_countable(const model::Workload& workload) {
  if (workload.groups.size() != 1) return false;
  const auto& options = workload.groups.front().device_options;
  return options.empty() || (options.size() == 1 && options.front().slice.empty());
}

std::vector<NodeId> reachable_nodes(const TrialWorld& world, const Taker& taker, std::int64_t need,
                                    const std::vector<Loser>& losers, TakingBound& bound) {
  return Answer(world, taker, need, losers, bound).nodes();
}

bool is_hopeless(const TrialWorld& world, const Taker& taker, std::int64_t need,
                 const std::vector<Loser>& losers, TakingBound& bound) {
  return is_countable(*taker.workload) && Answer(world, taker, need, losers, bound).is_hopeless();
}

}  // namespace scheduling::internal
