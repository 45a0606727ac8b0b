#include "simulator/replay.h"

#include <time.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "backends/simulated/simulated_backend.h"
#include "base/assert.h"
#include "controller/controller.h"
#include "lifecycle/apply.h"
#include "lifecycle/checkpoint.h"
#include "manifest/document.h"
#include "platform/system_clock.h"
#include "simulator/journal_file.h"
#include "simulator/recorder.h"

namespace simulator {

using base::Code;
using base::Done;
using base::Instant;
using base::Result;

namespace {

constexpr std::string_view kPool = "cluster";
// More turns than that at one instant mean that virtual time stands still.
constexpr std::int64_t kMostTurnsOfInstant = 1000;
constexpr std::int64_t kProgressEveryTurns = 1024;

model::Kind kind_of_class(std::string_view class_name) {
  if (class_name == "inference") return model::Kind::InferenceService;
  if (class_name == "notebook") return model::Kind::Notebook;
  if (class_name == "batch") return model::Kind::BatchInference;
  return model::Kind::TrainingJob;
}

manifest::Document document_of(const TraceJob& job, const ReplayOptions& options) {
  manifest::WorkloadDocument document{.queue = job.queue, .class_name = job.class_name};
  model::Workload& workload = document.workload;
  workload.name = job.name;
  workload.kind = kind_of_class(job.class_name);
  model::TaskGroup group{.name = "member",
                         .members = job.members,
                         .min_members = job.members,
                         .per_member = job.per_member};
  if (!job.device.is_none()) group.device_options.push_back(job.device);
  workload.groups.push_back(std::move(group));
  if (job.class_name == "training") workload.checkpoint.every = options.checkpoint;
  workload.annotations.emplace(backends::simulated::kRuntimeAnnotation,
                               std::to_string(job.runtime.millis));
  return {.body = std::move(document), .source = {}};
}

std::vector<manifest::Document> documents_of_cluster(const Trace& trace,
                                                     const model::PolicySet& policy) {
  std::vector<manifest::Document> documents;
  documents.push_back({.body = manifest::PolicyDocument{policy}, .source = {}});
  documents.push_back(
      {.body = manifest::PoolDocument{.pool = {.name = std::string(kPool)}, .parent = {}},
       .source = {}});
  for (const TraceQueue& queue : trace.queues) {
    manifest::QueueDocument document{.queue = {.name = queue.name, .weight = queue.weight}};
    document.quotas.push_back(
        {.pool = std::string(kPool), .resource = "gpu", .guarantee = queue.guarantee_milli});
    documents.push_back({.body = std::move(document), .source = {}});
  }
  return documents;
}

// One replay under way: the controller, what it talks to, and what it was not allowed to refuse.
class Replay {
 public:
  Replay(const Trace& trace, const Nodes& nodes, const ReplayOptions& options, JournalFile& journal)
      : trace_(trace),
        options_(options),
        now_(trace.jobs.front().submitted),
        backend_({.start_delay = options.start_delay, .stop_delay = options.stop_delay}, nodes,
                 now_),
        controller_({.version = options.version,
                     .seed = options.seed,
                     .checkpoint_every_events = std::numeric_limits<std::int64_t>::max()},
                    journal, {&backend_}),
        recorder_(controller_.state(), {.start = now_,
                                        .last_arrival = trace.jobs.back().submitted,
                                        .capacity_milli = capacity_milli(nodes),
                                        .jobs = static_cast<std::int64_t>(trace.jobs.size()),
                                        .mix = member_mix(trace)}) {}

  Result<Done> run() {
    controller_.on_commit(
        [this](const std::vector<model::Event>& events) { recorder_.observe(events); });
    if (const Result<Done> recovered = controller_.recover(now_); !recovered)
      return tl::unexpected(recovered.error());
    for (manifest::Document& document : documents_of_cluster(trace_, options_.policy))
      add_command(std::move(document));
    turn();
    backend_.watch(
        [this](controller::Observation seen) { inbox_.observations.push_back(std::move(seen)); });
    turn();
    while (!refusal_ && take_step()) {
    }
    if (refusal_) return tl::unexpected(*refusal_);
    return Done{};
  }

  PolicyResult finish() {
    PolicyResult result = recorder_.finish();
    result.turns = controller_.counters().turns;
    return result;
  }
  const model::State& state() const { return controller_.state(); }

