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
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "api/loop_port.h"
#include "base/instant.h"
#include "base/result.h"
#include "controller/controller.h"
#include "platform/mailbox.h"

namespace berthd {

inline constexpr std::size_t kWaitingMax = 10'000;

class Loop final : public api::LoopPort {
 public:
  // All outlive the loop. `on_fenced` is called once, on the loop's thread, when another controller
  // has taken the journal: the loop has ended by then.
  Loop(controller::Controller& controller, std::vector<controller::ClusterBackend*> backends,
       std::function<void()> on_fenced);
  ~Loop() override;  // stop()

  // The controller has recovered. Watches the backends and begins to turn.
  void start();
  // Takes nothing new, makes a last turn of what is there, ends the thread. Members stay running.
  void stop();

  bool command(controller::Command command, controller::Answer answer) override;
  bool read(Reader reader) override;
  void subscribe(Listener listener) override;
  controller::Store& store() override { return controller_.store(); }
  base::Result<base::Done> readiness() override;

 private:
  using Message = std::variant<std::pair<controller::Command, controller::Answer>, Reader,
                               controller::Observation>;

  bool post_bounded(Message message);
  void run();
  void take(std::vector<Message> messages);
  void set_readiness(std::optional<base::Error> error);

  controller::Controller& controller_;
  std::vector<controller::ClusterBackend*> backends_;
  std::function<void()> on_fenced_;
  platform::Mailbox<Message> mailbox_;
  std::atomic<std::size_t> waiting_{0};
  std::vector<Listener> listeners_;  // fixed once started
  std::mutex readiness_mutex_;
  std::optional<base::Error> not_ready_;
  std::thread thread_;
};

}  // namespace berthd
