#include "scheduling/internal/explaining.h"

#include <algorithm>
#include <map>

#include "policy/eligibility.h"
#include "policy/time_limit.h"

namespace scheduling::internal {

using model::Attempt;
using model::Dimension;
using model::Holder;
using model::NodeId;
using model::Outcome;
using model::PoolId;
using model::QueueId;
using model::Reason;
using model::Rejection;
using model::State;
using model::Step;
using model::Test;
using model::Workload;
using model::WorkloadClass;
using model::WorkloadId;
using model::WorkloadRecord;

namespace {

constexpr std::size_t kMaxExamples = 3;

class Rejections {
 public:
  void add(Reason reason, NodeId node) {
    Rejection& row = rows_[reason];
    row.reason = reason;
    ++row.count;
    // The lowest ids, in whatever order the nodes come.
    const auto at = std::ranges::lower_bound(row.examples, node);
    if (at == row.examples.end() && row.examples.size() == kMaxExamples) return;
    row.examples.insert(at, node);
    if (row.examples.size() > kMaxExamples) row.examples.pop_back();
  }
  std::vector<Rejection> rows() const {
    std::vector<Rejection> all;
    for (const auto& [reason, row] : rows_)
      all.push_back(row);
    return all;
  }

 private:
  std::map<Reason, Rejection> rows_;
};

// The end of the attempt by its enforced limit; nothing without one, or before it runs.
std::optional<base::Instant> limit_end(const State& state, const WorkloadRecord& record) {
  const Attempt& attempt = record.attempts.back();
  const auto limit =
      policy::enforced_limit(record.workload, state.classes.at(record.workload.workload_class));
  if (!limit || !attempt.running_since) return std::nullopt;
  return *attempt.running_since + *limit;
}

}  // namespace

void keep_largest(std::vector<Holder>& holders) {
  const auto is_before = [](const Holder& a, const Holder& b) {
    if (a.amount != b.amount) return a.amount > b.amount;
    return a.workload != b.workload ? a.workload < b.workload : a.queue < b.queue;
  };
  const auto kept = static_cast<std::ptrdiff_t>(std::min(holders.size(), model::kMaxHolders));
  std::ranges::partial_sort(holders, holders.begin() + kept, is_before);
  holders.resize(static_cast<std::size_t>(kept));
}

Reason infeasible_reason(const State& state, const EquivalenceClass& equals) {
  const bool has_nodes = std::ranges::any_of(equals.pools, [&](const PoolFacts& facts) {
    return !state.pools.at(facts.pool).nodes.empty();
  });
  if (!has_nodes) return Reason::NoSuchPool;
  return equals.could_fit == 0 ? Reason::NoNodeFits : Reason::TooFewNodesFit;
}

Step feasible_step(const State& state, const Workload& workload, const EquivalenceClass& equals) {
  Step step{.test = Test::Feasible,
            .dimension = {},
            .queue = {},
            .limit = {},
            .holders = {},
            .rejected = {},
            .until = {}};
  step.need = equals.need;
  step.have = equals.could_fit;
  if (equals.could_fit >= equals.need) return step;
  Rejections rejections;
  for (const PoolFacts& facts : equals.pools) {
    for (const NodeId id : state.pools.at(facts.pool).nodes) {
      const model::Node& node = state.nodes.at(id).node;
      for (const model::TaskGroup& group : workload.groups) {
        if (group.members == 0) continue;
        const Reason reason = policy::never_fits(node, group, workload.constraints);
        if (reason == Reason::None) continue;
        rejections.add(reason, id);
        break;
      }
    }
  }
  step.rejected = rejections.rows();
  return step;
}

Step quota_step(Test test, Reason reason, QueueId queue, Dimension dimension, std::int64_t need,
                std::int64_t have, std::int64_t limit) {
  Step step{.test = test,
            .dimension = dimension,
            .queue = queue,
            .limit = limit,
            .holders = {},
            .rejected = {},
            .until = {}};
  step.outcome = reason == Reason::None ? Outcome::Passed : Outcome::Failed;
  step.reason = reason;
  step.need = need;
  step.have = have;
  return step;
}

std::vector<Holder> holders_in_queue(const State& state, QueueId queue, Dimension dimension) {
  std::vector<Holder> holders;
  state.pools.each([&](PoolId, const model::PoolRecord& pool) {
    const auto& path = pool.path;
    if (std::ranges::find(path, dimension.pool) == path.end()) return;
    for (const NodeId node : pool.nodes) {
      for (const model::AttemptId& id : state.nodes.at(node).attempts) {
        const WorkloadRecord& record = state.workloads.at(id.workload);
        const auto& queue_path = state.queues.at(record.workload.queue).path;
        if (std::ranges::find(queue_path, queue) == queue_path.end()) continue;
        const std::int64_t amount = record.attempts.back().charge.of(dimension);
        if (amount == 0 ||
            std::ranges::find(holders, id.workload, &Holder::workload) != holders.end())
          continue;
        holders.push_back({.workload = id.workload,
                           .queue = record.workload.queue,
                           .amount = amount,
                           .until = limit_end(state, record)});
      }
    }
  });
  keep_largest(holders);
  return holders;
}

std::vector<Holder> keepers(const State& state, const policy::QuotaTable& quotas, QueueId own,
                            Dimension dimension) {
  std::vector<Holder> holders;
  state.queues.each([&](QueueId id, const model::QueueRecord& record) {
    if (id == own || !record.children.empty()) return;
    const policy::QuotaTerms terms = quotas.of(id, dimension);
    const std::int64_t kept = terms.guarantee - terms.lend - record.held.of(dimension);
    if (kept > 0) holders.push_back({.workload = {}, .queue = id, .amount = kept, .until = {}});
  });
  keep_largest(holders);
  return holders;
}

PlaceFailure place_failure(const TrialWorld& world, const Workload& workload,
                           const PoolFacts& facts) {
  const auto is_short = [&](model::ResourceId resource) {
    const Dimension d{facts.pool, resource};
    return facts.ask.of(d) > world.quotas.free(d);
  };
  const std::pair<model::ResourceId, Reason> known[] = {{model::kDevice, Reason::NotEnoughFree},
                                                        {model::kCpu, Reason::NotEnoughCpu},
                                                        {model::kMemory, Reason::NotEnoughMemory}};
  for (const auto& [resource, reason] : known)
    if (is_short(resource)) return {reason, {facts.pool, resource}};
  for (const auto& a : facts.ask.amounts())
    if (a.dimension.pool == facts.pool && is_short(a.dimension.resource))
      return {Reason::NotEnoughOther, a.dimension};
  const bool asks_device = facts.ask.of({facts.pool, model::kDevice}) > 0;
  const Dimension dimension{facts.pool, asks_device ? model::kDevice : model::kCpu};
  const bool has_topology = !workload.constraints.topology.required.empty();
  return {has_topology ? Reason::TopologyTooSmall : Reason::DeviceFragmented, dimension};
}

Step place_passed_step(const PoolFacts& facts, std::int64_t need, std::int64_t have) {
  const bool asks_device = facts.ask.of({facts.pool, model::kDevice}) > 0;
  Step step{.test = Test::Place,
            .dimension = Dimension{facts.pool, asks_device ? model::kDevice : model::kCpu},
            .queue = {},
            .limit = {},
            .holders = {},
            .rejected = {},
            .until = {}};
  step.need = need;
  step.have = have;
  return step;
}

namespace {

std::vector<Rejection> rejected_nodes(const TrialWorld& world, const Request& request, PoolId pool,
                                      std::int32_t group) {
  const Workload& workload = *request.workload;
  const model::TaskGroup& tasks = workload.groups[static_cast<std::size_t>(group)];
  const GlanceAsk ask = glance_ask(tasks);
  Rejections rejections;
  for (const auto& [shape, nodes] : world.state.pools.at(pool).shapes) {
    if (nodes.empty()) continue;
    const Reason never =
        policy::never_fits(world.state.nodes.at(nodes.front()).node, tasks, workload.constraints);
    for (const NodeId id : nodes) {
      const auto known = rejection_at_a_glance(world.view.free_at(id), ask, never);
      const Reason reason =
          known ? *known : rejection(world.state, world.view.node(id), request, group, never);
      if (reason != Reason::None) rejections.add(reason, id);
    }
  }
  return rejections.rows();
}

std::vector<Holder> largest_holders(const TrialWorld& world, Dimension dimension) {
  std::vector<Holder> holders;
  const auto live = world.live.by_amount.find(dimension);
  if (live == world.live.by_amount.end()) return holders;
  for (const auto& [minus_amount, workload] : live->second) {
    if (holders.size() == model::kMaxHolders) break;
    holders.push_back({.workload = workload,
                       .queue = world.state.workloads.at(workload).workload.queue,
                       .amount = -minus_amount,
                       .until = {}});
  }
  return holders;
}

}  // namespace

Step place_failed_step(const TrialWorld& world, const Taker& taker, const Request& request,
                       const PlaceFailure& failure, const PoolTrial& trial, std::int64_t need) {
  Step step{.test = Test::Place,
            .dimension = failure.dimension,
            .queue = {},
            .limit = {},
            .holders = {},
            .rejected = {},
            .until = {}};
  step.outcome = Outcome::Failed;
  step.reason = failure.reason;
  step.need = need;
  step.have = trial.placed;
  step.rejected = rejected_nodes(world, request, taker.pool, std::max(0, trial.short_group));
  step.holders = largest_holders(world, failure.dimension);
  for (Holder& holder : step.holders) {
    const WorkloadRecord& record = world.state.workloads.at(holder.workload);
    const Protection protection = protection_of(world, taker, record, nullptr);
    holder.protection = protection.reason;
    holder.until =
        protection.reason == Reason::MinRuntime ? protection.until : limit_end(world.state, record);
  }
  return step;
}

}  // namespace scheduling::internal
