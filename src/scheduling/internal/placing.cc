#include "scheduling/internal/placing.h"

#include <algorithm>
#include <map>
#include <string>

#include "policy/eligibility.h"
#include "scheduling/internal/ranking.h"

namespace scheduling::internal {

using model::DeviceAssignment;
using model::DeviceRequest;
using model::Exclusive;
using model::Isolation;
using model::MemberPlacement;
using model::NodeId;
using model::PoolId;
using model::QueueId;
using model::QueueRecord;
using model::Reason;
using model::State;
using model::TaskGroup;
using model::Workload;

namespace {

// Before anything is known of what is asked for, rules that read it would find all nodes equal.
std::optional<model::PlacementRule> rule_for(const State& state, const model::PolicySet& policy,
                                             model::Strategy strategy) {
  using enum model::PlacementRule;
  std::optional<model::PlacementRule> rule = policy.placement;
  if (!rule && strategy == model::Strategy::Value) rule = Value;
  const bool reads_mix = rule == Value || rule == Fragmentation;
  return reads_mix && state.mix.kinds.empty() ? std::nullopt : rule;
}

}  // namespace

Request request_for(const State& state, const model::PolicySet& policy, const Workload& workload) {
  const QueueRecord& tenant = state.queues.at(state.queues.at(workload.queue).tenant());
  const model::Strategy strategy = state.classes.at(workload.workload_class).strategy;
  return {.workload = &workload,
          .tenant = tenant.queue.id,
          .strategy = strategy,
          .exclusive = tenant.queue.exclusive,
          .shares_across_tenants = tenant.queue.shares_devices_across_tenants,
          .rule = rule_for(state, policy, strategy)};
}

namespace {

// Tenants that are on the node or device already must agree with the newcomer, both ways.
bool node_admits(const State& state, const FreeNode& node, const Request& request) {
  const auto gets_on_with = [&](QueueId other) {
    return other == request.tenant || (request.exclusive < Exclusive::Node &&
                                       state.queues.at(other).queue.exclusive < Exclusive::Node);
  };
  return std::ranges::all_of(node.tenants, gets_on_with) &&
         std::ranges::all_of(node.claimants, gets_on_with);
}

bool device_admits(const State& state, const FreeNode& node, std::size_t index,
                   const Request& request) {
  if (node.devices[index].occupants + node.devices[index].claimants == 0) return true;
  for (const auto& [device, other, is_claim] : node.device_tenants) {
    if (device != static_cast<std::int32_t>(index) || other == request.tenant) continue;
    const model::Queue& queue = state.queues.at(other).queue;
    if (!request.shares_across_tenants || !queue.shares_devices_across_tenants) return false;
    if (request.exclusive >= Exclusive::Device || queue.exclusive >= Exclusive::Device)
      return false;
  }
  return true;
}

std::optional<std::vector<DeviceAssignment>> whole_devices(const FreeNode& node,
                                                           const DeviceRequest& option) {
  if (node.whole < option.count.value) return std::nullopt;
  std::vector<DeviceAssignment> chosen;
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    const model::Device& device = node.node->devices[i];
    if (!node.devices[i].is_whole() || !policy::accepts_model(option, device)) continue;
    chosen.push_back({.device = static_cast<std::int32_t>(i),
                      .milli = base::kWholeDevice,
                      .memory = device.memory,
                      .slice = {}});
    if (static_cast<std::int64_t>(chosen.size()) == option.count.value) return chosen;
  }
  return std::nullopt;
}

// The first legal start of the profile whose memory slices are all free; -1: none.
std::int32_t free_start(const model::SliceProfile& profile, std::int32_t axis,
                        std::uint32_t taken) {
  const std::uint32_t length = (1U << profile.memory_slices) - 1U;
  for (const std::int32_t start : profile.starts)
    if (start + profile.memory_slices <= axis && (taken & (length << start)) == 0) return start;
  return -1;
}

std::optional<DeviceAssignment> part_on(const FreeNode& node, std::size_t index,
                                        const DeviceRequest& option) {
  const FreeDevice& free = node.devices[index];
  const model::Device& device = node.node->devices[index];
  if (!free.is_usable) return std::nullopt;
  const auto part = policy::part_of(option, device);
  if (!part) return std::nullopt;
  DeviceAssignment assignment{.device = static_cast<std::int32_t>(index),
                              .milli = part->milli,
                              .memory = part->memory,
                              .slice = {}};
  if (part->profile != nullptr) {
    if (free.parts > 0) return std::nullopt;
    assignment.slice = part->profile->name;
    assignment.slice_start =
        free_start(*part->profile, device.memory_slices, free.slices | free.claimed_slices);
    if (assignment.slice_start < 0) return std::nullopt;
    const std::int64_t to = assignment.slice_start + part->profile->memory_slices;
    assignment.milli = base::MilliDevice(1000 * to / device.memory_slices -
                                         1000 * assignment.slice_start / device.memory_slices);
  } else if (free.is_sliced()) {
    return std::nullopt;
  }
  const bool fits = free.milli >= assignment.milli.value && free.memory >= part->memory.value;
  return fits ? std::optional(assignment) : std::nullopt;
}

// A part of the device that has the least free: whole devices stay whole as long as possible.
std::optional<std::vector<DeviceAssignment>> part_of_a_device(
    const State& state, const FreeNode& node, const Request& request, const DeviceRequest& option,
    Barriers barriers, std::int32_t preferred) {
  if (preferred >= 0) {
    const auto index = static_cast<std::size_t>(preferred);
    const bool may =
        barriers == Barriers::WithoutTenants || device_admits(state, node, index, request);
    if (const auto assignment = may ? part_on(node, index, option) : std::nullopt)
      return std::vector<DeviceAssignment>{*assignment};
  }
  std::optional<DeviceAssignment> best;
  std::int32_t best_free = 0;
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    const FreeDevice& free = node.devices[i];
    if (best && free.milli >= best_free) continue;
    if (barriers == Barriers::All && !device_admits(state, node, i, request)) continue;
    const auto assignment = part_on(node, i, option);
    if (!assignment) continue;
    best = assignment;
    best_free = free.milli;
  }
  if (!best) return std::nullopt;
  return std::vector<DeviceAssignment>{*best};
}

