#include "daemon/serve.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/rest_api.h"
#include "backends/local/folder.h"
#include "backends/local/local_backend.h"
#include "base/json_text.h"
#include "controller/controller.h"
#include "daemon/ledger_book.h"
#include "daemon/loop.h"
#include "daemon/settings.h"
#include "daemon/use_sampler.h"
#include "devices/declared/declared_devices.h"
#include "devices/machine.h"
#include "devices/nvidia/nvml.h"
#include "identity/tokens/token_identity.h"
#include "lifecycle/checkpoint.h"
#include "manifest/parse.h"
#include "platform/fault_point.h"
#include "platform/file.h"
#include "platform/http_server.h"
#include "platform/log.h"
#include "platform/system_clock.h"
#include "store/sqlite/sqlite_store.h"
#include "store/sqlite/write_cache.h"
#include "telemetry/metrics.h"

namespace berthd {

namespace {

using base::Code;
using base::Done;
using base::Result;

constexpr base::Duration kSampleEvery = base::seconds(5);

// Blocked before any thread exists, so that every thread inherits it and only sigwait sees them.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGTERM);
    sigaddset(&set_, SIGINT);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~StopSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  int wait() const {
    int signal = 0;
    sigwait(&set_, &signal);
    return signal;
  }

 private:
  sigset_t set_;
  sigset_t before_;
};

// One daemon a folder: two would start everything twice. Freed by the kernel when the process ends.
Result<backends::local::Descriptor> lock_folder(const std::string& folder) {
  auto opened = backends::local::Folder::make(folder);
  if (!opened) return tl::unexpected(std::move(opened.error()));
  auto lock = backends::local::take_lock(opened->descriptor(), "lock");
  if (!lock && lock.error().code == Code::Conflict)
    return tl::unexpected(
        base::Error{.code = Code::Conflict,
                    .message = "another daemon uses the data folder " + folder,
                    .field = {},
                    .hint = "stop it, or give this one another folder with --data"});
  return lock;
}

// The parts of a daemon in the order in which they are made; destroyed from the last to the first.
class Daemon {
 public:
  Daemon(const ServeOptions& options, Settings settings)
      : options_(options), settings_(std::move(settings)) {}
  ~Daemon() { stop(); }

  Result<Done> start();
  void stop();
  bool is_fenced() const { return is_fenced_; }
  std::string url() const {
    return "http://" + print_listen({.address = settings_.address, .port = server_->port()});
  }
  const std::filesystem::path& admin_token() const { return admin_token_; }

 private:
  Result<Done> open_folder();
  Result<Done> make_sources();
  Result<Done> make_backend();
  Result<Done> recover();
  void read_ledger();
  Result<Done> apply_definitions();
  Result<Done> apply_file(const std::string& name);
  Result<Done> listen();
  void write_checkpoint();
  Result<Done> write_server_file() const;
  std::filesystem::path server_file() const {
    return std::filesystem::path(settings_.data_folder) / "server.json";
  }

