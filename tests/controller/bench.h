#pragma once
// A controller with a journal in memory and a backend that records, in virtual time. The cluster
// (RecordingBackend) and the journal outlive the controller, so a crash is: drop it, make another.
//
//   Bench bench;
//   bench.see(a_node("n1").gpus(8));
//   const auto w = bench.submit(a_workload("w1").gpus(8));
//   bench.settle();                      // deliver what the backend reports until it is quiet
//   EXPECT_EQ(bench.backend.calls, (Calls{"start 1.1"}));

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "controller/cluster_backend.h"
#include "controller/controller.h"
#include "controller/store.h"
#include "store/memory/memory_store.h"
#include "testing/builders.h"

namespace controller_test {

using Calls = std::vector<std::string>;

// Does at once what it is told and reports it; keeps the contract of ClusterBackend, so a test that
// sees something started twice has found the controller's mistake.
class RecordingBackend final : public controller::ClusterBackend {
 public:
  struct Running {
    std::int32_t members = 0;
    bool is_up = false;
    std::vector<model::MemberEnd> ended;
    bool is_ended() const { return static_cast<std::int32_t>(ended.size()) == members; }
  };

  explicit RecordingBackend(std::string name = "recording") : name_(std::move(name)) {}

  std::string_view name() const override { return name_; }
  void watch(controller::ObservationSink) override {}
  base::Result<std::vector<controller::AttemptReport>> list() override {
    if (list_failure) return tl::unexpected(*list_failure);
    std::vector<controller::AttemptReport> reports;
    for (const auto& [id, attempt] : attempts)
      reports.push_back({.attempt = id, .is_running = attempt.is_up, .ended = attempt.ended});
    return reports;
  }

  void start(const controller::StartEffect& effect) override {
    calls.push_back("start " + model::to_text(effect.attempt));
    starts.push_back(effect);
    if (!accepts(effect.epoch)) return;
    const auto found = attempts.find(effect.attempt);
    if (found != attempts.end()) {
      if (found->second.is_ended())
        reports.push_back(
            controller::EndReport{.attempt = effect.attempt, .members = found->second.ended});
      return;
    }
    ++processes_started[effect.attempt];
    attempts[effect.attempt] = {
        .members = static_cast<std::int32_t>(effect.placement.members.size()), .is_up = true};
    if (is_prompt) reports.push_back(controller::RunningReport{effect.attempt});
  }

  void stop(const controller::StopEffect& effect) override {
    calls.push_back("stop " + model::to_text(effect.attempt) + " " +
                    std::string(base::name_of(effect.end_class)));
    stops.push_back(effect);
    if (!accepts(effect.epoch) || !is_prompt) return;
    end(effect.attempt, effect.end_class);
  }

  void forget(model::AttemptId attempt) override {
    calls.push_back("forget " + model::to_text(attempt));
    const auto found = attempts.find(attempt);
    if (found != attempts.end() && found->second.is_ended()) attempts.erase(found);
  }
  base::Result<controller::LogChunk> read_log(const controller::LogRequest&) override {
    return base::fail(base::Code::NotFound, "no logs here");
  }

  // Ends what is left of the attempt, or one member of it.
  void end(model::AttemptId id, model::EndClass end_class,
           std::optional<std::int32_t> only_rank = std::nullopt) {
    const auto found = attempts.find(id);
    if (found == attempts.end()) return;
    controller::EndReport report{.attempt = id, .members = {}};
    for (std::int32_t rank = 0; rank < found->second.members; ++rank) {
      const bool is_wanted = !only_rank || *only_rank == rank;
      const bool is_over = std::ranges::any_of(
          found->second.ended, [rank](const model::MemberEnd& e) { return e.rank == rank; });
      if (is_wanted && !is_over) report.members.push_back({.rank = rank, .end_class = end_class});
    }
    found->second.ended.insert(found->second.ended.end(), report.members.begin(),
                               report.members.end());
    reports.push_back(std::move(report));
  }

  std::string name_;
  bool is_prompt = true;  // false: nothing is reported by itself
  std::optional<base::Error> list_failure;
  Calls calls;
  std::vector<controller::StartEffect> starts;
  std::vector<controller::StopEffect> stops;
  std::map<model::AttemptId, Running> attempts;  // what exists or ended and was not forgotten
  std::map<model::AttemptId, int> processes_started;
  std::vector<controller::Observation> reports;  // to be delivered
  model::Epoch newest;

 private:
  bool accepts(model::Epoch epoch) {
    if (epoch < newest) return false;
    newest = epoch;
    return true;
  }
};

// Fails or dies where a test says, else the store behind it.
class FaultyStore final : public controller::Store {
 public:
  explicit FaultyStore(std::shared_ptr<store::MemoryJournal> journal)
      : store_(std::move(journal)) {}

