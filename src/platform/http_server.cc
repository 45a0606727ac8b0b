#include "platform/http_server.h"

#include <chrono>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include "platform/internal/http_connection.h"
#include "platform/internal/http_text.h"
#include "platform/log.h"

namespace platform {

namespace net = boost::asio;
using boost::system::error_code;

// ---- HttpStream, HttpReply ----

bool HttpStream::write(std::string bytes) {
  return connection_->write(exchange_, std::move(bytes));
}
void HttpStream::close() { connection_->end_stream(exchange_); }
bool HttpStream::is_gone() const { return connection_->is_stream_gone(exchange_); }
std::size_t HttpStream::buffered() const { return connection_->buffered(exchange_); }
bool HttpStream::has_room() const { return connection_->has_room(exchange_); }

void HttpStream::when_drained(std::function<void()> callback) {
  connection_->when_drained(exchange_, std::move(callback));
}

void HttpStream::when_gone(std::function<void()> callback) {
  connection_->when_gone(exchange_, std::move(callback));
}

void HttpStream::after(base::Duration delay, std::function<void()> callback) {
  connection_->after(exchange_, delay, std::move(callback));
}

struct HttpReply::Guard {
  Guard(std::shared_ptr<HttpConnection> connection_given, std::uint64_t exchange_given)
      : connection(std::move(connection_given)), exchange(exchange_given) {}
  ~Guard() {
    connection->complete(exchange, plain_problem(500, "Internal", "the request was not answered"));
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  const std::shared_ptr<HttpConnection> connection;
  const std::uint64_t exchange;
};

HttpReply::HttpReply(std::shared_ptr<HttpConnection> connection, std::uint64_t exchange)
    : connection_(std::move(connection)),
      exchange_(exchange),
      guard_(std::make_shared<Guard>(connection_, exchange)) {}

void HttpReply::send(HttpResponse response) const {
  connection_->complete(exchange_, std::move(response));
}

HttpStream HttpReply::stream(HttpResponse head, std::string idle_bytes,
                             base::Duration idle_every) const {
  connection_->begin_stream(exchange_, std::move(head), std::move(idle_bytes), idle_every);
  return HttpStream(connection_, exchange_);
}

bool HttpReply::is_gone() const { return connection_->is_gone(exchange_); }

// ---- HttpServer ----

struct HttpServer::Parts {
  Parts(HttpServerOptions options, HttpHandler handler)
      : engine(std::make_shared<HttpEngine>(std::move(options), std::move(handler))),
        acceptor(engine->context),
        retry(engine->context),
        stop_timer(engine->context) {}

  base::Result<base::Done> listen();
  void accept();
  void accepted(error_code error, net::ip::tcp::socket socket);
  void stop_on_io_thread();

  std::shared_ptr<HttpEngine> engine;
  net::ip::tcp::acceptor acceptor;
  net::steady_timer retry;
  net::steady_timer stop_timer;
  std::uint16_t port = 0;
  std::thread thread;
};

base::Result<base::Done> HttpServer::Parts::listen() {
  const HttpServerOptions& options = engine->options;
  error_code error;
  const auto address = net::ip::make_address(options.address, error);
  if (error)
    return base::fail_field(base::Code::InvalidArgument, "address",
                            fmt::format("\"{}\" is not a numeric IP address", options.address),
                            "write 127.0.0.1, 0.0.0.0, ::1 or ::");
  const net::ip::tcp::endpoint endpoint(address, options.port);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(net::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(net::socket_base::max_listen_connections, error);
  if (error)
    return base::fail_field(base::Code::Unavailable, "port",
                            fmt::format("cannot listen on {} port {}: {}", options.address,
                                        options.port, error.message()),
                            "stop what uses that port, or choose another one");
  port = acceptor.local_endpoint(error).port();
  return base::Done{};
}

void HttpServer::Parts::accept() {
  acceptor.async_accept([this](error_code error, net::ip::tcp::socket socket) {
    accepted(error, std::move(socket));
  });
}

void HttpServer::Parts::accepted(error_code error, net::ip::tcp::socket socket) {
  if (!acceptor.is_open()) return;
  if (error) {
    // Most likely out of file descriptors; they come back as connections end.
    LOG(Warning, "http_accept_failed", {"message", error.message()});
    retry.expires_after(std::chrono::milliseconds(100));
    retry.async_wait([this](error_code cancelled) {
      if (!cancelled) accept();
    });
    return;
  }
  if (engine->connections.size() >= engine->options.max_connections) {
    // Fits in the empty send buffer of a new socket, so this does not block.
    const HttpResponse full = plain_problem(503, "Exhausted", "too many connections; try again");
    const std::string text =
        print_response_head(full, BodyForm::Sized, AfterResponse::Close) + full.body;
    error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(net::buffer(text), ignored);
    socket.shutdown(net::ip::tcp::socket::shutdown_send, ignored);
  } else {
    std::make_shared<HttpConnection>(engine, std::move(socket))->start();
  }
  accept();
}

void HttpServer::Parts::stop_on_io_thread() {
  engine->is_stopping = true;
  error_code ignored;
  acceptor.close(ignored);
  retry.cancel();
  if (engine->connections.empty()) return;
  engine->when_empty = [this] { stop_timer.cancel(); };
  const std::set<HttpConnection*> present = engine->connections;
  stop_timer.expires_after(std::chrono::milliseconds(engine->options.stop_timeout.millis));
  for (HttpConnection* connection : present)
    connection->stop();
  if (engine->connections.empty()) return;
  stop_timer.async_wait([this](error_code cancelled) {
    if (cancelled) return;
    const std::set<HttpConnection*> left = engine->connections;
    for (HttpConnection* connection : left)
      connection->abort();
  });
}

base::Result<std::unique_ptr<HttpServer>> HttpServer::start(HttpServerOptions options,
                                                            HttpHandler handler) {
  auto parts = std::make_unique<Parts>(std::move(options), std::move(handler));
  if (auto done = parts->listen(); !done) return tl::unexpected(done.error());
  parts->accept();
  parts->thread = std::thread([engine = parts->engine] {
    engine->thread = std::this_thread::get_id();
    engine->context.run();
  });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(parts)));
}

HttpServer::HttpServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
HttpServer::~HttpServer() { stop(); }

std::uint16_t HttpServer::port() const { return parts_->port; }
std::size_t HttpServer::connections() const { return parts_->engine->connection_count; }

void HttpServer::stop() {
  if (!parts_->thread.joinable()) return;
  HttpEngine& engine = *parts_->engine;
  net::post(engine.context, [parts = parts_.get()] { parts->stop_on_io_thread(); });
  parts_->thread.join();
  engine.thread = std::thread::id{};
  {
    const std::lock_guard lock(engine.mutex);
    engine.is_stopped = true;
  }
  // What was posted between the end of the thread and now; it keeps connections alive otherwise.
  engine.context.restart();
  engine.context.poll();
}

}  // namespace platform
