#include "governance/explain_text.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/fields.h"
#include "governance/amount_text.h"
#include "governance/internal/headline.h"
#include "governance/internal/wording.h"
#include "model/reason.h"

namespace governance {

namespace {

using internal::headline;
using internal::members_text;
using internal::phrase_of;
using internal::say;
using internal::step_amount;
using internal::Telling;
using internal::test_name;
using model::Holder;
using model::Outcome;
using model::Reason;
using model::Rejection;
using model::Step;
using model::Test;

// What a test is about: "place in pool h800", "queue limit of queue nlp in pool h800".
std::string subject_of(const Telling& telling, const Step& step) {
  std::string text(test_name(step.test, telling.language));
  if (step.queue)
    text += say(telling.language, ", {}", "，{}",
                queue_text(telling.state, *step.queue, telling.language));
  if (step.dimension)
    text += say(telling.language, ", {}", "，{}",
                pool_text(telling.state, step.dimension->pool, telling.language));
  return text;
}

// The numbers with their meaning, which each test defines for itself; empty for a test without.
std::string numbers_of(const Telling& telling, const Step& step) {
  const Language language = telling.language;
  const std::string need = step_amount(telling, step, step.need);
  const std::string have = step_amount(telling, step, step.have);
  const std::string limit =
      step.limit ? step_amount(telling, step, *step.limit) : say(language, "none", "无");
  switch (step.test) {
    case Test::Eligible:
    case Test::QueueOrder:
      return {};
    case Test::Claim:
      return step.need == 0 ? std::string()
                            : say(language, "{} still to stop", "{} 个仍在停止", step.need);
    case Test::Feasible:
      return say(language, "{} needed, {} could ever fit", "需要 {}，最多可容纳 {}",
                 members_text(language, step.need), step.have);
    case Test::QueueMax:
      return say(language, "holds {}, asks for {}, may hold {}", "已占用 {}，申请 {}，上限 {}",
                 have, need, limit);
    case Test::Guarantee:
      return say(language, "holds {}, asks for {}, is guaranteed {}",
                 "已占用 {}，申请 {}，保障量 {}", have, need, limit);
    case Test::UnlentGuarantee:
      return say(language, "{} free, asks for {}, {} kept for others",
                 "空闲 {}，申请 {}，为他人保留 {}", have, need, limit);
    case Test::Place:
      return say(language, "{} needed, {} fit now", "需要 {}，目前可放置 {}",
                 members_text(language, step.need), step.have);
    case Test::Victims:
      return say(language, "{} missing, room can be made for {}", "缺少 {}，回收可腾出 {}",
                 members_text(language, step.need), step.have);
    case Test::Topology:
      return say(language, "{} needed, {} fit in the largest domain", "需要 {}，最大的域可容纳 {}",
                 members_text(language, step.need), step.have);
  }
  return say(language, "needs {}, has {}", "需要 {}，现有 {}", need, have);
}

std::string step_line(const Telling& telling, const Step& step, std::size_t number) {
  const Language language = telling.language;
  const bool has_passed = step.outcome == Outcome::Passed;
  std::string line = fmt::format("  {}. {}", number, subject_of(telling, step));
  line += has_passed ? say(language, ": passed", "：通过")
                     : say(language, ": failed ({})", "：未通过（{}）", base::name_of(step.reason));
  if (const std::string numbers = numbers_of(telling, step); !numbers.empty())
    line += say(language, ", {}", "，{}", numbers);
  if (step.until)
    line += say(language, "; may change at {}", "；{} 可能变化",
                time_text_with_distance(*step.until, telling.now, language));
  return line;
}

std::string holder_line(const Telling& telling, const Step& step, const Holder& holder) {
  const Language language = telling.language;
  std::string who = queue_text(telling.state, holder.queue, language);
  if (!holder.workload.is_none()) {
    const std::string name = workload_text(telling.state, holder.workload);
    const std::string number = std::to_string(holder.workload.value);
    who = say(language, "{}, {}", "{}，{}", name == number ? number : number + " " + name, who);
  }
  // A head of a queue holds nothing: only who comes first is told.
  if (step.test == Test::QueueOrder)
    return say(language, "       first: {}", "       排在前面：{}", who);
  const bool is_kept = step.test == Test::UnlentGuarantee;
  std::string line = is_kept ? say(language, "       kept for {}: ", "       为 {} 保留：", who)
                             : say(language, "       held by {}: ", "       占用者 {}：", who);
  // Of a claim, victims are counted in devices although the step counts workloads.
  line += step.dimension || step.test != Test::Claim
              ? step_amount(telling, step, holder.amount)
              : amount_text(telling.state, model::kDevice, holder.amount, language);
  if (is_kept) return line;
  if (holder.protection != Reason::None)
    line += say(language, ", {}", "，{}", phrase_of(holder.protection, language));
  if (holder.until) {
    const bool is_protected = holder.protection == Reason::MinRuntime;
    line += say(language, is_protected ? " until {}" : ", ends by {}",
                is_protected ? "，至 {}" : "，最迟 {} 结束",
                time_text_with_distance(*holder.until, telling.now, language));
  }
  return line;
}

std::string rejection_line(const Telling& telling, const Rejection& rejection) {
  const Language language = telling.language;
  std::string examples;
  for (const model::NodeId node : rejection.examples) {
    if (!examples.empty()) examples += say(language, ", ", "、");
    examples += node_text(telling.state, node);
  }
  const bool has_more = rejection.count > static_cast<std::int64_t>(rejection.examples.size());
  if (has_more) examples += "…";
  return say(language,
             rejection.count == 1 ? "       {} node not usable: {} ({})"
                                  : "       {} nodes not usable: {} ({})",
             "       {} 个节点不可用：{}（{}）", rejection.count,
             phrase_of(rejection.reason, language), examples);
}

// The remedies of the catalogue are written in English only.
std::string remedy_line(const Telling& telling) {
  constexpr std::string_view kPlaceholder = "<workload>";
  const Step* step = internal::step_to_tell(telling.explanation);
  const bool has_started = telling.explanation.verdict == model::Verdict::Starts;
  if (step == nullptr || has_started || telling.language != Language::English) return {};
  const auto index = static_cast<std::size_t>(step->reason);
  const auto catalogue = model::reason_catalogue();
  if (step->reason == Reason::None || index >= catalogue.size()) return {};
  std::string remedy(catalogue[index].remedy);
  const std::size_t at = remedy.find(kPlaceholder);
  if (at != std::string::npos)
    remedy.replace(at, kPlaceholder.size(), std::to_string(telling.explanation.workload.value));
  return "\nWhat helps: " + remedy;
}

}  // namespace

std::string explain_in_one_line(const model::Explanation& explanation, const model::State& state,
                                Language language, base::Instant now) {
  return headline({explanation, state, language, now});
}

std::string explain(const model::Explanation& explanation, const model::State& state,
                    Language language, base::Instant now) {
  const Telling telling{explanation, state, language, now};
  std::string text = headline(telling);
  std::size_t number = 0;
  for (const Step& step : explanation.steps) {
    text += "\n" + step_line(telling, step, ++number);
    for (const Holder& holder : step.holders)
      text += "\n" + holder_line(telling, step, holder);
    for (const Rejection& rejection : step.rejected)
      text += "\n" + rejection_line(telling, rejection);
  }
  return text + remedy_line(telling);
}

}  // namespace governance