std::optional<std::vector<DeviceAssignment>> choose_devices(
    const State& state, const FreeNode& node, const Request& request, const TaskGroup& group,
    Barriers barriers, std::int32_t preferred = -1) {
  if (group.device_options.empty()) return std::vector<DeviceAssignment>{};
  for (std::size_t i = 0; i < group.device_options.size(); ++i) {
    if (request.only_option && std::min(*request.only_option, group.device_options.size() - 1) != i)
      continue;
    const DeviceRequest& option = group.device_options[i];
    if (option.is_none()) return std::vector<DeviceAssignment>{};
    auto chosen = option.is_whole()
                      ? whole_devices(node, option)
                      : part_of_a_device(state, node, request, option, barriers, preferred);
    if (chosen) return chosen;
  }
  return std::nullopt;
}

const TaskGroup& group_of(const Request& request, std::int32_t group) {
  return request.workload->groups[static_cast<std::size_t>(group)];
}

bool is_free_for(const FreeNode& node, const DeviceAssignment& part) {
  const FreeDevice& free = node.devices[static_cast<std::size_t>(part.device)];
  if (!free.is_usable || free.milli < part.milli.value || free.memory < part.memory.value)
    return false;
  if (part.slice.empty())
    return part.milli < base::kWholeDevice ? !free.is_sliced() : free.is_whole();
  const model::Device& device = node.node->devices[static_cast<std::size_t>(part.device)];
  const auto profile = std::ranges::find(device.profiles, part.slice, &model::SliceProfile::name);
  if (free.parts > 0 || profile == device.profiles.end()) return false;
  const std::uint32_t bits = ((1U << profile->memory_slices) - 1U) << part.slice_start;
  return ((free.slices | free.claimed_slices) & bits) == 0;
}

}  // namespace

