// The real server on a free port with the real client, and with peers that send exactly the bytes
// they are told to, for what no client library would send. Time limits are short here, and a test
// waits for what the server does about them, never for time to pass.
#include "platform/http_server.h"

#include <condition_variable>
#include <mutex>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "platform/event_stream.h"
#include "platform/http_client.h"
#include "platform/mailbox.h"

namespace platform {
namespace {

using base::Code;

class RawPeer {
 public:
  explicit RawPeer(std::uint16_t port, int receive_buffer = 0) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval limit{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    if (receive_buffer > 0)
      ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  }
  ~RawPeer() { close(); }
  RawPeer(const RawPeer&) = delete;
  RawPeer& operator=(const RawPeer&) = delete;

  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  // Up to and with `text`; everything when the other end closes first, or is quiet for 10 s.
  std::string read_until(std::string_view text) {
    char block[4096];
    while (received_.find(text) == std::string::npos) {
      const ssize_t got = ::recv(socket_, block, sizeof(block), 0);
      was_closed_ = got == 0 || (got < 0 && errno == ECONNRESET);
      if (got <= 0) return std::exchange(received_, {});
      received_.append(block, static_cast<std::size_t>(got));
    }
    const std::size_t end = received_.find(text) + text.size();
    std::string taken = received_.substr(0, end);
    received_.erase(0, end);
    return taken;
  }
  std::string read_all() { return read_until("\x01 never \x01"); }
  bool was_closed() const { return was_closed_; }

