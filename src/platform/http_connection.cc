#include "platform/internal/http_connection.h"

#include <cerrno>
#include <chrono>
#include <utility>

#include <sys/socket.h>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>

#include "base/assert.h"
#include "platform/internal/http_text.h"
#include "platform/log.h"

namespace platform {

namespace net = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

// A refused peer may still be sending; so much of it is read and thrown away before the connection
// is closed, or the refusal itself would be lost with a reset.
constexpr std::size_t kMaxDiscardedBytes = 16 << 20;
constexpr base::Duration kLingerTime = base::seconds(2);

std::chrono::milliseconds chrono_of(base::Duration duration) {
  return std::chrono::milliseconds(duration.millis);
}

}  // namespace

void HttpEngine::run(std::function<void()> work) {
  if (thread.load() == std::this_thread::get_id()) return work();
  const std::lock_guard lock(mutex);
  if (!is_stopped) net::post(context, std::move(work));
}

HttpConnection::HttpConnection(std::shared_ptr<HttpEngine> engine, net::ip::tcp::socket socket)
    : engine_(std::move(engine)),
      socket_(std::move(socket)),
      deadline_(engine_->context),
      discarded_(4096, '\0') {}

HttpConnection::~HttpConnection() = default;

void HttpConnection::start() {
  engine_->connections.insert(this);
  engine_->connection_count = engine_->connections.size();
  error_code ignored;
  socket_.set_option(net::ip::tcp::no_delay(true), ignored);
  wait_for_request();
}

void HttpConnection::stop() {
  keeps_alive_ = false;
  switch (phase_) {
    case Phase::Idle:
    case Phase::Reading:
      return abort();
    case Phase::Streaming:
      return end_stream(exchange_);
    case Phase::Handling:
    case Phase::Sending:
    case Phase::Lingering:
    case Phase::Closed:
      return;
  }
}

void HttpConnection::abort() {
  if (phase_ == Phase::Closed) return;
  phase_ = Phase::Closed;
  const auto self = shared_from_this();
  clear_deadline();
  error_code ignored;
  socket_.close(ignored);
  end_exchange();
  engine_->connections.erase(this);
  engine_->connection_count = engine_->connections.size();
  if (engine_->connections.empty() && engine_->when_empty) engine_->when_empty();
}

// ---- reading ----

void HttpConnection::wait_for_request() {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(engine_->options.max_header_bytes));
  parser_->body_limit(engine_->options.max_body_bytes);
  parser_->get().body().clear();
  // A new connection is there for a request; only between two may it be quiet for longer.
  was_read_whole_ = false;
  if (requests_ == 0 || input_.size() > 0) return read_request();
  phase_ = Phase::Idle;
  set_deadline(engine_->options.idle_timeout);
  socket_.async_read_some(input_.prepare(4096),
                          [self = shared_from_this()](error_code error, std::size_t count) {
                            if (self->phase_ != Phase::Idle) return;
                            if (error) return self->abort();
                            self->input_.commit(count);
                            self->read_request();
                          });
}

void HttpConnection::read_request() {
  phase_ = Phase::Reading;
  set_deadline(engine_->options.read_timeout);
  http::async_read_header(
      socket_, input_, *parser_, [self = shared_from_this()](error_code error, std::size_t) {
        if (self->phase_ != Phase::Reading) return;
        if (error) return self->refuse(error);
        const auto expect = self->parser_->get().find(http::field::expect);
        if (expect == self->parser_->get().end() ||
            !equals_ignoring_case(expect->value(), "100-continue"))
          return self->read_body();
        static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
        net::async_write(self->socket_, net::buffer(kContinue),
                         [self](error_code failure, std::size_t) {
                           if (self->phase_ != Phase::Reading) return;
                           if (failure) return self->abort();
                           self->read_body();
                         });
      });
}

void HttpConnection::read_body() {
  http::async_read(socket_, input_, *parser_,
                   [self = shared_from_this()](error_code error, std::size_t) {
                     if (self->phase_ != Phase::Reading) return;
                     if (error) return self->refuse(error);
                     self->handle_request();
                   });
}

