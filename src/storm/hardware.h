#pragma once
// What is really on the devices, known from the machines alone: which members exist where, whatever
// the controller believes. Finds what no look at State can: a device that is given to somebody
// while a zombie still runs on it, an attempt that is started twice, work that nobody knows of.
//
// Placements name devices by their index in State; the machines' own devices keep that index.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backends/simulated/simulated_backend.h"
#include "controller/cluster_backend.h"
#include "model/state.h"
#include "storm/violations.h"

namespace storm {

class Hardware {
 public:
  explicit Hardware(Violations& violations) : violations_(violations) {}

  // Before a start is handed to the machines: what its members would take.
  void expect(const controller::StartEffect& effect);
  void see(const backends::simulated::RunChange& change);

  // Attempts of which something exists.
  std::set<model::AttemptId> alive() const;
  // With a member on that device.
  std::vector<model::AttemptId> users_of(const std::string& node, std::int32_t device) const;
  bool is_idle() const { return runs_.empty(); }
  // State and truth agree: the same attempts are live in both.
  void compare(const model::State& state) const;
  // Every device that a machine has is known, and as healthy as it says.
  void compare_devices(const std::vector<controller::NodeReport>& machines,
                       const model::State& state) const;

 private:
  struct Run {
    controller::StartEffect effect;
    std::set<std::int32_t> members;  // ranks that exist
  };
  void check_devices(const Run& begun);

  Violations& violations_;
  std::map<model::AttemptId, controller::StartEffect> expected_;
  std::map<model::AttemptId, Run> runs_;
  std::set<model::AttemptId> ever_;
};

}  // namespace storm
