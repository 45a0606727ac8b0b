#include "governance/internal/headline.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/text.h"
#include "governance/amount_text.h"
#include "governance/internal/wording.h"

namespace governance::internal {

namespace {

using model::Holder;
using model::Reason;
using model::Step;
using model::Test;
using model::Verdict;

const model::WorkloadRecord* record_of(const Telling& telling) {
  return telling.state.workloads.find(telling.explanation.workload);
}

std::string at(const Telling& telling, base::Instant time) {
  return time_text_with_distance(time, telling.now, telling.language);
}

// What one member needs in the words of a request: "8 GPUs", "0.5 GPU", "16 cores". Empty when the
// workload has several kinds of members, or is not known.
struct MemberNeed {
  std::string bare;  // without its noun, for the second mention: "8"
  std::string text;
};

std::optional<MemberNeed> member_need(const Telling& telling) {
  const model::WorkloadRecord* record = record_of(telling);
  if (record == nullptr || record->workload.groups.size() != 1) return std::nullopt;
  const model::TaskGroup& group = record->workload.groups.front();
  const Language language = telling.language;
  if (group.device_options.empty() || group.device_options.front().is_none()) {
    const std::int64_t cpu = group.per_member.of(model::kCpu);
    return MemberNeed{base::print_milli(cpu),
                      amount_text(telling.state, model::kCpu, cpu, language)};
  }
  const model::DeviceRequest& request = group.device_options.front();
  const auto devices = [&](std::int64_t milli) {
    return MemberNeed{base::print_milli(milli),
                      amount_text(telling.state, model::kDevice, milli, language)};
  };
  if (request.is_whole()) return devices(request.count.value * 1000);
  if (request.share.value > 0) return devices(request.share.value);
  if (!request.slice.empty())
    return MemberNeed{request.slice, say(language, "slice {}", "切片 {}", request.slice)};
  if (request.memory.value > 0)
    return MemberNeed{
        base::print_bytes(request.memory.value),
        amount_text(telling.state, model::kDeviceMemory, request.memory.value, language)};
  const std::string percent = fmt::format("{}%", request.memory_percent);
  return MemberNeed{percent, say(language, "{} of a GPU's memory", "{} 显存", percent)};
}

// "4 × 8 GPUs", "8 GPUs" of a single member, or "4 members" when they are not alike.
std::string needed(const Telling& telling, std::int64_t members) {
  const std::optional<MemberNeed> need = member_need(telling);
  if (!need) return members_text(telling.language, members);
  if (members == 1) return need->text;
  return fmt::format("{} × {}", members, need->text);
}

// The same at its second mention: "2 × 8", "none".
std::string fitting(const Telling& telling, std::int64_t members) {
  if (members == 0) return say(telling.language, "none", "0 个");
  const std::optional<MemberNeed> need = member_need(telling);
  if (!need) return std::to_string(members);
  return fmt::format("{} × {}", members, need->bare);
}

// "a (nlp)"
std::string holder_name(const Telling& telling, const Holder& holder) {
  const model::QueueRecord* queue = telling.state.queues.find(holder.queue);
  const std::string queue_name =
      queue == nullptr ? std::to_string(holder.queue.value) : queue->queue.name;
  if (holder.workload.is_none()) return queue_name;
  return say(telling.language, "{} ({})", "{}（{}）", workload_text(telling.state, holder.workload),
             queue_name);
}

std::string holder_clause(const Telling& telling, const Step& step, const Holder& holder) {
  const Language language = telling.language;
  const std::string name = holder_name(telling, holder);
  const std::string amount = step_amount(telling, step, holder.amount);
  if (holder.protection == Reason::MinRuntime && holder.until)
    return say(language, "{} holds {} and may be taken back at {}", "{} 占用 {}，{} 之后可回收",
               name, amount, at(telling, *holder.until));
  if (holder.until)
    return say(language, "{} holds {} and ends by {}", "{} 占用 {}，最迟 {} 结束", name, amount,
               at(telling, *holder.until));
  if (holder.protection == Reason::None)
    return say(language, "{} holds {}", "{} 占用 {}", name, amount);
  return say(language, "{} holds {} ({})", "{} 占用 {}（{}）", name, amount,
             phrase_of(holder.protection, language));
}

// The holder that is worth naming first: the one whose time is known and comes first, else the
// largest.
const Holder* first_to_name(const Step& step) {
  const Holder* best = nullptr;
  for (const Holder& holder : step.holders) {
    const bool is_sooner =
        best != nullptr && holder.until && (!best->until || *holder.until < *best->until);
    if (best == nullptr || is_sooner) best = &holder;
  }
  return best;
}

const Step* last_of(const Telling& telling, Test test) {
  const auto& steps = telling.explanation.steps;
  const auto found = std::find_if(steps.rbegin(), steps.rend(),
                                  [test](const Step& step) { return step.test == test; });
  return found == steps.rend() ? nullptr : &*found;
}

std::string in_pool(const Telling& telling, const Step& step) {
  if (!step.dimension) return {};
  return say(telling.language, " in {}", "（{}）",
             pool_text(telling.state, step.dimension->pool, telling.language));
}

std::string queue_of(const Telling& telling, const Step& step) {
  return queue_text(telling.state, step.queue.value_or(model::QueueId{}), telling.language);
}

std::string eligible_line(const Telling& telling, const Step& step) {
  const Language language = telling.language;
  if (step.reason == Reason::Held)
    return say(language, "it is on hold; release it with: berth release {}",
               "已被挂起；放行命令：berth release {}", telling.explanation.workload.value);
  if (step.reason == Reason::BackOff && step.until)
    return say(language, "an attempt failed; it is tried again at {}",
               "上一次尝试失败；将于 {} 重试", at(telling, *step.until));
  return std::string(phrase_of(step.reason, language));
}

std::string claim_line(const Telling& telling, const Step& step) {
  const Language language = telling.language;
  std::string line = say(language,
                         step.need == 1 ? "room is made for it, {} workload still stops"
                                        : "room is made for it, {} workloads still stop",
                         "正在为其腾出资源，{} 个任务仍在停止中", step.need);
  if (!step.holders.empty())
    line += say(language, ": {}", "：{}", holder_name(telling, step.holders.front()));
  if (step.until)
    line +=
        say(language, "; the claim lasts until {}", "；保留到 {} 为止", at(telling, *step.until));
  return line;
}

// "; 3 nodes: other device model", the most frequent rejection; empty when there is none.
std::string rejection_clause(const Telling& telling, const Step& step) {
  const auto most =
      std::max_element(step.rejected.begin(), step.rejected.end(),
                       [](const auto& a, const auto& b) { return a.count < b.count; });
  if (most == step.rejected.end()) return {};
  return say(telling.language, most->count == 1 ? "; {} node: {}" : "; {} nodes: {}",
             "；{} 个节点：{}", most->count, phrase_of(most->reason, telling.language));
}

std::string feasible_line(const Telling& telling, const Step& step) {
  const Language language = telling.language;
  if (step.reason == Reason::NoSuchPool)
    return say(language, "none of the pools that it accepts has a node",
               "它接受的资源池中没有任何节点");
  std::string line =
      say(language, "needs {}, {} could ever fit, even with every node empty and healthy",
          "需要 {}，即使所有节点空闲且健康也只能容纳 {}", needed(telling, step.need),
          fitting(telling, step.have));
  return line + rejection_clause(telling, step);
}

std::string queue_max_line(const Telling& telling, const Step& step) {
  const Language language = telling.language;
  const std::string need = step_amount(telling, step, step.need);
  const std::string limit = step_amount(telling, step, step.limit.value_or(0));
  if (step.reason == Reason::AboveQueueMax)
    return say(language, "asks for {}{}, but {} may never hold more than {}",
               "申请 {}{}，但{} 最多只能占用 {}", need, in_pool(telling, step),
               queue_of(telling, step), limit);
  return say(language, "{} holds {} of at most {}{}, and this asks for {}",
             "{} 已占用 {}，上限 {}{}，本任务还需 {}", queue_of(telling, step),
             step_amount(telling, step, step.have), limit, in_pool(telling, step), need);
}

std::string guarantee_line(const Telling& telling, const Step& step) {
  return say(telling.language,
             "{} holds {} of its guaranteed {}{}, and work of this class must fit inside: it asks "
             "for {}",
             "{} 已占用 {}，保障量 {}{}，该类别的任务必须在保障量之内，本任务还需 {}",
             queue_of(telling, step), step_amount(telling, step, step.have),
             step_amount(telling, step, step.limit.value_or(0)), in_pool(telling, step),
             step_amount(telling, step, step.need));
}

std::string unlent_line(const Telling& telling, const Step& step) {
  const Language language = telling.language;
  std::string line = say(
      language, "asks for {}{}; {} are free, of which {} are kept for the guarantees of others",
      "申请 {}{}；空闲 {}，其中 {} 为其他队列的保障量保留", step_amount(telling, step, step.need),
      in_pool(telling, step), step_amount(telling, step, step.have),
      step_amount(telling, step, step.limit.value_or(0)));
  if (!step.holders.empty())
    line += say(language, " ({}: {})", "（{}：{}）", holder_name(telling, step.holders.front()),
                step_amount(telling, step, step.holders.front().amount));
  return line;
}

std::string order_line(const Telling& telling, const Step& step) {
  if (step.holders.empty()) return std::string(phrase_of(step.reason, telling.language));
  return say(telling.language, "its queue starts in strict order, and {} comes first",
             "队列严格按序启动，{} 排在前面", holder_name(telling, step.holders.front()));
}

base::Instant first_change(const Step& place) {
  const Holder* holder = first_to_name(place);
  return holder != nullptr ? holder->until.value_or(base::kNever) : base::kNever;
}

// Of the pools in which it was tried the one where most members fit, then where something changes
// first, then the one preferred.
struct PlaceTried {
  const Step* best = nullptr;
  int pool_count = 0;
};
PlaceTried places_tried(const Telling& telling) {
  PlaceTried tried;
  for (const Step& step : telling.explanation.steps) {
    if (step.test != Test::Place || step.outcome == model::Outcome::Passed) continue;
    ++tried.pool_count;
    const bool is_better =
        tried.best == nullptr || step.have > tried.best->have ||
        (step.have == tried.best->have && first_change(step) < first_change(*tried.best));
    if (is_better) tried.best = &step;
  }
  return tried;
}

// Place and Victims together: what is missing, who holds it, whether and when it comes back.
std::string place_line(const Telling& telling, const Step& deciding) {
  const Language language = telling.language;
  const PlaceTried tried = places_tried(telling);
  const Step& place = tried.best != nullptr ? *tried.best : deciding;
  std::string pool = in_pool(telling, place);
  if (tried.pool_count > 1)
    pool += say(language, " (best of {} pools)", "（{} 个资源池中最优）", tried.pool_count);
  std::string line = say(language, "needs {}{}, {} fit now", "需要 {}{}，目前只能放置 {}",
                         needed(telling, place.need), pool, fitting(telling, place.have));
  if (place.reason != Reason::NotEnoughFree && place.reason != Reason::None)
    line += say(language, " ({})", "（{}）", phrase_of(place.reason, language));
  if (deciding.reason == Reason::ClaimBackoff && deciding.until)
    return line + say(language, "; it lost a claim and may take back again at {}",
                      "；它刚失去一次资源保留，{} 之后可再次回收", at(telling, *deciding.until));
  const Holder* holder = first_to_name(place);
  if (holder == nullptr) return line + rejection_clause(telling, place);
  return line + say(language, "; ", "；") + holder_clause(telling, place, *holder);
}

std::string topology_line(const Telling& telling, const Step& step) {
  return say(telling.language, "needs {}{} in one domain, {} fit in the largest",
             "需要 {}{} 位于同一拓扑域，最大的域只能容纳 {}", needed(telling, step.need),
             in_pool(telling, step), fitting(telling, step.have));
}

std::string blocking_line(const Telling& telling, const Step& step) {
  switch (step.test) {
    case Test::Eligible:
      return eligible_line(telling, step);
    case Test::Claim:
      return claim_line(telling, step);
    case Test::Feasible:
      return feasible_line(telling, step);
    case Test::QueueMax:
      return queue_max_line(telling, step);
    case Test::Guarantee:
      return guarantee_line(telling, step);
    case Test::UnlentGuarantee:
      return unlent_line(telling, step);
    case Test::QueueOrder:
      return order_line(telling, step);
    case Test::Place:
    case Test::Victims:
      return place_line(telling, step);
    case Test::Topology:
      return topology_line(telling, step);
  }
  return std::string(phrase_of(step.reason, telling.language));  // a test of a later version
}

// How near to a start the chain of a pool came before it failed; what concerns all pools alike
// stands alone and above.
int closeness(const Step& step) {
  switch (step.test) {
    case Test::Guarantee:
      return 2;
    case Test::QueueMax:
      return step.reason == Reason::AboveQueueMax ? 1 : 3;
    case Test::UnlentGuarantee:
      return 4;
    case Test::Place:
    case Test::Topology:
      return 5;
    case Test::Victims:
      return 6;
    default:
      return 7;
  }
}

std::string starts_line(const Telling& telling) {
  const Language language = telling.language;
  const Step* place = last_of(telling, Test::Place);
  if (place == nullptr)
    return say(language, "Starts now, on what was claimed for it", "现在启动，使用为其保留的资源");
  // Place failed, but taking back makes room: it starts when the victims are gone.
  if (place->outcome == model::Outcome::Failed)
    return say(language, "Starts once room is made for it: {}{}", "腾出资源后启动：{}{}",
               needed(telling, place->need), in_pool(telling, *place));
  return say(language, "Starts now: {}{}", "现在启动：{}{}", needed(telling, place->have),
             in_pool(telling, *place));
}

std::string running_line(const Telling& telling) {
  const Language language = telling.language;
  const model::WorkloadRecord* record = record_of(telling);
  const model::Attempt* attempt = record == nullptr ? nullptr : record->live_attempt();
  if (attempt == nullptr) return say(language, "Running", "运行中");
  const auto members = static_cast<std::int64_t>(attempt->placement.members.size());
  return say(language, "Running: attempt {} with {}, started at {}",
             "运行中：尝试 {}，{}，启动于 {}", to_text(attempt->id),
             members_text(language, members),
             time_text(attempt->running_since.value_or(attempt->decided), telling.now, language));
}

std::string finished_line(const Telling& telling) {
  const Language language = telling.language;
  const model::WorkloadRecord* record = record_of(telling);
  if (record == nullptr || !record->finished) return say(language, "Finished", "已结束");
  return say(language, "Finished: {} at {}", "已结束：{}，{}", base::name_of(record->phase),
             time_text(*record->finished, telling.now, language));
}

}  // namespace

std::string step_amount(const Telling& telling, const Step& step, std::int64_t amount) {
  if (!step.dimension) return std::to_string(amount);
  return amount_text(telling.state, step.dimension->resource, amount, telling.language);
}

std::string members_text(Language language, std::int64_t count) {
  return say(language, count == 1 ? "{} member" : "{} members", "{} 个成员", count);
}

std::string headline(const Telling& telling) {
  const Language language = telling.language;
  const Verdict verdict = telling.explanation.verdict;
  if (verdict == Verdict::Starts) return starts_line(telling);
  if (verdict == Verdict::Running) return running_line(telling);
  if (verdict == Verdict::Finished) return finished_line(telling);
  const std::string word = verdict == Verdict::Infeasible ? say(language, "Infeasible", "不可行")
                           : verdict == Verdict::Waiting  ? say(language, "Waiting", "等待中")
                                                          : say(language, "Blocked", "受阻");
  const Step* step = step_to_tell(telling.explanation);
  if (step == nullptr) return word;
  return say(language, "{}: {}", "{}：{}", word, blocking_line(telling, *step));
}

const Step* step_to_tell(const model::Explanation& explanation) {
  const Step* best = nullptr;
  for (const Step& step : explanation.steps) {
    if (step.outcome == model::Outcome::Passed) continue;
    if (best == nullptr || closeness(step) > closeness(*best)) best = &step;
  }
  return best;
}

}  // namespace governance::internal