void HttpConnection::refuse(error_code error) {
  if (error == http::error::header_limit)
    return refuse_with(
        431, "TooLarge",
        fmt::format("the headers have more than {} bytes", engine_->options.max_header_bytes));
  if (error == http::error::body_limit)
    return refuse_with(
        413, "TooLarge",
        fmt::format("the body has more than {} bytes", engine_->options.max_body_bytes));
  // Everything else of this category is text that is not HTTP; the rest is a broken connection.
  const bool is_malformed = error.category() == make_error_code(http::error::bad_method).category();
  if (!is_malformed || error == http::error::end_of_stream || error == http::error::partial_message)
    return abort();
  refuse_with(400, "InvalidArgument", "not an HTTP/1.1 request: " + error.message());
}

void HttpConnection::refuse_with(int status, std::string_view code, std::string_view detail) {
  keeps_alive_ = false;
  is_head_request_ = false;
  send(plain_problem(status, code, detail));
}

void HttpConnection::handle_request() {
  auto message = parser_->release();
  was_read_whole_ = true;
  keeps_alive_ = message.keep_alive() && message.version() >= 11 && !engine_->is_stopping;
  is_head_request_ = message.method() == http::verb::head;
  is_chunked_ = message.version() >= 11;
  HttpRequest request;
  request.method = std::string(message.method_string());
  const std::string_view target(message.target().data(), message.target().size());
  if (!target.starts_with('/'))
    return refuse_with(400, "InvalidArgument", "the request target has to begin with a slash");
  const std::size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (question != std::string_view::npos) request.query = target.substr(question + 1);
  for (const auto& field : message)
    request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  request.body = std::move(message.body());
  error_code ignored;
  const auto peer = socket_.remote_endpoint(ignored);
  if (!ignored) request.peer = fmt::format("{}:{}", peer.address().to_string(), peer.port());

  phase_ = Phase::Handling;
  set_deadline(engine_->options.reply_timeout);
  std::uint64_t exchange = 0;
  {
    const std::lock_guard lock(mutex_);
    exchange = exchange_ = ++requests_;
    mode_ = Mode::Open;
    is_ending_ = false;
  }
  try {
    engine_->handler(std::move(request), HttpReply(shared_from_this(), exchange));
  } catch (const std::exception& failure) {
    LOG(Error, "http_handler_failed", {"what", failure.what()});
    complete(exchange, plain_problem(500, "Internal", "the request could not be handled"));
  }
}

// ---- answering ----

void HttpConnection::complete(std::uint64_t exchange, HttpResponse response) {
  {
    const std::lock_guard lock(mutex_);
    if (exchange_ != exchange || mode_ != Mode::Open) return;
    mode_ = Mode::Answered;
  }
  engine_->run([self = shared_from_this(), answer = std::move(response)]() mutable {
    if (self->phase_ == Phase::Handling) self->send(std::move(answer));
  });
}

void HttpConnection::send(HttpResponse response) {
  phase_ = Phase::Sending;
  const bool carries_body = has_body(response.status);
  output_ = print_response_head(response, carries_body ? BodyForm::Sized : BodyForm::None,
                                keeps_alive_ ? AfterResponse::KeepAlive : AfterResponse::Close);
  if (carries_body && !is_head_request_) output_ += response.body;
  output_at_ = 0;
  output_payload_ = 0;
  write_some();
}

void HttpConnection::write_some() {
  is_writing_ = true;
  set_deadline(engine_->options.write_timeout);
  socket_.async_write_some(net::buffer(output_.data() + output_at_, output_.size() - output_at_),
                           [self = shared_from_this()](error_code error, std::size_t count) {
                             self->written(error, count);
                           });
}

void HttpConnection::written(error_code error, std::size_t count) {
  if (phase_ == Phase::Closed) return;
  if (error) return abort();
  output_at_ += count;
  if (output_at_ < output_.size()) return write_some();
  is_writing_ = false;
  output_.clear();
  if (phase_ != Phase::Streaming) return finish_response();
  clear_deadline();
  {
    const std::lock_guard lock(mutex_);
    buffered_ -= std::exchange(output_payload_, 0);
  }
  if (has_last_chunk_) return finish_response();
  drained();
  flush();
}

void HttpConnection::finish_response() {
  end_exchange();
  if (phase_ == Phase::Closed) return;
  if (keeps_alive_ && !engine_->is_stopping) return wait_for_request();
  // Nothing that the peer sent is left unread, so closing does not take the answer away.
  if (was_read_whole_ && input_.size() == 0) return abort();
  linger();
}

void HttpConnection::linger() {
  phase_ = Phase::Lingering;
  error_code failed;
  socket_.shutdown(net::ip::tcp::socket::shutdown_send, failed);
  if (failed) return abort();
  set_deadline(kLingerTime);
  discard();
}

