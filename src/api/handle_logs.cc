// What members wrote. Backends read logs on the loop's thread, so a followed log is read in short
// portions, each a message to the loop, no faster than its reader takes them.

#include <algorithm>
#include <utility>

#include "api/internal/handlers.h"
#include "controller/cluster_backend.h"

namespace api {

using base::Code;
using base::Result;

namespace {

constexpr std::int64_t kMaxBytes = 1 << 20;  // of one answer
constexpr std::int64_t kPortion = 64 << 10;  // of a followed log
constexpr std::int64_t kMaxTail = 100'000;
constexpr std::int64_t kMaxOffset = std::int64_t{1} << 60;
constexpr base::Duration kPoll = base::milliseconds(300);

struct LogQuestion {
  std::string attempt;
  controller::LogRequest request;
  std::optional<std::int64_t> tail;
  bool follows = false;
};

Result<LogQuestion> question_of(const Exchange& exchange) {
  static constexpr std::string_view kStreams[] = {"stdout", "stderr"};
  const Query& query = exchange.query;
  const auto member = query.number("member", 0, 1'000'000);
  const auto stream = query.choice("stream", kStreams);
  const auto follow = query.truth("follow");
  const auto tail = query.number("tail", 0, kMaxTail);
  const auto offset = query.number("offset", 0, kMaxOffset);
  if (!member) return tl::unexpected(member.error());
  if (!stream) return tl::unexpected(stream.error());
  if (!follow) return tl::unexpected(follow.error());
  if (!tail) return tl::unexpected(tail.error());
  if (!offset) return tl::unexpected(offset.error());
  if (*tail && *offset)
    return base::fail_field(Code::InvalidArgument, "tail", "given together with offset",
                            "give only one of them");
  LogQuestion question{
      .attempt = exchange.names[0], .request = {}, .tail = *tail, .follows = *follow};
  question.request.rank = static_cast<std::int32_t>(member->value_or(0));
  question.request.is_error_stream = *stream == "stderr";
  question.request.offset = *tail ? -kMaxBytes : offset->value_or(0);
  question.request.limit = kMaxBytes;
  return question;
}

Result<controller::LogChunk> read_log(const controller::Controller& loop,
                                      const model::Attempt& attempt,
                                      const controller::LogRequest& request) {
  controller::ClusterBackend* backend = loop.backend_of(attempt);
  if (backend == nullptr)
    return base::fail(Code::Unavailable, "the backend that ran {} is not part of this server",
                      model::to_text(attempt.id));
  return backend->read_log(request);
}

// Drops what stands before the last `lines` lines. An unfinished last line counts as one.
void keep_tail(controller::LogChunk& chunk, std::int64_t lines) {
  std::size_t at = chunk.bytes.size();
  if (lines > 0 && at > 0 && chunk.bytes[at - 1] == '\n') --at;
  std::int64_t left = lines;
  while (at > 0 && left > 0) {
    const std::size_t newline = chunk.bytes.rfind('\n', at - 1);
    at = newline == std::string::npos ? 0 : newline;
    if (--left == 0 && newline != std::string::npos) ++at;
  }
  chunk.offset += static_cast<std::int64_t>(at);
  chunk.bytes.erase(0, at);
}

platform::HttpResponse log_head(const controller::LogChunk& chunk) {
  return {.status = 200,
          .headers = {{"Content-Type", "text/plain; charset=utf-8"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Cache-Control", "no-store"},
                      {"Berth-Log-Offset", std::to_string(chunk.offset)},
                      {"Berth-Log-Size", std::to_string(chunk.size)}},
          .body = {}};
}

// Goes on with a log until its attempt has ended and all of it was given.
class Follower : public std::enable_shared_from_this<Follower> {
 public:
  Follower(Desk& desk, platform::HttpStream stream, LogQuestion question)
      : desk_(desk), stream_(std::move(stream)), question_(std::move(question)) {
    question_.request.limit = kPortion;
  }

  void begin(const controller::LogChunk& first) {
    give(first);
    ask_later();
  }

 private:
  void give(const controller::LogChunk& chunk) {
    question_.request.offset = chunk.offset + static_cast<std::int64_t>(chunk.bytes.size());
    if (!chunk.bytes.empty()) is_alive_ = stream_.write(chunk.bytes);
  }
  void ask_later() {
    if (!is_alive_) return;
    stream_.after(kPoll, [self = shared_from_this()] { self->ask(); });
  }
  void ask() {
    const bool is_taken =
        desk_.port.read([self = shared_from_this()](const controller::Controller& loop,
                                                    base::Instant) { self->look(loop); });
    if (!is_taken) stream_.close();
  }
  // On the loop's thread.
  void look(const controller::Controller& loop) {
    if (stream_.is_gone()) return;
    const auto attempt = find_attempt(loop.state(), question_.attempt);
    const bool has_ended = !attempt || (*attempt)->phase == model::AttemptPhase::Ended;
    const auto chunk = attempt ? read_log(loop, **attempt, question_.request)
                               : Result<controller::LogChunk>(tl::unexpected(attempt.error()));
    if (chunk) give(*chunk);
    const bool has_more = chunk && question_.request.offset < chunk->size && !chunk->bytes.empty();
    if (has_more)
      stream_.when_drained([self = shared_from_this()] { self->ask(); });
    else if (has_ended || (!chunk && chunk.error().code != Code::NotFound))
      stream_.close();
    else
      ask_later();
  }

  Desk& desk_;
  platform::HttpStream stream_;
  LogQuestion question_;
  bool is_alive_ = true;
};

void answer_with_log(Desk& desk, const ExchangePtr& exchange, LogQuestion question,
                     const controller::Controller& loop) {
  const auto attempt = find_attempt(loop.state(), question.attempt);
  if (!attempt) return exchange->refuse(attempt.error());
  const auto members = static_cast<std::int32_t>((*attempt)->placement.members.size());
  if (question.request.rank >= members)
    return exchange->refuse({.code = Code::NotFound,
                             .message = fmt::format("attempt {} has no member {}", question.attempt,
                                                    question.request.rank),
                             .field = "member",
                             .hint = fmt::format("it has {}, counted from 0", members)});
  question.request.attempt = (*attempt)->id;
  auto chunk = read_log(loop, **attempt, question.request);
  const bool is_early = !chunk && chunk.error().code == Code::NotFound && question.follows &&
                        (*attempt)->phase != model::AttemptPhase::Ended;
  if (is_early) chunk = controller::LogChunk{};
  if (!chunk) return exchange->refuse(chunk.error());
  if (question.tail) keep_tail(*chunk, *question.tail);
  platform::HttpResponse head = log_head(*chunk);
  if (!question.follows) {
    head.body = std::move(chunk->bytes);
    return exchange->answer(std::move(head));
  }
  if (exchange->told) exchange->told(200);
  std::make_shared<Follower>(desk, exchange->reply.stream(std::move(head)), std::move(question))
      ->begin(*chunk);
}

}  // namespace

void get_logs(Desk& desk, const ExchangePtr& exchange) {
  auto question = question_of(*exchange);
  if (!question) return exchange->refuse(question.error());
  const bool is_taken =
      desk.port.read([&desk, exchange, question = std::move(*question)](
                         const controller::Controller& loop, base::Instant) mutable {
        answer_with_log(desk, exchange, std::move(question), loop);
      });
  if (!is_taken) exchange->refuse_stopping();
}

}  // namespace api
