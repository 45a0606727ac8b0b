#pragma once
// What the controller's processes told the machines, held to what State says about it: a start is
// of the workload, places and queue of its attempt, a stop gives the time and the name that the
// class and the cause of the stop ask for, and only what has ended is forgotten, in the end all of
// it.
//
// An order is heard while a turn is under way and judged when its events have been followed. The
// orders of a process that was replaced are not: they are older than State.

#include <set>
#include <vector>

#include "controller/cluster_backend.h"
#include "model/state.h"
#include "storm/violations.h"

namespace storm {

class Orders {
 public:
  explicit Orders(Violations& violations) : violations_(violations) {}

  void hear(const controller::StartEffect& effect) { starts_.push_back(effect); }
  void hear(const controller::StopEffect& effect) { stops_.push_back(effect); }
  // `is_lost`: the network did not deliver it, and nothing sends it again.
  void hear_forget(model::AttemptId attempt, bool is_lost);

  // `state`: all events that are durable.
  void judge(const model::State& state);
  // What the machines still keep at the end: all of it live, or its forgetting was lost.
  void compare(const std::vector<controller::AttemptReport>& kept, const model::State& state) const;

 private:
  void judge(const controller::StartEffect& effect, const model::State& state);
  void judge(const controller::StopEffect& effect, const model::State& state);
  void judge_forget(model::AttemptId attempt, const model::State& state);

  Violations& violations_;
  std::vector<controller::StartEffect> starts_;
  std::vector<controller::StopEffect> stops_;
  std::vector<model::AttemptId> forgets_;
  std::set<model::AttemptId> lost_;
};

}  // namespace storm
