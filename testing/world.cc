#include "testing/world.h"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "lifecycle/apply.h"
#include "lifecycle/retry.h"
#include "policy/request_mix.h"

namespace testkit {

namespace {

// More rounds than any small world needs at one instant; beyond it the planner is going in circles.
constexpr int kMaxRounds = 2000;

template <class Id, class Table>
Id id_for(const std::map<std::string, Id, std::less<>>& names, const std::string& name,
          const Table& table) {
  const auto found = names.find(name);
  return found != names.end() ? found->second : table.next_id();
}

template <class Id>
Id known(const std::map<std::string, Id, std::less<>>& names, const std::string& name) {
  const auto found = names.find(name);
  ASSERT(found != names.end());
  return found->second;
}

}  // namespace

World::World(WorldOptions options)
    : options_(options),
      state_(std::make_unique<model::State>()),
      planner_(std::make_unique<scheduling::Planner>(*state_)) {}

World::~World() = default;

void World::record(model::EventBody body, std::string actor) {
  model::Event event{.sequence = model::Sequence(state_->last_sequence.value + 1),
                     .at = now_,
                     .actor = std::move(actor),
                     .body = std::move(body)};
  if (before_event) before_event(event);
  lifecycle::apply(*state_, event);
  planner_->observe(event);
  journal_.push_back(std::move(event));
  carry_out_stops();
  if (after_event) after_event(journal_.back());
}

model::PoolId World::define(const PoolSpec& spec) {
  model::Pool pool = spec.pool;
  if (pool.id.is_none()) pool.id = id_for(state_->pool_by_name, pool.name, state_->pools);
  if (!spec.parent.empty()) pool.parent = known(state_->pool_by_name, spec.parent);
  record(model::PoolDefined{pool});
  return pool.id;
}

model::QueueId World::define(const QueueBuilder& builder) {
  model::Queue queue = builder.queue();
  if (queue.id.is_none()) queue.id = id_for(state_->queue_by_name, queue.name, state_->queues);
  if (const auto slash = queue.name.rfind('/'); slash != std::string::npos)
    queue.parent = known(state_->queue_by_name, queue.name.substr(0, slash));
  for (const QuotaSpec& row : builder.quotas()) {
    const model::PoolId pool = known(state_->pool_by_name, row.pool);
    queue.quotas.push_back({{pool, row.resource}, row.guarantee, row.lend, row.max});
  }
  std::sort(queue.quotas.begin(), queue.quotas.end(),
            [](const auto& a, const auto& b) { return a.dimension < b.dimension; });
  record(model::QueueDefined{queue});
  return queue.id;
}

model::ClassId World::define(model::WorkloadClass workload_class) {
  if (workload_class.id.is_none())
    workload_class.id = id_for(state_->class_by_name, workload_class.name, state_->classes);
  const model::ClassId id = workload_class.id;
  record(model::ClassDefined{std::move(workload_class)});
  return id;
}

void World::define(const model::PolicySet& policy) { record(model::PolicyChanged{policy}); }

model::NodeId World::see(const NodeBuilder& builder) {
  model::Node node = builder.node();
  const auto found = state_->node_by_name.find(node.name);
  if (node.id.is_none())
    node.id = found != state_->node_by_name.end() ? found->second : state_->next_node;
  node.pool = known(state_->pool_by_name, builder.pool());
  const model::NodeId id = node.id;
  record(model::NodeSeen{std::move(node)});
  return id;
}

model::Workload World::resolved(const WorkloadBuilder& builder) const {
  const WorkloadSpec& spec = builder.spec();
  model::Workload workload = spec.workload;
  workload.queue = known(state_->queue_by_name, spec.queue);
  workload.workload_class = known(state_->class_by_name, spec.class_name);
  for (const std::string& pool : spec.pools)
    workload.constraints.pools.push_back(known(state_->pool_by_name, pool));
  workload.submitted = now_;
  return workload;
}

model::WorkloadId World::submit(const WorkloadBuilder& builder) {
  model::Workload workload = resolved(builder);
  workload.id = state_->next_workload;
  const model::WorkloadId id = workload.id;
  names_[workload.name] = id;
  std::string user = workload.user;
  record(model::WorkloadSubmitted{std::move(workload)}, std::move(user));
  return id;
}

void World::cancel(model::WorkloadId workload) { record(model::CancelRequested{workload}); }
void World::hold(model::WorkloadId workload) { record(model::WorkloadHeld{workload}); }
void World::release(model::WorkloadId workload) { record(model::WorkloadReleased{workload}); }

// A lost node takes its members with it: the backend says so at once, for every attempt there.
void World::set_condition(model::NodeId node, model::NodeCondition condition) {
  record(model::NodeConditionChanged{node, condition, {}});
  if (condition != model::NodeCondition::Lost) return;
  const std::vector<model::AttemptId> there = state_->nodes.at(node).attempts;
  for (const model::AttemptId attempt : there) {
    const model::WorkloadRecord& owner = state_->workloads.at(attempt.workload);
    if (owner.live_attempt() == nullptr || owner.live_attempt()->id != attempt) continue;
    forget_reports_of(attempt);
    deliver({now_, attempt, Report::Ended, model::EndClass::NodeLost, 0});
  }
}

void World::set_health(model::NodeId node, std::int32_t device, model::Health health) {
  record(model::DeviceHealthChanged{node, device, health, {}});
}

void World::end(model::WorkloadId workload, model::EndClass end_class, std::int32_t exit_code) {
  const model::WorkloadRecord* found = state_->workloads.find(workload);
  if (found == nullptr || found->live_attempt() == nullptr) return;
  const model::AttemptId attempt = found->live_attempt()->id;
  forget_reports_of(attempt);
  deliver({now_, attempt, Report::Ended, end_class, exit_code});
}

void World::runs_for(model::WorkloadId workload, base::Duration duration) {
  durations_[workload] = duration;
}

scheduling::Cycle World::cycle_of(scheduling::Question question) const {
  return {.now = now_, .seed = options_.seed, .question = std::move(question), .budget = {}};
}

model::Plan World::plan_only() const {
  return planner_->plan(state_->policy, cycle_of(scheduling::RunNow{}));
}

model::Plan World::plan_fresh() const {
  return scheduling::Planner(*state_).plan(state_->policy, cycle_of(scheduling::RunNow{}));
}

model::Plan World::ask(const scheduling::Question& question) const {
  return planner_->plan(state_->policy, cycle_of(question));
}

model::Plan World::cycle() {
  if (policy::is_mix_due(*state_)) record(model::MixChanged{policy::mix_of(*state_)});
  model::Plan plan = plan_only();
  if (before_plan_applies) before_plan_applies(plan);
  for (const model::Decision& decision : plan.decisions) {
    record(model::Decided{decision});
    carry_out(decision);
  }
  plans_.push_back(plan);
  return plan;
}

void World::carry_out(const model::Decision& decision) {
  if (const auto* start = std::get_if<model::Start>(&decision.body)) {
    agenda_.insert({now_ + options_.start_delay, start->attempt, Report::Running});
    const auto duration = durations_.find(start->attempt.workload);
    if (duration != durations_.end())
      agenda_.insert({now_ + options_.start_delay + duration->second, start->attempt, Report::Ended,
                      model::EndClass::Ok, 0});
  }
}

// The backend is told to stop whatever State says is stopping: evicted, cancelled, or a gang that
// fell below its minimum. Once for each attempt: a stop that is under way stays as it is.
void World::carry_out_stops() {
  const auto stop = [this](model::AttemptId attempt, model::Reason cause) {
    if (stopping_.insert(attempt).second) {
      forget_reports_of(attempt);
      agenda_.insert(
          {now_ + options_.stop_delay, attempt, Report::Ended, lifecycle::end_class_of(cause), 0});
    }
  };
  const auto look_at = [&](model::WorkloadId workload) {
    const model::WorkloadRecord* record = state_->workloads.find(workload);
    const model::Attempt* live = record == nullptr ? nullptr : record->live_attempt();
    if (live != nullptr && live->phase == model::AttemptPhase::Stopping)
      stop(live->id, live->stop_cause);
  };
  const model::EventBody& body = journal_.back().body;
  if (const auto* cancelled = std::get_if<model::CancelRequested>(&body))
    look_at(cancelled->workload);
  else if (const auto* ended = std::get_if<model::MembersEnded>(&body))
    look_at(ended->attempt.workload);
  else if (const auto* decided = std::get_if<model::Decided>(&body))
    if (const auto* evict = std::get_if<model::Evict>(&decided->decision.body))
      for (const model::AttemptId victim : evict->victims)
        look_at(victim.workload);
}

void World::forget_reports_of(model::AttemptId attempt) {
  std::erase_if(agenda_, [&](const Due& due) { return due.attempt == attempt; });
}

void World::deliver(const Due& due) {
  if (due.report == Report::Running) return record(model::AttemptRunning{due.attempt});
  const model::WorkloadRecord& owner = state_->workloads.at(due.attempt.workload);
  ASSERT(owner.live_attempt() != nullptr && owner.live_attempt()->id == due.attempt);
  model::MembersEnded ended{.attempt = due.attempt, .members = {}};
  const auto members = static_cast<std::int32_t>(owner.live_attempt()->placement.members.size());
  for (std::int32_t rank = 0; rank < members; ++rank)
    ended.members.push_back({.rank = rank, .end_class = due.end_class, .exit_code = due.exit_code});
  record(std::move(ended));
}

bool World::deliver_due() {
  bool has_delivered = false;
  while (!agenda_.empty() && agenda_.begin()->at <= now_) {
    const Due due = *agenda_.begin();
    agenda_.erase(agenda_.begin());
    deliver(due);
    has_delivered = true;
  }
  return has_delivered;
}

void World::settle() {
  for (int round = 0; round < kMaxRounds; ++round) {
    const bool has_delivered = deliver_due();
    if (!options_.plans_by_itself) return;
    const model::Plan plan = cycle();
    if (plan.decisions.empty() && !has_delivered && !plan.is_cut_short) return;
  }
  throw std::runtime_error("the planner decides for ever at one instant");
}

void World::advance_to(base::Instant t) {
  ASSERT(t >= now_);
  settle();
  for (int round = 0; round < kMaxRounds; ++round) {
    base::Instant next = t;
    if (!agenda_.empty()) next = std::min(next, agenda_.begin()->at);
    if (options_.plans_by_itself) {
      const base::Instant due = planner_->next_due(now_);
      if (due <= now_) throw std::runtime_error("next_due() is not after a settled instant");
      next = std::min(next, due);
    }
    now_ = next;
    settle();
    if (now_ == t) return;
  }
  throw std::runtime_error("too much falls due in one advance");
}

const model::WorkloadRecord& World::record_of(model::WorkloadId workload) const {
  return state_->workloads.at(workload);
}

model::Phase World::phase_of(model::WorkloadId workload) const { return record_of(workload).phase; }

model::WorkloadId World::workload_named(std::string_view name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? model::WorkloadId{} : found->second;
}

}  // namespace testkit
