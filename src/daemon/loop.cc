#include "daemon/loop.h"

#include "base/assert.h"
#include "platform/log.h"
#include "platform/system_clock.h"

namespace berthd {

namespace {

// How soon a commit that failed is tried again.
constexpr base::Duration kRetryEvery = base::seconds(1);

}  // namespace

Loop::Loop(controller::Controller& controller, std::vector<controller::ClusterBackend*> backends,
           std::function<void()> on_fenced)
    : controller_(controller),
      backends_(std::move(backends)),
      on_fenced_(std::move(on_fenced)),
      not_ready_(base::Error{.code = base::Code::Unavailable,
                             .message = "the scheduler is starting",
                             .field = {},
                             .hint = "try again in a moment"}) {}

Loop::~Loop() { stop(); }

void Loop::start() {
  ASSERT(!thread_.joinable());
  controller_.on_commit([this](const std::vector<model::Event>& events) {
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
    const base::Instant until =
        controller_.is_degraded() ? platform::system_now() + kRetryEvery : controller_.next_due();
    auto messages = mailbox_.wait_until(until);
    // Looked at before the last messages are taken, so that none can be left behind.
    is_closed = mailbox_.is_closed();
    if (is_closed)
      for (Message& message : mailbox_.take())
        messages.push_back(std::move(message));
    take(std::move(messages));
  }
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
    controller_.turn(now, std::move(inbox));
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
