#pragma once
// The thread that owns the Controller. Everybody else sends it messages: commands and reads of the
// API, observations of the backends. It sleeps until a message comes or the controller has
// something due, takes everything that is there, and makes it one turn.
//
// Waiting commands and reads are bounded; observations are not, because a lost one would leave
// State wrong.
//
// Thread contract: start() and stop() from one thread, the rest as api::LoopPort says.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "api/loop_port.h"
#include "base/instant.h"
#include "base/result.h"
#include "controller/controller.h"
#include "daemon/ledger_book.h"
#include "daemon/use_sampler.h"
#include "platform/mailbox.h"
#include "telemetry/metrics.h"

namespace berthd {

inline constexpr std::size_t kWaitingMax = 10'000;

// What looks on beside the controller. All may be null, and outlive the loop.
struct Onlookers {
  LedgerBook* book = nullptr;  // up to date with the controller when the loop starts
  telemetry::Metrics* metrics = nullptr;
  // Of the nodes of the backend named here.
  const UseSampler* sampler = nullptr;
  std::string sampled_backend;
};

class Loop final : public api::LoopPort {
 public:
  // All outlive the loop. `on_fenced` is called once, on the loop's thread, when another controller
  // has taken the journal: the loop has ended by then.
  Loop(controller::Controller& controller, std::vector<controller::ClusterBackend*> backends,
       std::function<void()> on_fenced, Onlookers onlookers = {});
  ~Loop() override;  // stop()

  // The controller has recovered. Watches the backends and begins to turn.
  void start();
  // Takes nothing new, makes a last turn of what is there, ends the thread. Members stay running.
  void stop();

  bool command(controller::Command command, controller::Answer answer) override;
  bool read(Reader reader) override;
  void subscribe(Listener listener) override;
  controller::Store& store() override { return controller_.store(); }
  const governance::Ledger* ledger() const override;
  api::NodeUse node_use(const model::Node& node) const override;
  std::optional<devices::DeviceSample> device_use(const model::Node& node,
                                                  std::int32_t device) const override;
  base::Result<base::Done> readiness() override;

 private:
  using Message = std::variant<std::pair<controller::Command, controller::Answer>, Reader,
                               controller::Observation>;

  bool post_bounded(Message message);
  void run();
  void take(std::vector<Message> messages);
  void turn(base::Instant now, controller::Inbox inbox);
  void show_metrics();
  base::Instant wake_at() const;
  void set_readiness(std::optional<base::Error> error);

  controller::Controller& controller_;
  std::vector<controller::ClusterBackend*> backends_;
  std::function<void()> on_fenced_;
  const Onlookers onlookers_;
  std::int64_t next_show_ = 0;    // by the steady clock: when the gauges are taken again, in µs
  bool are_gauges_stale_ = true;  // something happened since they were taken
  platform::Mailbox<Message> mailbox_;
  std::atomic<std::size_t> waiting_{0};
  std::vector<Listener> listeners_;  // fixed once started
  std::mutex readiness_mutex_;
  std::optional<base::Error> not_ready_;
  std::thread thread_;
};

}  // namespace berthd
