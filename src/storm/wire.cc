#include "storm/wire.h"

#include <algorithm>
#include <utility>

namespace storm {

using controller::EndReport;
using controller::Observation;
using controller::RunningReport;
using controller::StartEffect;
using controller::StopEffect;

namespace {

// What keeps its order among its like.
std::string subject_of(const Observation& observation) {
  struct Subject {
    std::string operator()(const controller::NodeReport& r) { return r.node.name; }
    std::string operator()(const controller::NodeConditionReport& r) { return r.node; }
    std::string operator()(const controller::DeviceHealthReport& r) { return r.node; }
    std::string operator()(const RunningReport& r) { return model::to_text(r.attempt); }
    std::string operator()(const EndReport& r) { return model::to_text(r.attempt); }
  };
  return std::visit(Subject{}, observation);
}

bool is_about_attempt(const Observation& observation) {
  return std::holds_alternative<RunningReport>(observation) ||
         std::holds_alternative<EndReport>(observation);
}

}  // namespace

Wire::Wire(Machines& machines, Hardware& hardware, Orders& orders, FaultPlan& plan)
    : machines_(machines), hardware_(hardware), orders_(orders), plan_(plan) {}

void Wire::begin(std::function<void(const Observation&)> deliver) {
  deliver_ = std::move(deliver);
  machines_.watch([this](Observation seen) { take_report(std::move(seen)); });
}

base::Instant Wire::next_due() const {
  return messages_.empty() ? base::kNever : messages_.begin()->first.first;
}

void Wire::advance(base::Instant now) {
  while (!messages_.empty() && messages_.begin()->first.first <= now) {
    const Message message = std::move(messages_.extract(messages_.begin()).mapped());
    now_ = std::max(now_, message.at);
    deliver(message);
  }
  now_ = std::max(now_, now);
}

void Wire::drop_process(ProcessId process) {
  std::erase_if(messages_, [process](const auto& entry) {
    return entry.second.is_unsent && entry.second.sender == process;
  });
}

Wire::Message& Wire::post(base::Instant at, Content content, ProcessId sender) {
  const std::int64_t sequence = next_sequence_++;
  Message message{.at = at,
                  .sender = sender,
                  .is_unsent = false,
                  .is_repeat = false,
                  .content = std::move(content)};
  return messages_.emplace(std::pair(at, sequence), std::move(message)).first->second;
}

void Wire::deliver(const Message& message) {
  if (const auto* start = std::get_if<StartEffect>(&message.content)) return deliver_start(*start);
  if (const auto* stop = std::get_if<StopEffect>(&message.content)) return machines_.stop(*stop);
  if (deliver_) deliver_(std::get<Observation>(message.content));
}

void Wire::deliver_start(const StartEffect& effect) {
  hardware_.expect(effect);
  machines_.start(effect);
  if (plan_.twists("machine.start.failed"))
    machines_.end_members(
        effect.attempt,
        plan_.amount(0, 1) == 0 ? model::EndClass::ExecError : model::EndClass::Infrastructure,
        127);
}

void Wire::send(ProcessId process, const StartEffect& effect) {
  orders_.hear(effect);
  if (plan_.twists("link.start.doubled"))
    post(now_ + base::milliseconds(plan_.amount(0, 20'000)), effect, process);
  if (plan_.twists("link.start.lost")) {
    post(now_ + base::milliseconds(plan_.amount(1'000, 15'000)), effect, process).is_unsent = true;
    return;
  }
  if (plan_.twists("link.start.delayed")) {
    post(now_ + base::milliseconds(plan_.amount(100, 30'000)), effect, process);
    return;
  }
  deliver_start(effect);
}

void Wire::send(ProcessId process, const StopEffect& effect) {
  orders_.hear(effect);
  if (plan_.twists("link.stop.doubled"))
    post(now_ + base::milliseconds(plan_.amount(0, 20'000)), effect, process);
  if (plan_.twists("link.stop.lost")) {
    post(now_ + base::milliseconds(plan_.amount(1'000, 15'000)), effect, process).is_unsent = true;
    return;
  }
  if (plan_.twists("link.stop.delayed")) {
    post(now_ + base::milliseconds(plan_.amount(100, 30'000)), effect, process);
    return;
  }
  machines_.stop(effect);
}

// What this process sent before is not overtaken by the forgetting; what an older one sent may come
// at any time, and only its epoch tells.
void Wire::send_forget(ProcessId process, model::AttemptId attempt) {
  const bool is_lost = plan_.twists("link.forget.lost");
  orders_.hear_forget(attempt, is_lost);
  if (is_lost) return;
  std::erase_if(messages_, [attempt, process](const auto& entry) {
    if (entry.second.sender != process) return false;
    const auto* start = std::get_if<StartEffect>(&entry.second.content);
    const auto* stop = std::get_if<StopEffect>(&entry.second.content);
    return (start != nullptr && start->attempt == attempt) ||
           (stop != nullptr && stop->attempt == attempt);
  });
  machines_.forget(attempt);
}

void Wire::take_report(Observation observation) {
  base::Instant& last = last_report_[subject_of(observation)];
  base::Instant at = std::max(now_, last);
  if (plan_.twists("link.report.lost"))
    at = std::max(at, now_ + base::milliseconds(plan_.amount(1'000, 20'000)));
  else if (plan_.twists("link.report.delayed"))
    at = std::max(at, now_ + base::milliseconds(plan_.amount(10, 10'000)));
  last = at;
  if (is_about_attempt(observation) && plan_.twists("link.report.doubled"))
    post(at + base::milliseconds(plan_.amount(0, 60'000)), observation).is_repeat = true;
  post(at, std::move(observation));
}

base::Result<std::vector<controller::AttemptReport>> Wire::list() {
  if (plan_.twists("link.list.failed"))
    return base::fail(base::Code::Unavailable, "injected: link.list.failed");
  auto reports = machines_.list();
  if (reports && plan_.twists("link.list.stale")) apply_staleness(*reports);
  return reports;
}

// What is still under way has not happened yet for who looks at this list.
void Wire::apply_staleness(std::vector<controller::AttemptReport>& reports) const {
  for (controller::AttemptReport& report : reports)
    for (const auto& [key, message] : messages_) {
      const auto* observation = std::get_if<Observation>(&message.content);
      if (observation == nullptr || message.is_repeat) continue;
      const auto* ended = std::get_if<EndReport>(observation);
      const auto* running = std::get_if<RunningReport>(observation);
      if (running != nullptr && running->attempt == report.attempt) report.is_running = false;
      if (ended == nullptr || ended->attempt != report.attempt) continue;
      for (const model::MemberEnd& end : ended->members)
        std::erase_if(report.ended,
                      [&end](const model::MemberEnd& known) { return known.rank == end.rank; });
    }
}

void Link::watch(controller::ObservationSink sink) {
  for (const controller::NodeReport& report : machines_.nodes())
    sink(report);
}

}  // namespace storm