 private:
  int socket_ = -1;
  bool was_closed_ = false;
  std::string received_;
};

void echo(const HttpRequest& request, const HttpReply& reply) {
  std::string text = request.method + " " + request.path + "?" + request.query + "\n";
  if (const std::string* tag = find_header(request.headers, "x-tag")) text += *tag + "\n";
  reply.send({.status = 200, .headers = {{"X-Kind", "echo"}}, .body = text + request.body});
}

std::unique_ptr<HttpServer> serve(HttpServerOptions options, HttpHandler handler) {
  auto server = HttpServer::start(std::move(options), std::move(handler));
  EXPECT_TRUE(server) << base::to_text(server.error());
  return std::move(*server);
}

std::string url_of(const HttpServer& server, std::string_view path) {
  return fmt::format("http://127.0.0.1:{}{}", server.port(), path);
}

TEST(HttpServer, GivesTheRequestToTheHandlerAndItsAnswerBack) {
  const auto server = serve({}, echo);
  HttpClient client;
  const auto response = client.call({.method = "POST",
                                     .url = url_of(*server, "/a%2Fb?x=1&y"),
                                     .headers = {{"X-Tag", "t"}},
                                     .body = std::string("b\0c", 3)});
  ASSERT_TRUE(response) << base::to_text(response.error());
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, std::string("POST /a%2Fb?x=1&y\nt\nb\0c", 23));
  EXPECT_EQ(*find_header(response->headers, "x-kind"), "echo");
}

TEST(HttpServer, KeepsAConnectionForManyRequestsAndAnswersPipelinedOnesInOrder) {
  const auto server = serve({}, echo);
  RawPeer peer(server->port());
  peer.send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_NE(peer.read_until("/1?\n").find("200 OK"), std::string::npos);
  EXPECT_NE(peer.read_until("/2?\n").find("200 OK"), std::string::npos);
  peer.send("GET /3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_NE(peer.read_all().find("/3?\n"), std::string::npos);
  EXPECT_TRUE(peer.was_closed());
}

TEST(HttpServer, AnOldClientGetsItsAnswerAndTheEndOfTheConnection) {
  const auto server = serve({}, [](const HttpRequest& request, const HttpReply& reply) {
    if (request.path == "/plain") return reply.send({.body = "plain"});
    HttpStream stream = reply.stream({});
    stream.write("streamed");
    stream.close();
  });
  RawPeer plain(server->port());
  plain.send("GET /plain HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(plain.read_all().ends_with("\r\n\r\nplain"));
  RawPeer streamed(server->port());
  streamed.send("GET /stream HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(streamed.read_all().ends_with("\r\n\r\nstreamed"));
}

TEST(HttpServer, TheAnswerMayComeLaterAndFromAnotherThread) {
  Mailbox<HttpReply> waiting;
  std::thread answerer([&waiting] {
    while (!waiting.is_closed())
      for (const HttpReply& reply : waiting.wait_until(base::kNever))
        reply.send({.body = "from afar"});
  });
  const auto server = serve({}, [&waiting](const HttpRequest&, const HttpReply& reply) {
    ASSERT_TRUE(waiting.post(reply));
  });
  HttpClient client;
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(client.call({.url = url_of(*server, "/")})->body, "from afar");
  waiting.close();
  answerer.join();
}

TEST(HttpServer, OnlyTheFirstAnswerCountsAndAForgottenOneIsAnError) {
  const auto server = serve({}, [](const HttpRequest& request, const HttpReply& reply) {
    if (request.path == "/forgotten") return;
    if (request.path == "/thrown") throw std::runtime_error("oops");
    reply.send({.body = "first"});
    reply.send({.status = 500, .body = "second"});
    EXPECT_TRUE(reply.is_gone());
    EXPECT_FALSE(reply.stream({}).write("third"));
  });
  HttpClient client;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(client.call({.url = url_of(*server, "/")})->body, "first");
  for (const char* path : {"/forgotten", "/thrown"}) {
    const auto response = client.call({.url = url_of(*server, path)});
    EXPECT_EQ(response->status, 500);
    EXPECT_EQ(*find_header(response->headers, "content-type"), "application/problem+json");
    EXPECT_NE(response->body.find("\"code\":\"Internal\""), std::string::npos);
    EXPECT_EQ(response->body.find("oops"), std::string::npos);  // nothing inner is shown
  }
}

TEST(HttpServer, AHandlerThatTakesTooLongIsAnsweredFor) {
  Mailbox<HttpReply> kept;
  const auto server =
      serve({.reply_timeout = base::milliseconds(30)},
            [&kept](const HttpRequest&, const HttpReply& reply) { ASSERT_TRUE(kept.post(reply)); });
  HttpClient client;
  EXPECT_EQ(client.call({.url = url_of(*server, "/")})->status, 503);
  for (const HttpReply& late : kept.take())
    late.send({.body = "late"});  // changes nothing
  EXPECT_EQ(client.call({.url = url_of(*server, "/")})->status, 503);
}

TEST(HttpServer, BodiesAndHeadersBeyondTheLimitsAreRefused) {
  const auto server = serve({.max_body_bytes = 1000, .max_header_bytes = 2000}, echo);
  HttpClient client;
  const auto post = [&](std::size_t bytes) {
    return client.call(
        {.method = "POST", .url = url_of(*server, "/"), .body = std::string(bytes, 'x')});
  };
  EXPECT_EQ(post(1000)->status, 200);
  EXPECT_EQ(post(1001)->status, 413);
  EXPECT_EQ(post(9 << 20)->status, 413);  // the refusal arrives although much is still being sent
  const auto tagged = [&](std::size_t bytes) {
    return client.call(
        {.url = url_of(*server, "/"), .headers = {{"X-Tag", std::string(bytes, 'x')}}});
  };
  EXPECT_EQ(tagged(1000)->status, 200);
  EXPECT_EQ(tagged(3000)->status, 431);
  // A chunked body has no length to look at before.
  RawPeer peer(server->port());
  peer.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 3 && peer.send("190\r\n" + std::string(0x190, 'x') + "\r\n"); ++i) {
  }
  EXPECT_NE(peer.read_all().find("413"), std::string::npos);
}

TEST(HttpServer, WhatIsNotHttpIsRefusedAndTheConnectionClosed) {
  const auto server = serve({}, echo);
  for (const char* bytes :
       {"hello\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nbad header\r\n\r\n",
        "GET http://elsewhere/ HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"}) {
    RawPeer peer(server->port());
    peer.send(bytes);
    EXPECT_TRUE(peer.read_all().starts_with("HTTP/1.1 400 Bad Request\r\n")) << bytes;
    EXPECT_TRUE(peer.was_closed()) << bytes;
  }
}

TEST(HttpServer, APeerThatDribblesItsRequestIsRefusedWhenTheTimeIsUp) {
  const auto server = serve({.read_timeout = base::milliseconds(50)}, echo);
  RawPeer silent(server->port());
  EXPECT_TRUE(silent.read_all().starts_with("HTTP/1.1 408"));
  RawPeer header(server->port());
  header.send("GET / HT");
  EXPECT_TRUE(header.read_all().starts_with("HTTP/1.1 408"));
  RawPeer body(server->port());
  body.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345");
  EXPECT_TRUE(body.read_all().starts_with("HTTP/1.1 408"));
  EXPECT_TRUE(body.was_closed());
}

TEST(HttpServer, AQuietConnectionBetweenRequestsIsClosedWithoutAWord) {
  const auto server = serve({.idle_timeout = base::milliseconds(30)}, echo);
  RawPeer peer(server->port());
  peer.send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n");
  peer.read_until("/1?\n");
  EXPECT_EQ(peer.read_all(), "");
  EXPECT_TRUE(peer.was_closed());
}

TEST(HttpServer, ConnectionsBeyondTheLimitAreTurnedAwayAndRoomComesBack) {
  const auto server = serve({.max_connections = 2}, echo);
  RawPeer first(server->port());
  auto second = std::make_unique<RawPeer>(server->port());
  for (RawPeer* peer : {&first, second.get()}) {
    peer->send("GET /here HTTP/1.1\r\nHost: x\r\n\r\n");
    peer->read_until("/here?\n");
  }
  EXPECT_EQ(server->connections(), 2u);
  RawPeer third(server->port());
  EXPECT_TRUE(third.read_all().starts_with("HTTP/1.1 503"));
  second.reset();
  HttpClient client;  // tries again until the server has noticed that the second one left
  auto response = client.call({.url = url_of(*server, "/")});
  while (!response || response->status == 503)
    response = client.call({.url = url_of(*server, "/")});
  EXPECT_EQ(response->status, 200);
}

TEST(HttpServer, ContinueIsSaidToAPeerThatWaitsForIt) {
  const auto server = serve({}, echo);
  RawPeer peer(server->port());
  peer.send("POST /x HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(peer.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  peer.send("hi");
  EXPECT_TRUE(peer.read_until("hi").starts_with("HTTP/1.1 200"));
}

TEST(HttpServer, HeadGivesTheHeadersOnly) {
  const auto server = serve({}, echo);
  RawPeer peer(server->port());
  peer.send("HEAD /abc HTTP/1.1\r\nHost: x\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::string head = peer.read_until("\r\n\r\n");
  EXPECT_NE(head.find("Content-Length: 11\r\n"), std::string::npos) << head;
  EXPECT_TRUE(peer.read_until("/next?\n").starts_with("HTTP/1.1 200"));
}

TEST(HttpServer, AHeaderValueCannotStartAnotherHeader) {
  const auto server = serve({}, [](const HttpRequest&, const HttpReply& reply) {
    reply.send({.headers = {{"X-A", "1\r\nX-B: 2"}, {"Content-Length", "999"}}, .body = "ok"});
  });
  HttpClient client;
  const auto response = client.call({.url = url_of(*server, "/")});
  EXPECT_EQ(find_header(response->headers, "x-b"), nullptr);
  EXPECT_EQ(*find_header(response->headers, "content-length"), "2");
  EXPECT_EQ(response->body, "ok");
}

// ---- streams ----

TEST(HttpStream, WhatIsWrittenFromAnotherThreadArrivesInOrderAndTheConnectionGoesOn) {
  std::vector<std::thread> writers;
  const auto server = serve({}, [&writers](const HttpRequest& request, const HttpReply& reply) {
    if (request.path == "/next") return reply.send({.body = "next"});
    writers.emplace_back(
        [stream = reply.stream({.headers = {{"Content-Type", "text/plain"}}})]() mutable {
          for (int i = 0; i < 1000; ++i)
            ASSERT_TRUE(stream.write(std::to_string(i) + "\n"));
          stream.close();
          EXPECT_FALSE(stream.write("after the end"));
        });
  });
  std::string expected;
  for (int i = 0; i < 1000; ++i)
    expected += std::to_string(i) + "\n";
  HttpClient client;
  std::string got;
  const auto response =
      client.stream({.url = url_of(*server, "/")}, [&got](std::string_view bytes) {
        got += bytes;
        return true;
      });
  ASSERT_TRUE(response) << base::to_text(response.error());
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(got, expected);
  EXPECT_EQ(client.call({.url = url_of(*server, "/next")})->body, "next");
  for (std::thread& writer : writers)
    writer.join();
}

TEST(HttpStream, AReaderThatDoesNotReadIsDroppedAndTheWriterIsToldSo) {
  Mailbox<std::string> said;
  const auto server =
      serve({.max_stream_bytes = 64 << 10}, [&said](const HttpRequest&, const HttpReply& reply) {
        HttpStream stream = reply.stream({});
        stream.when_gone([&said] { ASSERT_TRUE(said.post("gone")); });
        // Memory is bounded: at some point the kernel takes no more.
        const std::string block(16 << 10, 'x');
        std::thread([stream, block, &said]() mutable {
          while (stream.write(block))
            EXPECT_LE(stream.buffered(), 64u << 10);
          EXPECT_TRUE(stream.is_gone());
          ASSERT_TRUE(said.post("refused"));
        }).detach();
      });
  RawPeer peer(server->port(), 4096);
  peer.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  std::vector<std::string> words;
  while (words.size() < 2)
    for (std::string& word : said.wait_until(base::kNever))
      words.push_back(word);
  EXPECT_TRUE(peer.read_until("\x01").find("HTTP/1.1 200") == 0);
  EXPECT_TRUE(peer.was_closed());
}

TEST(HttpStream, AProducerOfMuchIsPacedByTheReaderAndNothingIsLost) {
  constexpr int kBlocks = 400;
  struct Producer : std::enable_shared_from_this<Producer> {
    explicit Producer(HttpStream given) : stream(std::move(given)) {}
    void go() {
      while (sent < kBlocks && stream.buffered() < 32 << 10) {
        ASSERT_TRUE(stream.write(std::string(8 << 10, static_cast<char>('a' + sent % 26))));
        ++sent;
      }
      if (sent == kBlocks) return stream.close();
      stream.when_drained([self = shared_from_this()] { self->go(); });
    }
    HttpStream stream;
    int sent = 0;
  };
  const auto server =
      serve({.max_stream_bytes = 64 << 10}, [](const HttpRequest&, const HttpReply& reply) {
        std::make_shared<Producer>(reply.stream({}))->go();
      });
  HttpClient client;
  const auto response = client.call({.url = url_of(*server, "/")});
  ASSERT_TRUE(response) << base::to_text(response.error());
  std::string expected;
  for (int i = 0; i < kBlocks; ++i)
    expected += std::string(8 << 10, static_cast<char>('a' + i % 26));
  EXPECT_TRUE(response->body == expected);
}

TEST(HttpStream, AReaderThatLeavesIsNoticedAlthoughNothingIsWritten) {
  Mailbox<int> gone;
  const auto server = serve({}, [&gone](const HttpRequest&, const HttpReply& reply) {
    HttpStream stream = reply.stream({});
    stream.when_gone([&gone, stream] {
      EXPECT_TRUE(stream.is_gone());
      ASSERT_TRUE(gone.post(1));
    });
  });
  {
    RawPeer peer(server->port());
    peer.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    peer.read_until("\r\n\r\n");
  }
  EXPECT_EQ(gone.wait_until(base::kNever).size(), 1u);
}

TEST(HttpStream, AQuietStreamIsKeptAliveAndTimersRunUntilItEnds) {
  const auto server = serve({}, [](const HttpRequest&, const HttpReply& reply) {
    HttpStream stream = reply.stream({}, ":\n\n", base::milliseconds(5));
    stream.after(base::milliseconds(40), [stream]() mutable {
      stream.write("data: end\n\n");
      stream.close();
    });
    stream.after(base::hours(1), [] { FAIL() << "the stream has ended by then"; });
  });
  HttpClient client;
  const auto response = client.call({.url = url_of(*server, "/")});
  EXPECT_TRUE(response->body.starts_with(":\n\n:\n\n")) << response->body;
  EventStreamParser parser;
  const auto events = parser.feed(response->body);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].data, "end");
}

// ---- the end ----

TEST(HttpServer, StoppingLetsAnAnswerInFlightOutAndEndsStreamsAndQuietConnections) {
  Mailbox<HttpReply> waiting;
  auto server = serve({}, [&waiting](const HttpRequest& request, const HttpReply& reply) {
    if (request.path == "/stream") {
      reply.stream({}).write("beginning");
      return;
    }
    ASSERT_TRUE(waiting.post(reply));
  });
  RawPeer stream(server->port());
  stream.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  stream.read_until("beginning");
  RawPeer quiet(server->port());
  RawPeer answered(server->port());
  answered.send("GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
  const std::vector<HttpReply> replies = waiting.wait_until(base::kNever);
  std::thread stopper([&server] { server->stop(); });
  EXPECT_TRUE(stream.read_all().ends_with("0\r\n\r\n"));
  for (const HttpReply& reply : replies)
    reply.send({.body = "late but here"});
  EXPECT_TRUE(answered.read_all().ends_with("late but here"));
  EXPECT_EQ(quiet.read_all(), "");
  stream.close();
  answered.close();
  stopper.join();
  const std::uint16_t port = server->port();
  server.reset();
  HttpClient client;
  EXPECT_EQ(client.call({.url = fmt::format("http://127.0.0.1:{}/", port)}).error().code,
            Code::Unavailable);
}

TEST(HttpServer, RepliesAndStreamsThatOutliveTheServerAreHarmless) {
  Mailbox<HttpReply> waiting;
  std::optional<HttpStream> stream;
  auto server = serve({.stop_timeout = base::milliseconds(1)},
                      [&](const HttpRequest& request, const HttpReply& reply) {
                        if (request.path == "/stream") stream = reply.stream({});
                        ASSERT_TRUE(waiting.post(reply));
                      });
  RawPeer one(server->port());
  one.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  RawPeer two(server->port());
  two.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  std::vector<HttpReply> replies;
  while (replies.size() < 2)
    for (HttpReply& reply : waiting.wait_until(base::kNever))
      replies.push_back(reply);
  server.reset();
  EXPECT_FALSE(stream->write("x"));
  EXPECT_TRUE(stream->is_gone());
  stream->close();
  for (const HttpReply& reply : replies) {
    reply.send({.body = "too late"});
    EXPECT_TRUE(reply.is_gone());
  }
}

TEST(HttpServer, AnAddressThatCannotBeUsedIsAnErrorWithTheRemedy) {
  const auto server = serve({}, echo);
  const auto taken = HttpServer::start({.port = server->port()}, echo);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::Unavailable);
  EXPECT_NE(taken.error().message.find(std::to_string(server->port())), std::string::npos);
  EXPECT_FALSE(taken.error().hint.empty());
  EXPECT_EQ(HttpServer::start({.address = "localhost"}, echo).error().code, Code::InvalidArgument);
}

}  // namespace
}  // namespace platform
