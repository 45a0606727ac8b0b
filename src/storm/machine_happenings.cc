// Faults of nodes, members and devices. The kinds, what they hit and how long a repair takes are
// those of published field data; see docs/design/0004-storm.md.

#include <algorithm>
#include <utility>

#include "storm/happenings.h"

namespace storm {

using base::Random;
using model::EndClass;
using model::Health;
using model::NodeCondition;

namespace {

constexpr base::Duration kHeartbeat = base::seconds(30);  // until silence counts as loss
constexpr base::Duration kReset = base::minutes(5);
constexpr base::Duration kReboot = base::minutes(15);
constexpr base::Duration kDiagnosis = base::minutes(30);

}  // namespace

void Happenings::later_ready(base::Duration after, const std::string& node, bool is_rebooted) {
  later(after, [this, node, is_rebooted] {
    if (is_rebooted)
      around_.machines.reboot_node(node);
    else
      around_.machines.resume_node(node);
    around_.machines.set_node_condition(node, NodeCondition::Ready, {});
  });
}

// Its heartbeat stops; what runs there does not.
void Happenings::lose_contact(const std::string& node) {
  around_.machines.pause_node(node);
  later(kHeartbeat, [this, node] {
    if (around_.machines.is_paused(node))
      around_.machines.set_node_condition(node, NodeCondition::Lost, "no heartbeat");
  });
}

void Happenings::lose_node(Random& random) {
  const auto node = any_node(random);
  if (!node || around_.machines.is_paused(*node)) return;
  around_.machines.set_node_condition(*node, NodeCondition::Lost, "power");
  later_ready(base::seconds(random.between(1, 900)), *node, true);
}

void Happenings::make_zombies(Random& random) {
  const auto node = any_node(random);
  if (!node) return;
  lose_contact(*node);
  later_ready(base::seconds(random.between(31, 600)), *node, false);
}

void Happenings::fence_node(Random& random) {
  const auto node = any_node(random);
  if (!node) return;
  lose_contact(*node);
  later_ready(base::seconds(random.between(31, 900)), *node, true);
}

void Happenings::pause_node(Random& random) {
  const auto node = any_node(random);
  if (!node || around_.machines.is_paused(*node)) return;
  around_.machines.pause_node(*node);
  later(base::seconds(random.between(1, 29)),
        [this, node = *node] { around_.machines.resume_node(node); });
}

void Happenings::flap_node(Random& random) {
  const auto node = any_node(random);
  if (!node) return;
  base::Duration at;
  for (std::int64_t i = random.between(2, 5); i > 0; --i) {
    later(at, [this, node = *node] {
      around_.machines.set_node_condition(node, NodeCondition::Lost, "flapping");
    });
    at = at + base::seconds(random.between(0, 20));
    later(at, [this, node = *node] {
      around_.machines.set_node_condition(node, NodeCondition::Ready, {});
    });
    at = at + base::seconds(random.between(0, 20));
  }
}

// It comes back from a reboot with less of everything.
void Happenings::shrink_node(Random& random) {
  const auto& nodes = around_.machines.nodes();
  if (nodes.empty()) return;
  controller::NodeReport report = nodes[random.below(nodes.size())];
  if (around_.machines.is_paused(report.node.name)) return;
  whole_.try_emplace(report.node.name, report);
  around_.machines.reboot_node(report.node.name);
  report.node.condition = NodeCondition::Ready;
  report.node.condition_note.clear();
  auto& devices = report.node.devices;
  if (!devices.empty() && random.chance(1, 2))
    devices.erase(devices.begin() + static_cast<std::ptrdiff_t>(random.below(devices.size())));
  report.node.allocatable.set(
      model::kCpu, std::max<std::int64_t>(4000, report.node.allocatable.of(model::kCpu) / 2));
  around_.machines.set_node(std::move(report));
}

void Happenings::add_node(Random& random) {
  constexpr std::int64_t kFirst = 100;  // apart from those of the organisation
  if (nodes_added_ >= 3) return;
  around_.machines.set_node(around_.organisation.random_node(kFirst + ++nodes_added_, random));
}

void Happenings::break_host(Random& random) {
  const auto node = any_node(random);
  if (!node) return;
  around_.machines.reboot_node(*node);
  around_.machines.set_node_condition(*node, NodeCondition::Quarantined, "broken host");
  later_ready(kReboot, *node, false);
}

void Happenings::maintain_host(Random& random) {
  const auto node = any_node(random);
  if (!node || around_.machines.is_paused(*node)) return;
  around_.machines.set_node_condition(*node, NodeCondition::Draining, "maintenance");
  later_ready(base::minutes(random.between(1, 10)), *node, true);
}

void Happenings::fail_members(Random& random) {
  if (const auto attempt = any_attempt(random))
    around_.machines.end_members(*attempt, EndClass::UserError,
                                 static_cast<std::int32_t>(random.between(1, 127)));
}

void Happenings::fail_one_member(Random& random) {
  if (const auto attempt = any_attempt(random))
    around_.machines.end_member(*attempt,
                                {.rank = static_cast<std::int32_t>(random.below(3)),
                                 .end_class = random.chance(1, 4) ? EndClass::Ok : EndClass::Signal,
                                 .exit_code = 0,
                                 .signal = 6,
                                 .note = {}});
}

void Happenings::run_out_of_memory(Random& random) {
  if (const auto attempt = any_attempt(random))
    around_.machines.end_members(*attempt, EndClass::OutOfMemory, 137);
}

// Ten minutes without a sign, then somebody kills it.
void Happenings::hang_members(Random& random) {
  const auto attempt = any_attempt(random);
  if (!attempt) return;
  later(base::minutes(10), [this, attempt = *attempt] {
    around_.machines.end_members(attempt, EndClass::Infrastructure, 124);
  });
}

void Happenings::fail_software(Random& random) {
  if (const auto attempt = any_attempt(random))
    around_.machines.end_members(*attempt, EndClass::Infrastructure, 1);
}

// ---- of devices ----

void Happenings::spoil_device(Health health, base::Duration repair, bool kills, Random& random) {
  const auto& nodes = around_.machines.nodes();
  if (nodes.empty()) return;
  const model::Node& node = nodes[random.below(nodes.size())].node;
  if (node.devices.empty()) return;
  const auto place = static_cast<std::int32_t>(random.below(node.devices.size()));
  const std::string name = node.name, uuid = node.devices[static_cast<std::size_t>(place)].uuid;
  if (kills)
    for (const model::AttemptId attempt : around_.hardware.users_of(name, place))
      around_.machines.end_members(attempt, EndClass::DeviceFault, 1);
  around_.machines.set_device_health(name, place, health, "injected");
  later(repair, [this, name, uuid] {
    for (const controller::NodeReport& report : around_.machines.nodes()) {
      if (report.node.name != name) continue;
      const auto& devices = report.node.devices;
      const auto found = std::ranges::find(devices, uuid, &model::Device::uuid);
      if (found == devices.end()) return;
      const auto at = static_cast<std::int32_t>(found - devices.begin());
      return around_.machines.set_device_health(name, at, Health::Ok, {});
    }
  });
}

void Happenings::kill_device(Random& random) {
  spoil_device(Health::Separate, kDiagnosis, true, random);
}
void Happenings::break_memory(Random& random) {
  spoil_device(Health::ResetWhenIdle, kReset, true, random);
}
void Happenings::break_sram(Random& random) {
  spoil_device(Health::ResetNow, kReset, true, random);
}
void Happenings::break_gsp(Random& random) {
  spoil_device(Health::NoNewWork, kReset, false, random);
}
void Happenings::overheat(Random& random) {
  spoil_device(Health::SubHealth, kReset, false, random);
}
void Happenings::compute_wrongly(Random& random) {
  spoil_device(Health::Separate, base::hours(72), false, random);
}

void Happenings::break_switch(Random& random) {
  for (std::int64_t i = random.between(2, 4); i > 0; --i)
    break_cable(random);
}

void Happenings::break_cable(Random& random) {
  if (const auto attempt = any_attempt(random))
    around_.machines.end_members(*attempt, EndClass::DeviceFault, 1);
}

void Happenings::err_in_application(Random& random) {
  if (const auto attempt = any_attempt(random))
    around_.machines.end_member(*attempt, {.rank = 0,
                                           .end_class = EndClass::UserError,
                                           .exit_code = 13,
                                           .signal = 0,
                                           .note = "device error of the program's own"});
}

}  // namespace storm
