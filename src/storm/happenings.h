#pragma once
// What the actions of the script do to the world: to machines and devices, to clients, to the clock
// and to the controller's processes. What follows from them later (a node that comes back, a
// repair) is put on an agenda.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/instant.h"
#include "base/random.h"
#include "storm/clients.h"
#include "storm/disk.h"
#include "storm/fault_plan.h"
#include "storm/hardware.h"
#include "storm/organisation.h"
#include "storm/processes.h"
#include "storm/script.h"
#include "storm/watch.h"
#include "storm/wire.h"

namespace storm {

class Happenings {
 public:
  struct Surroundings {
    const Organisation& organisation;
    Wire::Machines& machines;
    Hardware& hardware;
    Clients& clients;
    Processes& processes;
    Disk& disk;
    Watch& watch;
    FaultPlan& plan;
  };
  explicit Happenings(Surroundings around) : around_(around) {}

  void carry_out(const Action& action, base::Instant now);
  // What earlier actions left to do.
  base::Instant next_due() const;
  void advance(base::Instant now);
  // Everything broken is well again, at once; everything that people blocked is free.
  void repair(base::Instant now);

 private:
  using Deed = void (Happenings::*)(base::Random&);
  static const std::map<std::string_view, Deed>& faults();
  void later(base::Duration after, std::function<void()> deed);
  void later_ready(base::Duration after, const std::string& node, bool is_rebooted);

  // ---- of people ----
  void submit(base::Random& random);
  void cancel(base::Random& random);
  void hold(base::Random& random);
  void release(base::Random& random);
  void ask_dry_run(base::Random& random);
  void reuse_key(base::Random& random);
  void edit_in_conflict(base::Random& random);
  void cut_quota(base::Random& random);
  void change_quota(base::Random& random);
  void change_policy(base::Random& random);
  void change_class(base::Random& random);
  void burst(base::Random& random);
  void cancel_many(base::Random& random);
  void drain_node(base::Random& random);
  void cordon_node(base::Random& random);
  void ask_wrongly(base::Random& random);
  void set_condition_for_a_while(model::NodeCondition condition, base::Random& random);
  void apply(manifest::Document document);
  // ---- of machines ----
  void lose_node(base::Random& random);
  void make_zombies(base::Random& random);
  void fence_node(base::Random& random);
  void pause_node(base::Random& random);
  void flap_node(base::Random& random);
  void shrink_node(base::Random& random);
  void add_node(base::Random& random);
  void break_host(base::Random& random);
  void maintain_host(base::Random& random);
  void fail_members(base::Random& random);
  void fail_one_member(base::Random& random);
  void run_out_of_memory(base::Random& random);
  void hang_members(base::Random& random);
  void fail_software(base::Random& random);
  void lose_contact(const std::string& node);
  // ---- of devices ----
  void kill_device(base::Random& random);
  void break_memory(base::Random& random);
  void break_sram(base::Random& random);
  void break_gsp(base::Random& random);
  void overheat(base::Random& random);
  void break_switch(base::Random& random);
  void break_cable(base::Random& random);
  void compute_wrongly(base::Random& random);
  void err_in_application(base::Random& random);
  void spoil_device(model::Health health, base::Duration repair, bool kills, base::Random& random);
  // ---- of the controller ----
  void kill_controller(base::Random& random);
  void replace_controller(base::Random& random);
  void jump_ahead(base::Random& random);
  void jump_back(base::Random& random);
  void fill_disk(base::Random& random);

  std::optional<std::string> any_node(base::Random& random) const;
  std::optional<model::AttemptId> any_attempt(base::Random& random) const;
  std::optional<model::WorkloadId> any_workload(bool is_held, base::Random& random) const;

  Surroundings around_;
  base::Instant now_;
  std::multimap<base::Instant, std::function<void()>> agenda_;
  std::int64_t submitted_ = 0;
  std::int64_t nodes_added_ = 0;
  std::map<std::string, controller::NodeReport> whole_;  // of nodes that came back with less
};

}  // namespace storm