  base::Result<model::Epoch> acquire_epoch() override { return store_.acquire_epoch(); }
  base::Result<base::Done> append(std::span<const model::Event> events) override {
    if (before_append) before_append();
    if (append_failure) return tl::unexpected(*append_failure);
    auto done = store_.append(events);
    if (after_append) after_append();
    return done;
  }
  base::Result<model::Sequence> last_sequence() override { return store_.last_sequence(); }
  base::Result<base::Done> read(model::Sequence after, std::size_t limit,
                                const std::function<bool(const model::Event&)>& visit) override {
    if (read_failure) return tl::unexpected(*read_failure);
    return store_.read(after, limit, visit);
  }
  base::Result<std::optional<controller::StoredCheckpoint>> latest_checkpoint() override {
    return store_.latest_checkpoint();
  }
  base::Result<base::Done> write_checkpoint(
      const controller::StoredCheckpoint& checkpoint) override {
    return store_.write_checkpoint(checkpoint);
  }
  base::Result<std::string> chain_head() override { return store_.chain_head(); }

  std::optional<base::Error> append_failure, read_failure;
  std::function<void()> before_append, after_append;

 private:
  store::MemoryStore store_;
};

inline manifest::Document document_of(const testkit::WorkloadBuilder& builder) {
  const testkit::WorkloadSpec& spec = builder.spec();
  return {.body = manifest::WorkloadDocument{.workload = spec.workload,
                                             .queue = spec.queue,
                                             .class_name = spec.class_name,
                                             .pools = spec.pools,
                                             .custom = {}},
          .source = "test"};
}

inline base::Instant start_of_time() { return base::Instant{1'764'547'200'000}; }

class Bench {
 public:
  explicit Bench(controller::ControllerOptions with = {.version = "test"})
      : options(std::move(with)) {
    open();
  }

  // A new process: the journal and the cluster are what the old one left.
  base::Result<base::Done> try_open() {
    controller.reset();
    store = std::make_unique<FaultyStore>(journal);
    std::vector<controller::ClusterBackend*> all{&backend};
    for (RecordingBackend* more : more_backends)
      all.push_back(more);
    controller = std::make_unique<controller::Controller>(options, *store, all);
    return controller->recover(now);
  }
  void open() {
    const auto recovered = try_open();
    ASSERT(recovered.has_value());
  }

  void turn(controller::Inbox inbox = {}) { controller->turn(now, std::move(inbox)); }
  void observe(std::vector<controller::Observation> observations) {
    turn({.commands = {}, .observations = std::move(observations)});
  }

  base::Result<controller::Reply> ask(controller::Command command) {
    std::optional<base::Result<controller::Reply>> reply;
    controller::Inbox inbox;
    inbox.commands.emplace_back(std::move(command), [&reply](base::Result<controller::Reply> r) {
      ASSERT(!reply.has_value());
      reply = std::move(r);
    });
    turn(std::move(inbox));
    ASSERT(reply.has_value());
    return *reply;
  }
  template <class Body>
  base::Result<controller::Reply> ask_as(std::string user, Body body) {
    return ask({.body = std::move(body),
                .caller = {.user = std::move(user), .role = controller::Role::Admin}});
  }
  base::Result<controller::Reply> try_submit(const testkit::WorkloadBuilder& builder,
                                             std::string key = {}) {
    return ask_as("ann", controller::Apply{.document = document_of(builder),
                                           .request_key = std::move(key),
                                           .is_dry_run = false});
  }
  model::WorkloadId submit(const testkit::WorkloadBuilder& builder) {
    const auto reply = try_submit(builder);
    ASSERT(reply.has_value());
    return reply->workload;
  }
  base::Result<controller::Reply> define(manifest::Document document) {
    return ask_as("root", controller::Apply{.document = std::move(document)});
  }

  controller::NodeReport report_of(const testkit::NodeBuilder& builder, std::string pool = {}) {
    model::Node node = builder.node();
    node.backend = backend.name_;
    return {.node = node, .pool = std::move(pool)};
  }
  void see(const testkit::NodeBuilder& builder, std::string pool = {}) {
    observe({report_of(builder, std::move(pool))});
  }

  // Delivers what the backend reports, and everything due now, until nothing is left.
  void settle() {
    for (int rounds = 0; rounds < 200; ++rounds) {
      if (backend.reports.empty() && controller->next_due() > now) return;
      observe(std::exchange(backend.reports, {}));
    }
    ASSERT(false);
  }
  // Lives through all that falls due on the way.
  void advance(base::Duration duration) {
    const base::Instant end = now + duration;
    settle();
    while (controller->next_due() <= end) {
      now = std::max(now, controller->next_due());
      settle();
    }
    now = end;
  }

  const model::State& state() const { return controller->state(); }
  const model::WorkloadRecord& record(model::WorkloadId id) const {
    return state().workloads.at(id);
  }
  const model::Node& node(const std::string& name) const {
    return state().nodes.at(state().node_by_name.at(name)).node;
  }
  std::vector<model::Event> events() {
    std::vector<model::Event> all;
    const auto done = store->read({}, 1'000'000, [&all](const model::Event& event) {
      all.push_back(event);
      return true;
    });
    ASSERT(done.has_value());
    return all;
  }

  controller::ControllerOptions options;
  base::Instant now = start_of_time();
  std::shared_ptr<store::MemoryJournal> journal = store::make_memory_journal();
  RecordingBackend backend;
  std::vector<RecordingBackend*> more_backends;
  std::unique_ptr<FaultyStore> store;
  std::unique_ptr<controller::Controller> controller;
};

}  // namespace controller_test