 private:
  // Moves to the next thing that happens; false when nothing more will.
  bool take_step() {
    const auto total = static_cast<std::int64_t>(trace_.jobs.size());
    if (recorder_.finished() == total) return false;
    const Instant arrival =
        next_job_ < trace_.jobs.size() ? trace_.jobs[next_job_].submitted : base::kNever;
    const Instant external = std::min(arrival, backend_.next_event_time());
    // Timers alone cannot help work that waits for ever in an idle cluster.
    if (external == base::kNever && recorder_.running() == 0 && idle_turns_++ > kMostTurnsOfInstant)
      return false;
    Instant next = std::min(external, controller_.next_due());
    if (next == base::kNever) return false;
    next = std::max(next, now_);
    if (next > now_) {
      recorder_.sample(next);
      turns_of_instant_ = 0;
    } else if (++turns_of_instant_ > kMostTurnsOfInstant) {
      refusal_ =
          base::Error{.code = Code::Internal,
                      .message = fmt::format("virtual time stands still at {} ms under policy {}",
                                             now_.millis, options_.policy.name)};
      return false;
    }
    now_ = next;
    backend_.advance(now_);
    for (; next_job_ < trace_.jobs.size() && trace_.jobs[next_job_].submitted <= now_; ++next_job_)
      add_command(document_of(trace_.jobs[next_job_], options_), trace_.jobs[next_job_].user);
    turn();
    if (options_.progress && ++turns_ % kProgressEveryTurns == 0)
      options_.progress(recorder_.finished());
    return true;
  }

  void turn() { controller_.turn(now_, std::exchange(inbox_, {})); }

  void add_command(manifest::Document document, std::string user = {}) {
    if (user.empty()) user = "simulator";
    inbox_.commands.emplace_back(
        controller::Command{.body = controller::Apply{.document = std::move(document)},
                            .caller = {.user = std::move(user), .role = controller::Role::Admin}},
        [this](const Result<controller::Reply>& reply) {
          if (reply || refusal_) return;
          refusal_ = reply.error();
          refusal_->code = Code::FailedPrecondition;
        });
  }

  const Trace& trace_;
  const ReplayOptions& options_;
  Instant now_;
  backends::simulated::SimulatedBackend backend_;
  controller::Controller controller_;
  Recorder recorder_;
  controller::Inbox inbox_;
  std::size_t next_job_ = 0;
  std::int64_t turns_ = 0, turns_of_instant_ = 0, idle_turns_ = 0;
  std::optional<base::Error> refusal_;
};

// The journal, decoded and applied to an empty State, gives the State that the controller ended
// with, and the bytes on disk have the chain's head that was counted while writing.
Result<Done> verify(const JournalFile& journal, const std::string& head,
                    const model::State& expected) {
  model::State state;
  const Result<std::string> found =
      read_journal_file(journal.path(), [&state](const model::Event& event) {
        lifecycle::apply(state, event);
        return true;
      });
  if (!found) return tl::unexpected(found.error());
  if (*found != head)
    return base::fail(Code::Internal, "journal {} has chain head {}, written was {}",
                      journal.path().string(), *found, head);
  if (lifecycle::encode_checkpoint(state) != lifecycle::encode_checkpoint(expected))
    return base::fail(Code::Internal, "journal {} replays to another State",
                      journal.path().string());
  return Done{};
}

double seconds_since(base::Duration began) {
  return static_cast<double>((platform::steady_now() - began).millis) / 1000.0;
}

// What this thread used of a processor so far: says more than wall time on a busy machine.
double processor_seconds() {
  timespec used{};
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

}  // namespace

Result<PolicyResult> replay(const Trace& trace, const Nodes& nodes, const ReplayOptions& options) {
  ASSERT(!trace.jobs.empty() && !trace.queues.empty());
  Result<std::unique_ptr<JournalFile>> journal = JournalFile::create(options.journal);
  if (!journal) return tl::unexpected(journal.error());
  const base::Duration began = platform::steady_now();
  const double processor_began = processor_seconds();
  Replay running(trace, nodes, options, **journal);
  if (const Result<Done> done = running.run(); !done) return tl::unexpected(done.error());
  const Result<std::string> head = (*journal)->chain_head();
  if (!head) return tl::unexpected(head.error());
  const double wall = seconds_since(began);
  const double processor = processor_seconds() - processor_began;

  PolicyResult result = running.finish();
  result.policy = options.policy.name;
  result.journal_bytes = (*journal)->bytes();
  result.journal_hash = *head;
  if (options.is_verified) {
    const base::Duration verify_began = platform::steady_now();
    if (const Result<Done> done = verify(**journal, *head, running.state()); !done)
      return tl::unexpected(done.error());
    result.is_verified = true;
    result.machine.verify_seconds = seconds_since(verify_began);
  }
  result.machine.wall_seconds = wall;
  result.machine.processor_seconds = processor;
  const double divisor = std::max(wall, 0.001);
  result.machine.decisions_per_second =
      static_cast<std::int64_t>(static_cast<double>(result.decisions) / divisor);
  result.machine.events_per_second =
      static_cast<std::int64_t>(static_cast<double>(result.events) / divisor);
  return result;
}

}  // namespace simulator
