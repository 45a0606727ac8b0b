// Workloads and attempts: lists with filters, and one of each.

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "api/internal/dto.h"
#include "api/internal/handlers.h"
#include "api/internal/listing.h"
#include "base/text.h"

namespace api {

using base::Code;
using base::Result;

namespace {

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lowered;
}

// An enumeration's words, separated by commas, case ignored; `extend` knows further words.
template <class E>
Result<std::set<E>> states_of(const Query& query,
                              const std::function<bool(const std::string&, std::set<E>&)>& extend) {
  std::set<E> states;
  for (const std::string& item : query.list("state")) {
    const std::string word = lower(item);
    bool is_known = extend(word, states);
    const auto names = enum_names(E{});
    for (std::size_t i = 0; i < names.size(); ++i)
      if (lower(names[i]) == word) {
        states.insert(static_cast<E>(i));
        is_known = true;
      }
    if (!is_known) {
      const auto near = base::nearest(item, names);
      return base::fail_field(Code::InvalidArgument, "state",
                              fmt::format("\"{}\" is not a state", item),
                              near ? fmt::format("did you mean \"{}\"?", *near) : std::string());
    }
  }
  return states;
}

bool extend_phases(const std::string& word, std::set<model::Phase>& phases) {
  if (word != "pending" && word != "active" && word != "finished") return false;
  for (std::size_t i = 0; i < enum_names(model::Phase{}).size(); ++i) {
    const auto phase = static_cast<model::Phase>(i);
    const bool is_pending =
        phase == model::Phase::Queued || phase == model::Phase::AwaitingApproval;
    if (word == "pending" ? is_pending : is_finished(phase) == (word == "finished"))
      phases.insert(phase);
  }
  return true;
}

bool extend_attempt_phases(const std::string& word, std::set<model::AttemptPhase>& phases) {
  if (word != "active") return false;
  phases.insert(
      {model::AttemptPhase::Starting, model::AttemptPhase::Running, model::AttemptPhase::Stopping});
  return true;
}

struct WorkloadFilter {
  std::optional<std::string> queue, owner, kind, workload_class, name, node;
  std::set<model::Phase> phases;
  std::vector<LabelPattern> labels;
  // Names as ids, once there is a State.
  model::QueueId queue_id;
  model::NodeId node_id;
};

Result<WorkloadFilter> filter_of(const Exchange& exchange) {
  const Query& query = exchange.query;
  auto phases = states_of<model::Phase>(query, extend_phases);
  if (!phases) return tl::unexpected(phases.error());
  WorkloadFilter filter{.queue = query.text("queue"),
                        .owner = query.text("owner"),
                        .kind = query.text("kind"),
                        .workload_class = query.text("class"),
                        .name = query.text("name"),
                        .node = query.text("node"),
                        .phases = std::move(*phases),
                        .labels = label_patterns(query)};
  if (filter.owner == "me") filter.owner = exchange.caller.user;
  if (filter.kind && !base::enum_from<model::Kind>(*filter.kind)) {
    const auto near = base::nearest(*filter.kind, enum_names(model::Kind{}));
    return base::fail_field(Code::InvalidArgument, "kind",
                            fmt::format("\"{}\" is not a kind of workload", *filter.kind),
                            near ? fmt::format("did you mean \"{}\"?", *near) : std::string());
  }
  return filter;
}

Result<base::Done> resolve(WorkloadFilter& filter, const model::State& state) {
  if (filter.queue) {
    const auto queue = find_queue(state, *filter.queue);
    if (!queue) return tl::unexpected(queue.error());
    filter.queue_id = *queue;
  }
  if (filter.workload_class && !state.class_by_name.contains(*filter.workload_class))
    return no_such("class", *filter.workload_class, state.class_by_name);
  if (filter.node) {
    const auto node = state.node_by_name.find(*filter.node);
    if (node == state.node_by_name.end()) return no_such("node", *filter.node, state.node_by_name);
    filter.node_id = node->second;
  }
  return base::Done{};
}

bool is_below(const model::State& state, model::QueueId queue, model::QueueId ancestor) {
  const model::QueueRecord* record = state.queues.find(queue);
  return record != nullptr &&
         std::find(record->path.begin(), record->path.end(), ancestor) != record->path.end();
}

bool is_on_node(const model::WorkloadRecord& record, model::NodeId node) {
  const model::Attempt* live = record.live_attempt();
  return live != nullptr &&
         std::any_of(live->placement.members.begin(), live->placement.members.end(),
                     [node](const auto& member) { return member.node == node; });
}

bool takes(const WorkloadFilter& filter, const model::State& state,
           const model::WorkloadRecord& record) {
  const model::Workload& workload = record.workload;
  if (!filter.phases.empty() && !filter.phases.contains(record.phase)) return false;
  if (filter.owner && workload.user != *filter.owner) return false;
  if (filter.queue_id && !is_below(state, workload.queue, filter.queue_id)) return false;
  if (filter.kind && base::name_of(workload.kind) != *filter.kind) return false;
  if (filter.name && workload.name != *filter.name) return false;
  if (filter.node_id && !is_on_node(record, filter.node_id)) return false;
  if (filter.workload_class &&
      workload.workload_class != state.class_by_name.find(*filter.workload_class)->second)
    return false;
  return matches_all(workload.labels, filter.labels);
}

Result<std::uint64_t> number_cursor(const Page& page, std::uint64_t absent) {
  if (page.cursor.empty()) return absent;
  const auto number = base::parse_integer(page.cursor);
  if (!number || *number < 0)
    return base::fail_field(Code::InvalidArgument, "cursor", "not a cursor of this list",
                            "take it from the page before");
  return static_cast<std::uint64_t>(*number);
}

}  // namespace

