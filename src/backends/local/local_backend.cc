#include "backends/local/local_backend.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <future>
#include <utility>

#include "backends/local/internal/worker.h"

namespace backends::local {
namespace {

// What a login shell would have at least.
std::map<std::string, std::string> with_defaults(std::map<std::string, std::string> environment) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> text{};
  ::getpwuid_r(::getuid(), &entry, text.data(), text.size(), &found);
  environment.emplace("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  environment.emplace("HOME", found != nullptr ? found->pw_dir : "/");
  environment.emplace("USER", found != nullptr ? found->pw_name : std::to_string(::getuid()));
  environment.emplace("LOGNAME", environment.at("USER"));
  environment.emplace("LANG", "C.UTF-8");
  environment.emplace("TMPDIR", "/tmp");
  return environment;
}

}  // namespace

base::Result<std::unique_ptr<LocalBackend>> LocalBackend::make(LocalOptions options) {
  base::Result<AttemptFolders> folders = AttemptFolders::open(options.data_folder);
  if (!folders) return tl::unexpected(folders.error());
  options.base_environment = with_defaults(std::move(options.base_environment));
  if (options.default_directory.empty())
    options.default_directory = options.base_environment.at("HOME");
  // The running binary itself, also when its file has been replaced by a newer one.
  if (options.shim_command.empty()) options.shim_command = {"/proc/self/exe", "shim"};
  return std::unique_ptr<LocalBackend>(
      new LocalBackend(std::make_unique<Worker>(std::move(options), std::move(*folders))));
}

LocalBackend::LocalBackend(std::unique_ptr<Worker> worker) : worker_(std::move(worker)) {}
LocalBackend::~LocalBackend() = default;

void LocalBackend::watch(controller::ObservationSink sink) {
  worker_->post([worker = worker_.get(), sink = std::move(sink)] { worker->set_sink(sink); });
}

base::Result<std::vector<controller::AttemptReport>> LocalBackend::list() {
  std::promise<std::vector<controller::AttemptReport>> promise;
  auto reports = promise.get_future();
  worker_->post([worker = worker_.get(), &promise] { promise.set_value(worker->reports()); });
  return reports.get();
}

void LocalBackend::start(const controller::StartEffect& effect) {
  worker_->post([worker = worker_.get(), effect] { worker->start(effect); });
}

void LocalBackend::stop(const controller::StopEffect& effect) {
  worker_->post([worker = worker_.get(), effect] { worker->stop(effect); });
}

void LocalBackend::forget(model::AttemptId attempt) {
  worker_->post([worker = worker_.get(), attempt] { worker->forget(attempt); });
}

base::Result<controller::LogChunk> LocalBackend::read_log(const controller::LogRequest& request) {
  return worker_->folders().read_log(request);
}

std::optional<devices::DeviceSample> LocalBackend::sample(std::int32_t device) {
  return worker_->sample(device);
}

}  // namespace backends::local
