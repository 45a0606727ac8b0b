#include "daemon/loop.h"

#include <algorithm>

#include "base/assert.h"
#include "platform/log.h"
#include "platform/system_clock.h"

namespace berthd {

namespace {

// How soon a commit that failed is tried again.
constexpr base::Duration kRetryEvery = base::seconds(1);
// Gauges cost a walk over State. After one the loop does other things for so many times as long, so
// that they are fresh on a small State and take a twentieth of the time on a large one.
constexpr std::int64_t kRestAfterShowing = 20;

}  // namespace

Loop::Loop(controller::Controller& controller, std::vector<controller::ClusterBackend*> backends,
           std::function<void()> on_fenced, Onlookers onlookers)
    : controller_(controller),
      backends_(std::move(backends)),
      on_fenced_(std::move(on_fenced)),
      onlookers_(std::move(onlookers)),
      not_ready_(base::Error{.code = base::Code::Unavailable,
                             .message = "the scheduler is starting",
                             .field = {},
                             .hint = "try again in a moment"}) {}

Loop::~Loop() { stop(); }

void Loop::start() {
  ASSERT(!thread_.joinable());
  controller_.on_commit([this](const std::vector<model::Event>& events) {
    if (onlookers_.book != nullptr) onlookers_.book->observe(events);
    if (onlookers_.metrics != nullptr) onlookers_.metrics->see_events(controller_.state(), events);
    are_gauges_stale_ = true;
    for (const Listener& listener : listeners_)
      listener(events);
  });
  for (controller::ClusterBackend* backend : backends_)
    backend->watch([this](controller::Observation observation) {
      // Refused only when the loop is stopping; the next start asks the backend again.
      static_cast<void>(mailbox_.post(Message(std::move(observation))));
    });
  thread_ = std::thread([this] { run(); });
}

void Loop::stop() {
  mailbox_.close();
  if (thread_.joinable()) thread_.join();
}

bool Loop::post_bounded(Message message) {
  if (waiting_.fetch_add(1) < kWaitingMax && mailbox_.post(std::move(message))) return true;
  waiting_.fetch_sub(1);
  return false;
}

bool Loop::command(controller::Command command, controller::Answer answer) {
  return post_bounded(Message(std::pair(std::move(command), std::move(answer))));
}

bool Loop::read(Reader reader) { return post_bounded(Message(std::move(reader))); }

void Loop::subscribe(Listener listener) {
  ASSERT(!thread_.joinable());
  listeners_.push_back(std::move(listener));
}

const governance::Ledger* Loop::ledger() const {
  return onlookers_.book == nullptr ? nullptr : onlookers_.book->ledger();
}

api::NodeUse Loop::node_use(const model::Node& node) const {
  if (onlookers_.sampler == nullptr || node.backend != onlookers_.sampled_backend) return {};
  return onlookers_.sampler->machine();
}

std::optional<devices::DeviceSample> Loop::device_use(const model::Node& node,
                                                      std::int32_t device) const {
  if (onlookers_.sampler == nullptr || node.backend != onlookers_.sampled_backend)
    return std::nullopt;
  return onlookers_.sampler->device(device);
}

base::Result<base::Done> Loop::readiness() {
  const std::lock_guard lock(readiness_mutex_);
  if (not_ready_) return tl::unexpected(*not_ready_);
  return base::Done{};
}

void Loop::set_readiness(std::optional<base::Error> error) {
  const std::lock_guard lock(readiness_mutex_);
  not_ready_ = std::move(error);
}

void Loop::run() {
  bool is_closed = false;
  while (!is_closed && !controller_.is_fenced()) {
    auto messages = mailbox_.wait_until(wake_at());
    // Looked at before the last messages are taken, so that none can be left behind.
    is_closed = mailbox_.is_closed();
    if (is_closed)
      for (Message& message : mailbox_.take())
        messages.push_back(std::move(message));
    take(std::move(messages));
    show_metrics();
  }
  // The last numbers, without waiting for their time.
  next_show_ = 0;
  show_metrics();
  set_readiness(base::Error{.code = base::Code::Unavailable,
                            .message = "the scheduler is stopping",
                            .field = {},
                            .hint = {}});
  if (controller_.is_fenced()) {
    LOG(Error, "fenced", {"remedy", "another daemon has this journal; this one ends"});
    mailbox_.close();
    take(mailbox_.take());  // everybody is told
    on_fenced_();
  }
}

base::Instant Loop::wake_at() const {
  const base::Instant now = platform::system_now();
  base::Instant until = controller_.is_degraded() ? now + kRetryEvery : controller_.next_due();
  if (onlookers_.metrics != nullptr && are_gauges_stale_) {
    const std::int64_t rest = std::max<std::int64_t>(0, next_show_ - platform::steady_micros());
    until = std::min(until, now + base::Duration{rest / 1000 + 1});
  }
  return until;
}

void Loop::turn(base::Instant now, controller::Inbox inbox) {
  const std::int64_t begun = platform::steady_micros();
  controller_.turn(now, std::move(inbox));
  if (onlookers_.metrics == nullptr) return;
  onlookers_.metrics->see_turn(platform::steady_micros() - begun);
  onlookers_.metrics->see_counters(controller_.counters());
}

void Loop::show_metrics() {
  if (onlookers_.metrics == nullptr || !are_gauges_stale_) return;
  const std::int64_t begun = platform::steady_micros();
  if (begun < next_show_) return;
  onlookers_.metrics->see_state(controller_.state());
  const std::int64_t ended = platform::steady_micros();
  next_show_ = ended + (ended - begun) * kRestAfterShowing;
  are_gauges_stale_ = false;
}

void Loop::take(std::vector<Message> messages) {
  controller::Inbox inbox;
  std::vector<Reader> readers;
  for (Message& message : messages) {
    if (auto* command = std::get_if<0>(&message))
      inbox.commands.push_back(std::move(*command));
    else if (auto* reader = std::get_if<Reader>(&message))
      readers.push_back(std::move(*reader));
    else
      inbox.observations.push_back(std::move(std::get<controller::Observation>(message)));
  }
  waiting_.fetch_sub(inbox.commands.size() + readers.size());
  const base::Instant now = platform::system_now();
  if (!inbox.commands.empty() || !inbox.observations.empty() || controller_.next_due() <= now ||
      controller_.is_degraded())
    turn(now, std::move(inbox));
  if (controller_.is_degraded())
    set_readiness(base::Error{.code = base::Code::Unavailable,
                              .message = "the journal cannot be written",
                              .field = {},
                              .hint = "see the daemon's log; free space in the data folder"});
  else
    set_readiness(std::nullopt);
  for (const Reader& reader : readers)
    reader(controller_, now);
}

}  // namespace berthd
