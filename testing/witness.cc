#include "testing/witness.h"

#include <utility>

#include <fmt/format.h>

#include "base/codec.h"
#include "base/json_text.h"
#include "invariants/explanation_check.h"
#include "invariants/state_check.h"
#include "lifecycle/apply.h"
#include "lifecycle/checkpoint.h"

namespace testkit {

namespace {

constexpr int kMaxFaults = 20;

std::string brief(const model::Explanation& explanation) { return base::to_json(explanation); }

}  // namespace

Witness::Witness(World& world, WitnessOptions options) : world_(world), options_(options) {
  world_.before_event = [this](const model::Event& event) {
    if (options_.checks_journal) journal_.before(world_.state(), event);
  };
  world_.after_event = [this](const model::Event& event) {
    if (options_.checks_journal) journal_.after(world_.state(), event);
    for (; journal_faults_ < journal_.violations().size(); ++journal_faults_)
      note(invariants::to_text({journal_.violations()[journal_faults_]}));
    if (!options_.checks_state || count_ >= kMaxFaults) return;
    const auto violations = invariants::check(world_.state());
    if (!violations.empty())
      note(fmt::format("after event {} ({}): {}", event.sequence.value, model::kind_of(event),
                       invariants::to_text(violations)));
  };
  world_.before_plan_applies = [this](const model::Plan& plan) {
    if (options_.checks_fresh_planner) compare_with_fresh(plan);
  };
}

void Witness::note(std::string text) {
  if (++count_ > kMaxFaults) return;
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  faults_ += fmt::format("at {} ms: {}\n", (world_.now() - kStart).millis, text);
}

void Witness::compare_with_fresh(const model::Plan& plan) {
  model::Plan fresh = world_.plan_fresh();
  if (!options_.checks_charged_steps) fresh.steps = plan.steps;
  if (base::encode(plan) == base::encode(fresh)) return;
  note(fmt::format(
      "an incremental planner and a fresh one differ\n  incremental {}\n  fresh       {}",
      base::to_json(plan), base::to_json(fresh)));
}

void Witness::look_at_rest() {
  const model::State& state = world_.state();
  state.workloads.each([&](model::WorkloadId id, const model::WorkloadRecord& record) {
    if (!options_.checks_explanations || record.phase != model::Phase::Queued) return;
    const model::Plan answer = world_.ask(scheduling::Why{id});
    if (!answer.answer)
      return note(fmt::format("workload {} waits and has no explanation", id.value));
    const model::Explanation& why = *answer.answer;
    if (why.verdict == model::Verdict::Starts)
      note(fmt::format("workload {} could start and waits: {}", id.value, brief(why)));
    for (const std::string& difference :
         invariants::check_explanation(state, state.policy, record, why, world_.now()))
      note(fmt::format("workload {}: {}\n  {}", id.value, difference, brief(why)));
  });
}

void Witness::look_at_records() {
  model::State replayed;
  for (const model::Event& event : world_.journal()) {
    const auto decoded = base::decode<model::Event>(base::encode(event));
    if (!decoded) return note("an event does not decode: " + base::to_text(decoded.error()));
    if (!(*decoded == event))
      note(fmt::format("event {} decodes to another one", event.sequence.value));
    lifecycle::apply(replayed, *decoded);
  }
  if (!(replayed == world_.state())) note("the journal, applied again, gives another State");
  const std::string bytes = lifecycle::encode_checkpoint(world_.state());
  const auto restored = lifecycle::decode_checkpoint(bytes);
  if (!restored) return note("the checkpoint does not decode: " + base::to_text(restored.error()));
  if (!(*restored == world_.state())) note("the checkpoint gives another State");
  if (lifecycle::encode_checkpoint(*restored) != bytes) note("the checkpoint is not stable");
  // A planner that starts from the checkpoint plans as the one that lived through everything.
  const scheduling::Planner planner(*restored);
  model::Plan plan = planner.plan(
      restored->policy,
      {.now = world_.now(), .seed = base::Seed{7}, .question = scheduling::RunNow{}, .budget = {}});
  const model::Plan lived = world_.plan_only();
  if (!options_.checks_charged_steps) plan.steps = lived.steps;
  if (base::encode(plan) != base::encode(lived))
    note("a planner from the checkpoint plans otherwise");
}

}  // namespace testkit
