#include "backends/simulated/simulated_backend.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/text.h"

namespace backends::simulated {

using controller::EndReport;
using controller::RunningReport;
using model::AttemptId;
using model::EndClass;
using model::MemberEnd;

SimulatedBackend::SimulatedBackend(SimulatedOptions options,
                                   std::vector<controller::NodeReport> nodes, base::Instant now)
    : options_(std::move(options)), nodes_(std::move(nodes)), now_(now) {
  for (controller::NodeReport& report : nodes_)
    report.node.backend = options_.name;
}

std::string_view SimulatedBackend::name() const { return options_.name; }

void SimulatedBackend::watch(controller::ObservationSink sink) {
  sink_ = std::move(sink);
  for (const controller::NodeReport& report : nodes_)
    sink_(report);
}

base::Instant SimulatedBackend::next_event_time() const {
  return timers_.empty() ? base::kNever : timers_.top().at;
}

void SimulatedBackend::advance(base::Instant now) {
  while (!timers_.empty() && timers_.top().at <= now) {
    const Timer timer = timers_.top();
    timers_.pop();
    now_ = std::max(now_, timer.at);
    deliver(timer);
  }
  now_ = std::max(now_, now);
}

// A timer whose run has moved on since (stopped, ended, forgotten) is void.
void SimulatedBackend::deliver(const Timer& timer) {
  const auto found = runs_.find(timer.attempt);
  if (found == runs_.end()) return;
  Run& run = found->second;
  if (timer.due != Due::EndAgain && !run.is_ended && is_waiting(run)) {
    run.postponed.push_back(timer.due);
    return;
  }
  switch (timer.due) {
    case Due::Running:
      if (run.is_ended || run.is_stopping) return;
      run.is_running = true;
      run.running_since = now_;
      if (run.runtime != base::kForever)
        add_timer(now_ + run.runtime, timer.attempt, Due::Finished);
      report(RunningReport{timer.attempt});
      return;
    case Due::Finished:
      if (run.is_ended) return;
      saved_.erase(timer.attempt.workload);
      end_rest(timer.attempt, run, {.end_class = EndClass::Ok});
      return;
    case Due::Stopped:
      if (run.is_ended) return;
      keep_progress(timer.attempt, run);
      end_rest(timer.attempt, run, {.end_class = run.stop_class});
      return;
    case Due::EndAgain:
      report(EndReport{timer.attempt, run.ended});
      return;
  }
}

void SimulatedBackend::start(const controller::StartEffect& effect) {
  if (is_fenced(effect.epoch)) return;
  const auto [position, is_new] = runs_.try_emplace(effect.attempt);
  Run& run = position->second;
  if (!is_new) {
    if (!run.is_ended) return;
    if (run.nodes.empty()) {
      // Stopped before it began: only now the members are known that never were.
      run.nodes = effect.node_names;
      run.ended.clear();
      for (std::size_t rank = 0; rank < run.nodes.size(); ++rank)
        run.ended.push_back({.rank = static_cast<std::int32_t>(rank), .end_class = run.stop_class});
    }
    add_timer(now_, effect.attempt, Due::EndAgain);
    return;
  }
  run.nodes = effect.node_names;
  run.runtime = runtime_left(effect.workload);
  run.checkpoint_every = effect.workload.checkpoint.every;
  if (listener_) listener_({.attempt = effect.attempt, .began = true, .gone = {}});
  add_timer(now_ + options_.start_delay, effect.attempt, Due::Running);
}

void SimulatedBackend::stop(const controller::StopEffect& effect) {
  if (is_fenced(effect.epoch)) return;
  const auto [position, is_new] = runs_.try_emplace(effect.attempt);
  Run& run = position->second;
  if (is_new) {
    run.is_ended = true;
    run.stop_class = effect.end_class;
  }
  if (run.is_ended) {
    add_timer(now_, effect.attempt, Due::EndAgain);
    return;
  }
  if (run.is_stopping) return;
  run.is_stopping = true;
  run.stop_class = effect.end_class;
  run.saves_when_stopped = !effect.checkpoint_signal.empty() && effect.checkpoint_grace.millis > 0;
  const base::Duration longest =
      effect.grace + (run.saves_when_stopped ? effect.checkpoint_grace : base::Duration{});
  add_timer(now_ + std::min(options_.stop_delay, longest), effect.attempt, Due::Stopped);
}

void SimulatedBackend::fence(model::Epoch epoch) { static_cast<void>(is_fenced(epoch)); }

base::Result<std::vector<controller::AttemptReport>> SimulatedBackend::list() {
  std::vector<controller::AttemptReport> reports;
  reports.reserve(runs_.size());
  for (const auto& [attempt, run] : runs_)
    reports.push_back({.attempt = attempt, .is_running = run.is_running, .ended = run.ended});
  return reports;
}

void SimulatedBackend::forget(AttemptId attempt) {
  const auto found = runs_.find(attempt);
  if (found != runs_.end() && found->second.is_ended) runs_.erase(found);
}

base::Result<controller::LogChunk> SimulatedBackend::read_log(
    const controller::LogRequest& request) {
  return base::fail(base::Code::NotFound, "attempt {} is simulated and has no log",
                    model::to_text(request.attempt));
}

void SimulatedBackend::set_node_condition(std::string_view node, model::NodeCondition condition,
                                          std::string note) {
  controller::NodeReport& known = node_named(node);
  known.node.condition = condition;
  known.node.condition_note = note;
  report(controller::NodeConditionReport{std::string(node), condition, std::move(note)});
  // Out of sight is not gone: members on a paused node are reported when it is seen again.
  if (condition == model::NodeCondition::Lost && !is_paused(node)) end_on_node(node);
}

void SimulatedBackend::set_node(controller::NodeReport changed) {
  changed.node.backend = options_.name;
  const auto known =
      std::find_if(nodes_.begin(), nodes_.end(), [&changed](const controller::NodeReport& report) {
        return report.node.name == changed.node.name;
      });
  if (known == nodes_.end())
    nodes_.push_back(changed);
  else
    *known = changed;
  report(std::move(changed));
}

void SimulatedBackend::end_on_node(std::string_view node) {
  for (auto& [attempt, run] : runs_) {
    if (run.is_ended) continue;
    EndReport gone{.attempt = attempt};
    for (std::size_t i = 0; i < run.nodes.size(); ++i) {
      const auto rank = static_cast<std::int32_t>(i);
      if (run.nodes[i] == node && !has_ended(run, rank))
        gone.members.push_back({.rank = rank, .end_class = EndClass::NodeLost});
    }
    if (gone.members.empty()) continue;
    run.ended.insert(run.ended.end(), gone.members.begin(), gone.members.end());
    if (run.ended.size() == run.nodes.size()) {
      run.is_ended = true;
      keep_progress(attempt, run);
    }
    tell_gone(attempt, gone.members);
    report(std::move(gone));
  }
}

void SimulatedBackend::pause_node(std::string_view node) {
  static_cast<void>(node_named(node));
  paused_.insert(std::string(node));
}

bool SimulatedBackend::is_paused(std::string_view node) const { return paused_.contains(node); }

void SimulatedBackend::resume_node(std::string_view node) {
  const auto found = paused_.find(node);
  if (found == paused_.end()) return;
  paused_.erase(found);
  for (auto& [attempt, run] : runs_) {
    if (run.postponed.empty() || is_waiting(run)) continue;
    for (const Due due : std::exchange(run.postponed, {}))
      add_timer(now_, attempt, due);
  }
}

void SimulatedBackend::reboot_node(std::string_view node) {
  end_on_node(node);
  resume_node(node);
}

bool SimulatedBackend::has_ended(const Run& run, std::int32_t rank) const {
  return std::any_of(run.ended.begin(), run.ended.end(),
                     [rank](const MemberEnd& end) { return end.rank == rank; });
}

bool SimulatedBackend::is_waiting(const Run& run) const {
  if (paused_.empty()) return false;
  for (std::size_t i = 0; i < run.nodes.size(); ++i)
    if (paused_.contains(run.nodes[i]) && !has_ended(run, static_cast<std::int32_t>(i)))
      return true;
  return false;
}

void SimulatedBackend::on_change(std::function<void(const RunChange&)> listener) {
  listener_ = std::move(listener);
}

void SimulatedBackend::tell_gone(AttemptId attempt, const std::vector<MemberEnd>& ended) {
  if (!listener_) return;
  RunChange change{.attempt = attempt};
  for (const MemberEnd& end : ended)
    change.gone.push_back(end.rank);
  listener_(change);
}

void SimulatedBackend::set_device_health(std::string_view node, std::int32_t device,
                                         model::Health health, std::string note) {
  controller::NodeReport& known = node_named(node);
  ASSERT(device >= 0 && static_cast<std::size_t>(device) < known.node.devices.size());
  known.node.devices[static_cast<std::size_t>(device)].health = health;
  report(controller::DeviceHealthReport{std::string(node), device, health, std::move(note)});
}

void SimulatedBackend::end_members(AttemptId attempt, EndClass end_class, std::int32_t exit_code) {
  const auto found = runs_.find(attempt);
  if (found == runs_.end() || found->second.is_ended || is_waiting(found->second)) return;
  keep_progress(attempt, found->second);
  end_rest(attempt, found->second, {.end_class = end_class, .exit_code = exit_code});
}

void SimulatedBackend::end_member(AttemptId attempt, MemberEnd how) {
  const auto found = runs_.find(attempt);
  if (found == runs_.end() || found->second.is_ended || is_waiting(found->second)) return;
  Run& run = found->second;
  const bool is_member = how.rank >= 0 && static_cast<std::size_t>(how.rank) < run.nodes.size();
  if (!is_member || has_ended(run, how.rank)) return;
  run.ended.push_back(how);
  if (run.ended.size() == run.nodes.size()) run.is_ended = true;
  tell_gone(attempt, {how});
  report(EndReport{attempt, {how}});
}

void SimulatedBackend::add_timer(base::Instant at, AttemptId attempt, Due due) {
  timers_.push({.at = at, .sequence = next_sequence_++, .attempt = attempt, .due = due});
}

// Every member that has not ended yet ends like `how`.
void SimulatedBackend::end_rest(AttemptId attempt, Run& run, MemberEnd how) {
  EndReport end{.attempt = attempt};
  end.members.reserve(run.nodes.size() - run.ended.size());
  for (std::size_t i = 0; i < run.nodes.size(); ++i) {
    how.rank = static_cast<std::int32_t>(i);
    if (!has_ended(run, how.rank)) end.members.push_back(how);
  }
  run.ended.insert(run.ended.end(), end.members.begin(), end.members.end());
  run.is_ended = true;
  tell_gone(attempt, end.members);
  report(std::move(end));
}

void SimulatedBackend::keep_progress(AttemptId attempt, const Run& run) {
  if (!run.is_running) return;
  base::Duration done = now_ - run.running_since;
  if (!run.saves_when_stopped) {
    const std::int64_t every = run.checkpoint_every.millis;
    done.millis = every > 0 ? done.millis / every * every : 0;
  }
  if (done.millis > 0) {
    base::Duration& saved = saved_[attempt.workload];
    saved = saved + done;
  }
}

bool SimulatedBackend::is_fenced(model::Epoch epoch) {
  if (epoch < newest_epoch_) return true;
  newest_epoch_ = epoch;
  return false;
}

base::Duration SimulatedBackend::runtime_left(const model::Workload& workload) const {
  base::Duration runtime = options_.default_runtime.value_or(base::kForever);
  const auto note = workload.annotations.find(std::string(kRuntimeAnnotation));
  if (note != workload.annotations.end()) {
    const base::Result<std::int64_t> millis = base::parse_integer(note->second);
    if (millis && *millis >= 0) runtime.millis = *millis;
  }
  if (runtime == base::kForever) return runtime;
  const auto saved = saved_.find(workload.id);
  if (saved != saved_.end()) runtime = runtime - saved->second;
  return std::max(runtime, base::Duration{});
}

void SimulatedBackend::report(controller::Observation observation) {
  if (sink_) sink_(std::move(observation));
}

controller::NodeReport& SimulatedBackend::node_named(std::string_view node) {
  const auto found = std::find_if(
      nodes_.begin(), nodes_.end(),
      [node](const controller::NodeReport& report) { return report.node.name == node; });
  ASSERT(found != nodes_.end());
  return *found;
}

}  // namespace backends::simulated
