#include "testing/scenario.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/codec.h"
#include "testing/scenario_expectations.h"
#include "testing/scenario_facts.h"
#include "testing/scenario_text.h"
#include "testing/witness.h"
#include "testing/world.h"

namespace testkit {

using base::Code;
using base::Done;
using base::Result;

namespace {

// FNV-1a, 64 bits: enough to tell two plans apart, not a proof against anybody.
std::string digest_of(const model::Plan& plan) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char c : base::encode(plan)) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001B3ULL;
  }
  return fmt::format("{:016x}", hash);
}

class Runner {
 public:
  Runner(WorldOptions world_options, ScenarioOptions options)
      : options_(options), world_(world_options) {
    if (options_.has_witness) witness_.emplace(world_);
  }

  Result<Done> run(const std::vector<ScenarioLine>& lines) {
    std::vector<Phrase> facts;
    std::size_t first = 0;
    for (; first < lines.size() && lines[first].kind == ScenarioLine::Kind::Fact; ++first)
      facts.insert(facts.end(), lines[first].phrases.begin(), lines[first].phrases.end());
    if (const auto done = establish(world_, facts, options_.shuffle); !done) return done;
    for (std::size_t i = first; i < lines.size(); ++i) {
      const auto done = live(lines[i]);
      if (!done)
        return base::fail(Code::InvalidArgument, "line {}: {}", lines[i].number,
                          done.error().message);
    }
    return Done{};
  }

  ScenarioRun result() {
    if (witness_) {
      witness_->look_at_records();
      if (!witness_->faults().empty()) run_.failures.push_back(witness_->faults());
    }
    for (const model::Plan& plan : world_.plans()) {
      if (!plan.decisions.empty()) run_.digests.push_back(digest_of(plan));
      for (const model::Decision& decision : plan.decisions)
        gather(decision);
    }
    return std::move(run_);
  }

 private:
  Result<Done> live(const ScenarioLine& line) {
    if (line.kind == ScenarioLine::Kind::Ask) return ask(line);
    const std::size_t from = world_.plans().size();
    Window window;
    if (line.kind == ScenarioLine::Kind::At) {
      if (kStart + line.at < world_.now())
        return base::fail(Code::InvalidArgument, "time goes back");
      world_.advance_to(kStart + line.at);
    }
    for (const Phrase& action : line.phrases) {
      if (const auto done = act(world_, action); !done) return done;
      if (action.word(0) == "submit") window.subject = action.word(1);
    }
    world_.settle();
    if (witness_) witness_->look_at_rest();
    for (std::size_t i = from; i < world_.plans().size(); ++i)
      window.decisions.insert(window.decisions.end(), world_.plans()[i].decisions.begin(),
                              world_.plans()[i].decisions.end());
    for (const Phrase& expected : line.expectations)
      note(line.number, check_expectation(world_, window, expected));
    gather_waiting();
    return Done{};
  }

  Result<Done> ask(const ScenarioLine& line) {
    const Phrase& question = line.phrases.front();
    model::Plan answer;
    if (question.word(0) == "why") {
      const model::WorkloadId id = world_.workload_named(question.word(1));
      if (id.is_none())
        return base::fail(Code::NotFound, "no workload is called '{}'", question.word(1));
      answer = world_.ask(scheduling::Why{id});
    } else if (question.word(0) == "fits") {
      const auto workload = workload_of("asked", question);
      if (!workload) return tl::unexpected(workload.error());
      answer = world_.ask(scheduling::Fits{world_.resolved(*workload)});
    } else {
      return base::fail(Code::InvalidArgument, "ask why NAME, or ask fits key=value…");
    }
    if (!answer.answer) return base::fail(Code::Internal, "there is no answer");
    gather(*answer.answer);
    for (const Phrase& expected : line.expectations)
      note(line.number, check_answer(world_, *answer.answer, expected));
    return Done{};
  }

  void note(int line, std::string problem) {
    if (!problem.empty()) run_.failures.push_back(fmt::format("line {}: {}", line, problem));
  }

  // Reasons that operators would see: of every explanation, decision and end so far.
  void gather(const model::Explanation& explanation) {
    for (const model::Step& step : explanation.steps) {
      run_.reasons.insert(step.reason);
      for (const model::Rejection& row : step.rejected)
        run_.reasons.insert(row.reason);
      for (const model::Holder& holder : step.holders)
        run_.reasons.insert(holder.protection);
    }
  }
  void gather(const model::Decision& decision) {
    gather(decision.explanation);
    if (const auto* evict = std::get_if<model::Evict>(&decision.body))
      run_.reasons.insert(evict->cause);
    if (const auto* end = std::get_if<model::EndClaim>(&decision.body))
      run_.reasons.insert(end->cause);
  }
  void gather_waiting() {
    world_.state().workloads.each([&](model::WorkloadId id, const model::WorkloadRecord& record) {
      for (const model::Attempt& attempt : record.attempts)
        run_.reasons.insert(attempt.stop_cause);
      if (record.phase != model::Phase::Queued) return;
      const model::Plan plan = world_.ask(scheduling::Why{id});
      if (plan.answer) gather(*plan.answer);
    });
  }

  ScenarioOptions options_;
  World world_;
  std::optional<Witness> witness_;
  ScenarioRun run_;
};

}  // namespace

Result<ScenarioRun> run_scenario(std::string_view text, ScenarioOptions options) {
  const auto lines = parse_scenario(text);
  if (!lines) return tl::unexpected(lines.error());
  const auto world_options = world_options_of(*lines);
  if (!world_options) return tl::unexpected(world_options.error());
  Runner runner(*world_options, options);
  if (const auto done = runner.run(*lines); !done) return tl::unexpected(done.error());
  return runner.result();
}

}  // namespace testkit
