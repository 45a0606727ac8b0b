#include "storm/world.h"

#include <algorithm>
#include <utility>

#include "storm/situations.h"

namespace storm {

namespace {

constexpr base::Instant kBeginning{1'764'547'200'000};
constexpr base::Duration kSettling = base::seconds(60);
// The longest honest wait: a back-off of an hour and its quarter, and claims that come to nothing.
constexpr base::Duration kLongestDrain = base::hours(30);
constexpr std::int64_t kMostStepsOfInstant = 3000;

// Can never run here, or may not: what is left waiting in an empty, healthy cluster.
bool is_lasting(model::Reason reason) {
  using enum model::Reason;
  switch (reason) {
    case NoSuchPool:
    case NoNodeFits:
    case TooFewNodesFit:
    case AboveQueueMax:
    case UnknownModel:
    case UnknownSlice:
    case GuaranteeOfOther:
    case OutsideGuarantee:
    case BehindHead:
    case GangIncomplete:
      return true;
    default:
      return false;
  }
}

// Of several groups or options only a search could say whether they fit together anywhere; for one
// of each, what does not fit into an empty cluster is known to be infeasible.
bool is_simple(const model::Workload& workload) {
  return workload.groups.size() == 1 && workload.groups[0].device_options.size() <= 1;
}

// Something waits for nothing but time.
bool has_backing_off(const model::State& state) {
  bool is_found = false;
  state.workloads.each([&](model::WorkloadId, const model::WorkloadRecord& record) {
    const bool is_backing_off =
        record.eligible_at > state.now || record.claim_allowed_at > state.now;
    is_found = is_found || (record.phase == model::Phase::Queued && is_backing_off);
  });
  return is_found;
}

}  // namespace

World::World(const Scenario& scenario)
    : scenario_(scenario),
      swarm_(swarm_of(scenario)),
      organisation_(scenario, swarm_),
      script_(script_of(scenario, swarm_)),
      now_(kBeginning),
      plan_(scenario, swarm_, [this] { return situation(); }),
      hardware_(violations_),
      machines_(
          {.name = "simulated", .start_delay = swarm_.start_delay, .stop_delay = swarm_.stop_delay},
          organisation_.nodes(), now_),
      orders_(violations_),
      wire_(machines_, hardware_, orders_, plan_),
      disk_(swarm_.journal, plan_, [this](base::Duration slept) { now_ = now_ + slept; }),
      watch_(scenario.seed, violations_),
      clients_(plan_, watch_, violations_),
      processes_({.swarm = swarm_,
                  .seed = scenario.seed,
                  .disk = disk_,
                  .wire = wire_,
                  .machines = machines_,
                  .clients = clients_,
                  .watch = watch_,
                  .orders = orders_,
                  .plan = plan_,
                  .violations = violations_}),
      happenings_({.organisation = organisation_,
                   .machines = machines_,
                   .hardware = hardware_,
                   .clients = clients_,
                   .processes = processes_,
                   .disk = disk_,
                   .watch = watch_,
                   .plan = plan_}) {
  machines_.on_change(
      [this](const backends::simulated::RunChange& change) { hardware_.see(change); });
  wire_.begin([this](const controller::Observation& seen) { processes_.deliver(seen); });
}

void World::on_event(std::function<void(const model::Event&)> listener) {
  watch_.on_event(std::move(listener));
}

std::int64_t World::situation() const {
  std::int64_t bits = 0;
  const auto set = [&bits](Situation situation, bool is_so) {
    if (is_so) bits |= std::int64_t{1} << static_cast<int>(situation);
  };
  const model::State& state = watch_.state();
  state.workloads.each([&](model::WorkloadId, const model::WorkloadRecord& record) {
    set(Situation::Starting, record.phase == model::Phase::Starting);
    set(Situation::Stopping, record.phase == model::Phase::Stopping);
    set(Situation::Queued, record.phase == model::Phase::Queued);
    set(Situation::Held, record.is_held && !model::is_finished(record.phase));
    set(Situation::BackingOff,
        record.phase == model::Phase::Queued && record.eligible_at > state.now);
  });
  set(Situation::Claimed, !state.claims.empty());
  state.nodes.each([&](model::NodeId, const model::NodeRecord& record) {
    set(Situation::NodeIll, record.node.condition != model::NodeCondition::Ready);
    for (const model::Device& device : record.node.devices)
      set(Situation::DeviceIll, device.health != model::Health::Ok);
  });
  const controller::Controller* serving = processes_.serving();
  set(Situation::Degraded, serving != nullptr && serving->is_degraded());
  set(Situation::NoController, serving == nullptr);
  set(Situation::TwoControllers, processes_.has_replaced());
  set(Situation::FirstMinute, now_ < kBeginning + base::minutes(1));
  set(Situation::Calm, bits == 0);
  return bits;
}

Outcome World::run() {
  for (const manifest::Document& document : organisation_.documents())
    clients_.ask({.body = controller::Apply{.document = document, .request_key = {}},
                  .caller = {.user = "root", .role = controller::Role::Admin}});
  for (std::int64_t act = 1; act <= kActs && !is_given_up_ && !has_seen_enough(); ++act)
    live_until(kBeginning + base::minutes(act * scenario_.minutes));
  counts_in_storm_ = watch_.counts();
  faults_in_storm_ = plan_.hits();
  settle();
  drain();
  return outcome();
}

bool World::has_seen_enough() const {
  return watch_.counts().starts >= kFewestStarts && watch_.counts().evictions >= kFewestEvictions &&
         plan_.hits() >= kFewestFaults;
}

bool World::step(base::Instant until) {
  base::Instant next = std::min({happenings_.next_due(), machines_.next_event_time(),
                                 wire_.next_due(), processes_.next_due(now_)});
  if (next_action_ < script_.size())
    next = std::min(next, kBeginning + script_[next_action_].after);
  if (next > until) {
    now_ = std::max(now_, until);
    return false;
  }
  if (next > now_) steps_at_instant_ = 0;
  now_ = std::max(now_, next);
  do_what_is_due();
  return !is_stuck();
}

void World::do_what_is_due() {
  machines_.advance(now_);
  happenings_.advance(now_);
  for (; next_action_ < script_.size() && kBeginning + script_[next_action_].after <= now_;
       ++next_action_)
    if (!plan_.is_stopped()) happenings_.carry_out(script_[next_action_], now_);
  machines_.advance(now_);
  wire_.advance(now_);
  processes_.advance(now_);
}

bool World::is_stuck() {
  // What follows a violation says little; the first one is looked for, and shrunk.
  if (!violations_.empty()) is_given_up_ = true;
  if (++steps_at_instant_ > kMostStepsOfInstant) {
    const auto since = [](base::Instant at) { return (at - kBeginning).millis; };
    const controller::Controller* serving = processes_.serving();
    violations_.add(
        "19 virtual time stands still",
        "at {} ms; due: happenings {}, machines {}, wire {}, processes {}, controller {} "
        "at its clock {}",
        since(now_), since(happenings_.next_due()), since(machines_.next_event_time()),
        since(wire_.next_due()), since(processes_.next_due(now_)),
        serving == nullptr ? -1 : since(serving->next_due()), since(processes_.clock(now_)));
    is_given_up_ = true;
  }
  return is_given_up_;
}

void World::live_until(base::Instant until) {
  while (!is_given_up_ && step(until)) {
  }
}

// The last fault is over: what is under way arrives, what was asked is answered, and State is what
// the machines say, first as broken as they are, then repaired.
void World::settle() {
  if (is_given_up_) return;
  plan_.stop();
  next_action_ = script_.size();
  live_until(now_ + kSettling);
  const controller::Controller* serving = processes_.serving();
  const bool is_quiet = wire_.next_due() == base::kNever;
  // What cannot be written down, with a full disk, is not believed either.
  const bool can_know = serving != nullptr && !serving->is_degraded();
  if (!is_given_up_ && is_quiet && can_know && serving->next_due() > now_)
    hardware_.compare_devices(machines_.nodes(), serving->state());
  happenings_.repair(now_);
  live_until(now_ + kSettling);
  if (!is_given_up_) expect_settled();
}

void World::expect_settled() {
  const controller::Controller* serving = processes_.serving();
  if (serving == nullptr || serving->is_degraded() || serving->is_fenced()) {
    violations_.add("19 no controller serves after the faults", "{} boots, {} deaths",
                    processes_.counts().boots, processes_.counts().deaths);
    is_given_up_ = true;
    return;
  }
  if (!clients_.is_idle())
    violations_.add("19 requests are open after the faults", "{}", clients_.open_count());
  const base::Instant clock = processes_.clock(now_);
  // Grace and a checkpoint's grace are the longest that a stop may take.
  const base::Duration patience = kSettling + base::seconds(60);
  serving->state().workloads.each([&](model::WorkloadId, const model::WorkloadRecord& record) {
    const model::Attempt* live = record.live_attempt();
    if (live == nullptr) return;
    const bool is_waiting = live->phase == model::AttemptPhase::Starting ||
                            live->phase == model::AttemptPhase::Stopping;
    const base::Instant since = live->stopping_since.value_or(live->decided);
    if (is_waiting && clock - since > patience)
      violations_.add("19 an effect never came", "attempt {} is {} for {} ms",
                      model::to_text(live->id), base::name_of(live->phase), (clock - since).millis);
  });
  const auto alive = hardware_.alive();
  for (const model::AttemptId attempt : alive) {
    const model::WorkloadRecord* record = serving->state().workloads.find(attempt.workload);
    const model::Attempt* live = record == nullptr ? nullptr : record->live_attempt();
    if (live == nullptr || live->id != attempt)
      violations_.add("3 ghost in truth", "attempt {} exists and State does not know it",
                      model::to_text(attempt));
  }
  hardware_.compare_devices(machines_.nodes(), serving->state());
  watch_.look_at_everything(*serving, clock);
}

bool World::is_drained() const {
  const controller::Controller* serving = processes_.serving();
  if (serving == nullptr || !hardware_.is_idle()) return false;
  bool is_empty = true;
  serving->state().workloads.each([&](model::WorkloadId, const model::WorkloadRecord& record) {
    is_empty = is_empty && record.live_attempt() == nullptr;
  });
  return is_empty && serving->state().claims.empty();
}

// Nothing is long any more: what runs ends a second later. All that can run gets its turn; a
// back-off or a claim's end is waited for.
void World::drain() {
  const base::Instant end = now_ + kLongestDrain;
  while (!is_given_up_ && now_ < end) {
    for (const model::AttemptId attempt : hardware_.alive())
      machines_.end_members(attempt, model::EndClass::Ok, 0);
    live_until(now_ + base::seconds(1));
    if (!is_drained()) continue;
    // Idle until something falls due by itself, or for good.
    const controller::Controller& serving = *processes_.serving();
    base::Instant next =
        std::min({machines_.next_event_time(), wire_.next_due(), processes_.next_due(now_)});
    if (next > serving.state().now + base::hours(2) || !has_backing_off(serving.state())) break;
    live_until(std::min(end, std::max(next, now_ + base::seconds(1))));
  }
  if (!is_given_up_) expect_drained();
}

void World::expect_drained() {
  const controller::Controller* serving = processes_.serving();
  if (serving == nullptr || !is_drained()) {
    violations_.add("17 queues do not drain", "{} attempts live after {} ms of nothing long",
                    hardware_.alive().size(), kLongestDrain.millis);
    return;
  }
  hardware_.compare(serving->state());
  if (const auto kept = machines_.list()) orders_.compare(*kept, serving->state());
  const base::Instant clock = processes_.clock(now_);
  serving->state().workloads.each([&](model::WorkloadId, const model::WorkloadRecord& record) {
    if (!model::is_finished(record.phase) && is_simple(record.workload)) expect_lasting(record);
  });
  for (const auto& [dimension, amount] : serving->state().held.amounts())
    violations_.add("10 held by nobody", "pool {} resource {}: {}", dimension.pool.value,
                    dimension.resource.value, amount);
  watch_.look_at_everything(*serving, clock);
}

// In each pool by itself it cannot run for a reason that no end of other work changes.
void World::expect_lasting(const model::WorkloadRecord& record) {
  const controller::Controller& serving = *processes_.serving();
  const base::Instant clock = processes_.clock(now_);
  const model::Plan why = serving.ask(clock, scheduling::Why{record.workload.id});
  const bool is_behind = why.answer && model::reason_of(*why.answer) == model::Reason::BehindHead;
  if (is_behind || record.is_held) return;
  serving.state().pools.each([&](model::PoolId pool, const model::PoolRecord& of) {
    const auto& accepted = record.workload.constraints.pools;
    const bool is_accepted =
        accepted.empty() || std::ranges::any_of(of.path, [&accepted](model::PoolId above) {
          return std::ranges::find(accepted, above) != accepted.end();
        });
    if (!of.children.empty() || of.nodes.empty() || !is_accepted) return;
    model::Workload alone = record.workload;
    alone.constraints.pools = {pool};
    const model::Plan plan = serving.ask(clock, scheduling::Fits{std::move(alone)});
    const model::Reason reason = plan.answer ? model::reason_of(*plan.answer) : model::Reason::None;
    if (!is_lasting(reason))
      violations_.add("17 waits in an empty cluster", "workload {} in pool {}: {}",
                      record.workload.id.value, of.pool.name, base::name_of(reason));
  });
}

Outcome World::outcome() const {
  Outcome outcome;
  outcome.seed = scenario_.seed.value;
  if (!violations_.empty()) outcome.violation = violations_.kept().front().invariant;
  outcome.report = invariants::to_text(violations_.kept());
  outcome.violations = violations_.count();
  outcome.starts = counts_in_storm_.starts;
  outcome.evictions = counts_in_storm_.evictions;
  outcome.faults = faults_in_storm_;
  outcome.turns = processes_.counts().turns;
  outcome.deaths = processes_.counts().deaths;
  outcome.takeovers = processes_.counts().takeovers;
  outcome.fenced = processes_.counts().fenced;
  outcome.failed_commits = processes_.counts().failed_commits;
  outcome.requests = clients_.answered();
  outcome.refused = clients_.refused();
  outcome.simulated_millis = (now_ - kBeginning).millis;
  outcome.watched = watch_.counts();
  outcome.coverage = plan_.coverage();
  outcome.digest = watch_.digest();
  if (!violations_.empty())
    for (const auto& [row, passage] : plan_.hits_made()) {
      outcome.hits_made.push_back(static_cast<std::int64_t>(row));
      outcome.hits_made.push_back(passage);
    }
  return outcome;
}

}  // namespace storm