void list_workloads(Desk& desk, const ExchangePtr& exchange) {
  static constexpr std::string_view kSorts[] = {"number", "-number"};
  auto filter = filter_of(*exchange);
  const auto page = page_of(exchange->query);
  const auto sort = exchange->query.choice("sort", kSorts);
  if (!filter) return exchange->refuse(filter.error());
  if (!page) return exchange->refuse(page.error());
  if (!sort) return exchange->refuse(sort.error());
  answer_from_loop(
      desk, exchange,
      [filter = *filter, page = *page, goes_down = *sort == "-number"](
          const controller::Controller& loop, base::Instant) mutable -> Result<std::string> {
        const model::State& state = loop.state();
        if (auto known = resolve(filter, state); !known) return tl::unexpected(known.error());
        const std::uint64_t end = state.workloads.next_id().value;
        const auto cursor = number_cursor(page, goes_down ? end : 0);
        if (!cursor) return tl::unexpected(cursor.error());
        PageWriter writer(page.limit);
        std::uint64_t id = std::min(*cursor, end);
        while (goes_down ? --id >= 1 && id < end : ++id < end) {
          const model::WorkloadRecord* record = state.workloads.find(model::WorkloadId(id));
          if (record == nullptr || !takes(filter, state, *record)) continue;
          std::string* item = writer.next(std::to_string(id));
          if (item == nullptr) break;
          append_workload(*item, state, *record, Detail::Summary);
        }
        return writer.finish();
      });
}

void get_workload(Desk& desk, const ExchangePtr& exchange) {
  answer_from_loop_with_tag(
      desk, exchange,
      [word = exchange->names[0], queue = exchange->query.text("queue").value_or("")](
          const controller::Controller& loop, base::Instant) -> Result<std::string> {
        const auto record = find_workload(loop.state(), word, queue);
        if (!record) return tl::unexpected(record.error());
        std::string json;
        append_workload(json, loop.state(), **record, Detail::Full);
        return json;
      });
}

