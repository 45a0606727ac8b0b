#pragma once
// One connection of the HTTP server: reads requests one after the other, hands each to the handler
// as an exchange with a number, and writes what the reply or the stream of that exchange says.
// Numbers keep a late reply from answering the next request.
//
// Thread contract: the methods under "any thread" may be called from any; all others, and all of
// the state that the mutex does not guard, belong to the I/O thread.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "platform/http_server.h"

namespace platform {

// What all connections of one server share. Outlives the server for as long as a reply does.
struct HttpEngine {
  HttpEngine(HttpServerOptions options_given, HttpHandler handler_given)
      : options(std::move(options_given)), handler(std::move(handler_given)) {}

  // Runs it on the I/O thread: now if this is that thread, dropped once the server has stopped.
  void run(std::function<void()> work);

  boost::asio::io_context context{1};
  const HttpServerOptions options;
  const HttpHandler handler;
  std::atomic<std::thread::id> thread{};
  std::mutex mutex;
  bool is_stopped = false;                // guarded by mutex: nothing runs any more
  bool is_stopping = false;               // I/O thread
  std::set<HttpConnection*> connections;  // I/O thread
  std::function<void()> when_empty;  // I/O thread; while stopping, with the last connection gone
  std::atomic<std::size_t> connection_count{0};
};

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(std::shared_ptr<HttpEngine> engine, boost::asio::ip::tcp::socket socket);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // I/O thread.
  void start();
  void stop();   // after the answer in flight; at once when there is none
  void abort();  // now

  // Any thread.
  void complete(std::uint64_t exchange, HttpResponse response);
  void begin_stream(std::uint64_t exchange, HttpResponse head, std::string idle_bytes,
                    base::Duration idle_every);
  bool write(std::uint64_t exchange, std::string bytes);
  void end_stream(std::uint64_t exchange);
  bool is_gone(std::uint64_t exchange) const;
  bool is_stream_gone(std::uint64_t exchange) const;
  std::size_t buffered(std::uint64_t exchange) const;
  bool has_room(std::uint64_t exchange) const;
  void when_drained(std::uint64_t exchange, std::function<void()> callback);
  void when_gone(std::uint64_t exchange, std::function<void()> callback);
  void after(std::uint64_t exchange, base::Duration delay, std::function<void()> callback);

 private:
  enum class Phase { Idle, Reading, Handling, Sending, Streaming, Lingering, Closed };
  enum class Mode { Open, Answered, Streaming, Over };  // of the exchange, guarded by the mutex
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

  void wait_for_request();
  void read_request();
  void read_body();
  void handle_request();
  void refuse(boost::system::error_code error);
  void refuse_with(int status, std::string_view code, std::string_view detail);
  void send(HttpResponse response);
  void send_stream_head(const HttpResponse& head);
  void flush();
  void write_some();
  void written(boost::system::error_code error, std::size_t count);
  void drained();
  void end_exchange();
  void finish_response();
  void linger();
  void discard();
  void watch_peer();
  void beat(base::Duration every);
  void set_deadline(base::Duration limit);
  void clear_deadline();
  void deadline_passed();

  const std::shared_ptr<HttpEngine> engine_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer deadline_;
  std::uint64_t deadline_number_ = 0;  // tells a timer that was set again from its former self
  boost::beast::flat_buffer input_;
  std::optional<Parser> parser_;
  Phase phase_ = Phase::Idle;
  std::uint64_t requests_ = 0;
  bool keeps_alive_ = false;
  bool was_read_whole_ = false;  // the present request
  bool is_head_request_ = false;
  bool is_chunked_ = false;
  std::string output_;              // being written
  std::size_t output_at_ = 0;       // so much of it is with the kernel
  std::size_t output_payload_ = 0;  // bytes of the stream in it, without framing
  bool is_writing_ = false;
  bool has_last_chunk_ = false;
  std::string discarded_;
  std::size_t discarded_bytes_ = 0;
  std::string idle_bytes_;
  bool wrote_since_beat_ = false;
  std::vector<std::function<void()>> drained_callbacks_;
  std::vector<std::function<void()>> gone_callbacks_;
  std::vector<std::weak_ptr<boost::asio::steady_timer>> timers_;

  mutable std::mutex mutex_;
  std::uint64_t exchange_ = 0;
  Mode mode_ = Mode::Over;
  std::string pending_;       // of the stream, not in output_ yet
  std::size_t buffered_ = 0;  // pending_ and the payload of output_
  bool is_flush_posted_ = false;
  bool is_ending_ = false;
};

}  // namespace platform
