#pragma once
// An HTTP/1.1 server. A handler gets the request as a value and a HttpReply, which may be completed
// at once or later, from any thread; a reply that is dropped without an answer becomes a 500.
// Streams (server-sent events, followed logs) have a bounded buffer: a reader that does not keep up
// is disconnected instead of making the process grow; it resumes with Last-Event-ID.
//
//   auto server = HttpServer::start({.port = 0}, [](HttpRequest request, HttpReply reply) {
//     reply.send({.status = 200, .body = "hello\n"});
//   });
//   http_get("http://127.0.0.1:" + std::to_string((*server)->port()) + "/");
//
// Requests beyond the limits are answered by the server itself: 400 malformed, 408 too slow, 413
// body too large, 431 headers too large, 503 too many connections.
// Thread contract: the handler and all callbacks run on the server's one I/O thread and must not
// block; HttpReply and HttpStream may be used from any thread.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/instant.h"
#include "base/result.h"
#include "platform/http_message.h"

namespace platform {

struct HttpServerOptions {
  std::string address = "127.0.0.1";  // numeric IPv4 or IPv6
  std::uint16_t port = 0;             // 0: any free one, see HttpServer::port()
  std::size_t max_body_bytes = 1 << 20;
  std::size_t max_header_bytes = 16 << 10;
  std::size_t max_connections = 1024;
  std::size_t max_stream_bytes = 1 << 20;            // buffered for one reader before it is dropped
  base::Duration read_timeout = base::seconds(10);   // for one whole request, slow or not
  base::Duration write_timeout = base::seconds(30);  // without any byte taken by the peer
  base::Duration idle_timeout = base::seconds(60);   // between requests of one connection
  base::Duration reply_timeout = base::seconds(60);  // for the handler; then 503
  base::Duration stop_timeout = base::seconds(3);    // replies in flight get that long at stop()
};

class HttpConnection;

// One response of unknown length. Cheap to copy; every copy is the same stream.
class HttpStream {
 public:
  explicit HttpStream(std::shared_ptr<HttpConnection> connection, std::uint64_t exchange)
      : connection_(std::move(connection)), exchange_(exchange) {}

  // False: the peer is gone, or was too slow and is dropped now. Never blocks.
  bool write(std::string bytes);
  // Ends the response after what was written.
  void close();
  bool is_gone() const;
  // Bytes that the peer has not taken yet.
  std::size_t buffered() const;
  // Less than half of the buffer is in use.
  bool has_room() const;
  // Calls back once, when the stream has room; at the earliest after this call
  // has returned. A producer of much waits for this instead of filling the buffer. Not called when
  // the peer is gone.
  void when_drained(std::function<void()> callback);
  // Calls back once, when the stream has ended for whatever reason; at once if it has already.
  void when_gone(std::function<void()> callback);
  // Calls back once after that time, unless the stream has ended by then.
  void after(base::Duration delay, std::function<void()> callback);

 private:
  std::shared_ptr<HttpConnection> connection_;
  std::uint64_t exchange_ = 0;
};

// The answer to one request, to be given exactly once: later answers are ignored, so that a
// time-out and the real answer may race. Cheap to copy.
class HttpReply {
 public:
  HttpReply(std::shared_ptr<HttpConnection> connection, std::uint64_t exchange);

  void send(HttpResponse response) const;
  // Begins a stream with status and headers of `head`; `idle_bytes` is written whenever nothing
  // else was for `idle_every`, which keeps proxies from giving up (":\n\n" for events).
  HttpStream stream(HttpResponse head, std::string idle_bytes = {},
                    base::Duration idle_every = base::seconds(15)) const;
  bool is_gone() const;  // nobody waits for the answer any more

 private:
  struct Guard;
  std::shared_ptr<HttpConnection> connection_;
  std::uint64_t exchange_ = 0;
  std::shared_ptr<Guard> guard_;  // the last copy to go answers 500 if nobody did
};

using HttpHandler = std::function<void(HttpRequest, HttpReply)>;

class HttpServer {
 public:
  // Code::Unavailable when the address cannot be used, with the remedy.
  static base::Result<std::unique_ptr<HttpServer>> start(HttpServerOptions options,
                                                         HttpHandler handler);
  ~HttpServer();  // stop()
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  std::size_t connections() const;
  // Accepts nothing more, lets replies in flight finish for stop_timeout, ends the streams, joins
  // the I/O thread. Not from the handler.
  void stop();

 private:
  struct Parts;
  explicit HttpServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace platform