bool has_room_for(const State& state, const FreeNode& node, const Request& request,
                  const MemberPlacement& member) {
  const model::Quantities& amounts = group_of(request, member.group).per_member;
  return node.is_ready && policy::short_resource(amounts, node.free) == Reason::None &&
         node_admits(state, node, request) &&
         std::ranges::all_of(member.devices, [&](const DeviceAssignment& part) {
           return is_free_for(node, part) &&
                  device_admits(state, node, static_cast<std::size_t>(part.device), request);
         });
}

std::optional<MemberPlacement> place_member(const State& state, const FreeNode& node,
                                            const Request& request, std::int32_t group,
                                            Barriers barriers, std::int32_t device) {
  const TaskGroup& tasks = group_of(request, group);
  if (!node.is_ready) return std::nullopt;
  if (policy::short_resource(tasks.per_member, node.free) != Reason::None) return std::nullopt;
  if (policy::node_bar(*node.node, request.workload->constraints) != Reason::None)
    return std::nullopt;
  if (barriers == Barriers::All && !node_admits(state, node, request)) return std::nullopt;
  auto devices = choose_devices(state, node, request, tasks, barriers, device);
  if (!devices) return std::nullopt;
  return MemberPlacement{.group = group, .node = node.node->id, .devices = std::move(*devices)};
}

namespace {

// The node as it would be without anybody on it (healthy devices only), or without what claims set
// aside.
FreeNode emptied(const FreeNode& node) {
  FreeNode copy = node;
  for (std::size_t i = 0; i < copy.devices.size(); ++i) {
    FreeDevice& device = copy.devices[i];
    device = FreeDevice{.milli = 1000,
                        .memory = node.node->devices[i].memory.value,
                        .secured_milli = 0,
                        .slices = 0,
                        .claimed_slices = 0,
                        .is_usable = device.is_usable,
                        .occupants = 0,
                        .claimants = 0,
                        .parts = 0,
                        .claimed_parts = 0};
  }
  copy.whole = static_cast<std::int32_t>(
      std::ranges::count_if(copy.devices, [](const FreeDevice& d) { return d.is_whole(); }));
  return copy;
}

// Reasons that no size of the node has to do with.
bool is_static(Reason never) {
  return never == Reason::AttributeMismatch || never == Reason::TaintNotTolerated ||
         never == Reason::WrongModel || never == Reason::UnknownSlice;
}

FreeNode unclaimed(const State& state, const FreeNode& node) {
  FreeNode copy = node;
  const model::NodeRecord& record = state.nodes.at(node.node->id);
  for (std::size_t i = 0; i < copy.devices.size(); ++i) {
    FreeDevice& device = copy.devices[i];
    device.milli += device.secured_milli;
    device.memory += record.devices[i].secured_memory.value;
    device.secured_milli = 0;
    device.claimants = 0;
    device.claimed_slices = 0;
    device.parts -= std::exchange(device.claimed_parts, 0);
  }
  std::erase_if(copy.device_tenants, &DeviceTenant::is_claim);
  copy.claimants.clear();
  copy.whole = static_cast<std::int32_t>(
      std::ranges::count_if(copy.devices, [](const FreeDevice& d) { return d.is_whole(); }));
  return copy;
}

}  // namespace

Reason rejection(const State& state, const FreeNode& node, const Request& request,
                 std::int32_t group, Reason never) {
  const TaskGroup& tasks = group_of(request, group);
  if (!node.is_ready) return Reason::NodeNotReady;
  if (is_static(never)) return never;
  if (const Reason reason = policy::short_resource(tasks.per_member, node.free);
      reason != Reason::None)
    return reason;
  if (never != Reason::None) return never;
  const bool fits = node_admits(state, node, request) &&
                    choose_devices(state, node, request, tasks, Barriers::All).has_value();
  if (fits) return Reason::None;
  // An empty node of healthy devices would take it, as never_fits said: only then nothing is sick.
  const auto& devices = node.devices;
  const bool has_sick = !std::ranges::all_of(devices, &FreeDevice::is_usable);
  if (has_sick && !choose_devices(state, emptied(node), request, tasks, Barriers::WithoutTenants))
    return Reason::DeviceUnhealthy;
  if (choose_devices(state, node, request, tasks, Barriers::WithoutTenants))
    return Reason::TenantIsolation;
  const bool has_claims =
      std::ranges::any_of(devices, [](const FreeDevice& d) { return d.claimants > 0; });
  if (has_claims) {
    const FreeNode without = unclaimed(state, node);
    if (node_admits(state, without, request) &&
        choose_devices(state, without, request, tasks, Barriers::All))
      return Reason::ClaimedByOther;
  }
  return Reason::DevicesBusy;
}

