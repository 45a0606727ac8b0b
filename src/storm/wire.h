#pragma once
// The network between the controller's process and the machines, and the process's end of it. What
// is sent may be lost (and is sent again while its sender lives), doubled, late or overtaken,
// within what the contract of controller/cluster_backend.h allows: reports of one attempt or node
// keep their order, and what is forgotten has no message left under way.
//
// A list may be stale: as old as the last report that was delivered, never older.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "backends/simulated/simulated_backend.h"
#include "controller/cluster_backend.h"
#include "storm/fault_plan.h"
#include "storm/hardware.h"
#include "storm/orders.h"

namespace storm {

// Of one controller's process: its sequence number.
using ProcessId = std::int64_t;

class Wire {
 public:
  using Machines = backends::simulated::SimulatedBackend;
  // All of them outlive the wire.
  Wire(Machines& machines, Hardware& hardware, Orders& orders, FaultPlan& plan);

  // Takes the sink of the machines; `deliver` is told of what arrives.
  void begin(std::function<void(const controller::Observation&)> deliver);
  // Everything due up to `now`.
  void advance(base::Instant now);
  base::Instant next_due() const;
  // What it had not sent yet dies with it; what is under way is not.
  void drop_process(ProcessId process);

  void send(ProcessId process, const controller::StartEffect& effect);
  void send(ProcessId process, const controller::StopEffect& effect);
  void send_forget(ProcessId process, model::AttemptId attempt);
  base::Result<std::vector<controller::AttemptReport>> list();

 private:
  using Content =
      std::variant<controller::StartEffect, controller::StopEffect, controller::Observation>;
  struct Message {
    base::Instant at;
    ProcessId sender = 0;    // of an effect
    bool is_unsent = false;  // lost once: sent again, if the sender lives
    bool is_repeat = false;  // of something that was or will be delivered by itself
    Content content;
  };

  void take_report(controller::Observation observation);
  Message& post(base::Instant at, Content content, ProcessId sender = 0);
  void deliver(const Message& message);
  void deliver_start(const controller::StartEffect& effect);
  void apply_staleness(std::vector<controller::AttemptReport>& reports) const;

  Machines& machines_;
  Hardware& hardware_;
  Orders& orders_;
  FaultPlan& plan_;
  std::function<void(const controller::Observation&)> deliver_;
  base::Instant now_;
  std::int64_t next_sequence_ = 1;
  std::map<std::pair<base::Instant, std::int64_t>, Message> messages_;
  std::map<std::string, base::Instant> last_report_;  // by attempt or node: no earlier than that
};

// What one process of the controller takes for its backend.
class Link final : public controller::ClusterBackend {
 public:
  Link(Wire& wire, Wire::Machines& machines, ProcessId process)
      : wire_(wire), machines_(machines), process_(process) {}

  std::string_view name() const override { return machines_.name(); }
  void watch(controller::ObservationSink sink) override;
  void fence(model::Epoch epoch) override { machines_.fence(epoch); }
  base::Result<std::vector<controller::AttemptReport>> list() override { return wire_.list(); }
  void start(const controller::StartEffect& effect) override { wire_.send(process_, effect); }
  void stop(const controller::StopEffect& effect) override { wire_.send(process_, effect); }
  void forget(model::AttemptId attempt) override { wire_.send_forget(process_, attempt); }
  base::Result<controller::LogChunk> read_log(const controller::LogRequest& request) override {
    return machines_.read_log(request);
  }

 private:
  Wire& wire_;
  Wire::Machines& machines_;
  ProcessId process_;
};

}  // namespace storm