void HttpConnection::discard() {
  socket_.async_read_some(net::buffer(discarded_),
                          [self = shared_from_this()](error_code error, std::size_t count) {
                            if (self->phase_ != Phase::Lingering) return;
                            self->discarded_bytes_ += count;
                            if (error || self->discarded_bytes_ > kMaxDiscardedBytes)
                              return self->abort();
                            self->discard();
                          });
}

// ---- streams ----

void HttpConnection::begin_stream(std::uint64_t exchange, HttpResponse head, std::string idle_bytes,
                                  base::Duration idle_every) {
  {
    const std::lock_guard lock(mutex_);
    if (exchange_ != exchange || mode_ != Mode::Open) return;
    mode_ = Mode::Streaming;
    pending_.clear();
    buffered_ = 0;
    // Nothing is flushed before the head, whoever writes first.
    is_flush_posted_ = true;
  }
  engine_->run([self = shared_from_this(), head = std::move(head), idle = std::move(idle_bytes),
                idle_every]() mutable {
    if (self->phase_ != Phase::Handling) return;
    self->idle_bytes_ = std::move(idle);
    self->send_stream_head(head);
    if (!self->idle_bytes_.empty() && idle_every.millis > 0) self->beat(idle_every);
  });
}

void HttpConnection::send_stream_head(const HttpResponse& head) {
  phase_ = Phase::Streaming;
  has_last_chunk_ = false;
  if (!is_chunked_) keeps_alive_ = false;
  output_ = print_response_head(head, is_chunked_ ? BodyForm::Chunked : BodyForm::UntilClose,
                                keeps_alive_ ? AfterResponse::KeepAlive : AfterResponse::Close);
  output_at_ = 0;
  output_payload_ = 0;
  if (is_head_request_) has_last_chunk_ = true;
  watch_peer();
  write_some();
}

bool HttpConnection::write(std::uint64_t exchange, std::string bytes) {
  bool is_first = false;
  bool is_too_slow = false;
  {
    const std::lock_guard lock(mutex_);
    if (exchange_ != exchange || mode_ != Mode::Streaming || is_ending_) return false;
    is_too_slow = buffered_ > 0 && buffered_ + bytes.size() > engine_->options.max_stream_bytes;
    if (is_too_slow) {
      mode_ = Mode::Over;
      pending_.clear();
    } else {
      buffered_ += bytes.size();
      pending_ += bytes;
      is_first = !std::exchange(is_flush_posted_, true);
    }
  }
  if (is_too_slow) {
    engine_->run([self = shared_from_this(), exchange] {
      if (self->requests_ != exchange) return;
      LOG(Info, "http_slow_reader_dropped", {"exchange", exchange});
      self->abort();
    });
  } else if (is_first) {
    engine_->run([self = shared_from_this()] { self->flush(); });
  }
  return !is_too_slow;
}

void HttpConnection::flush() {
  if (is_writing_ || phase_ != Phase::Streaming) return;
  bool is_last = false;
  std::string bytes;
  {
    const std::lock_guard lock(mutex_);
    is_flush_posted_ = false;
    bytes = std::exchange(pending_, {});
    is_last = is_ending_;
  }
  if (bytes.empty() && !is_last) return;
  wrote_since_beat_ = true;
  output_.clear();
  output_at_ = 0;
  output_payload_ = bytes.size();
  if (is_chunked_)
    append_chunk(output_, bytes);
  else
    output_ = std::move(bytes);
  if (is_last) {
    has_last_chunk_ = true;
    if (is_chunked_) output_ += kLastChunk;
  }
  if (output_.empty()) return finish_response();
  write_some();
}

void HttpConnection::end_stream(std::uint64_t exchange) {
  {
    const std::lock_guard lock(mutex_);
    if (exchange_ != exchange || mode_ != Mode::Streaming || is_ending_) return;
    is_ending_ = true;
  }
  engine_->run([self = shared_from_this()] { self->flush(); });
}

bool HttpConnection::is_gone(std::uint64_t exchange) const {
  const std::lock_guard lock(mutex_);
  return exchange_ != exchange || mode_ == Mode::Over || mode_ == Mode::Answered;
}

bool HttpConnection::is_stream_gone(std::uint64_t exchange) const {
  const std::lock_guard lock(mutex_);
  return exchange_ != exchange || mode_ != Mode::Streaming || is_ending_;
}

