// The verb run: submits work, shows its output as if it ran here, and returns its exit code.

#include <mutex>
#include <thread>
#include <vector>

#include <boost/json.hpp>

#include "cli/follow.h"
#include "cli/json_access.h"
#include "cli/session.h"
#include "cli/submit_manifest.h"
#include "platform/mailbox.h"

namespace cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxFollowedMembers = 16;
constexpr int kInterruptedExit = 130;  // 128 + SIGINT, as shells say it

// Puts "[rank] " before each line of a member of a gang; lines of several members never mix.
class LinePrefix {
 public:
  LinePrefix(std::string prefix, std::function<void(std::string_view)> out)
      : prefix_(std::move(prefix)), out_(std::move(out)) {}
  void write(std::string_view bytes) {
    if (prefix_.empty()) return out_(bytes);
    partial_ += bytes;
    std::string ready;
    std::size_t begin = 0;
    for (std::size_t end; (end = partial_.find('\n', begin)) != std::string::npos; begin = end + 1)
      ready += prefix_ + partial_.substr(begin, end + 1 - begin);
    partial_.erase(0, begin);
    if (!ready.empty()) out_(ready);
  }
  void finish() {
    if (!partial_.empty()) out_(prefix_ + partial_ + "\n");
    partial_.clear();
  }

 private:
  std::string prefix_;
  std::function<void(std::string_view)> out_;
  std::string partial_;
};

// Follows the output of attempts, a thread for each stream of each member.
class Output {
 public:
  explicit Output(const Session& session) : session_(session) {}
  ~Output() { give_up(); }

  void follow(const json::value& attempt) {
    const std::span<const json::value> members = array_at(attempt, "members");
    const std::size_t shown = std::min(members.size(), kMaxFollowedMembers);
    if (shown < members.size())
      note(session_, fmt::format("showing the first {} of {} members; berth logs shows the others",
                                 shown, members.size()));
    for (std::size_t i = 0; i < shown; ++i)
      for (const bool is_error_stream : {false, true})
        threads_.emplace_back(
            [this, is_gang = members.size() > 1,
             wanted = LogWanted{.attempt = text_at(attempt, "id"),
                                .member = integer_at(members[i], "rank").value_or(0),
                                .is_error_stream = is_error_stream,
                                .tail = {}}] { follow_one(wanted, is_gang); });
  }
  // Returns when everything that was written has been shown.
  void join() { threads_.clear(); }
  void give_up() {
    gives_up_.store(true);
    pause_.close();
    join();
  }

 private:
  void follow_one(const LogWanted& wanted, bool is_gang) {
    LinePrefix lines(
        is_gang ? fmt::format("[{}] ", wanted.member) : "", [&](std::string_view bytes) {
          const std::lock_guard lock(mutex_);
          (wanted.is_error_stream ? session_.console.err : session_.console.out)(bytes);
        });
    Server server = session_.server.another(&gives_up_);
    const Waiting waiting{.is_stopped = [this] { return gives_up_.load(); },
                          .wait =
                              [this](base::Duration time) {
                                pause_.wait_until(platform::system_now() + time);
                                return !gives_up_.load();
                              }};
    const auto done =
        follow_log(server, waiting, wanted, [&](std::string_view bytes) { lines.write(bytes); });
    lines.finish();
    // An attempt that ended before its process was there has no log.
    if (done || done.error().code == base::Code::NotFound || gives_up_.load()) return;
    const std::lock_guard lock(mutex_);
    print_error(session_.console, done.error());
  }

  const Session& session_;
  std::mutex mutex_;
  std::atomic<bool> gives_up_{false};
  platform::Mailbox<int> pause_;
  std::vector<std::jthread> threads_;
};

bool is_finished(std::string_view state) {
  return state == "Completed" || state == "Failed" || state == "Cancelled";
}

int exit_code_of_workload(const json::value& workload) {
  const std::string state = text_at(workload, "state");
  const std::int64_t signal = integer_at(workload, "signal").value_or(0);
  const std::int64_t code = integer_at(workload, "exitCode").value_or(0);
  if (state == "Completed") return 0;
  if (signal > 0) return static_cast<int>(128 + signal);
  if (code != 0) return static_cast<int>(code);
  return state == "Cancelled" ? kInterruptedExit : 1;
}

