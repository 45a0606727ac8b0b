#include "testing/scenario_expectations.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace testkit {

using model::Explanation;
using model::Step;

namespace {

std::string name_of_workload(const World& world, model::WorkloadId id) {
  const model::WorkloadRecord* record = world.state().workloads.find(id);
  return record == nullptr ? fmt::format("#{}", id.value) : record->workload.name;
}

std::string name_of_queue(const World& world, model::QueueId id) {
  const model::QueueRecord* record = world.state().queues.find(id);
  return record == nullptr ? std::string{} : record->queue.name;
}

std::string name_of_holder(const World& world, const model::Holder& holder) {
  return holder.workload ? name_of_workload(world, holder.workload)
                         : name_of_queue(world, holder.queue);
}

// Members are counted; amounts are written as people do: devices and cores in wholes.
std::string amount_text(const Step& step, std::int64_t amount) {
  const bool counts_members = step.test == model::Test::Place ||
                              step.test == model::Test::Victims ||
                              step.test == model::Test::Feasible || step.test == model::Test::Claim;
  if (counts_members || !step.dimension) return std::to_string(amount);
  const model::ResourceId resource = step.dimension->resource;
  if (resource == model::kDevice || resource == model::kCpu) return base::print_milli(amount);
  if (resource == model::kMemory) return base::print_bytes(amount);
  return std::to_string(amount);
}

// The decisive step: the last one, or the one of the test that the expectation names.
const Step* step_of(const Explanation& explanation, const Phrase& expected) {
  const std::string* test = expected.value("test");
  for (auto step = explanation.steps.rbegin(); step != explanation.steps.rend(); ++step)
    if (test == nullptr || base::name_of(step->test) == *test) return &*step;
  return nullptr;
}

std::string rejected_text(const Step& step) {
  std::string text;
  for (const model::Rejection& row : step.rejected) {
    if (!text.empty()) text += '|';
    text += fmt::format("{}:{}", base::name_of(row.reason), row.count);
  }
  return text;
}

// What a step says under a key of the expectation; nothing for a key that is no part of a step.
std::optional<std::string> said(const World& world, const Step& step, const std::string& key) {
  if (key == "test") return std::string(base::name_of(step.test));
  if (key == "reason") return std::string(base::name_of(step.reason));
  if (key == "need") return amount_text(step, step.need);
  if (key == "have") return amount_text(step, step.have);
  if (key == "limit") return step.limit ? amount_text(step, *step.limit) : "none";
  if (key == "queue") return step.queue ? name_of_queue(world, *step.queue) : "none";
  if (key == "holder")
    return step.holders.empty() ? "none" : name_of_holder(world, step.holders.front());
  if (key == "protection")
    return step.holders.empty() ? "none"
                                : std::string(base::name_of(step.holders.front().protection));
  if (key == "rejected") return rejected_text(step);
  if (key == "until") return step.until ? base::print_duration(*step.until - kStart) : "none";
  if (key == "pool") {
    if (!step.dimension) return "none";
    return world.state().pools.at(step.dimension->pool).pool.name;
  }
  return std::nullopt;
}

std::string check_steps(const World& world, const Explanation& explanation,
                        const Phrase& expected) {
  const Step* step = step_of(explanation, expected);
  for (const auto& [key, wanted] : expected.values) {
    if (step == nullptr) return "the explanation has no such step: " + describe(world, explanation);
    const auto given = said(world, *step, key);
    if (!given) return fmt::format("nothing is known about {}", key);
    std::string normal = wanted;
    if (key == "until")
      if (const auto duration = base::parse_duration(wanted))
        normal = base::print_duration(*duration);
    if (*given != normal)
      return fmt::format("{} is {}, expected {}; {}", key, *given, wanted,
                         describe(world, explanation));
  }
  return {};
}

std::string check_started(const World& world, const Window& window, const std::string& name,
                          const Phrase& expected) {
  const model::WorkloadId id = world.workload_named(name);
  const auto found = std::find_if(window.decisions.begin(), window.decisions.end(),
                                  [&](const model::Decision& decision) {
                                    const auto* start = std::get_if<model::Start>(&decision.body);
                                    return start != nullptr && start->attempt.workload == id;
                                  });
  if (found == window.decisions.end()) return name + " was not started";
  const auto& placement = std::get<model::Start>(found->body).placement;
  const model::Workload& workload = world.record_of(id).workload;
  std::vector<std::string> nodes;
  for (const auto& member : placement.members)
    nodes.push_back(world.state().nodes.at(member.node).node.name);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const model::PoolId pool = world.state().nodes.at(placement.members.front().node).node.pool;
  const model::Dimension gpus{pool, model::kDevice};
  const model::QueueRecord& queue = world.state().queues.at(workload.queue);
  std::int64_t guarantee = 0;
  for (const model::Quota& row : queue.queue.quotas)
    if (row.dimension == gpus) guarantee = row.guarantee.value_or(0);
  std::map<std::string, std::string> facts{
      {"on", fmt::format("{}", fmt::join(nodes, "|"))},
      {"members", std::to_string(placement.members.size())},
      {"pool", world.state().pools.at(pool).pool.name},
      {"isolation", std::string(base::name_of(placement.isolation))},
      {"gpus", base::print_milli(world.record_of(id).attempts.back().charge.of(gpus))},
      {"attempt", std::to_string(std::get<model::Start>(found->body).attempt.ordinal)},
      {"borrowed", base::print_milli(std::max<std::int64_t>(0, queue.held.of(gpus) - guarantee))}};
  for (const auto& [key, wanted] : expected.values)
    if (!facts.contains(key))
      return fmt::format("nothing is known about {} of a start", key);
    else if (facts[key] != wanted)
      return fmt::format("{} started with {}={}, expected {}", name, key, facts[key], wanted);
  return {};
}

std::string check_evicted(const World& world, const Window& window, const std::string& name,
                          const Phrase& expected) {
  const model::WorkloadId id = world.workload_named(name);
  for (const model::Decision& decision : window.decisions) {
    const auto* evict = std::get_if<model::Evict>(&decision.body);
    if (evict == nullptr) continue;
    const bool is_victim =
        std::any_of(evict->victims.begin(), evict->victims.end(),
                    [&](model::AttemptId victim) { return victim.workload == id; });
    if (!is_victim) continue;
    const std::map<std::string, std::string> facts{
        {"cause", std::string(base::name_of(evict->cause))},
        {"by", evict->owner ? name_of_workload(world, evict->owner) : "none"}};
    for (const auto& [key, wanted] : expected.values) {
      const auto fact = facts.find(key);
      if (fact == facts.end()) return fmt::format("nothing is known about {} of an eviction", key);
      if (fact->second != wanted)
        return fmt::format("{} was evicted with {}={}, expected {}", name, key, fact->second,
                           wanted);
    }
    return {};
  }
  return name + " was not evicted";
}

std::string check_ended(const World& world, const std::string& name, const Phrase& expected) {
  const model::WorkloadId id = world.workload_named(name);
  if (id.is_none() || world.record_of(id).attempts.empty()) return name + " was never started";
  const model::Attempt& last = world.record_of(id).attempts.back();
  if (last.phase != model::AttemptPhase::Ended) return name + " has not ended";
  const std::map<std::string, std::string> facts{
      {"class", std::string(base::name_of(last.end_class))},
      {"cause", std::string(base::name_of(last.stop_cause))},
      {"code", std::to_string(last.exit_code)}};
  for (const auto& [key, wanted] : expected.values) {
    const auto fact = facts.find(key);
    if (fact == facts.end()) return fmt::format("nothing is known about {} of an end", key);
    if (fact->second != wanted)
      return fmt::format("{} ended with {}={}, expected {}", name, key, fact->second, wanted);
  }
  return {};
}

std::string check_phase(const World& world, const std::string& verb, const std::string& name) {
  const model::WorkloadRecord& record = world.record_of(world.workload_named(name));
  std::string phase{base::name_of(record.phase)};
  for (char& c : phase)
    c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (phase == verb) return {};
  return fmt::format("{} is {}, expected {}", name, phase, verb);
}

std::string check_holds(const World& world, const Phrase& expected) {
  const auto queue = world.state().queue_by_name.find(expected.word(1));
  if (queue == world.state().queue_by_name.end()) return "no such queue: " + expected.word(1);
  std::int64_t held = 0;
  for (const auto& amount : world.state().queues.at(queue->second).held.amounts()) {
    const auto& pool = world.state().pools.at(amount.dimension.pool).pool;
    const std::string* wanted = expected.value("pool");
    if (amount.dimension.resource != model::kDevice) continue;
    if (wanted == nullptr ? pool.parent.is_none() : pool.name == *wanted) held += amount.amount;
  }
  const std::string* wanted = expected.value("gpus");
  if (wanted == nullptr) return "say holds QUEUE gpus=N";
  if (base::print_milli(held) == *wanted) return {};
  return fmt::format("{} holds {} gpus, expected {}", expected.word(1), base::print_milli(held),
                     *wanted);
}

bool is_verdict(const std::string& word) {
  return word == "blocked" || word == "infeasible" || word == "waiting" || word == "starts";
}

}  // namespace

