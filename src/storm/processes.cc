#include "storm/processes.h"

#include <algorithm>
#include <utility>

#include "platform/fault_point.h"

namespace storm {

namespace {

constexpr base::Duration kRetryEvery = base::seconds(1);  // as the daemon's loop

}  // namespace

Processes::~Processes() = default;

const controller::Controller* Processes::serving() const {
  return serving_ == nullptr ? nullptr : serving_->controller.get();
}

void Processes::deliver(const controller::Observation& observation) {
  if (serving_ != nullptr) serving_->inbox.push_back(observation);
  for (const auto& process : replaced_)
    process->inbox.push_back(observation);
}

void Processes::boot(base::Instant now) {
  ++counts_.boots;
  boot_at_ = now + base::seconds(2);
  if (around_.disk.loses_power()) {
    for (auto& process : std::exchange(replaced_, {}))
      end(std::move(process), now);
    around_.disk.cut_power();
  }
  auto process = std::make_unique<Process>();
  process->id = next_++;
  process->store = open_journal();
  if (process->store == nullptr) return;
  around_.watch.expect_nothing_lost(*process->store);
  process->link = std::make_unique<Link>(around_.wire, around_.machines, process->id);
  scheduling::Budget budget;
  if (around_.swarm.step_budget > 0) budget.steps = around_.swarm.step_budget;
  process->controller = std::make_unique<controller::Controller>(
      controller::ControllerOptions{
          .version = "storm",
          .seed = around_.seed,
          .checkpoint_every_events = around_.swarm.checkpoint_every_events,
          .budget = budget},
      *process->store, std::vector<controller::ClusterBackend*>{process->link.get()});
  // Attached before it asks what exists, so that what happens in between is told.
  serving_ = std::move(process);
  if (!recover(*serving_, now)) return end(std::move(serving_), now);
}

// Null: it could not be opened, or the process died of it.
std::unique_ptr<controller::Store> Processes::open_journal() {
  try {
    const platform::FaultDeciderScope scope(around_.plan);
    auto opened = around_.disk.open();
    if (opened) return std::move(*opened);
    if (opened.error().code == base::Code::DataLoss)
      around_.violations.add("23 the journal is damaged", "{}", base::to_text(opened.error()));
  } catch (const Killed&) {
    ++counts_.deaths;
  }
  return nullptr;
}

bool Processes::recover(Process& process, base::Instant now) {
  try {
    const platform::FaultDeciderScope scope(around_.plan);
    around_.disk.before_append([this, now] { let_old_ones_act(now); });
    const bool is_up = process.controller->recover(clock(now)).has_value();
    around_.disk.before_append({});
    // It took the journal over, so nobody may have written behind its back.
    if (process.controller->is_fenced())
      around_.violations.add("8 the newest controller is fenced", "process {} at its start",
                             process.id);
    if (!is_up) return false;
  } catch (const Killed&) {
    around_.disk.before_append({});
    ++counts_.deaths;
    return false;
  }
  around_.watch.catch_up(*process.store);
  around_.orders.judge(around_.watch.state());
  process.link->watch(
      [&process](controller::Observation seen) { process.inbox.push_back(std::move(seen)); });
  return true;
}

bool Processes::is_due(const Process& process, base::Instant now) const {
  if (process.stopped_until > now) return false;
  if (!process.inbox.empty() || !process.has_turned_since_wake) return true;
  // As the daemon's loop: while the journal cannot be written, only now and then.
  return process.controller->is_degraded() ? process.retry_at <= now
                                           : process.controller->next_due() <= clock(now);
}

base::Instant Processes::next_due(base::Instant now) const {
  base::Instant due = serving_ == nullptr ? boot_at_ : base::kNever;
  const auto consider = [&](const Process& process) {
    if (process.stopped_until > now) {
      due = std::min(due, process.stopped_until);
      return;
    }
    if (!process.inbox.empty() || !process.has_turned_since_wake) due = std::min(due, now);
    due = std::min(due, process.controller->is_degraded()
                            ? process.retry_at
                            : process.controller->next_due() - clock_error_);
  };
  if (serving_ != nullptr) {
    consider(*serving_);
    due = std::min(due, around_.clients.next_due());
  }
  for (const auto& process : replaced_)
    consider(*process);
  return std::max(due, now);
}

void Processes::advance(base::Instant now) {
  if (serving_ == nullptr && boot_at_ <= now) boot(now);
  if (serving_ != nullptr && (is_due(*serving_, now) || around_.clients.next_due() <= now))
    turn(*serving_, now);
  for (std::size_t i = 0; i < replaced_.size();) {
    if (!is_due(*replaced_[i], now)) {
      ++i;
      continue;
    }
    turn_replaced(i, now);
  }
}

void Processes::turn_replaced(std::size_t index, base::Instant now) {
  auto process = std::move(replaced_[index]);
  replaced_.erase(replaced_.begin() + static_cast<std::ptrdiff_t>(index));
  turn(*process, now);
  if (process->controller == nullptr) return;  // it died
  counts_.fenced += process->controller->is_fenced();
  end(std::move(process), now);
}

// The worst moment for it: the new one has read the journal and has not written to it yet.
void Processes::let_old_ones_act(base::Instant now) {
  while (!replaced_.empty() && around_.plan.twists("controller.overtaken"))
    turn_replaced(0, now);
}

void Processes::turn(Process& process, base::Instant now) {
  ++counts_.turns;
  const bool is_replaced = &process != serving_.get();
  process.has_turned_since_wake = true;
  controller::Inbox inbox{.commands = {}, .observations = std::exchange(process.inbox, {})};
  // Somebody still knows the old address.
  inbox.commands = around_.clients.take(now, process.id);
  if (is_replaced)
    inbox.commands.emplace_back(
        controller::Command{.body = controller::Cancel{model::WorkloadId(999'999)},
                            .caller = {.user = "late", .role = controller::Role::Admin}},
        [this](const base::Result<controller::Reply>& reply) {
          if (reply) around_.violations.add("8 two controllers serve", "the older one answered");
        });
  const model::Sequence before = around_.watch.state().last_sequence;
  const bool is_older = process.controller->state().epoch < around_.watch.state().epoch;
  try {
    const platform::FaultDeciderScope scope(around_.plan);
    process.controller->turn(clock(now), std::move(inbox));
  } catch (const Killed&) {
    ++counts_.deaths;
    std::unique_ptr<Process> dead;
    if (is_replaced) {
      around_.clients.lose_process(process.id, now);
      around_.wire.drop_process(process.id);
      process.controller.reset();
      process.store.reset();
    } else {
      end(std::move(serving_), now);
    }
    return;
  }
  process.retry_at = now + kRetryEvery;
  around_.clients.expect_all_answered(process.id);
  if (process.controller->is_degraded()) {
    ++counts_.failed_commits;
    if (!is_replaced && process.controller->is_fenced())
      around_.violations.add("8 the newest controller is fenced", "process {}", process.id);
    return;
  }
  around_.watch.catch_up(*process.store);
  around_.orders.judge(around_.watch.state());
  // Where nobody took the journal over after all, the old one is still the only one.
  if (is_replaced && is_older && around_.watch.state().last_sequence != before)
    around_.violations.add("8 two controllers serve", "an older one wrote events after {}",
                           before.value);
  if (!is_replaced) around_.watch.look(*process.controller, clock(now));
}

void Processes::end(std::unique_ptr<Process> process, base::Instant now) {
  around_.clients.lose_process(process->id, now);
  around_.wire.drop_process(process->id);
  process->controller.reset();
  process->store.reset();
  boot_at_ = std::max(boot_at_, now + base::seconds(2));
}

void Processes::kill(base::Instant now, base::Duration down_for) {
  if (serving_ == nullptr) return;
  ++counts_.deaths;
  end(std::move(serving_), now);
  boot_at_ = now + down_for;
}

void Processes::take_over(base::Instant now, base::Duration pause) {
  if (serving_ == nullptr || !replaced_.empty()) return;
  ++counts_.takeovers;
  serving_->stopped_until = now + pause;
  serving_->has_turned_since_wake = false;
  replaced_.push_back(std::move(serving_));
  boot_at_ = now;
}

void Processes::wake_all() {
  boot_at_ = {};
  for (const auto& process : replaced_)
    process->stopped_until = {};
}

}  // namespace storm
