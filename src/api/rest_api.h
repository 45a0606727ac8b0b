#pragma once
// REST and server-sent events over the loop (openapi.yaml beside this file is the contract).
// A request is authenticated, its role and its form are checked here; then it becomes a command or
// a read on the loop, whose answer is turned into JSON. Nothing of the controller's state is kept.
//
//   RestApi rest({.version = "0.1.0"}, port, identity);
//   auto server = HttpServer::start(options, [&](auto request, auto reply) {
//     rest.handle(std::move(request), std::move(reply));
//   });
//
// Stop the HttpServer first, then the loop, then destroy the RestApi; port and identity outlive it.
// Thread contract: handle() runs on the server's I/O thread and does not block.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/loop_port.h"
#include "controller/identity.h"
#include "platform/http_server.h"

namespace api {

struct RestOptions {
  std::string version = "dev";
  // Text for /metrics, called on the I/O thread; nothing: 404.
  std::function<std::string()> metrics;
  // Answers GET outside /api, for the console; nothing, or no answer: 404. Not authenticated, so
  // it gives out public files only.
  std::function<std::optional<platform::HttpResponse>(const platform::HttpRequest&)> files;
  // Told about every answer: "GET /api/v1/workloads/{workload}", its status, and how many
  // microseconds it took.
  std::function<void(std::string_view operation, int status, std::int64_t micros)> on_answer;
};

class RestApi {
 public:
  RestApi(RestOptions options, LoopPort& port, controller::Identity& identity);
  ~RestApi();
  RestApi(const RestApi&) = delete;
  RestApi& operator=(const RestApi&) = delete;

  void handle(platform::HttpRequest request, platform::HttpReply reply);

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace api
