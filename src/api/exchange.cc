#include "api/internal/exchange.h"

#include <algorithm>
#include <utility>

#include "api/internal/problem.h"
#include "base/text.h"
#include "platform/sha256.h"

namespace api {

using base::Code;
using base::Result;

Exchange::Exchange(platform::HttpRequest request_given, platform::HttpReply reply_given,
                   controller::Caller caller_given)
    : request(std::move(request_given)),
      reply(std::move(reply_given)),
      caller(std::move(caller_given)) {}

void Exchange::tell(int status) const {
  if (told) told(status);
}

void Exchange::answer(platform::HttpResponse response) const {
  tell(response.status);
  reply.send(std::move(response));
}

void Exchange::answer(std::string json) const {
  json += '\n';
  answer(platform::HttpResponse{
      .status = 200,
      .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
      .body = std::move(json)});
}

void Exchange::answer_with_tag(std::string json) const {
  json += '\n';
  const std::string tag = "\"" + platform::sha256_hex(json).substr(0, 32) + "\"";
  platform::HttpResponse response{.status = 200,
                                  .headers = {{"Content-Type", "application/json"},
                                              {"Cache-Control", "no-cache"},
                                              {"ETag", tag}},
                                  .body = std::move(json)};
  const std::string* known = platform::find_header(request.headers, "If-None-Match");
  if (known != nullptr && (*known == "*" || known->find(tag) != std::string::npos)) {
    response.status = 304;
    response.body.clear();
  }
  answer(std::move(response));
}

void Exchange::refuse(const base::Error& error) const { answer(problem(error, request.path)); }

void Exchange::refuse_stopping() const {
  refuse({.code = Code::Unavailable,
          .message = "the server is stopping or overloaded",
          .field = {},
          .hint = "try again in a moment"});
}

namespace {

enum class Tag { None, Content };

void read_and_answer(Desk& desk, const ExchangePtr& exchange, Reading work, Tag tag) {
  const bool is_taken = desk.port.read([exchange, work = std::move(work), tag](
                                           const controller::Controller& loop, base::Instant now) {
    if (exchange->reply.is_gone()) return;  // nobody waits any more
    auto json = work(loop, now);
    if (!json) return exchange->refuse(json.error());
    if (tag == Tag::Content) return exchange->answer_with_tag(std::move(*json));
    exchange->answer(std::move(*json));
  });
  if (!is_taken) exchange->refuse_stopping();
}

bool is_number(std::string_view word) {
  return !word.empty() &&
         std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

const model::WorkloadRecord* latest_of_name(const model::State& state, const std::string& name,
                                            model::QueueId queue) {
  for (std::uint64_t id = state.next_workload.value; id > 0; --id) {
    const model::WorkloadRecord* record = state.workloads.find(model::WorkloadId(id));
    if (record != nullptr && record->workload.name == name &&
        (!queue || record->workload.queue == queue))
      return record;
  }
  return nullptr;
}

}  // namespace

void answer_from_loop(Desk& desk, const ExchangePtr& exchange, Reading work) {
  read_and_answer(desk, exchange, std::move(work), Tag::None);
}

void answer_from_loop_with_tag(Desk& desk, const ExchangePtr& exchange, Reading work) {
  read_and_answer(desk, exchange, std::move(work), Tag::Content);
}

tl::unexpected<base::Error> unknown_name(std::string_view what, const std::string& name,
                                         const std::vector<std::string_view>& known) {
  auto failure = base::fail(Code::NotFound, "there is no {} \"{}\"", what, name);
  failure.value().field = std::string(what);
  if (const auto near = base::nearest(name, known))
    failure.value().hint = fmt::format("did you mean \"{}\"?", *near);
  return failure;
}

Result<model::QueueId> find_queue(const model::State& state, const std::string& name) {
  const auto found = state.queue_by_name.find(name);
  if (found == state.queue_by_name.end()) return no_such("queue", name, state.queue_by_name);
  return found->second;
}

Result<model::PoolId> find_pool(const model::State& state, const std::string& name) {
  const auto found = state.pool_by_name.find(name);
  if (found == state.pool_by_name.end()) return no_such("pool", name, state.pool_by_name);
  return found->second;
}

Result<const model::WorkloadRecord*> find_workload(const model::State& state,
                                                   const std::string& word,
                                                   const std::string& queue) {
  if (is_number(word)) {
    const auto number = base::parse_integer(word);
    const model::WorkloadRecord* record =
        number ? state.workloads.find(model::WorkloadId(static_cast<std::uint64_t>(*number)))
               : nullptr;
    if (record != nullptr) return record;
    return base::fail(Code::NotFound, "there is no workload {}", word);
  }
  model::QueueId wanted;
  if (!queue.empty()) {
    const auto found = find_queue(state, queue);
    if (!found) return tl::unexpected(found.error());
    wanted = *found;
  }
  std::vector<model::WorkloadId> matches;
  std::vector<std::string_view> names;
  for (const auto& [key, id] : state.workload_by_name) {
    if (wanted && key.first != wanted) continue;
    names.push_back(key.second);
    if (key.second == word) matches.push_back(id);
  }
  if (matches.size() > 1)
    return base::fail_field(Code::Conflict, "workload",
                            fmt::format("{} workloads have the name \"{}\"", matches.size(), word),
                            fmt::format("use a number ({}, {}, …) or name the queue with queue=",
                                        matches[0].value, matches[1].value));
  if (matches.size() == 1) return &state.workloads.at(matches.front());
  if (const model::WorkloadRecord* past = latest_of_name(state, word, wanted)) return past;
  return unknown_name("workload", word, names);
}

Result<const model::Attempt*> find_attempt(const model::State& state, const std::string& word) {
  const std::size_t dot = word.find('.');
  const auto number = base::parse_integer(std::string_view(word).substr(0, dot));
  const auto ordinal = dot == std::string::npos
                           ? Result<std::int64_t>(0)
                           : base::parse_integer(std::string_view(word).substr(dot + 1));
  if (!number || !ordinal || *number < 1 || *ordinal < 1)
    return base::fail_field(Code::InvalidArgument, "attempt",
                            fmt::format("\"{}\" is not an attempt", word),
                            "write number.ordinal, as 1042.1");
  const model::WorkloadRecord* record =
      state.workloads.find(model::WorkloadId(static_cast<std::uint64_t>(*number)));
  if (record == nullptr) return base::fail(Code::NotFound, "there is no workload {}", *number);
  for (const model::Attempt& attempt : record->attempts)
    if (attempt.id.ordinal == static_cast<std::uint64_t>(*ordinal)) return &attempt;
  return base::fail(Code::NotFound, "workload {} has no attempt {}; it was started {} times",
                    *number, *ordinal, record->attempts.size());
}

}  // namespace api
