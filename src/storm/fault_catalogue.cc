#include "storm/fault_catalogue.h"

#include <array>
#include <map>

namespace storm {

namespace {

using enum FaultKind;
using enum FaultPart;

// The weights of device and host faults are those of published field data (per thousand
// device-days, in thousandths): what is rare there is rare here, only all of it happens far more
// often.
constexpr auto kCatalogue = std::to_array<FaultRow>({
    {"controller.recover.before_epoch", Controller, Kill, 400, "dies before it owns the journal"},
    {"controller.recover.after_epoch", Controller, Kill, 400, "dies as owner, before reading"},
    {"controller.recover.reconciled", Controller, Kill, 400, "dies after asking the backends"},
    {"controller.rebuild", Controller, Kill, 200, "dies before State is read again"},
    {"controller.before_plan", Controller, Kill, 15, "dies with events that are not committed"},
    {"controller.after_plan", Controller, Kill, 15, "dies with decisions that are not committed"},
    {"controller.before_commit", Controller, Kill, 15, "dies before the append"},
    {"controller.after_commit", Controller, Kill, 15, "dies before answers and effects"},
    {"controller.before_answer", Controller, Kill, 20, "dies before one answer"},
    {"controller.after_answer", Controller, Kill, 20, "dies between answers"},
    {"controller.effect", Controller, Kill, 20, "dies before one effect"},
    {"controller.effect.after", Controller, Kill, 20, "dies between effects"},
    {"controller.before_checkpoint", Controller, Kill, 300, "dies before a checkpoint"},
    {"controller.after_checkpoint", Controller, Kill, 300, "dies after a checkpoint"},
    {"controller.killed", Controller, Happening, 60, "is killed between two turns"},
    {"controller.taken_over", Controller, Happening, 40,
     "is stopped; another one takes over; the first goes on and must change nothing"},

    {"store.epoch", Store, Either, 500, "the epoch cannot be written"},
    {"store.append.before_commit", Store, Either, 30, "the batch is not written"},
    {"store.append.after_commit", Store, Kill, 20, "the batch is written and nobody knows"},
    {"store.read", Store, Either, 400, "the journal cannot be read"},
    {"store.checkpoint.read", Store, Fail, 400, "the checkpoint cannot be read"},
    {"store.checkpoint.before_commit", Store, Either, 1000, "the checkpoint is not written"},
    {"store.checkpoint.after_commit", Store, Kill, 400, "the checkpoint is written, then death"},
    {"store.checkpoint.torn", Store, Twist, 1500, "the checkpoint's bytes are damaged"},
    {"store.append.slow", Store, Twist, 40, "the append takes seconds"},
    {"store.full", Store, Happening, 25, "no append succeeds for a while"},

    {"link.start.lost", Link, Twist, 300, "a start gets lost and is sent again"},
    {"link.start.delayed", Link, Twist, 600, "a start arrives late"},
    {"link.start.doubled", Link, Twist, 400, "a start arrives twice"},
    {"link.stop.lost", Link, Twist, 500, "a stop gets lost and is sent again"},
    {"link.stop.delayed", Link, Twist, 800, "a stop arrives late, perhaps before its start"},
    {"link.stop.doubled", Link, Twist, 500, "a stop arrives twice"},
    {"link.forget.lost", Link, Twist, 300, "nobody tells the backend to forget"},
    {"link.report.lost", Link, Twist, 200, "a report gets lost and is sent again"},
    {"link.report.delayed", Link, Twist, 500, "a report arrives late; others overtake it"},
    {"link.report.doubled", Link, Twist, 400, "a report arrives twice, the second time late"},
    {"link.list.failed", Link, Twist, 1500, "the backend does not answer what exists"},
    {"link.list.stale", Link, Twist, 4000, "what exists is as old as the last report"},

    {"machine.start.failed", Machine, Twist, 150, "members cannot be started"},
    {"machine.node.lost", Machine, Happening, 25, "a node is lost with all that runs there"},
    {"machine.node.zombie", Machine, Happening, 40, "a lost node's members run on; it comes back"},
    {"machine.node.fenced", Machine, Happening, 20, "a lost node's members run on until a reboot"},
    {"machine.node.paused", Machine, Happening, 30, "a node does not answer for a while"},
    {"machine.node.flapping", Machine, Happening, 20, "a node is lost and ready in quick turns"},
    {"machine.node.shrunk", Machine, Happening, 15, "a node comes back with less"},
    {"machine.node.added", Machine, Happening, 15, "a node appears"},
    {"machine.host.broken", Machine, Happening, 16, "quarantined for a repair"},
    {"machine.host.maintenance", Machine, Happening, 36, "drained by notice, then rebooted"},
    {"machine.member.failed", Machine, Happening, 60, "a program ends badly: no fault of ours"},
    {"machine.member.one_failed", Machine, Happening, 40, "one member of a gang ends badly"},
    {"machine.member.killed", Machine, Happening, 25, "out of memory"},
    {"machine.member.hung", Machine, Happening, 18, "works no more and is killed after a while"},
    {"machine.software", Machine, Happening, 63, "infrastructure of the job fails"},

    {"device.dead", Device, Happening, 167, "off the bus: its work dies, the node is quarantined"},
    {"device.memory", Device, Happening, 81, "uncorrectable memory: reset when idle, then well"},
    {"device.sram", Device, Happening, 22, "reset at once"},
    {"device.gsp", Device, Happening, 19, "takes no new work, then well"},
    {"device.thermal", Device, Happening, 7, "slower; takes new work"},
    {"device.switch", Device, Happening, 40, "links of several nodes flap: their work dies"},
    {"device.cable", Device, Happening, 8, "a gang loses a link and dies"},
    {"device.silent", Device, Happening, 7, "wrong results: separated for good"},
    {"device.application", Device, Happening, 50, "a program's own error: its process dies alone"},

    {"clock.forward", Clock, Happening, 25, "the controller's clock jumps ahead"},
    {"clock.back", Clock, Happening, 25, "the controller's clock jumps back"},

    {"client.answer.lost", Client, Twist, 200, "an answer gets lost, so it is asked again"},
    {"client.impatient", Client, Twist, 200, "asked again while the first is under way"},
    {"client.key.reused", Client, Happening, 25, "another request under a used key"},
    {"client.edits.conflict", Client, Happening, 25, "two edit the same queue in one turn"},
    {"client.quota.zero", Client, Happening, 40, "a queue's quota is cut to nothing"},
    {"client.quota.changed", Client, Happening, 40, "a queue's quota changes under its work"},
    {"client.policy.changed", Client, Happening, 15, "the policy changes while work runs"},
    {"client.class.changed", Client, Happening, 15, "a class changes while work runs"},
    {"client.burst", Client, Happening, 25, "many submissions at once"},
    {"client.cancel.storm", Client, Happening, 15, "many cancels at once"},
    {"client.node.drained", Client, Happening, 30, "a person drains a node, later lifts it"},
    {"client.node.cordoned", Client, Happening, 30, "a person cordons a node, later lifts it"},
    {"client.wrong", Client, Happening, 25, "a request that must be refused"},

    {"disk.open", Store, Either, 40, "a file of the journal cannot be opened"},
    {"disk.read", Store, Fail, 2, "a page of the journal cannot be read"},
    {"disk.write", Store, Either, 3, "a write ends in the middle"},
    {"disk.full", Store, Fail, 3, "there is no room for a write"},
    {"disk.sync", Store, Either, 15, "a sync does nothing"},
    {"disk.power", Store, Twist, 2500, "the power was lost, with what was not synced"},

    {"controller.overtaken", Controller, Twist, 5000, "an old one acts while a new one starts"},
});

const std::map<std::string_view, std::size_t>& places() {
  static const auto* const kPlaces = [] {
    auto* made = new std::map<std::string_view, std::size_t>;
    for (std::size_t i = 0; i < kCatalogue.size(); ++i)
      made->emplace(kCatalogue[i].name, i);
    return made;
  }();
  return *kPlaces;
}

}  // namespace

std::span<const FaultRow> fault_catalogue() { return kCatalogue; }

std::optional<std::size_t> fault_named(std::string_view name) {
  const auto found = places().find(name);
  if (found == places().end()) return std::nullopt;
  return found->second;
}

std::string_view name_of(FaultKind kind) {
  constexpr std::array<std::string_view, 5> kNames{"kill", "fail", "either", "twist", "happening"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(FaultPart part) {
  constexpr std::array<std::string_view, 7> kNames{"store",  "controller", "link",  "machine",
                                                   "device", "clock",      "client"};
  return kNames[static_cast<std::size_t>(part)];
}

}  // namespace storm
