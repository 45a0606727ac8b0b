// What backends tell, turned into events only where State would change. Backends may repeat
// themselves; a repeated observation costs a comparison and leaves no event.

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "controller/internal/core.h"
#include "platform/log.h"

namespace controller {

namespace {

using model::NodeCondition;

// Begins the note of a condition that a person set; such a condition stays until a person lifts
// it, whatever the backend reports.
constexpr std::string_view kByPerson = "by ";

bool is_set_by_person(const model::Node& node) {
  return node.condition != NodeCondition::Ready && node.condition_note.starts_with(kByPerson);
}

struct PoolChoice {
  model::PoolId pool;
  std::string problem;  // why the node may take no work there; empty: it may
};

bool matches(const model::Pool& pool, const model::Node& node) {
  if (pool.selector.empty()) return false;
  return std::ranges::all_of(pool.selector, [&node](const auto& wanted) {
    const auto found = node.attributes.find(wanted.first);
    return found != node.attributes.end() && found->second == wanted.second;
  });
}

// The first leaf by id whose selector matches, else "default", else the first leaf.
PoolChoice pool_by_rule(const model::State& state, const model::Node& node) {
  model::PoolId first_leaf, selected;
  state.pools.each([&](model::PoolId id, const model::PoolRecord& record) {
    if (!record.children.empty()) return;
    if (first_leaf.is_none()) first_leaf = id;
    if (selected.is_none() && matches(record.pool, node)) selected = id;
  });
  if (selected) return {.pool = selected, .problem = {}};
  const auto standard = state.pool_by_name.find("default");
  if (standard != state.pool_by_name.end() && state.pools.at(standard->second).children.empty())
    return {.pool = standard->second, .problem = {}};
  return {.pool = first_leaf, .problem = {}};
}

PoolChoice choose_pool(const model::State& state, const NodeReport& report) {
  PoolChoice choice = pool_by_rule(state, report.node);
  if (!report.pool.empty()) {
    const auto named = state.pool_by_name.find(report.pool);
    if (named == state.pool_by_name.end())
      choice.problem = fmt::format("pool {} is not defined", report.pool);
    else if (!state.pools.at(named->second).children.empty())
      choice.problem = fmt::format("pool {} has pools of its own", report.pool);
    else
      choice.pool = named->second;
  }
  if (choice.pool.is_none()) return choice;
  // Members of one attempt are in one pool and are started by one backend.
  for (const model::NodeId id : state.pools.at(choice.pool).nodes) {
    const model::Node& other = state.nodes.at(id).node;
    if (other.name == report.node.name) continue;
    if (other.backend != report.node.backend)
      choice.problem = fmt::format("pool {} belongs to backend {}",
                                   state.pools.at(choice.pool).pool.name, other.backend);
    break;
  }
  return choice;
}

// Devices keep their index for as long as the node is known, because placements name them by it:
// reported ones stand where they stood, vanished ones stay and take no work, new ones follow.
std::vector<model::Device> in_known_order(const std::vector<model::Device>& known,
                                          std::vector<model::Device> reported) {
  std::vector<model::Device> ordered;
  for (const model::Device& device : known) {
    const auto found = std::ranges::find(reported, device.uuid, &model::Device::uuid);
    if (found != reported.end()) {
      ordered.push_back(std::move(*found));
      reported.erase(found);
    } else {
      ordered.push_back(device);
      ordered.back().health = model::Health::Separate;
    }
  }
  std::ranges::move(reported, std::back_inserter(ordered));
  return ordered;
}

}  // namespace

void Controller::Parts::observe(const Observation& observation) {
  std::visit([this](const auto& report) { observe(report); }, observation);
}

void Controller::Parts::observe(const NodeReport& report) {
  const auto [known, is_new] = reported_nodes.try_emplace(report.node.name, report);
  if (!is_new) {
    if (known->second.node == report.node && known->second.pool == report.pool) return;
    known->second = report;
  }
  settle_node(known->second);
}

void Controller::Parts::observe(const NodeConditionReport& report) {
  const auto known = reported_nodes.find(report.node);
  if (known == reported_nodes.end()) return;  // its first report will say
  known->second.node.condition = report.condition;
  known->second.node.condition_note = report.note;
  settle_node(known->second);
}

void Controller::Parts::observe(const DeviceHealthReport& report) {
  const auto reported = reported_nodes.find(report.node);
  const auto id = state.node_by_name.find(report.node);
  if (reported == reported_nodes.end() || id == state.node_by_name.end()) return;
  auto& devices = reported->second.node.devices;
  if (report.device < 0 || static_cast<std::size_t>(report.device) >= devices.size()) {
    LOG(Warning, "unknown_device", {"node", report.node}, {"device", report.device});
    return;
  }
  model::Device& device = devices[static_cast<std::size_t>(report.device)];
  device.health = report.health;
  const auto& known = state.nodes.at(id->second).node.devices;
  const auto place = std::ranges::find(known, device.uuid, &model::Device::uuid);
  if (place == known.end() || place->health == report.health) return;
  record(model::DeviceHealthChanged{.node = id->second,
                                    .device = static_cast<std::int32_t>(place - known.begin()),
                                    .health = report.health,
                                    .note = report.note});
}

void Controller::Parts::settle_node(const NodeReport& report) {
  model::Node node = report.node;
  if (node.backend.empty() && backends.size() == 1) node.backend = backends.front()->name();
  const PoolChoice choice = choose_pool(state, {.node = node, .pool = report.pool});
  if (choice.pool.is_none()) return;  // no pool at all yet; settled when one is defined
  node.pool = choice.pool;
  if (!choice.problem.empty() && node.condition == NodeCondition::Ready) {
    node.condition = NodeCondition::Cordoned;
    node.condition_note = choice.problem;
  }
  const auto id = state.node_by_name.find(node.name);
  if (id == state.node_by_name.end()) {
    node.id = state.next_node;
    record(model::NodeSeen{std::move(node)});
    return;
  }
  const model::Node& known = state.nodes.at(id->second).node;
  if (known.backend != node.backend) {
    LOG(Warning, "node_name_taken", {"node", node.name}, {"backend", known.backend},
        {"refused", node.backend});
    return;
  }
  node.id = id->second;
  node.devices = in_known_order(known.devices, std::move(node.devices));
  const auto condition = is_set_by_person(known) ? known.condition : node.condition;
  const std::string note =
      is_set_by_person(known) ? known.condition_note : std::move(node.condition_note);
  node.condition = known.condition;
  node.condition_note = known.condition_note;
  const bool is_other_condition = condition != known.condition || note != known.condition_note;
  if (node == known) {
    if (is_other_condition)
      record(model::NodeConditionChanged{.node = node.id, .condition = condition, .note = note});
    return;
  }
  node.condition = condition;
  node.condition_note = note;
  record(model::NodeSeen{std::move(node)});
}

void Controller::Parts::settle_all_nodes() {
  for (const auto& [name, report] : reported_nodes)
    settle_node(report);
}

void Controller::Parts::observe(const RunningReport& report) {
  const model::Attempt* attempt = find_attempt(report.attempt);
  if (attempt == nullptr || attempt->phase != model::AttemptPhase::Starting) return;
  record(model::AttemptRunning{.attempt = report.attempt});
}

void Controller::Parts::observe(const EndReport& report) {
  const model::Attempt* attempt = find_attempt(report.attempt);
  if (attempt == nullptr || attempt->phase == model::AttemptPhase::Ended) {
    // Committed long ago, or never known: the backend need not keep it.
    batch.intents.push_back({.kind = Intent::Kind::Forget, .attempt = report.attempt});
    return;
  }
  model::MembersEnded ended{.attempt = report.attempt, .members = {}};
  std::set<std::int32_t> seen;
  for (const model::MemberEnd& end : attempt->member_ends)
    seen.insert(end.rank);
  for (const model::MemberEnd& end : report.members) {
    const bool is_member =
        end.rank >= 0 && static_cast<std::size_t>(end.rank) < attempt->placement.members.size();
    if (is_member && seen.insert(end.rank).second) ended.members.push_back(end);
  }
  if (!ended.members.empty()) record(std::move(ended));
}

}  // namespace controller
