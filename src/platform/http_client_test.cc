// The client against the real server; what the server does is tested in http_server_test.cc.
#include "platform/http_client.h"

#include <thread>

#include <gtest/gtest.h>

#include "platform/http_server.h"
#include "platform/mailbox.h"

namespace platform {
namespace {

using base::Code;

class Client : public testing::Test {
 protected:
  void serve(HttpHandler handler) {
    auto started = HttpServer::start({}, std::move(handler));
    ASSERT_TRUE(started) << base::to_text(started.error());
    server_ = std::move(*started);
  }
  std::string url(std::string_view path) const {
    return fmt::format("http://127.0.0.1:{}{}", server_->port(), path);
  }
  std::unique_ptr<HttpServer> server_;
  HttpClient client_;
};

TEST_F(Client, AnyStatusIsAValueAndTheConnectionIsUsedAgain) {
  serve([](const HttpRequest& request, const HttpReply& reply) {
    reply.send({.status = request.path == "/" ? 200 : 404, .body = request.peer});
  });
  const auto first = client_.call({.url = url("/")});
  const auto second = client_.call({.url = url("/nothing")});
  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->status, 404);
  EXPECT_EQ(first->body, second->body);  // the same port of ours
}

TEST_F(Client, EveryMethodArrivesAsItIs) {
  serve([](const HttpRequest& request, const HttpReply& reply) {
    reply.send({.headers = {{"X-Method", request.method}}, .body = request.body});
  });
  for (const char* method : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}) {
    const auto response = client_.call({.method = method, .url = url("/")});
    ASSERT_TRUE(response) << method << base::to_text(response.error());
    EXPECT_EQ(*find_header(response->headers, "X-Method"), method);
  }
}

TEST_F(Client, WhoDoesNotListenIsUnavailableWithAHint) {
  serve([](const HttpRequest&, const HttpReply&) {});
  const std::string gone = url("/secret?token=abc");
  server_.reset();
  const auto response = client_.call({.url = gone});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::Unavailable);
  EXPECT_FALSE(response.error().hint.empty());
  EXPECT_EQ(response.error().message.find("token"), std::string::npos);
}

TEST_F(Client, WhatIsNotAnHttpAddressIsRefused) {
  for (const char* bad : {"", "file:///etc/passwd", "ftp://x/", "http://"})
    EXPECT_EQ(client_.call({.url = bad}).error().code, Code::InvalidArgument) << bad;
  EXPECT_EQ(
      client_.call({.url = "http://127.0.0.1:1/", .headers = {{"A", "b\r\nC: d"}}}).error().code,
      Code::InvalidArgument);
}

TEST_F(Client, AResponseBeyondTheLimitIsAnErrorAndNotMemory) {
  serve([](const HttpRequest&, const HttpReply& reply) {
    reply.send({.body = std::string(1 << 20, 'x')});
  });
  EXPECT_EQ(client_.call({.url = url("/"), .max_body_bytes = 1 << 20})->body.size(), 1u << 20);
  EXPECT_EQ(client_.call({.url = url("/"), .max_body_bytes = (1 << 20) - 1}).error().code,
            Code::TooLarge);
}

TEST_F(Client, AStreamEndsWhenTheSinkHasEnoughAndProblemsAreCollected) {
  serve([](const HttpRequest& request, const HttpReply& reply) {
    if (request.path == "/no") return reply.send({.status = 403, .body = "not you"});
    reply.stream({}).write("something");  // and never ends
  });
  std::string got;
  const auto response = client_.stream({.url = url("/")}, [&got](std::string_view bytes) {
    got += bytes;
    return false;
  });
  ASSERT_TRUE(response) << base::to_text(response.error());
  EXPECT_EQ(got, "something");
  const auto refused = client_.stream({.url = url("/no")}, [](std::string_view) {
    ADD_FAILURE() << "a problem is not part of the stream";
    return true;
  });
  EXPECT_EQ(refused->status, 403);
  EXPECT_EQ(refused->body, "not you");
}

TEST_F(Client, AQuietStreamEndsByTheStopFlagOrTheIdleTimeout) {
  serve([](const HttpRequest&, const HttpReply& reply) { reply.stream({}).write("x"); });
  std::atomic<bool> stop{false};
  const auto stopped = client_.stream({.url = url("/"), .timeout = {}, .stop = &stop},
                                      [&stop](std::string_view) { return stop = true; });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, Code::Unavailable);
  const auto idle =
      client_.stream({.url = url("/"), .timeout = {}, .idle_timeout = base::milliseconds(20)},
                     [](std::string_view) { return true; });
  ASSERT_FALSE(idle);
  EXPECT_NE(idle.error().message.find("sent nothing for 20 ms"), std::string::npos);
}

TEST_F(Client, ACallThatTakesTooLongFails) {
  Mailbox<HttpReply> kept;
  serve([&kept](const HttpRequest&, const HttpReply& reply) { ASSERT_TRUE(kept.post(reply)); });
  const auto response = client_.call({.url = url("/"), .timeout = base::milliseconds(50)});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, Code::Unavailable);
  server_.reset();  // before what its handler uses
}

}  // namespace
}  // namespace platform
