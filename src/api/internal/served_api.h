#pragma once
// A small daemon for the tests of this folder: a real Controller on a loop thread of its own, a
// backend that starts what it is told, callers who are whoever they say, and the REST interface on
// a real server. Only time is made up: it advances by one second a turn.

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "api/loop_port.h"
#include "api/rest_api.h"
#include "base/assert.h"
#include "controller/cluster_backend.h"
#include "controller/identity.h"
#include "platform/http_client.h"
#include "platform/http_server.h"
#include "platform/mailbox.h"

namespace api {

// One node with eight devices; what is started runs at once, until it is stopped. Logs are texts
// that a test sets.
class ScriptedBackend final : public controller::ClusterBackend {
 public:
  std::string_view name() const override { return "scripted"; }
  void watch(controller::ObservationSink sink) override {
    sink_ = std::move(sink);
    model::Node node{.name = "n1", .backend = "scripted"};
    node.allocatable.set(model::kCpu, 64'000);
    node.allocatable.set(model::kMemory, std::int64_t{512} << 30);
    for (int i = 0; i < 8; ++i)
      node.devices.push_back({.uuid = "gpu-" + std::to_string(i),
                              .vendor = "nvidia",
                              .model = "H800",
                              .memory = base::Bytes(std::int64_t{80} << 30)});
    sink_(controller::NodeReport{.node = std::move(node), .pool = "default"});
  }
  base::Result<std::vector<controller::AttemptReport>> list() override {
    return std::vector<controller::AttemptReport>{};
  }
  void start(const controller::StartEffect& effect) override {
    sink_(controller::RunningReport{effect.attempt});
  }
  void stop(const controller::StopEffect& effect) override {
    sink_(controller::EndReport{.attempt = effect.attempt,
                                .members = {{.rank = 0, .end_class = effect.end_class}}});
  }
  void forget(model::AttemptId) override {}
  base::Result<controller::LogChunk> read_log(const controller::LogRequest& request) override {
    const std::lock_guard lock(mutex_);
    if (!has_log_) return base::fail(base::Code::NotFound, "no log yet");
    const auto size = static_cast<std::int64_t>(log_.size());
    const std::int64_t from = request.offset < 0 ? std::max<std::int64_t>(0, size + request.offset)
                                                 : std::min(request.offset, size);
    return controller::LogChunk{.bytes = log_.substr(static_cast<std::size_t>(from),
                                                     static_cast<std::size_t>(request.limit)),
                                .offset = from,
                                .size = size};
  }
  void append_log(const std::string& text) {
    const std::lock_guard lock(mutex_);
    log_ += text;
    has_log_ = true;
  }
  void end(model::AttemptId attempt, std::int32_t exit_code) {
    sink_(controller::EndReport{
        .attempt = attempt,
        .members = {{.rank = 0,
                     .end_class = exit_code == 0 ? model::EndClass::Ok : model::EndClass::UserError,
                     .exit_code = exit_code}}});
  }

 private:
  controller::ObservationSink sink_;
  std::mutex mutex_;
  std::string log_;
  bool has_log_ = false;
};

// The daemon's loop in small.
class Loop final : public LoopPort {
 public:
  Loop(ScriptedBackend& backend, controller::Store& store) : backend_(backend), store_(store) {
    controller::ControllerOptions options;
    options.version = "test";
    controller_ = std::make_unique<controller::Controller>(
        options, store_, std::vector<controller::ClusterBackend*>{&backend_});
  }
  ~Loop() override { stop(); }

  void start() {
    controller_->on_commit([this](const std::vector<model::Event>& events) {
      for (const Listener& listener : listeners_)
        listener(events);
    });
    backend_.watch([this](controller::Observation observation) {
      static_cast<void>(mailbox_.post({.observation = std::move(observation)}));
    });
    thread_ = std::thread([this] { run(); });
  }
  void stop() {
    mailbox_.close();
    if (thread_.joinable()) thread_.join();
  }