  const ServeOptions& options_;
  Settings settings_;
  std::optional<backends::local::Descriptor> lock_;
  std::filesystem::path admin_token_;
  std::optional<store::WriteCache> write_cache_;
  std::unique_ptr<store::SqliteStore> store_;
  std::unique_ptr<identity::TokenIdentity> identity_;
  std::unique_ptr<devices::nvidia::Nvml> nvml_;
  std::unique_ptr<devices::declared::DeclaredDevices> declared_;
  std::unique_ptr<backends::local::LocalBackend> backend_;
  std::unique_ptr<UseSampler> sampler_;
  std::unique_ptr<controller::Controller> controller_;
  std::unique_ptr<LedgerBook> book_;
  std::unique_ptr<telemetry::Metrics> metrics_;
  std::unique_ptr<Loop> loop_;
  std::unique_ptr<api::RestApi> rest_;
  std::unique_ptr<platform::HttpServer> server_;
  std::atomic<bool> is_fenced_{false};
  bool is_announced_ = false;
};

Result<Done> Daemon::start() {
  if (auto done = open_folder(); !done) return done;
  if (auto done = make_sources(); !done) return done;
  if (auto done = make_backend(); !done) return done;
  if (auto done = recover(); !done) return done;
  if (auto done = apply_definitions(); !done) return done;
  read_ledger();
  return listen();
}

Result<Done> Daemon::open_folder() {
  auto lock = lock_folder(settings_.data_folder);
  if (!lock) return tl::unexpected(std::move(lock.error()));
  lock_ = std::move(*lock);
  const std::string journal = settings_.data_folder + "/journal.db";
  // SQLite gives its other files the mode of this one: nobody else reads commands and environments.
  if (auto made = platform::create_file(journal, "");
      !made && made.error().code != Code::AlreadyExists)
    return made;
  if (settings_.write_cache) {
    write_cache_.emplace(base::Seed{*settings_.write_cache});
    LOG(Warning, "journal_behind_write_cache", {"seed", *settings_.write_cache});
  }
  auto store = store::SqliteStore::open(
      {.file = journal, .vfs = write_cache_ ? write_cache_->vfs() : std::string()});
  if (!store) return tl::unexpected(std::move(store.error()));
  store_ = std::move(*store);
  auto token =
      identity::create_admin_token_if_absent(settings_.data_folder, platform::system_now());
  if (!token) return tl::unexpected(std::move(token.error()));
  admin_token_ = std::move(*token);
  identity_ =
      std::make_unique<identity::TokenIdentity>(settings_.data_folder, &platform::system_now);
  return identity_->check();
}

Result<Done> Daemon::make_sources() {
  if (settings_.config.probes_devices) {
    auto nvml = devices::nvidia::Nvml::load();
    if (nvml)
      nvml_ = std::move(*nvml);
    else if (nvml.error().code != Code::NotFound)
      LOG(Warning, "devices_not_probed", {"vendor", "nvidia"},
          {"error", base::to_text(nvml.error())});
  }
  if (settings_.config.devices.empty()) return Done{};
  std::vector<devices::declared::DeclaredRow> rows;
  for (const manifest::DeclaredDevice& device : settings_.config.devices)
    rows.push_back({.model = device.model,
                    .vendor = device.vendor,
                    .count = device.count,
                    .memory = base::Bytes(device.memory),
                    .is_shareable = device.is_shareable});
  const std::string node = settings_.config.node_name.empty()
                               ? devices::probe_machine(settings_.data_folder).name
                               : settings_.config.node_name;
  auto declared = devices::declared::DeclaredDevices::make(node, rows);
  if (!declared) {
    declared.error().field = options_.config_file + ": " + declared.error().field;
    return tl::unexpected(std::move(declared.error()));
  }
  declared_ = std::make_unique<devices::declared::DeclaredDevices>(std::move(*declared));
  return Done{};
}

Result<Done> Daemon::make_backend() {
  backends::local::LocalOptions local{.data_folder = settings_.data_folder + "/local",
                                      .node_name = settings_.config.node_name,
                                      .pool = settings_.config.pool,
                                      .attributes = settings_.config.attributes};
  for (const char* name : {"PATH", "HOME", "USER", "LANG", "TMPDIR"})
    if (const auto found = options_.environment.find(name); found != options_.environment.end())
      local.base_environment[name] = found->second;
  if (nvml_) local.device_sources.push_back(nvml_.get());
  if (declared_) local.device_sources.push_back(declared_.get());
  auto backend = backends::local::LocalBackend::make(std::move(local));
  if (!backend) return tl::unexpected(std::move(backend.error()));
  backend_ = std::move(*backend);
  sampler_ = std::make_unique<UseSampler>(*backend_, kSampleEvery);
  return Done{};
}

Result<Done> Daemon::recover() {
  controller_ = std::make_unique<controller::Controller>(
      controller::ControllerOptions{.version = options_.version}, *store_,
      std::vector<controller::ClusterBackend*>{backend_.get()});
  const base::Duration begun = platform::steady_now();
  if (auto recovered = controller_->recover(platform::system_now()); !recovered) return recovered;
  LOG(Info, "recovered", {"events", controller_->state().last_sequence.value},
      {"epoch", controller_->state().epoch.value},
      {"workloads", controller_->state().workloads.size()},
      {"millis", (platform::steady_now() - begun).millis});
  return Done{};
}

// The whole of history, whatever the checkpoint spares the controller. Without it the daemon
// schedules as well as with it.
void Daemon::read_ledger() {
  const base::Duration begun = platform::steady_now();
  book_ = std::make_unique<LedgerBook>(*store_);
  const auto events = book_->read();
  if (!events) {
    LOG(Warning, "ledger_incomplete", {"error", base::to_text(events.error())},
        {"remedy", "see berth doctor; until then berth usage is refused"});
    return;
  }
  LOG(Info, "ledger_read", {"events", *events},
      {"millis", (platform::steady_now() - begun).millis});
}

Result<Done> Daemon::apply_definitions() {
  for (const std::string& name : settings_.config.apply)
    if (auto applied = apply_file(name); !applied) return applied;
  return Done{};
}

// Definitions only: a workload in such a file would be submitted again at every start.
Result<Done> Daemon::apply_file(const std::string& name) {
  const auto path = std::filesystem::path(settings_.config_folder) / name;
  const auto text = platform::read_file(path);
  if (!text) return tl::unexpected(text.error());
  auto documents = manifest::parse(*text, {.source = path.string()});
  if (!documents) return tl::unexpected(std::move(documents.error()));
  controller::Inbox inbox;
  std::optional<base::Error> refused;
  for (manifest::Document& document : *documents) {
    if (std::holds_alternative<manifest::WorkloadDocument>(document.body))
      return base::fail_field(Code::InvalidArgument, document.source,
                              "a workload cannot be applied by the configuration",
                              "submit it with berth submit");
    const std::string source = document.source;
    inbox.commands.emplace_back(
        controller::Command{.body = controller::Apply{.document = std::move(document)},
                            .caller = {.user = "configuration", .role = controller::Role::Admin}},
        [&refused, source](base::Result<controller::Reply> reply) {
          if (reply || refused) return;
          refused = reply.error();
          refused->message = source + ": " + refused->message;
        });
  }
  controller_->turn(platform::system_now(), std::move(inbox));
  if (refused) return tl::unexpected(std::move(*refused));
  return Done{};
}

Result<Done> Daemon::listen() {
  metrics_ =
      std::make_unique<telemetry::Metrics>(telemetry::MetricsOptions{.version = options_.version});
  loop_ = std::make_unique<Loop>(
      *controller_, std::vector<controller::ClusterBackend*>{backend_.get()},
      [this] {
        is_fenced_ = true;
        kill(getpid(), SIGTERM);
      },
      Onlookers{.book = book_.get(),
                .metrics = metrics_.get(),
                .sampler = sampler_.get(),
                .sampled_backend = std::string(backend_->name())});
  api::RestOptions rest{.version = options_.version};
  rest.metrics = [this] { return metrics_->text(); };
  rest.on_answer = [this](std::string_view operation, int status, std::int64_t micros) {
    metrics_->see_request(operation, status, micros);
  };
  rest_ = std::make_unique<api::RestApi>(std::move(rest), *loop_, *identity_);
  loop_->start();
  auto server =
      platform::HttpServer::start({.address = settings_.address, .port = settings_.port},
                                  [this](platform::HttpRequest request, platform::HttpReply reply) {
                                    rest_->handle(std::move(request), std::move(reply));
                                  });
  if (!server) return tl::unexpected(std::move(server.error()));
  server_ = std::move(*server);
  auto written = write_server_file();
  is_announced_ = written.has_value();
  if (written)
    LOG(Info, "listening", {"url", url()}, {"data", settings_.data_folder}, {"pid", getpid()});
  return written;
}

Result<Done> Daemon::write_server_file() const {
  std::string text = "{\"address\":";
  base::append_json_string(text,
                           print_listen({.address = settings_.address, .port = server_->port()}));
  text += ",\"pid\":" + std::to_string(getpid()) + ",\"version\":";
  base::append_json_string(text, options_.version);
  text += "}\n";
  return platform::write_file_atomically(server_file(), text, platform::FileMode::OwnerOnly);
}

// So that the next start need not replay what this one did. State is what the journal has, unless
// the last commit failed.
void Daemon::write_checkpoint() {
  if (!controller_ || controller_->is_degraded() || controller_->is_fenced()) return;
  const model::State& state = controller_->state();
  if (const auto written = store_->write_checkpoint(
          {.sequence = state.last_sequence, .bytes = lifecycle::encode_checkpoint(state)});
      !written)
    LOG(Warning, "checkpoint_failed", {"error", base::to_text(written.error())});
}

// Requests first, then the loop, then what they use; processes of members stay.
void Daemon::stop() {
  if (std::exchange(is_announced_, false)) {
    std::error_code ignored;
    std::filesystem::remove(server_file(), ignored);
  }
  server_.reset();
  if (loop_) {
    loop_->stop();
    write_checkpoint();
  }
  rest_.reset();
  controller_.reset();
  sampler_.reset();
  backend_.reset();  // before the loop, which it tells what it sees
  loop_.reset();
}

void start_log(const manifest::DaemonConfig& config) {
  platform::LogForm form = platform::LogForm::Auto;
  if (config.log_form == "json") form = platform::LogForm::Json;
  if (config.log_form == "human") form = platform::LogForm::Human;
  platform::set_log(platform::level_from(config.log_level).value_or(platform::LogLevel::Info),
                    form);
}

int failed(const base::Error& error, int code) {
  std::cerr << "berth serve: " << base::to_text(error) << "\n";
  return code;
}

}  // namespace

int serve(const ServeOptions& options) {
  const StopSignals signals;
  auto settings = load_settings(options);
  if (!settings) return failed(settings.error(), 2);
  if (const auto fault = options.environment.find("BERTH_FAULT");
      fault != options.environment.end())
    if (const auto armed = platform::arm_faults(fault->second); !armed)
      return failed(armed.error(), 2);
  start_log(settings->config);
  Daemon daemon(options, std::move(*settings));
  if (const auto started = daemon.start(); !started) return failed(started.error(), 1);
  if (options.is_terminal)
    std::cout << "Berth " << options.version << " listens at " << daemon.url()
              << "\nThe administrator's token is in " << daemon.admin_token().string()
              << "\nStop with Ctrl-C; what runs goes on.\n"
              << std::flush;
  const int signal = signals.wait();
  LOG(Info, "stopping", {"signal", signal});
  daemon.stop();
  return daemon.is_fenced() ? 1 : 0;
}

}  // namespace berthd