std::optional<Reason> rejection_at_a_glance(const Glance& glance, const GlanceAsk& ask,
                                            Reason never) {
  if (!glance.is_plain) return std::nullopt;
  if (is_static(never)) return never;
  if (ask.cpu > glance.cpu) return Reason::NotEnoughCpu;
  if (ask.memory > glance.memory) return Reason::NotEnoughMemory;
  if (ask.has_other) return std::nullopt;
  if (never != Reason::None) return never;
  return glance.could_take(ask) ? std::nullopt : std::optional(Reason::DevicesBusy);
}

namespace {

bool asks_whole(const TaskGroup& group) {
  return !group.device_options.empty() && group.device_options.front().is_whole();
}

bool asks_part(const TaskGroup& group) {
  return !group.device_options.empty() && !group.device_options.front().is_whole() &&
         !group.device_options.front().is_none();
}

class PoolPlacer {
 public:
  PoolPlacer(const State& state, ClusterView& view, const Request& request, PoolId pool,
             const std::vector<NodeId>* only)
      : state_(state), view_(view), request_(request), pool_(pool), only_(only) {}

  PoolTrial run() {
    const auto& groups = request_.workload->groups;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const auto group = static_cast<std::int32_t>(g);
      if (groups[g].members > 0 && add_members(group, groups[g].min_members) == false)
        if (trial_.short_group < 0) trial_.short_group = group;
    }
    if (trial_.is_complete() && request_.growth == Growth::Wanted) grow();
    std::ranges::stable_sort(trial_.placement.members, {}, &MemberPlacement::group);
    set_isolation();
    return trial_;
  }

