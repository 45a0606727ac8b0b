#pragma once
// A whole small installation in virtual time: a State, its journal, an incremental planner and a
// trivial backend that starts what it is told and confirms stops after a chosen delay. Everything
// goes through events and lifecycle::apply, with gap-free sequences, as in the controller.
//
//   World world;
//   world.define(a_pool("h800"));
//   world.see(a_node("n1").in_pool("h800").gpus(8));
//   const auto w = world.submit(a_workload("w1").gpus(8));
//   world.advance_to(at(10s));       // or settle() to plan at the present instant
//   world.phase_of(w)                // Running
//
// A fault of the world under test (a planner that never rests) is a std::runtime_error, so that a
// property reports and shrinks it. Not movable: the planner refers to the State.

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "model/decision.h"
#include "model/event.h"
#include "model/state.h"
#include "scheduling/planner.h"
#include "testing/builders.h"

namespace testkit {

// Virtual time starts here, so that day limits and instants look like real ones.
inline constexpr base::Instant kStart{1'764'547'200'000};  // 2025-12-01T00:00:00Z

struct WorldOptions {
  base::Duration start_delay;  // from the decision to "every member is up"
  base::Duration stop_delay;   // from the decision to the confirmed end
  base::Seed seed{7};
  bool plans_by_itself = true;  // advance_to() and settle() plan; false: only cycle() does
};

class World {
 public:
  explicit World(WorldOptions options = {});
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Configuration. An id that is set is used, else a name that exists is replaced, keeping its id.
  // Queues whose path has a parent and quotas need what they name to exist (ASSERT).
  model::PoolId define(const PoolSpec& pool);
  model::QueueId define(const QueueBuilder& queue);
  model::ClassId define(model::WorkloadClass workload_class);
  void define(const model::PolicySet& policy);
  model::NodeId see(const NodeBuilder& node);

  // What people and the machines do. Nothing is planned before the next settle().
  model::WorkloadId submit(const WorkloadBuilder& workload);
  model::Workload resolved(const WorkloadBuilder& workload) const;  // as submit() would send it
  void cancel(model::WorkloadId workload);
  void hold(model::WorkloadId workload);
  void release(model::WorkloadId workload);
  void set_condition(model::NodeId node, model::NodeCondition condition);
  void set_health(model::NodeId node, std::int32_t device, model::Health health);
  // Ends the live attempt: every member reports this. Nothing happens without a live attempt.
  void end(model::WorkloadId workload, model::EndClass end_class = model::EndClass::Ok,
           std::int32_t exit_code = 0);
  // Once running, attempts of this workload end well after that long.
  void runs_for(model::WorkloadId workload, base::Duration duration);

  // Writes one event at the present instant: journal, apply, observe.
  void record(model::EventBody body, std::string actor = {});
  // One plan of the present State; its decisions are journaled, applied and given to the backend.
  model::Plan cycle();
  // The plan that cycle() would make, and the same from a planner built from the final State.
  model::Plan plan_only() const;
  model::Plan plan_fresh() const;
  model::Plan ask(const scheduling::Question& question) const;
  // Delivers what the backend has for now and plans, until nothing more happens.
  void settle();
  // Lives through everything that falls due up to and including `t`, then settles.
  void advance_to(base::Instant t);
  void advance(base::Duration duration) { advance_to(now_ + duration); }

  base::Instant now() const { return now_; }
  const model::State& state() const { return *state_; }
  const std::vector<model::Event>& journal() const { return journal_; }
  const std::vector<model::Plan>& plans() const { return plans_; }
  model::Phase phase_of(model::WorkloadId workload) const;
  const model::WorkloadRecord& record_of(model::WorkloadId workload) const;
  // By name, of the newest workload of that name; none when there is none.
  model::WorkloadId workload_named(std::string_view name) const;
  bool is_backend_busy() const { return !agenda_.empty(); }

  // Called after each event was applied and observed; before() sees the State that it changes.
  std::function<void(const model::Event&)> before_event;
  std::function<void(const model::Event&)> after_event;
  std::function<void(const model::Plan&)> before_plan_applies;

 private:
  // What the backend will report, in the order of time, then of attempts.
  enum class Report { Running, Ended };
  struct Due {
    base::Instant at;
    model::AttemptId attempt;
    Report report = Report::Running;
    model::EndClass end_class = model::EndClass::Ok;
    std::int32_t exit_code = 0;
    friend auto operator<=>(const Due&, const Due&) = default;
  };

  scheduling::Cycle cycle_of(scheduling::Question question) const;
  void carry_out(const model::Decision& decision);
  void carry_out_stops();
  void forget_reports_of(model::AttemptId attempt);
  bool deliver_due();
  void deliver(const Due& due);

  WorldOptions options_;
  base::Instant now_ = kStart;
  std::unique_ptr<model::State> state_;
  std::unique_ptr<scheduling::Planner> planner_;
  std::vector<model::Event> journal_;
  std::vector<model::Plan> plans_;
  std::set<Due> agenda_;
  std::set<model::AttemptId> stopping_;  // told to stop
  std::map<model::WorkloadId, base::Duration> durations_;
  std::map<std::string, model::WorkloadId, std::less<>> names_;
};

}  // namespace testkit