std::string describe(const World& world, const Explanation& explanation) {
  std::string text{base::name_of(explanation.verdict)};
  for (const Step& step : explanation.steps) {
    text += fmt::format("; {} {}", base::name_of(step.test), base::name_of(step.outcome));
    if (step.outcome == model::Outcome::Passed) continue;
    for (const char* key :
         {"reason", "queue", "pool", "need", "have", "limit", "holder", "rejected", "until"})
      text += fmt::format(" {}={}", key, said(world, step, key).value_or(""));
  }
  return text;
}

std::string check_answer(const World& world, const Explanation& answer, const Phrase& expected) {
  if (base::name_of(answer.verdict) != expected.word(0))
    return fmt::format("expected {}: {}", expected.word(0), describe(world, answer));
  return check_steps(world, answer, expected);
}

std::string check_expectation(const World& world, const Window& window, const Phrase& expected) {
  const std::string verb = expected.word(0);
  const std::string name = expected.word(1).empty() ? window.subject : expected.word(1);
  if (verb == "nothing") {
    for (const model::Decision& decision : window.decisions)
      if (std::holds_alternative<model::Start>(decision.body) ||
          std::holds_alternative<model::Evict>(decision.body))
        return "something was started or evicted";
    return {};
  }
  if (verb == "holds") return check_holds(world, expected);
  const model::WorkloadId id = world.workload_named(name);
  if (id.is_none()) return fmt::format("no workload is called '{}'", name);
  if (verb == "started") return check_started(world, window, name, expected);
  if (verb == "evicted") return check_evicted(world, window, name, expected);
  if (verb == "ended") return check_ended(world, name, expected);
  if (is_verdict(verb)) {
    const model::Plan plan = world.ask(scheduling::Why{id});
    return plan.answer ? check_answer(world, *plan.answer, expected) : "there is no explanation";
  }
  return check_phase(world, verb, name);
}

}  // namespace testkit