 private:
  void grow() {
    const auto& groups = request_.workload->groups;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const TaskGroup& tasks = groups[g];
      // Above the minimum growth goes in whole steps.
      const std::int32_t steps =
          tasks.step > 0 ? (tasks.members - tasks.min_members) / tasks.step : 0;
      for (std::int32_t s = 0; s < steps; ++s) {
        const std::size_t mark = view_.mark();
        const std::size_t before = trial_.placement.members.size();
        if (add_members(static_cast<std::int32_t>(g), tasks.step)) continue;
        view_.rollback(mark);
        trial_.placement.members.resize(before);
        trial_.placed = static_cast<std::int64_t>(before);
        break;
      }
    }
  }

  bool add_members(std::int32_t group, std::int32_t count) {
    ask_ = glance_ask(group_of(request_, group));
    for (std::int32_t i = 0; i < count; ++i) {
      auto member = find(group);
      if (!member) return false;
      view_.take(*request_.workload, *member, request_.tenant);
      trial_.placement.members.push_back(std::move(*member));
      ++trial_.placed;
    }
    return true;
  }

  std::optional<MemberPlacement> at(NodeId id, std::int32_t group) const {
    if (!view_.free_at(id).could_take(ask_)) return std::nullopt;
    return place_member(state_, view_.node(id), request_, group);
  }

  std::optional<MemberPlacement> find(std::int32_t group) const {
    const TaskGroup& tasks = group_of(request_, group);
    if (request_.rule) return find_by_rule(group);
    if (only_ != nullptr) return find_among(*only_, group);
    const ClusterView::PoolView& pool = view_.pool(pool_);
    if (asks_part(tasks)) {
      if (auto member = find_in_holes(pool, tasks, group)) return member;
    }
    // The option that comes first decides where the search begins; later options are tried on the
    // same nodes, so nothing that fits is missed when the search runs over all of them.
    const std::size_t from =
        asks_whole(tasks) && tasks.device_options.size() == 1
            ? static_cast<std::size_t>(tasks.device_options.front().count.value)
            : 0;
    std::optional<MemberPlacement> member;
    const auto takes = [&](NodeId id) {
      member = at(id, group);
      return member.has_value();
    };
    const auto& by_whole = pool.by_whole;
    if (request_.strategy == model::Strategy::Spread) {
      for (std::size_t whole = by_whole.size(); whole-- > from;)
        if (by_whole[whole].any_down(takes)) break;
    } else {
      for (std::size_t whole = from; whole < by_whole.size(); ++whole)
        if (by_whole[whole].any(takes)) break;
    }
    return member;
  }

  // The best node by the rule of those that admit the tenant.
  std::optional<MemberPlacement> find_by_rule(std::int32_t group) const {
    Ranking& ranking = view_.ranking(pool_, *request_.rule);
    const auto at = [&](const Ranking::Candidate& candidate) {
      return place_member(state_, view_.node(candidate.node), request_, group, Barriers::All,
                          candidate.device);
    };
    if (only_ == nullptr) {
      const auto first = request_.rule == model::PlacementRule::Random
                             ? ranking.by_lot(request_, group, lot())
                             : ranking.best(request_, group);
      if (!first) return std::nullopt;
      if (auto member = at(*first)) return member;
    }
    const auto candidates = only_ == nullptr ? ranking.in_order(request_, group)
                                             : ranking.in_order(request_, group, *only_);
    for (const Ranking::Candidate& candidate : candidates)
      if (auto member = at(candidate)) return member;
    return std::nullopt;
  }

  // Another for each workload and member, and the same wherever it is drawn.
  std::uint64_t lot() const {
    const auto member = static_cast<std::uint64_t>(trial_.placed);
    return request_.workload->id.value * 1'000'003 + member;
  }

  // The smallest hole that is large enough, of the first option.
  std::optional<MemberPlacement> find_in_holes(const ClusterView::PoolView& pool,
                                               const TaskGroup& tasks, std::int32_t group) const {
    const auto least = static_cast<std::int32_t>(
        std::max<std::int64_t>(1, tasks.device_options.front().share.value));
    NodeId last;
    for (auto it = pool.holes.lower_bound({least, NodeId{}, 0}); it != pool.holes.end(); ++it) {
      const NodeId id = std::get<1>(*it);
      if (id == last) continue;
      last = id;
      if (auto member = at(id, group)) return member;
    }
    return std::nullopt;
  }

  // Inside one topology domain: the node with the fewest whole free devices that fits.
  std::optional<MemberPlacement> find_among(const std::vector<NodeId>& nodes,
                                            std::int32_t group) const {
    std::optional<MemberPlacement> best;
    std::int32_t best_whole = 0;
    for (const NodeId id : nodes) {
      const std::int32_t whole = view_.node(id).whole;
      if (best && whole >= best_whole) continue;
      if (auto member = at(id, group)) {
        best = std::move(member);
        best_whole = whole;
      }
    }
    return best;
  }

  void set_isolation() {
    for (const MemberPlacement& member : trial_.placement.members)
      for (const DeviceAssignment& assignment : member.devices)
        if (assignment.slice.empty() && assignment.milli < base::kWholeDevice)
          trial_.placement.isolation = Isolation::None;
  }

  const State& state_;
  ClusterView& view_;
  const Request& request_;
  PoolId pool_;
  const std::vector<NodeId>* only_;
  GlanceAsk ask_;  // of the group whose members are placed
  PoolTrial trial_;
};

