#include "backends/local/internal/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "devices/machine.h"
#include "platform/log.h"
#include "platform/system_clock.h"

namespace backends::local {
namespace {

constexpr base::Duration kPruneEvery = base::hours(1);

// A short name for a data folder that is the same after a restart (FNV-1a).
std::string instance_name(const std::string& folder) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : folder)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

std::string own_mounts(bool is_wanted) {
  if (!is_wanted) return {};
  return read_small_file(AT_FDCWD, "/proc/self/mountinfo").value_or(std::string());
}

}  // namespace

LocalBackend::Worker::Worker(LocalOptions options, AttemptFolders folders)
    : options_(std::move(options)),
      folders_(std::move(folders)),
      ladder_(CgroupLadder::probe(instance_name(folders_.data_folder()),
                                  own_mounts(options_.uses_control_groups))),
      epoch_(folders_.newest_epoch()),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  for (devices::DeviceSource* source : options_.device_sources)
    for (std::size_t i = 0; i < source->devices().size(); ++i)
      device_places_.emplace_back(source, i);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = 0;
  ::epoll_ctl(epoll_.value(), EPOLL_CTL_ADD, wake_.value(), &event);
  // Signals are for the daemon's own threads; a new thread begins with the mask of its maker.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LocalBackend::Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_.value(), &one, sizeof one));
  thread_.join();
  for (const auto& [id, attempt] : attempts_)
    for (const Member& member : attempt.members)
      if (!member.end) return;
  // A daemon that was used once, in a folder that will not come again, leaves no groups behind.
  if (is_adopted_) ladder_.remove_bases();
}

void LocalBackend::Worker::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(task));
  }
  const std::uint64_t one = 1;
  static_cast<void>(!::write(wake_.value(), &one, sizeof one));
}

void LocalBackend::Worker::run() {
  std::array<epoll_event, 64> events;
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (is_ending_ && posted_.empty()) return;
    }
    const int count =
        ::epoll_wait(epoll_.value(), events.data(), static_cast<int>(events.size()), timeout_ms());
    for (int i = 0; i < count; ++i) {
      const std::uint64_t token = events[static_cast<std::size_t>(i)].data.u64;
      if (token != 0) {
        handle_watch(token);
        continue;
      }
      std::uint64_t ignored = 0;
      static_cast<void>(!::read(wake_.value(), &ignored, sizeof ignored));
    }
    run_posted();
    run_due();
  }
}

void LocalBackend::Worker::run_posted() {
  std::deque<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(posted_);
  }
  for (const std::function<void()>& task : tasks)
    task();
}

int LocalBackend::Worker::timeout_ms() const {
  if (due_.empty()) return -1;
  const base::Duration left = due_.begin()->first - platform::steady_now();
  return static_cast<int>(std::clamp<std::int64_t>(left.millis, 0, 3'600'000));
}

void LocalBackend::Worker::later(base::Duration delay, std::function<void()> task) {
  due_.emplace(platform::steady_now() + delay, std::move(task));
}

void LocalBackend::Worker::run_due() {
  const base::Duration now = platform::steady_now();
  std::vector<std::function<void()>> tasks;
  while (!due_.empty() && due_.begin()->first <= now) {
    tasks.push_back(std::move(due_.begin()->second));
    due_.erase(due_.begin());
  }
  for (const std::function<void()>& task : tasks)
    task();
}

bool LocalBackend::Worker::watch_descriptor(const Descriptor& descriptor, Watch watch) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = next_token_;
  if (::epoll_ctl(epoll_.value(), EPOLL_CTL_ADD, descriptor.value(), &event) != 0) {
    LOG(Error, "local_watch_failed", {"attempt", model::to_text(watch.attempt)},
        {"rank", watch.rank}, {"errno", errno});
    return false;
  }
  watches_.emplace(next_token_++, watch);
  return true;
}

void LocalBackend::Worker::handle_watch(std::uint64_t token) {
  const auto found = watches_.find(token);
  if (found == watches_.end()) return;
  const Watch watch = found->second;
  watches_.erase(found);
  Member* member = find_member(watch.attempt, watch.rank);
  if (member == nullptr) return;
  // Closing a pidfd takes it out of the epoll set.
  if (!watch.is_launch) {
    member->shim.reset();
  } else if (member->launch) {
    const int code = take_exit_code(*member->launch);
    member->launch.reset();
    if (code != 0)
      LOG(Warning, "local_shim_failed", {"attempt", model::to_text(watch.attempt)},
          {"rank", watch.rank}, {"exit_code", code}, {"see", member->folder.path()});
  }
  refresh(watch.attempt, attempts_.at(watch.attempt), *member);
}

void LocalBackend::Worker::emit(controller::Observation observation) {
  if (sink_)
    sink_(std::move(observation));
  else
    unsent_.push_back(std::move(observation));
}

void LocalBackend::Worker::set_sink(controller::ObservationSink sink) {
  const bool is_first = !sink_;
  sink_ = std::move(sink);
  reported_node_.reset();
  if (is_first) {
    report_node();
    for (controller::Observation& observation : std::exchange(unsent_, {}))
      sink_(std::move(observation));
  } else {
    sink_(describe_node());
  }
  adopt_once();
}

void LocalBackend::Worker::report_node() {
  controller::NodeReport report = describe_node();
  if (report.node != reported_node_) {
    reported_node_ = report.node;
    emit(std::move(report));
  }
  later(options_.node_report_every, [this] { report_node(); });
}

controller::NodeReport LocalBackend::Worker::describe_node() const {
  devices::Machine machine = devices::probe_machine(folders_.data_folder());
  model::Node node;
  node.name = options_.node_name.empty() ? machine.name : options_.node_name;
  node.backend = "local";
  // What is free on the disk moves all the time; the first reading stands until a restart.
  if (reported_node_)
    machine.scratch = base::Bytes(reported_node_->allocatable.of(model::kScratch));
  node.allocatable = devices::allocatable(machine);
  for (devices::DeviceSource* source : options_.device_sources)
    for (model::Device& device : source->devices())
      node.devices.push_back(std::move(device));
  node.attributes = options_.attributes;
  utsname system{};
  if (::uname(&system) == 0) node.attributes.emplace("arch", system.machine);
  node.enforcement = ladder_.enforcement();
  return {.node = std::move(node), .pool = options_.pool};
}

std::optional<devices::DeviceSample> LocalBackend::Worker::sample(std::int32_t device) const {
  if (device < 0 || static_cast<std::size_t>(device) >= device_places_.size()) return std::nullopt;
  const auto& [source, index] = device_places_[static_cast<std::size_t>(device)];
  return source->sample(index);
}

void LocalBackend::Worker::adopt_once() {
  if (is_adopted_) return;
  is_adopted_ = true;
  for (auto& [id, record] : folders_.accepted())
    adopt(id, std::move(record));
  const auto prune = [this](const auto& again) -> void {
    folders_.prune(platform::system_now() - options_.log_retention);
    later(kPruneEvery, [again] { again(again); });
  };
  prune(prune);
}

}  // namespace backends::local