// One workload from its submission to its end.
class Foreground {
 public:
  Foreground(Session& session, std::string number, std::int64_t sequence)
      : session_(session),
        number_(std::move(number)),
        after_(sequence - 1),
        asker_(session.server.another(nullptr)),
        output_(session) {}

  base::Result<int> until_end() {
    while (true) {
      const auto followed = follow_events(
          session_.server, until_signal(session_.interrupts),
          {.after = after_, .is_patient = true, .kinds = {}, .workload = number_},
          [this](const json::value& event) { return on_event(event); },
          [this] {
            note(session_, "the server went away; the work goes on, waiting for the server");
          });
      if (is_over_) break;
      if (failure_) return tl::unexpected(*failure_);
      if (!session_.interrupts.is_raised()) {
        if (!followed) return tl::unexpected(followed.error());
        continue;
      }
      if (session_.interrupts.count() > 1) {
        output_.give_up();
        note(session_, fmt::format("left; workload {} is being cancelled", number_));
        return kInterruptedExit;
      }
      session_.interrupts.acknowledge();
      note(session_, fmt::format("cancelling workload {}; Ctrl-C again leaves at once", number_));
      if (const auto cancelled = asker_.post(workload_path(number_, "/cancel")); !cancelled)
        print_error(session_.console, cancelled.error());
    }
    output_.join();
    return report_end();
  }

 private:
  // False: there is nothing more to wait for.
  bool on_event(const json::value& event) {
    after_ = integer_at(event, "sequence").value_or(after_);
    const base::Result<json::value> workload = asker_.get(workload_path(number_));
    if (!workload) {
      // The stream notices by itself when the server is gone, and events come again after that.
      if (workload.error().code == base::Code::Unavailable) return true;
      failure_ = workload.error();
      return false;
    }
    workload_ = *workload;
    const std::string state = text_at(workload_, "state");
    const std::string reason = text_at(workload_, "reason");
    if (state == "Queued" && !reason.empty() && reason != last_reason_)
      note(session_,
           fmt::format("workload {} waits: {}; see: berth why {}", number_, reason, number_));
    last_reason_ = state == "Queued" ? reason : "";
    for (const json::value& attempt : array_at(workload_, "attempts")) {
      const std::int64_t ordinal = integer_at(attempt, "ordinal").value_or(0);
      if (ordinal <= followed_ordinal_ || text_at(attempt, "started").empty()) continue;
      followed_ordinal_ = ordinal;
      if (ordinal > 1) note(session_, fmt::format("attempt {} starts", text_at(attempt, "id")));
      output_.follow(attempt);
    }
    is_over_ = is_finished(state);
    return !is_over_;
  }

  int report_end() {
    const std::string end_class = text_at(workload_, "endClass");
    const std::string state = text_at(workload_, "state");
    if (state != "Completed" && end_class != "user_error") {
      std::string why = end_class.empty() ? state : end_class;
      for (const json::value& attempt : array_at(workload_, "attempts"))
        for (const json::value& member : array_at(attempt, "members"))
          if (const std::string text = text_at(member, "end.note"); !text.empty()) why = text;
      note(session_, fmt::format("workload {} {}: {}", number_, state, why));
    }
    return exit_code_of_workload(workload_);
  }

  Session& session_;
  std::string number_;
  std::int64_t after_;
  Server asker_;
  Output output_;
  json::value workload_;
  std::string last_reason_;
  std::int64_t followed_ordinal_ = 0;
  bool is_over_ = false;
  std::optional<base::Error> failure_;
};

}  // namespace

base::Result<int> run_in_foreground(Session& session) {
  if (session.invocation.has("file") || session.invocation.has("dry-run"))
    return base::fail_field(
        base::Code::InvalidArgument, session.invocation.has("file") ? "--file" : "--dry-run",
        "berth run shows one command that it starts", "use berth submit for that");
  const base::Result<std::string> manifest =
      submit_manifest(session.invocation, session.directory, session.environment);
  if (!manifest) return tl::unexpected(manifest.error());
  const base::Result<json::value> answer = session.server.post("/workloads", {}, *manifest);
  if (!answer) return tl::unexpected(answer.error());
  const std::string number = text_at(*answer, "number");
  if (session.console.is_terminal) note(session, fmt::format("workload {} submitted", number));
  return Foreground(session, number, integer_at(*answer, "sequence").value_or(1)).until_end();
}

}  // namespace cli
