#pragma once
// The people and programs that ask. Every request is asked again until it has a final answer: with
// the same key after a lost answer, a full disk, or a process that died before it answered. Checks
// what an answer promises: given once, durable, the same for the same key.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/instant.h"
#include "controller/command.h"
#include "storm/fault_plan.h"
#include "storm/violations.h"
#include "storm/watch.h"
#include "storm/wire.h"

namespace storm {

class Clients {
 public:
  Clients(FaultPlan& plan, Watch& watch, Violations& violations)
      : plan_(plan), watch_(watch), violations_(violations) {}

  // Asked at the next turn. `is_to_be_refused`: it would be wrong to accept it.
  void ask(controller::Command command, bool is_to_be_refused = false);
  void submit(manifest::Document document, std::string user);
  // The key of the submission that was accepted last; empty: none yet.
  const std::string& newest_key() const { return newest_key_; }

  // What is to be asked of the process now; answers may come during the turn.
  std::vector<std::pair<controller::Command, controller::Answer>> take(base::Instant now,
                                                                       ProcessId process);
  base::Instant next_due() const;
  // The process is gone: what it had not answered is asked again.
  void lose_process(ProcessId process, base::Instant now);
  // After a turn that returned: every command of it was answered.
  void expect_all_answered(ProcessId process);

  bool is_idle() const { return open_.empty(); }
  std::size_t open_count() const { return open_.size(); }
  std::int64_t answered() const { return answered_; }
  std::int64_t refused() const { return refused_; }

 private:
  struct Request {
    controller::Command command;
    bool is_to_be_refused = false;
    base::Instant due;       // to be asked from then on
    ProcessId asked_of = 0;  // 0: not under way
  };
  void answer(std::int64_t number, ProcessId process, base::Instant at,
              const base::Result<controller::Reply>& reply);
  void check_reply(const Request& request, const base::Result<controller::Reply>& reply);
  void check_deed(const Request& request, const controller::Reply& reply);

  FaultPlan& plan_;
  Watch& watch_;
  Violations& violations_;
  std::map<std::int64_t, Request> open_;
  std::int64_t next_ = 1, answered_ = 0, refused_ = 0;
  std::map<std::string, model::WorkloadId> accepted_;  // by key
  std::string newest_key_;
};

}  // namespace storm
