#include "controller/controller.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "controller/internal/core.h"
#include "controller/replay.h"
#include "lifecycle/apply.h"
#include "lifecycle/checkpoint.h"
#include "platform/fault_point.h"
#include "platform/log.h"
#include "policy/request_mix.h"

namespace controller {

namespace {

// Events after which planning gives what it gave before.
template <class Body>
constexpr bool is_irrelevant_to_planning =
    std::is_same_v<Body, model::CommandRefused> || std::is_same_v<Body, model::AttemptRunning> ||
    std::is_same_v<Body, model::Decided> || std::is_same_v<Body, model::WorkloadsForgotten> ||
    std::is_same_v<Body, model::MixChanged>;

void count(ControllerCounters& counters, const model::Decision& decision) {
  if (std::holds_alternative<model::Start>(decision.body)) ++counters.starts;
  if (std::holds_alternative<model::Wait>(decision.body)) ++counters.waits;
  if (const auto* evict = std::get_if<model::Evict>(&decision.body))
    counters.evictions += static_cast<std::int64_t>(evict->victims.size());
}

}  // namespace

Controller::Parts::Parts(ControllerOptions with, Store& journal,
                         std::vector<ClusterBackend*> backends_of_all)
    : options(std::move(with)),
      store(journal),
      backends(std::move(backends_of_all)),
      planner(std::make_unique<scheduling::Planner>(state)) {}

model::Sequence Controller::Parts::record(model::EventBody body, std::string actor) {
  model::Event& event = batch.events.emplace_back(
      model::Event{.sequence = model::Sequence(state.last_sequence.value + 1),
                   .at = now,
                   .actor = std::move(actor),
                   .body = std::move(body)});
  lifecycle::apply(state, event);
  planner->observe(event);
  note_intents(event);
  std::visit(
      [this]<class Body>(const Body&) {
        if constexpr (!is_irrelevant_to_planning<Body>) batch.must_plan = true;
      },
      event.body);
  return event.sequence;
}

void Controller::Parts::plan() {
  static_cast<void>(FAULT("controller.before_plan"));
  model::Plan plan = planner->plan(state.policy, {.now = now,
                                                  .seed = options.seed,
                                                  .question = scheduling::RunNow{},
                                                  .budget = options.budget});
  ++counters.plans;
  for (model::Decision& decision : plan.decisions) {
    count(counters, decision);
    record(model::Decided{std::move(decision)});
  }
  static_cast<void>(FAULT("controller.after_plan"));
  due = plan.is_cut_short ? now : std::max(planner->next_due(now), now + base::milliseconds(1));
}

// A finished workload is forgotten at latest an hour after its time, so that a stream of ends gives
// one event an hour and not one each.
base::Instant Controller::Parts::retention_due() const {
  if (state.finished.empty()) return base::kNever;
  const base::Duration keeps = state.policy.keeps_finished;
  const base::Duration slack{std::min(keeps.millis / 16, base::hours(1).millis)};
  return state.finished.begin()->first + keeps + slack;
}

void Controller::Parts::forget_finished() {
  if (retention_due() > now) return;
  model::WorkloadsForgotten forgotten;
  for (const auto& [at, workload] : state.finished) {
    if (at + state.policy.keeps_finished > now) break;
    forgotten.workloads.push_back(workload);
  }
  if (!forgotten.workloads.empty()) record(std::move(forgotten));
}

base::Result<base::Done> Controller::Parts::commit() {
  if (!batch.events.empty()) {
    static_cast<void>(FAULT("controller.before_commit"));
    auto appended = store.append(batch.events);
    if (!appended) {
      note_failed_append(batch.events.size(), appended.error());
      const Batch undone = std::exchange(batch, {});
      must_rebuild = true;
      static_cast<void>(rebuild());
      for (const auto& [answer, reply] : undone.answers)
        answer(tl::unexpected(appended.error()));
      return appended;
    }
    events_since_checkpoint += static_cast<std::int64_t>(batch.events.size());
    counters.events += static_cast<std::int64_t>(batch.events.size());
  }
  static_cast<void>(FAULT("controller.after_commit"));
  is_degraded = false;
  last_failure.reset();
  const Batch done = std::exchange(batch, {});
  if (listener && !done.events.empty()) listener(done.events);
  for (const auto& [answer, reply] : done.answers) {
    static_cast<void>(FAULT("controller.before_answer"));
    answer(reply);
    static_cast<void>(FAULT("controller.after_answer"));
  }
  carry_out_intents(done.intents);
  return base::Done{};
}

void Controller::Parts::note_failed_append(std::size_t events, const base::Error& error) {
  ++counters.failed_commits;
  is_degraded = true;
  is_fenced = error.code == base::Code::Conflict;
  last_failure = error;
  LOG(Error, "commit_failed", {"events", events}, {"error", base::to_text(error)});
}

bool Controller::Parts::resume() {
  const model::Event event{
      .sequence = model::Sequence(state.last_sequence.value + 1),
      .at = now,
      .actor = {},
      .body = model::CommandRefused{.command = "commit",
                                    .code = std::string(base::code_name(last_failure->code)),
                                    .message = base::to_text(*last_failure)}};
  const std::vector<model::Event> events{event};
  if (auto appended = store.append(events); !appended) {
    note_failed_append(events.size(), appended.error());
    return false;
  }
  lifecycle::apply(state, event);
  planner->observe(event);
  ++events_since_checkpoint;
  ++counters.events;
  is_degraded = false;
  last_failure.reset();
  if (listener) listener(events);
  return true;
}

base::Result<base::Done> Controller::Parts::rebuild() {
  static_cast<void>(FAULT("controller.rebuild"));
  auto stored = replay(store);
  if (!stored) {
    LOG(Error, "rebuild_failed", {"error", base::to_text(stored.error())});
    last_failure = stored.error();
    return tl::unexpected(std::move(stored.error()));
  }
  planner.reset();
  state = std::move(stored->state);
  events_since_checkpoint = stored->events;
  planner = std::make_unique<scheduling::Planner>(state);
  must_rebuild = false;
  must_settle_nodes = true;
  // What the undone turn would have planned is planned by the next one.
  due = state.now;
  return base::Done{};
}

void Controller::Parts::write_checkpoint_if_due() {
  if (options.checkpoint_every_events <= 0 ||
      events_since_checkpoint < options.checkpoint_every_events)
    return;
  events_since_checkpoint = 0;
  static_cast<void>(FAULT("controller.before_checkpoint"));
  const auto written = store.write_checkpoint(
      {.sequence = state.last_sequence, .bytes = lifecycle::encode_checkpoint(state)});
  // The journal is complete without it; only the next restart takes longer.
  if (!written) LOG(Warning, "checkpoint_failed", {"error", base::to_text(written.error())});
  static_cast<void>(FAULT("controller.after_checkpoint"));
}

Controller::Controller(ControllerOptions options, Store& store,
                       std::vector<ClusterBackend*> backends)
    : parts_(std::make_unique<Parts>(std::move(options), store, std::move(backends))) {}
Controller::~Controller() = default;

void Controller::turn(base::Instant now, Inbox inbox) {
  Parts& parts = *parts_;
  ++parts.counters.turns;
  auto observations = std::exchange(parts.kept_observations, {});
  std::ranges::move(inbox.observations, std::back_inserter(observations));
  const auto is_up = [&parts, now] {
    if (parts.is_fenced || (parts.must_rebuild && !parts.rebuild())) return false;
    parts.now = std::max(now, parts.state.now);
    return !parts.is_degraded || parts.resume();
  };
  if (!is_up()) {
    for (const auto& [command, answer] : inbox.commands)
      answer(tl::unexpected(*parts.last_failure));
    parts.kept_observations = std::move(observations);
    return;
  }
  for (auto& [command, answer] : inbox.commands)
    parts.handle(command, std::move(answer));
  for (const Observation& observation : observations)
    parts.observe(observation);
  if (std::exchange(parts.must_settle_nodes, false)) parts.settle_all_nodes();
  parts.forget_finished();
  if (policy::is_mix_due(parts.state)) parts.record(model::MixChanged{policy::mix_of(parts.state)});
  if (parts.batch.must_plan || parts.due <= parts.now)
    parts.plan();
  else if (!parts.batch.events.empty())
    parts.due = parts.planner->next_due(parts.now);
  if (!parts.commit()) {
    parts.kept_observations = std::move(observations);
    return;
  }
  parts.write_checkpoint_if_due();
}

base::Instant Controller::next_due() const {
  return std::min(parts_->due, parts_->retention_due());
}

bool Controller::is_degraded() const { return parts_->is_degraded; }
bool Controller::is_fenced() const { return parts_->is_fenced; }
const model::State& Controller::state() const { return parts_->state; }

model::Plan Controller::ask(base::Instant now, const scheduling::Question& question) const {
  return parts_->planner->plan(parts_->state.policy, parts_->cycle_of(now, question));
}

model::Plan Controller::ask_fresh(base::Instant now, const scheduling::Question& question) const {
  const scheduling::Planner fresh(parts_->state);
  return fresh.plan(parts_->state.policy, parts_->cycle_of(now, question));
}

scheduling::Cycle Controller::Parts::cycle_of(base::Instant at,
                                              const scheduling::Question& question) const {
  return {.now = std::max(at, state.now),
          .seed = options.seed,
          .question = question,
          .budget = options.budget};
}

void Controller::on_commit(std::function<void(const std::vector<model::Event>&)> listener) {
  parts_->listener = std::move(listener);
}

const ControllerCounters& Controller::counters() const { return parts_->counters; }

ClusterBackend* Controller::backend_of(const model::Attempt& attempt) const {
  return parts_->backend_of(attempt);
}

Store& Controller::store() const { return parts_->store; }

}  // namespace controller