// Ready nodes of the pool by their domain at `level`, in whichever topology has that level; nodes
// outside the topology are left out.
std::map<std::string, std::vector<NodeId>> domains_at(const State& state, const ClusterView& view,
                                                      PoolId pool, const std::string& level) {
  std::map<std::string, std::vector<NodeId>> domains;
  for (const auto& [name, topology] : state.topologies) {
    const auto at = std::ranges::find(topology.levels, level);
    if (at == topology.levels.end()) continue;
    const auto depth = static_cast<std::size_t>(at - topology.levels.begin());
    for (const NodeId id : state.pools.at(pool).nodes) {
      if (!view.node(id).is_ready) continue;
      for (const model::TopologyPath& path : view.node(id).node->topology) {
        if (path.topology != name || path.domains.size() <= depth) continue;
        std::string domain;  // the whole path: rack-1 of hall-1 is not rack-1 of hall-2
        for (std::size_t i = 0; i <= depth; ++i)
          domain += path.domains[i] + "/";
        domains[domain].push_back(id);
      }
    }
  }
  return domains;
}

// The domain that fits and has the fewest whole free devices; the fullest trial when none fits.
PoolTrial place_in_domains(const State& state, ClusterView& view, const Request& request,
                           PoolId pool, const std::string& level) {
  const auto domains = domains_at(state, view, pool, level);
  const std::size_t mark = view.mark();
  const std::vector<NodeId>* best = nullptr;
  std::int64_t best_whole = 0;
  PoolTrial fullest;
  fullest.short_group = 0;
  for (const auto& [domain, nodes] : domains) {
    std::int64_t whole = 0;
    for (const NodeId id : nodes)
      whole += view.node(id).whole;
    if (best != nullptr && whole >= best_whole) continue;
    PoolTrial trial = PoolPlacer(state, view, request, pool, &nodes).run();
    view.rollback(mark);
    if (trial.is_complete()) {
      best = &nodes;
      best_whole = whole;
    } else if (trial.placed > fullest.placed) {
      fullest = std::move(trial);
    }
  }
  if (best == nullptr) return fullest;
  return PoolPlacer(state, view, request, pool, best).run();
}

PoolTrial place_anywhere(const State& state, ClusterView& view, const Request& request,
                         PoolId pool) {
  const model::TopologyRequest& topology = request.workload->constraints.topology;
  if (!topology.required.empty())
    return place_in_domains(state, view, request, pool, topology.required);
  if (!topology.preferred.empty()) {
    const std::size_t mark = view.mark();
    PoolTrial trial = place_in_domains(state, view, request, pool, topology.preferred);
    if (trial.is_complete()) return trial;
    view.rollback(mark);
  }
  return PoolPlacer(state, view, request, pool, nullptr).run();
}

std::size_t most_options(const Workload& workload) {
  std::size_t most = 0;
  for (const TaskGroup& group : workload.groups)
    most = std::max(most, group.device_options.size());
  return most;
}

}  // namespace

// First member by member with whatever option comes first; what the first members took of a better
// option may leave too little for the others, so then every option is tried for all members alike.
PoolTrial place_in_pool(const State& state, ClusterView& view, const Request& request,
                        PoolId pool) {
  const std::size_t mark = view.mark();
  PoolTrial trial = place_anywhere(state, view, request, pool);
  const std::size_t options = most_options(*request.workload);
  for (std::size_t i = 0; options > 1 && i < options && !trial.is_complete(); ++i) {
    view.rollback(mark);
    Request restricted = request;
    restricted.only_option = i;
    PoolTrial other = place_anywhere(state, view, restricted, pool);
    if (other.is_complete() || other.placed > trial.placed) trial = std::move(other);
  }
  return trial;
}

bool is_filled_node_by_node(const Workload& workload, std::int64_t need) {
  if (workload.groups.size() != 1) return false;
  const auto& options = workload.groups.front().device_options;
  return options.size() <= 1 && (need == 1 || options.empty() || options.front().slice.empty());
}

bool surely_too_small(const ClusterView& view, const Workload& workload, PoolId pool) {
  std::int64_t needed = 0;
  for (const TaskGroup& group : workload.groups) {
    if (group.members == 0 || group.min_members == 0) continue;
    if (group.device_options.size() != 1 || !asks_whole(group)) continue;
    const std::int64_t count = group.device_options.front().count.value;
    if (view.most_whole(pool) < count) return true;
    needed += count * group.min_members;
  }
  return needed > view.pool(pool).whole;
}

}  // namespace scheduling::internal