  bool command(controller::Command command, controller::Answer answer) override {
    return mailbox_.post({.command = std::pair(std::move(command), std::move(answer))});
  }
  bool read(Reader reader) override { return mailbox_.post({.reader = std::move(reader)}); }
  void subscribe(Listener listener) override { listeners_.push_back(std::move(listener)); }
  controller::Store& store() override { return store_; }
  base::Result<base::Done> readiness() override {
    if (is_ready) return base::Done{};
    return base::fail(base::Code::Unavailable, "the journal is being read");
  }
  NodeUse node_use(const model::Node&) const override {
    const std::lock_guard lock(use_mutex_);
    return real_node_;
  }
  std::optional<devices::DeviceSample> device_use(const model::Node&,
                                                  std::int32_t device) const override {
    const std::lock_guard lock(use_mutex_);
    return device == 0 ? std::optional(real_device_) : std::nullopt;
  }
  // What the node and its first device do from now on.
  void set_real_use(NodeUse node, devices::DeviceSample device) {
    const std::lock_guard lock(use_mutex_);
    real_node_ = node;
    real_device_ = device;
  }
  std::atomic<bool> is_ready{true};

 private:
  struct Message {
    std::optional<std::pair<controller::Command, controller::Answer>> command;
    std::optional<controller::Observation> observation;
    Reader reader;
  };
  void run() {
    base::Instant now{1'790'000'000'000};
    const auto recovered = controller_->recover(now);
    ASSERT(recovered.has_value());
    while (true) {
      std::vector<Message> messages = mailbox_.wait_until(base::kNever);
      if (messages.empty() && mailbox_.is_closed()) return;
      controller::Inbox inbox;
      for (Message& message : messages) {
        if (message.command) inbox.commands.push_back(std::move(*message.command));
        if (message.observation) inbox.observations.push_back(std::move(*message.observation));
      }
      now = now + base::seconds(1);
      controller_->turn(now, std::move(inbox));
      for (Message& message : messages)
        if (message.reader) message.reader(*controller_, now);
    }
  }

  mutable std::mutex use_mutex_;
  NodeUse real_node_;
  devices::DeviceSample real_device_;
  ScriptedBackend& backend_;
  controller::Store& store_;
  std::unique_ptr<controller::Controller> controller_;
  std::vector<Listener> listeners_;
  platform::Mailbox<Message> mailbox_;
  std::thread thread_;
};

// "Bearer viewer" is a viewer named viewer; "Bearer user:bob" a user named bob.
class NamedRoles final : public controller::Identity {
 public:
  base::Result<controller::Caller> authenticate(std::string_view credential) override {
    static const std::map<std::string, controller::Role, std::less<>> kRoles{
        {"viewer", controller::Role::Viewer},
        {"user", controller::Role::User},
        {"operator", controller::Role::Operator},
        {"admin", controller::Role::Admin}};
    if (!credential.starts_with("Bearer "))
      return base::fail(base::Code::Unauthenticated, "no valid token");
    const std::string_view word = credential.substr(7);
    const std::size_t colon = word.find(':');
    const auto role = kRoles.find(word.substr(0, colon));
    if (role == kRoles.end()) return base::fail(base::Code::Unauthenticated, "no valid token");
    return controller::Caller{
        .user = std::string(colon == std::string_view::npos ? word : word.substr(colon + 1)),
        .role = role->second};
  }
};

class ServedApi {
 public:
  ServedApi(controller::Store& store, RestOptions options) : loop(backend, store) {
    rest_ = std::make_unique<RestApi>(std::move(options), loop, identity_);
    loop.start();
    auto server = platform::HttpServer::start(
        {}, [this](platform::HttpRequest request, platform::HttpReply reply) {
          rest_->handle(std::move(request), std::move(reply));
        });
    ASSERT(server.has_value());
    server_ = std::move(*server);
  }
  ~ServedApi() {
    server_.reset();
    loop.stop();
  }
  ServedApi(const ServedApi&) = delete;
  ServedApi& operator=(const ServedApi&) = delete;

  std::string url(const std::string& path) const {
    return fmt::format("http://127.0.0.1:{}{}", server_->port(), path);
  }
  // `who` as NamedRoles reads it; empty: without a token.
  platform::HttpResponse call(const std::string& method, const std::string& path,
                              const std::string& who, const std::string& body = {},
                              platform::HttpHeaders headers = {}) {
    if (!who.empty()) headers.emplace_back("Authorization", "Bearer " + who);
    const auto response = client.call(
        {.method = method, .url = url(path), .headers = std::move(headers), .body = body});
    ASSERT(response.has_value());
    return *response;
  }

  ScriptedBackend backend;
  Loop loop;
  platform::HttpClient client;

 private:
  NamedRoles identity_;
  std::unique_ptr<RestApi> rest_;
  std::unique_ptr<platform::HttpServer> server_;
};

}  // namespace api