namespace {

struct AttemptFilter {
  std::optional<std::int64_t> workload;
  std::optional<std::string> owner, queue;
  std::set<model::AttemptPhase> phases;
  model::AttemptId after;
};

Result<model::AttemptId> attempt_cursor(const std::string& cursor) {
  if (cursor.empty()) return model::AttemptId{};
  const std::size_t dot = cursor.find('.');
  const auto number = base::parse_integer(std::string_view(cursor).substr(0, dot));
  const auto ordinal = dot == std::string::npos
                           ? Result<std::int64_t>(-1)
                           : base::parse_integer(std::string_view(cursor).substr(dot + 1));
  if (!number || !ordinal || *number < 0 || *ordinal < 0)
    return base::fail_field(Code::InvalidArgument, "cursor", "not a cursor of this list",
                            "take it from the page before");
  return model::AttemptId{.workload = model::WorkloadId(static_cast<std::uint64_t>(*number)),
                          .ordinal = static_cast<std::uint32_t>(*ordinal)};
}

// False when the page is full.
bool write_attempts(PageWriter& writer, const model::State& state, const AttemptFilter& filter,
                    const model::WorkloadRecord& record) {
  for (const model::Attempt& attempt : record.attempts) {
    if (attempt.id <= filter.after) continue;
    if (!filter.phases.empty() && !filter.phases.contains(attempt.phase)) continue;
    std::string* item = writer.next(model::to_text(attempt.id));
    if (item == nullptr) return false;
    append_attempt(*item, state, attempt);
  }
  return true;
}

}  // namespace

void list_attempts(Desk& desk, const ExchangePtr& exchange) {
  const Query& query = exchange->query;
  const auto page = page_of(query);
  const auto workload = query.number("workload", 1, std::numeric_limits<std::int64_t>::max());
  auto phases = states_of<model::AttemptPhase>(query, extend_attempt_phases);
  if (!page) return exchange->refuse(page.error());
  if (!workload) return exchange->refuse(workload.error());
  if (!phases) return exchange->refuse(phases.error());
  const auto after = attempt_cursor(page->cursor);
  if (!after) return exchange->refuse(after.error());
  AttemptFilter filter{.workload = *workload,
                       .owner = query.text("owner"),
                       .queue = query.text("queue"),
                       .phases = std::move(*phases),
                       .after = *after};
  if (filter.owner == "me") filter.owner = exchange->caller.user;
  answer_from_loop(
      desk, exchange,
      [filter, limit = page->limit](const controller::Controller& loop,
                                    base::Instant) -> Result<std::string> {
        const model::State& state = loop.state();
        Result<model::QueueId> queue = model::QueueId{};
        if (filter.queue) queue = find_queue(state, *filter.queue);
        if (!queue) return tl::unexpected(queue.error());
        PageWriter writer(limit);
        const std::uint64_t end = state.workloads.next_id().value;
        for (std::uint64_t id = std::max<std::uint64_t>(1, filter.after.workload.value); id < end;
             ++id) {
          const model::WorkloadRecord* record = state.workloads.find(model::WorkloadId(id));
          if (record == nullptr) continue;
          if (filter.workload && static_cast<std::uint64_t>(*filter.workload) != id) continue;
          if (filter.owner && record->workload.user != *filter.owner) continue;
          if (*queue && !is_below(state, record->workload.queue, *queue)) continue;
          if (!write_attempts(writer, state, filter, *record)) break;
        }
        return writer.finish();
      });
}

void get_attempt(Desk& desk, const ExchangePtr& exchange) {
  answer_from_loop_with_tag(desk, exchange,
                            [word = exchange->names[0]](const controller::Controller& loop,
                                                        base::Instant) -> Result<std::string> {
                              const auto attempt = find_attempt(loop.state(), word);
                              if (!attempt) return tl::unexpected(attempt.error());
                              std::string json;
                              append_attempt(json, loop.state(), **attempt);
                              return json;
                            });
}

}  // namespace api
