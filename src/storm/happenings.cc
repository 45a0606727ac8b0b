#include "storm/happenings.h"

#include <utility>

namespace storm {

using base::Random;
using model::NodeCondition;

namespace {

controller::Caller person() { return {.user = "ann", .role = controller::Role::Admin}; }

}  // namespace

const std::map<std::string_view, Happenings::Deed>& Happenings::faults() {
  static const auto* const kFaults = new std::map<std::string_view, Deed>{
      {"controller.killed", &Happenings::kill_controller},
      {"controller.taken_over", &Happenings::replace_controller},
      {"store.full", &Happenings::fill_disk},
      {"machine.node.lost", &Happenings::lose_node},
      {"machine.node.zombie", &Happenings::make_zombies},
      {"machine.node.fenced", &Happenings::fence_node},
      {"machine.node.paused", &Happenings::pause_node},
      {"machine.node.flapping", &Happenings::flap_node},
      {"machine.node.shrunk", &Happenings::shrink_node},
      {"machine.node.added", &Happenings::add_node},
      {"machine.host.broken", &Happenings::break_host},
      {"machine.host.maintenance", &Happenings::maintain_host},
      {"machine.member.failed", &Happenings::fail_members},
      {"machine.member.one_failed", &Happenings::fail_one_member},
      {"machine.member.killed", &Happenings::run_out_of_memory},
      {"machine.member.hung", &Happenings::hang_members},
      {"machine.software", &Happenings::fail_software},
      {"device.dead", &Happenings::kill_device},
      {"device.memory", &Happenings::break_memory},
      {"device.sram", &Happenings::break_sram},
      {"device.gsp", &Happenings::break_gsp},
      {"device.thermal", &Happenings::overheat},
      {"device.switch", &Happenings::break_switch},
      {"device.cable", &Happenings::break_cable},
      {"device.silent", &Happenings::compute_wrongly},
      {"device.application", &Happenings::err_in_application},
      {"clock.forward", &Happenings::jump_ahead},
      {"clock.back", &Happenings::jump_back},
      {"client.key.reused", &Happenings::reuse_key},
      {"client.edits.conflict", &Happenings::edit_in_conflict},
      {"client.quota.zero", &Happenings::cut_quota},
      {"client.quota.changed", &Happenings::change_quota},
      {"client.policy.changed", &Happenings::change_policy},
      {"client.class.changed", &Happenings::change_class},
      {"client.burst", &Happenings::burst},
      {"client.cancel.storm", &Happenings::cancel_many},
      {"client.node.drained", &Happenings::drain_node},
      {"client.node.cordoned", &Happenings::cordon_node},
      {"client.wrong", &Happenings::ask_wrongly},
  };
  return *kFaults;
}

void Happenings::carry_out(const Action& action, base::Instant now) {
  now_ = now;
  Random random(action.seed);
  switch (action.deed) {
    case storm::Deed::Submit:
      return submit(random);
    case storm::Deed::Cancel:
      return cancel(random);
    case storm::Deed::Hold:
      return hold(random);
    case storm::Deed::Release:
      return release(random);
    case storm::Deed::AskDryRun:
      return ask_dry_run(random);
    case storm::Deed::Fault:
      break;
  }
  around_.plan.happens(action.fault);
  (this->*faults().at(action.fault))(random);
}

void Happenings::later(base::Duration after, std::function<void()> deed) {
  agenda_.emplace(now_ + after, std::move(deed));
}

base::Instant Happenings::next_due() const {
  return agenda_.empty() ? base::kNever : agenda_.begin()->first;
}

void Happenings::advance(base::Instant now) {
  now_ = now;
  while (!agenda_.empty() && agenda_.begin()->first <= now)
    agenda_.extract(agenda_.begin()).mapped()();
}

void Happenings::repair(base::Instant now) {
  now_ = now;
  agenda_.clear();
  around_.disk.set_full(false);
  around_.processes.wake_all();
  std::vector<controller::NodeReport> nodes = around_.machines.nodes();
  for (controller::NodeReport& report : nodes) {
    around_.machines.resume_node(report.node.name);
    if (const auto whole = whole_.find(report.node.name); whole != whole_.end())
      report = whole->second;
    report.node.condition = NodeCondition::Ready;
    report.node.condition_note.clear();
    for (model::Device& device : report.node.devices)
      device.health = model::Health::Ok;
    around_.machines.set_node(report);
    around_.clients.ask({.body = controller::SetNodeCondition{.node = report.node.name,
                                                              .condition = NodeCondition::Ready,
                                                              .note = {}},
                         .caller = person()});
  }
  for (const manifest::Document& queue : around_.organisation.queue_documents())
    apply(queue);
  around_.watch.state().workloads.each(
      [this](model::WorkloadId id, const model::WorkloadRecord& record) {
        if (record.is_held && !model::is_finished(record.phase))
          around_.clients.ask({.body = controller::Release{id}, .caller = person()});
      });
}

std::optional<std::string> Happenings::any_node(Random& random) const {
  const auto& nodes = around_.machines.nodes();
  if (nodes.empty()) return std::nullopt;
  return nodes[random.below(nodes.size())].node.name;
}

std::optional<model::AttemptId> Happenings::any_attempt(Random& random) const {
  const auto alive = around_.hardware.alive();
  if (alive.empty()) return std::nullopt;
  auto at = alive.begin();
  std::advance(at, static_cast<std::ptrdiff_t>(random.below(alive.size())));
  return *at;
}

std::optional<model::WorkloadId> Happenings::any_workload(bool is_held, Random& random) const {
  std::vector<model::WorkloadId> found;
  around_.watch.state().workloads.each(
      [&](model::WorkloadId id, const model::WorkloadRecord& record) {
        if (!model::is_finished(record.phase) && record.is_held == is_held) found.push_back(id);
      });
  if (found.empty()) return std::nullopt;
  return found[random.below(found.size())];
}

// ---- of people ----

void Happenings::submit(Random& random) {
  around_.clients.submit(around_.organisation.random_work(++submitted_, now_, random),
                         random.chance(1, 2) ? "ann" : "bob");
}

void Happenings::cancel(Random& random) {
  if (const auto id = any_workload(random.chance(1, 4), random))
    around_.clients.ask({.body = controller::Cancel{*id}, .caller = person()});
}

void Happenings::hold(Random& random) {
  if (const auto id = any_workload(false, random))
    around_.clients.ask({.body = controller::Hold{*id}, .caller = person()});
}

void Happenings::release(Random& random) {
  if (const auto id = any_workload(true, random))
    around_.clients.ask({.body = controller::Release{*id}, .caller = person()});
}

void Happenings::ask_dry_run(Random& random) {
  const Organisation& all = around_.organisation;
  around_.clients.ask(
      {.body =
           controller::Apply{.document = random.chance(1, 3) ? all.random_quota(random)
                                                             : all.random_work(999, now_, random),
                             .request_key = {},
                             .is_dry_run = true},
       .caller = person()});
}

void Happenings::apply(manifest::Document document) {
  around_.clients.ask({.body = controller::Apply{.document = std::move(document),
                                                 .request_key = {},
                                                 .is_dry_run = false},
                       .caller = person()});
}

void Happenings::reuse_key(Random& random) {
  const std::string key = around_.clients.newest_key();
  if (key.empty()) return;
  around_.clients.ask({.body = controller::Apply{.document = around_.organisation.random_work(
                                                     ++submitted_, now_, random),
                                                 .request_key = key,
                                                 .is_dry_run = false},
                       .caller = {.user = "carol", .role = controller::Role::User}},
                      true);
}

void Happenings::edit_in_conflict(Random& random) {
  Random twice = random;
  apply(around_.organisation.random_quota(random));
  apply(around_.organisation.zero_quota(twice));
  apply(around_.organisation.random_quota(random));
}

void Happenings::cut_quota(Random& random) { apply(around_.organisation.zero_quota(random)); }
void Happenings::change_quota(Random& random) { apply(around_.organisation.random_quota(random)); }
void Happenings::change_policy(Random& random) {
  apply(around_.organisation.random_policy(random));
}
void Happenings::change_class(Random& random) { apply(around_.organisation.random_class(random)); }

void Happenings::burst(Random& random) {
  for (std::int64_t i = random.between(5, 25); i > 0; --i)
    submit(random);
}

void Happenings::cancel_many(Random& random) {
  for (std::int64_t i = random.between(3, 12); i > 0; --i)
    cancel(random);
}

void Happenings::set_condition_for_a_while(NodeCondition condition, Random& random) {
  const auto node = any_node(random);
  if (!node) return;
  const auto ask = [this, node = *node](NodeCondition wanted) {
    around_.clients.ask(
        {.body =
             controller::SetNodeCondition{.node = node, .condition = wanted, .note = "maintenance"},
         .caller = person()});
  };
  ask(condition);
  later(base::seconds(random.between(10, 900)), [ask] { ask(NodeCondition::Ready); });
}

void Happenings::drain_node(Random& random) {
  set_condition_for_a_while(NodeCondition::Draining, random);
}
void Happenings::cordon_node(Random& random) {
  set_condition_for_a_while(
      random.chance(1, 3) ? NodeCondition::Quarantined : NodeCondition::Cordoned, random);
}

void Happenings::ask_wrongly(Random& random) {
  const auto ask = [this](auto body) {
    around_.clients.ask({.body = std::move(body), .caller = person()}, true);
  };
  manifest::Document work = around_.organisation.random_work(++submitted_, now_, random);
  auto& document = std::get<manifest::WorkloadDocument>(work.body);
  switch (random.below(5)) {
    case 0:
      return ask(controller::Cancel{model::WorkloadId(888'888)});
    case 1:
      document.queue = "nobody/knows";
      return ask(controller::Apply{.document = std::move(work), .request_key = "wrong"});
    case 2:
      document.workload.groups[0].members = 0;
      document.workload.groups.resize(1);
      return ask(controller::Apply{.document = std::move(work), .request_key = "wrong"});
    case 3:
      return ask(controller::SetNodeCondition{
          .node = "n1", .condition = NodeCondition::Lost, .note = "by hand"});
    default: {
      manifest::QueueDocument queue;
      queue.queue.name = "t1/without/parents";
      return ask(controller::Apply{.document = {.body = std::move(queue), .source = {}},
                                   .request_key = {}});
    }
  }
}

// ---- of the controller ----

void Happenings::kill_controller(Random& random) {
  around_.processes.kill(now_, base::seconds(random.between(1, 90)));
}

void Happenings::replace_controller(Random& random) {
  around_.processes.take_over(now_, base::seconds(random.between(1, 120)));
}

void Happenings::jump_ahead(Random& random) {
  around_.processes.shift_clock(base::seconds(random.between(1, 600)));
}

void Happenings::jump_back(Random& random) {
  around_.processes.shift_clock(base::seconds(-random.between(1, 300)));
}

void Happenings::fill_disk(Random& random) {
  around_.disk.set_full(true);
  later(base::seconds(random.between(1, 90)), [this] { around_.disk.set_full(false); });
}

}  // namespace storm
