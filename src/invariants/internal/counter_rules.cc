#include <algorithm>
#include <set>
#include <tuple>

#include "invariants/internal/recount.h"
#include "invariants/internal/state_rules.h"

namespace invariants::internal {

using model::State;
using model::Usage;

namespace {

constexpr char kCounter[] = "10 counter differs from a recount";
constexpr char kIndex[] = "10 index differs from what it indexes";

void compare(const std::string& what, const Usage& kept, const Usage& counted, Findings& findings) {
  if (kept == counted) return;
  std::set<model::Dimension> dimensions;
  for (const auto& amount : kept.amounts())
    dimensions.insert(amount.dimension);
  for (const auto& amount : counted.amounts())
    dimensions.insert(amount.dimension);
  for (const model::Dimension dimension : dimensions)
    if (kept.of(dimension) != counted.of(dimension))
      findings.add(kCounter, "{} of pool {} resource {}: {} is kept, {} counted", what,
                   dimension.pool.value, dimension.resource.value, kept.of(dimension),
                   counted.of(dimension));
}

void compare(const std::string& what, const model::Quantities& kept,
             const model::Quantities& counted, Findings& findings) {
  if (kept == counted) return;
  for (const model::Quantities* side : {&kept, &counted})
    for (const auto& amount : side->amounts())
      if (kept.of(amount.resource) != counted.of(amount.resource))
        findings.add(kCounter, "{} resource {}: {} is kept, {} counted", what,
                     amount.resource.value, kept.of(amount.resource), counted.of(amount.resource));
}

void compare_device(const std::string& what, model::DeviceUse kept, const model::DeviceUse& counted,
                    Findings& findings) {
  std::sort(kept.occupants.begin(), kept.occupants.end(), [](const auto& a, const auto& b) {
    return std::tie(a.attempt, a.rank, a.slice_start) < std::tie(b.attempt, b.rank, b.slice_start);
  });
  if (kept == counted) return;
  findings.add(
      kCounter,
      "{}: kept {} milli {} bytes, secured {} and {}, {} occupants; counted {} {} {} {} {}", what,
      kept.milli.value, kept.memory.value, kept.secured_milli.value, kept.secured_memory.value,
      kept.occupants.size(), counted.milli.value, counted.memory.value, counted.secured_milli.value,
      counted.secured_memory.value, counted.occupants.size());
}

void compare_node(const model::NodeRecord& kept, const NodeCount& counted, Findings& findings) {
  const std::string who = fmt::format("node {}", kept.node.id.value);
  compare(who + " used", kept.used, counted.used, findings);
  compare(who + " secured", kept.secured, counted.secured, findings);
  if (kept.attempts != counted.attempts)
    findings.add(kCounter, "{} lists {} attempts, {} are there", who, kept.attempts.size(),
                 counted.attempts.size());
  if (kept.claims != counted.claims)
    findings.add(kCounter, "{} lists {} claims, {} are there", who, kept.claims.size(),
                 counted.claims.size());
  if (kept.devices.size() != kept.node.devices.size()) {
    findings.add(kCounter, "{} has {} devices but {} records of use", who, kept.node.devices.size(),
                 kept.devices.size());
    return;
  }
  for (std::size_t i = 0; i < kept.devices.size(); ++i)
    compare_device(fmt::format("{} device {}", who, i), kept.devices[i], counted.devices[i],
                   findings);
}

// held of a queue is its own and that of its children, nothing else.
void check_sums(const State& state, Findings& findings) {
  state.queues.each([&](model::QueueId id, const model::QueueRecord& record) {
    Usage own;
    each_live(state, [&](const model::WorkloadRecord& workload, const model::Attempt& attempt) {
      if (workload.workload.queue == id)
        own.add(charge_of(state, workload.workload, attempt.placement));
    });
    for (const auto& [claim_id, claim] : state.claims) {
      const model::Workload& owner = state.workloads.at(claim.owner).workload;
      if (owner.queue == id && claim.victims.empty())
        own.add(charge_of(state, owner, claim.placement));
    }
    for (const model::QueueId child : record.children)
      own.add(state.queues.at(child).held);
    compare(fmt::format("queue {} held, by children,", record.queue.name), record.held, own,
            findings);
  });
}

template <class Map, class Table, class NameOf>
void check_names(const char* what, const Map& names, const Table& table, NameOf&& name_of,
                 Findings& findings) {
  std::size_t listed = 0;
  table.each([&](auto id, const auto& value) {
    const auto found = names.find(name_of(value));
    if (found == names.end() || found->second != id)
      findings.add(kIndex, "{} {} is not found by its name", what, id.value);
    else
      ++listed;
  });
  if (listed != names.size())
    findings.add(kIndex, "{} names are known for {} {}s", names.size(), listed, what);
}

void check_pool_trees(const State& state, Findings& findings) {
  std::map<model::PoolId, std::vector<model::NodeId>> nodes;
  state.nodes.each([&](model::NodeId id, const model::NodeRecord& node) {
    nodes[node.node.pool].push_back(id);
  });
  state.pools.each([&](model::PoolId id, const model::PoolRecord& pool) {
    if (pool.nodes != nodes[id])
      findings.add(kIndex, "pool {} lists {} nodes, {} name it", pool.pool.name, pool.nodes.size(),
                   nodes[id].size());
    std::vector<model::NodeId> shaped;
    for (const auto& [shape, members] : pool.shapes)
      shaped.insert(shaped.end(), members.begin(), members.end());
    std::sort(shaped.begin(), shaped.end());
    if (shaped != pool.nodes)
      findings.add(kIndex, "pool {}: {} nodes have a shape", pool.pool.name, shaped.size());
    std::vector<model::PoolId> path{id}, children;
    for (model::PoolId up = pool.pool.parent; up; up = state.pools.at(up).pool.parent)
      path.push_back(up);
    state.pools.each([&](model::PoolId child, const model::PoolRecord& record) {
      if (record.pool.parent == id) children.push_back(child);
    });
    if (path != pool.path || children != pool.children)
      findings.add(kIndex, "pool {}: its path or children are wrong", pool.pool.name);
  });
}

void check_queue_tree(const State& state, Findings& findings) {
  state.queues.each([&](model::QueueId id, const model::QueueRecord& queue) {
    std::vector<model::QueueId> path{id}, children;
    for (model::QueueId up = queue.queue.parent; up; up = state.queues.at(up).queue.parent)
      path.push_back(up);
    state.queues.each([&](model::QueueId child, const model::QueueRecord& record) {
      if (record.queue.parent == id) children.push_back(child);
    });
    if (path != queue.path || children != queue.children)
      findings.add(kIndex, "queue {}: its path or children are wrong", queue.queue.name);
  });
}

}  // namespace

void check_counters(const State& state, Findings& findings) {
  const Recount counted = recount(state);
  state.nodes.each([&](model::NodeId id, const model::NodeRecord& node) {
    compare_node(node, counted.nodes.at(id), findings);
  });
  state.queues.each([&](model::QueueId id, const model::QueueRecord& queue) {
    const QueueCount& count = counted.queues.at(id);
    const std::string who = fmt::format("queue {}", queue.queue.name);
    compare(who + " held", queue.held, count.held, findings);
    compare(who + " claimed", queue.claimed, count.claimed, findings);
    compare(who + " pending", queue.pending, count.pending, findings);
  });
  compare("held", state.held, counted.held, findings);
  compare("free", state.free, counted.free, findings);
  compare("secured", state.secured, counted.secured, findings);
  each_live(state, [&](const model::WorkloadRecord& record, const model::Attempt& attempt) {
    compare("charge of attempt " + model::to_text(attempt.id), attempt.charge,
            charge_of(state, record.workload, attempt.placement), findings);
  });
  for (const auto& [id, claim] : state.claims)
    compare(fmt::format("charge of claim {}", id.value), claim.charge,
            charge_of(state, state.workloads.at(claim.owner).workload, claim.placement), findings);
  check_sums(state, findings);
}

void check_indexes(const State& state, Findings& findings) {
  check_names(
      "pool", state.pool_by_name, state.pools,
      [](const model::PoolRecord& r) { return r.pool.name; }, findings);
  check_names(
      "node", state.node_by_name, state.nodes,
      [](const model::NodeRecord& r) { return r.node.name; }, findings);
  check_names(
      "queue", state.queue_by_name, state.queues,
      [](const model::QueueRecord& r) { return r.queue.name; }, findings);
  check_names(
      "class", state.class_by_name, state.classes,
      [](const model::WorkloadClass& c) { return c.name; }, findings);
  std::map<std::pair<model::QueueId, std::string>, model::WorkloadId> names;
  state.workloads.each([&](model::WorkloadId id, const model::WorkloadRecord& record) {
    if (!record.workload.name.empty() && !is_finished(record.phase))
      names[{record.workload.queue, record.workload.name}] = id;
  });
  if (names != state.workload_by_name)
    findings.add(kIndex, "{} names of unfinished workloads are known, {} exist",
                 state.workload_by_name.size(), names.size());
  for (const auto& [key, id] : state.workload_by_request_key) {
    const model::WorkloadRecord* record = state.workloads.find(id);
    if (record == nullptr || record->workload.request_key != key)
      findings.add(kIndex, "a request key stands for workload {}, which does not have it",
                   id.value);
  }
  check_pool_trees(state, findings);
  check_queue_tree(state, findings);
}

}  // namespace invariants::internal
