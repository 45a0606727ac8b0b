#include "storm/watch.h"

#include <limits>
#include <vector>

#include "base/codec.h"
#include "base/json_text.h"
#include "controller/replay.h"
#include "invariants/explanation_check.h"
#include "invariants/state_check.h"
#include "lifecycle/apply.h"
#include "lifecycle/checkpoint.h"

namespace storm {

namespace {

constexpr std::uint64_t kPurpose = 4;
constexpr std::size_t kEverything = std::numeric_limits<std::size_t>::max();
constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
// One turn of so many is looked at whole.
constexpr std::uint64_t kLookEvery = 24;
// Of so many openings, one reads the journal from its beginning.
constexpr std::uint64_t kRereadEvery = 8;

invariants::Violation located(invariants::Violation violation, const model::Event& event) {
  violation.text +=
      fmt::format(", with event {} ({})", event.sequence.value, model::kind_of(event));
  return violation;
}

bool starts_in_free_room(const model::Explanation& why) {
  return why.verdict == model::Verdict::Starts && !why.steps.empty() &&
         why.steps.back().test != model::Test::Victims;
}

std::string brief(const auto& record) { return base::to_json(record).substr(0, 6000); }

}  // namespace

void WatchCounts::add(const WatchCounts& other) {
  events += other.events;
  starts += other.starts;
  evictions += other.evictions;
  waits += other.waits;
  full_checks += other.full_checks;
  plans_compared += other.plans_compared;
  explanations += other.explanations;
  states_compared += other.states_compared;
}

Watch::Watch(base::Seed seed, Violations& violations)
    : random_(base::Random(seed).fork(kPurpose)), violations_(violations), ledger_(state_) {}

std::string Watch::digest() const { return controller::to_hex(head_); }

void Watch::acknowledge(model::Sequence sequence) {
  acknowledged_ = std::max(acknowledged_, sequence);
}

void Watch::expect(model::Sequence sequence, std::function<void(const model::Event&)> check) {
  if (sequence > state_.last_sequence) expected_.emplace(sequence, std::move(check));
}

bool Watch::catch_up(controller::Store& store) {
  const auto read =
      store.read(state_.last_sequence, kEverything, [this](const model::Event& event) {
        follow(event);
        return true;
      });
  if (!read && read.error().code == base::Code::DataLoss)
    violations_.add("23 the journal is damaged", "{}", base::to_text(read.error()));
  if (read && acknowledged_ > state_.last_sequence)
    violations_.add("25 an answer was not durable", "event {} was acknowledged, the last is {}",
                    acknowledged_.value, state_.last_sequence.value);
  return read.has_value();
}

void Watch::follow(const model::Event& event) {
  journal_.before(state_, event);
  lifecycle::apply(state_, event);
  journal_.after(state_, event);
  ledger_.observe(state_, event);
  for (; journal_seen_ < journal_.violations().size(); ++journal_seen_)
    violations_.add(located(journal_.violations()[journal_seen_], event));
  for (const invariants::Violation& violation : events_.after(state_, event))
    violations_.add(located(violation, event));
  head_ = controller::next_link(head_, base::encode(event));
  if (event.sequence.value % 16 == 0) links_[event.sequence.value] = head_;
  ++counts_.events;
  if (listener_) listener_(event);
  follow_submission(event);
  while (const auto expected = expected_.extract(event.sequence))
    expected.mapped()(event);
  const auto* decided = std::get_if<model::Decided>(&event.body);
  if (decided == nullptr) return;
  const model::DecisionBody& body = decided->decision.body;
  if (std::holds_alternative<model::Start>(body)) ++counts_.starts;
  if (std::holds_alternative<model::Wait>(body)) ++counts_.waits;
  if (const auto* evict = std::get_if<model::Evict>(&body))
    counts_.evictions += static_cast<std::int64_t>(evict->victims.size());
}

// One key, one workload, for as long as the workload is remembered.
void Watch::follow_submission(const model::Event& event) {
  if (std::holds_alternative<model::WorkloadsForgotten>(event.body)) {
    std::erase_if(by_key_, [this](const auto& entry) {
      return state_.workloads.find(entry.second) == nullptr;
    });
    return;
  }
  const auto* submitted = std::get_if<model::WorkloadSubmitted>(&event.body);
  if (submitted == nullptr || submitted->workload.request_key.empty()) return;
  const auto [known, is_new] =
      by_key_.try_emplace(submitted->workload.request_key, submitted->workload.id);
  if (!is_new)
    violations_.add("8 a request made two workloads", "key {}: {} and {}",
                    submitted->workload.request_key, known->second.value,
                    submitted->workload.id.value);
}

void Watch::expect_nothing_lost(controller::Store& store) {
  const auto last = store.last_sequence();
  if (!last) return;
  if (*last < state_.last_sequence || *last < acknowledged_) {
    violations_.add("25 committed events are gone", "the journal ends with {}, {} was read before",
                    last->value, std::max(state_.last_sequence, acknowledged_).value);
    return;
  }
  if (!random_.chance(1, kRereadEvery)) return;
  controller::ChainLink link{};
  const auto read = store.read({}, kEverything, [&](const model::Event& event) {
    link = controller::next_link(link, base::encode(event));
    const auto known = links_.find(event.sequence.value);
    if (known != links_.end() && known->second != link)
      violations_.add("23 the past has changed", "event {} or one before it", event.sequence.value);
    return true;
  });
  if (!read && read.error().code == base::Code::DataLoss)
    violations_.add("23 the journal is damaged", "{}", base::to_text(read.error()));
}

namespace {

// A plan that was cut short goes on at once; the controller's time never goes back, so that after a
// jump of the clock "at once" lies ahead of it.
bool has_settled(const controller::Controller& controller, base::Instant now) {
  return controller.next_due() > std::max(now, controller.state().now);
}

}  // namespace

void Watch::look(const controller::Controller& controller, base::Instant now) {
  if (!random_.chance(1, kLookEvery)) return;
  check_whole_state();
  for (invariants::Violation& violation : invariants::check_after_plan(state_, now))
    violations_.add(std::move(violation));
  compare_states(controller);
  compare_plans(controller, now);
  if (has_settled(controller, now)) check_explanations(controller, now, 3);
}

void Watch::look_at_everything(const controller::Controller& controller, base::Instant now) {
  check_whole_state();
  compare_states(controller);
  compare_plans(controller, now);
  if (has_settled(controller, now)) check_explanations(controller, now, kAll);
  check_checkpoint();
  check_ledger();
  const auto replayed = controller::replay(controller.store(), controller::ReplayFrom::Beginning);
  if (!replayed)
    violations_.add("25 the journal does not replay", "{}", base::to_text(replayed.error()));
  else if (!(replayed->state == controller.state()))
    violations_.add("25 State differs from replay", "at event {}",
                    controller.state().last_sequence.value);
  const auto short_way = controller::replay(controller.store());
  if (short_way && !(short_way->state == controller.state()))
    violations_.add("25 a checkpoint gives another State", "at event {}",
                    controller.state().last_sequence.value);
}

void Watch::check_whole_state() {
  ++counts_.full_checks;
  for (invariants::Violation& violation : invariants::check(state_))
    violations_.add(std::move(violation));
}

void Watch::compare_states(const controller::Controller& controller) {
  ++counts_.states_compared;
  if (!(controller.state() == state_))
    violations_.add("25 State differs from replay", "at event {} of {}",
                    controller.state().last_sequence.value, state_.last_sequence.value);
}

void Watch::compare_plans(const controller::Controller& controller, base::Instant now) {
  ++counts_.plans_compared;
  const model::Plan lived = controller.ask(now, scheduling::RunNow{});
  const model::Plan fresh = controller.ask_fresh(now, scheduling::RunNow{});
  if (base::encode(lived) == base::encode(fresh)) return;
  violations_.add("25 an incremental planner plans otherwise", "lived {}\n  fresh {}", brief(lived),
                  brief(fresh));
}

void Watch::check_explanations(const controller::Controller& controller, base::Instant now,
                               std::int64_t at_most) {
  const model::State& state = controller.state();
  std::vector<model::WorkloadId> queued;
  state.workloads.each([&queued](model::WorkloadId id, const model::WorkloadRecord& record) {
    if (record.phase == model::Phase::Queued) queued.push_back(id);
  });
  const auto count = static_cast<std::int64_t>(queued.size());
  for (std::int64_t i = 0; i < std::min(count, at_most); ++i) {
    const auto place = at_most < count ? static_cast<std::size_t>(random_.below(queued.size()))
                                       : static_cast<std::size_t>(i);
    const model::WorkloadId id = queued[place];
    ++counts_.explanations;
    const model::Plan plan = controller.ask(now, scheduling::Why{id});
    if (!plan.answer) {
      violations_.add("24 waits without an explanation", "workload {}", id.value);
      continue;
    }
    check_told(state.workloads.at(id), *plan.answer);
    // Taking back may wait for the queue's head, a back-off or an equal one; free room may not.
    if (starts_in_free_room(*plan.answer))
      violations_.add("18 could start and waits", "workload {}: {}", id.value, brief(*plan.answer));
    for (const std::string& difference : invariants::check_explanation(
             state, state.policy, state.workloads.at(id), *plan.answer, std::max(now, state.now)))
      violations_.add("24 an untrue explanation", "workload {}: {}\n  {}", id.value, difference,
                      brief(*plan.answer));
  }
}

// Who waits was told what for, and is told anew when that changes; being held or backing off is
// seen in the workload itself and is no decision. That it is a quota which bars the room that
// victims would make only a search finds out; what is waited for is victims.
void Watch::check_told(const model::WorkloadRecord& record, const model::Explanation& why) {
  using enum model::Reason;
  const model::Reason reason = model::reason_of(why);
  if (why.verdict == model::Verdict::Starts || reason == Held || reason == BackOff) return;
  const bool is_barred = why.steps.back().test == model::Test::Victims &&
                         (reason == GuaranteeOfOther || reason == QueueMax);
  if (!model::is_same_wait(record.wait_reason, is_barred ? NotEnoughVictims : reason))
    violations_.add("24 was told another reason", "workload {}: {}, but {}\n  {}",
                    record.workload.id.value, base::name_of(record.wait_reason),
                    base::name_of(reason), brief(why));
}

void Watch::check_checkpoint() {
  const std::string bytes = lifecycle::encode_checkpoint(state_);
  const auto restored = lifecycle::decode_checkpoint(bytes);
  if (!restored || !(*restored == state_) || lifecycle::encode_checkpoint(*restored) != bytes)
    violations_.add("25 a checkpoint gives another State", "at event {}",
                    state_.last_sequence.value);
}

// Every device-millisecond is in one column, exactly.
void Watch::check_ledger() {
  for (const governance::CapacityLine& line : ledger_.capacity({}, state_.now)) {
    const governance::CapacityCounts& counts = line.counts;
    if (counts.allocated + counts.unallocated + counts.down != counts.installed)
      violations_.add("21 device-time is lost", "pool {}: {} + {} + {} of {}", line.pool.value,
                      counts.allocated, counts.unallocated, counts.down, counts.installed);
  }
}

}  // namespace storm
