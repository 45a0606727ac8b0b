// Accepting a start: at most once, wholly or not at all, and not at all when it is over or was
// stopped before it began.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "backends/local/internal/worker.h"
#include "backends/local/member_environment.h"
#include "platform/fault_point.h"
#include "platform/log.h"
#include "platform/system_clock.h"

namespace backends::local {

using base::Code;
using base::Result;
using controller::StartEffect;
using model::AttemptId;

namespace {

constexpr base::Duration kRetryStartAfter = base::seconds(1);
// Below the range from which Linux takes ports for outgoing connections (32768 and up).
constexpr std::int32_t kPortFirst = 20'000;
constexpr std::int32_t kPortCount = 12'000;

bool is_port_free(std::int32_t port) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(socket.value(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::bind(socket.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// What this backend cannot do is the end of the attempt, said at once.
std::optional<ExitRecord> refusal_of(const StartEffect& effect) {
  if (effect.workload.command.image.empty()) return std::nullopt;
  ExitRecord end{.end_class = model::EndClass::ExecError, .exit_code = 126};
  end.note = fmt::format(
      "the local backend runs no container images; leave out the image {}, or choose a pool of a "
      "cluster",
      effect.workload.command.image);
  return end;
}

}  // namespace

bool LocalBackend::Worker::admit(model::Epoch epoch) {
  if (epoch.value < epoch_) {
    LOG(Warning, "local_effect_of_old_epoch", {"epoch", epoch.value}, {"newest", epoch_});
    return false;
  }
  if (epoch.value == epoch_) return true;
  epoch_ = epoch.value;
  const Result<base::Done> written = folders_.write_epoch(epoch_);
  if (!written) LOG(Warning, "local_epoch_not_written", {"error", base::to_text(written.error())});
  return true;
}

std::vector<std::int32_t> LocalBackend::Worker::own_ranks(const StartEffect& effect) const {
  const std::string& own = reported_node_ ? reported_node_->name : options_.node_name;
  std::vector<std::int32_t> ranks;
  for (std::size_t i = 0; i < effect.placement.members.size(); ++i)
    if (i >= effect.node_names.size() || own.empty() || effect.node_names[i] == own)
      ranks.push_back(static_cast<std::int32_t>(i));
  return ranks;
}

void LocalBackend::Worker::report_ends(const StartEffect& effect,
                                       std::vector<model::MemberEnd> ends,
                                       const ExitRecord& otherwise) {
  for (const std::int32_t rank : own_ranks(effect)) {
    const bool is_known = std::any_of(
        ends.begin(), ends.end(), [&](const model::MemberEnd& end) { return end.rank == rank; });
    if (!is_known) ends.push_back(member_end(rank, otherwise));
  }
  emit(controller::EndReport{.attempt = effect.attempt, .members = std::move(ends)});
}

bool LocalBackend::Worker::was_ended_before(const StartEffect& effect) {
  std::optional<StopRequest> stopped = folders_.tombstone(effect.attempt);
  const auto unwritten = buried_.find(effect.attempt);
  if (!stopped && unwritten != buried_.end()) stopped = unwritten->second;
  if (stopped) {
    report_ends(effect, {},
                ExitRecord{.end_class = stopped->end_class, .note = "stopped before it began"});
    return true;
  }
  auto ends = folders_.forgotten(effect.attempt);
  if (!ends) return false;
  report_ends(effect, std::move(*ends),
              ExitRecord{.end_class = model::EndClass::NodeLost,
                         .note = "it ended earlier, and its records are gone"});
  return true;
}

void LocalBackend::Worker::start(const StartEffect& effect) {
  if (!admit(effect.epoch)) return;
  adopt_once();
  const auto known = attempts_.find(effect.attempt);
  if (known != attempts_.end()) {
    known->second.is_running_reported = false;
    announce_running(effect.attempt, known->second);
    return report_ends_again(effect.attempt, known->second);
  }
  if (was_ended_before(effect)) return;
  if (own_ranks(effect).empty()) {
    LOG(Error, "local_start_elsewhere", {"attempt", model::to_text(effect.attempt)},
        {"reason", "no member of it is placed on this node"});
    return;
  }
  Result<AttemptRecord> record = accept(effect);
  if (!record) {
    LOG(Warning, "local_start_delayed", {"attempt", model::to_text(effect.attempt)},
        {"error", base::to_text(record.error())});
    later(kRetryStartAfter, [this, effect] { start(effect); });
    return;
  }
  static_cast<void>(FAULT("local.start.accepted"));
  adopt(effect.attempt, std::move(*record));
}

Result<AttemptRecord> LocalBackend::Worker::accept(const StartEffect& effect) {
  if (FAULT("local.start.accept")) return base::fail(Code::Exhausted, "injected");
  AttemptRecord record{.attempt = model::to_text(effect.attempt),
                       .epoch = effect.epoch.value,
                       .ranks = own_ranks(effect),
                       .world_size = static_cast<std::int32_t>(effect.placement.members.size()),
                       .master_port = choose_port(effect.attempt)};
  const Result<std::string> checkpoints = folders_.make_checkpoint_folder(effect.workload.id);
  if (!checkpoints) return tl::unexpected(checkpoints.error());
  std::vector<model::Device> devices;
  for (devices::DeviceSource* source : options_.device_sources)
    for (model::Device& device : source->devices())
      devices.push_back(std::move(device));

  std::vector<JobSpec> jobs;
  for (const std::int32_t rank : record.ranks) {
    const model::Workload& workload = effect.workload;
    const model::MemberPlacement& placed = effect.placement.members[static_cast<std::size_t>(rank)];
    JobSpec& job = jobs.emplace_back();
    job.attempt = record.attempt;
    job.rank = rank;
    job.epoch = record.epoch;
    job.argv = workload.command.argv;
    job.environment = member_environment(
        effect,
        {.rank = rank, .master_port = record.master_port, .checkpoint_folder = *checkpoints},
        options_.base_environment, devices);
    job.directory = workload.command.directory.empty() ? options_.default_directory
                                                       : workload.command.directory;
    if (static_cast<std::size_t>(placed.group) < workload.groups.size()) {
      const model::Quantities& amounts =
          workload.groups[static_cast<std::size_t>(placed.group)].per_member;
      job.cpu_milli = amounts.of(model::kCpu);
      job.memory_bytes = amounts.of(model::kMemory);
    }
    job.processes_max = options_.processes_max;
    job.cgroup = ladder_.leaves(fmt::format("{}.{}", record.attempt, rank));
  }
  std::optional<ExitRecord> refusal = refusal_of(effect);
  if (refusal) refusal->ended_at = platform::system_now();
  const Result<base::Done> created = folders_.create(record, jobs, refusal);
  if (!created) return tl::unexpected(created.error());
  return record;
}

// The same attempt gets the same port wherever possible; all its members find it in their
// environment. Taken ones are passed over.
std::int32_t LocalBackend::Worker::choose_port(AttemptId attempt) const {
  std::set<std::int32_t> taken;
  for (const auto& [id, live] : attempts_)
    taken.insert(live.record.master_port);
  const std::uint64_t mixed =
      (attempt.workload.value * 0x9E3779B97F4A7C15ULL) ^ (attempt.ordinal * 0xD1342543DE82EF95ULL);
  const auto first = static_cast<std::int32_t>((mixed >> 32) % kPortCount);
  for (std::int32_t i = 0; i < kPortCount; ++i) {
    const std::int32_t port = kPortFirst + (first + i) % kPortCount;
    if (!taken.contains(port) && is_port_free(port)) return port;
  }
  return kPortFirst + first;
}

void LocalBackend::Worker::bury(AttemptId attempt, const StopRequest& request) {
  if (folders_.forgotten(attempt)) return;  // it ended, and the controller knows
  buried_.insert_or_assign(attempt, request);
  const Result<base::Done> written = folders_.bury(attempt, request);
  if (written) {
    buried_.erase(attempt);
    return;
  }
  LOG(Warning, "local_stop_not_written", {"attempt", model::to_text(attempt)},
      {"error", base::to_text(written.error())});
  later(kRetryStartAfter, [this, attempt, request] {
    if (buried_.contains(attempt)) bury(attempt, request);
  });
}

}  // namespace backends::local