std::size_t HttpConnection::buffered(std::uint64_t exchange) const {
  const std::lock_guard lock(mutex_);
  return exchange_ == exchange ? buffered_ : 0;
}

bool HttpConnection::has_room(std::uint64_t exchange) const {
  return buffered(exchange) < engine_->options.max_stream_bytes / 2;
}

void HttpConnection::when_drained(std::uint64_t exchange, std::function<void()> callback) {
  // Posted, never called at once, so that a producer that calls itself does not recurse.
  const std::lock_guard lock(engine_->mutex);
  if (engine_->is_stopped) return;
  net::post(engine_->context,
            [self = shared_from_this(), exchange, callback = std::move(callback)]() mutable {
              if (self->is_stream_gone(exchange)) return;
              self->drained_callbacks_.push_back(std::move(callback));
              self->drained();
            });
}

void HttpConnection::drained() {
  if (!has_room(exchange_)) return;
  for (const auto& callback : std::exchange(drained_callbacks_, {}))
    callback();
}

void HttpConnection::when_gone(std::uint64_t exchange, std::function<void()> callback) {
  engine_->run([self = shared_from_this(), exchange, callback = std::move(callback)]() mutable {
    if (self->is_stream_gone(exchange)) return callback();
    self->gone_callbacks_.push_back(std::move(callback));
  });
}

void HttpConnection::after(std::uint64_t exchange, base::Duration delay,
                           std::function<void()> callback) {
  engine_->run([self = shared_from_this(), exchange, delay, callback = std::move(callback)] {
    if (self->is_stream_gone(exchange)) return;
    const auto timer = std::make_shared<net::steady_timer>(self->engine_->context);
    std::erase_if(self->timers_, [](const auto& old) { return old.expired(); });
    self->timers_.push_back(timer);
    timer->expires_after(chrono_of(delay));
    timer->async_wait([self, timer, exchange, callback](error_code error) {
      if (!error && !self->is_stream_gone(exchange)) callback();
    });
  });
}

void HttpConnection::end_exchange() {
  {
    const std::lock_guard lock(mutex_);
    mode_ = Mode::Over;
    pending_.clear();
    buffered_ = 0;
    is_flush_posted_ = false;
  }
  for (const auto& weak : std::exchange(timers_, {}))
    if (const auto timer = weak.lock()) timer->cancel();
  drained_callbacks_.clear();
  for (const auto& callback : std::exchange(gone_callbacks_, {}))
    callback();
}

// A reader that goes away is noticed although nothing is being written.
void HttpConnection::watch_peer() {
  socket_.async_wait(net::ip::tcp::socket::wait_read, [self = shared_from_this(),
                                                       exchange = requests_](error_code error) {
    if (error || self->phase_ != Phase::Streaming || self->requests_ != exchange) return;
    char byte = 0;
    const ssize_t got = ::recv(self->socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0) return;  // the next request already; it stays where it is
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return self->watch_peer();
    self->abort();
  });
}

void HttpConnection::beat(base::Duration every) {
  wrote_since_beat_ = false;
  after(requests_, every, [this, exchange = requests_, every] {
    if (!wrote_since_beat_ && !is_writing_) write(exchange, idle_bytes_);
    beat(every);
  });
}

// ---- time ----

void HttpConnection::set_deadline(base::Duration limit) {
  const std::uint64_t number = ++deadline_number_;
  deadline_.expires_after(chrono_of(limit));
  deadline_.async_wait([self = shared_from_this(), number](error_code error) {
    if (!error && number == self->deadline_number_) self->deadline_passed();
  });
}

void HttpConnection::clear_deadline() {
  ++deadline_number_;
  deadline_.cancel();
}

void HttpConnection::deadline_passed() {
  switch (phase_) {
    case Phase::Reading:
      // Taking the phase away makes the read in flight end without effect.
      return refuse_with(408, "Unavailable",
                         fmt::format("the request did not arrive within {} ms",
                                     engine_->options.read_timeout.millis));
    case Phase::Handling:
      return complete(exchange_, plain_problem(503, "Unavailable", "no answer in time; try again"));
    case Phase::Idle:
    case Phase::Sending:
    case Phase::Streaming:
    case Phase::Lingering:
      return abort();
    case Phase::Closed:
      return;
  }
}

}  // namespace platform
