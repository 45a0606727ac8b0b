#include "model/reason.h"

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace model {

namespace {

// In the order of the enumeration, checked below.
constexpr auto kCatalogue = std::to_array<ReasonText>({
    {Reason::None, "None", "Nothing stands in the way", "没有任何阻碍", "Nothing to do"},
    {Reason::Held, "Held", "It was put on hold and is not considered until it is released",
     "已被挂起，放行之前不参与调度", "Release it: berth release <workload>"},
    {Reason::AwaitingApproval, "AwaitingApproval",
     "A rule asks for an approval that has not been given yet", "规则要求审批，审批尚未通过",
     "Ask an approver, or ask for less than the rule allows without approval"},
    {Reason::BackOff, "BackOff",
     "An earlier attempt failed and the pause before the next one is not over",
     "上一次尝试失败，重试前的等待时间未到",
     "Wait for the time shown, or read the logs of the last attempt and mend the cause"},
    {Reason::Stopping, "Stopping", "Its last attempt is still stopping", "上一次尝试仍在停止中",
     "Wait until the members are gone; the grace period bounds it"},
    {Reason::NoSuchPool, "NoSuchPool", "None of the pools that it accepts has a node",
     "它接受的资源池中没有任何节点",
     "Name a pool that exists (berth nodes shows them), or leave the list empty for any pool"},
    {Reason::NoNodeFits, "NoNodeFits",
     "No node is large enough or of the right kind for even one member, all of them empty",
     "即使全部节点为空，也没有节点能容纳一个成员",
     "Ask for less per member, or relax model, slice, attributes or tolerations"},
    {Reason::TooFewNodesFit, "TooFewNodesFit",
     "Some nodes fit, but not enough for all members that must start together, all of them empty",
     "即使全部节点为空，合适的节点也不足以同时容纳所需的全部成员",
     "Lower the minimum of members, or accept further pools or models"},
    {Reason::AboveQueueMax, "AboveQueueMax",
     "It asks for more than the hard limit of a queue on its path",
     "申请量超过其队列路径上的硬上限",
     "Ask for less, use another queue, or have the queue's max raised"},
    {Reason::UnknownModel, "UnknownModel", "No node has a device of a model that it accepts",
     "没有节点具有它接受的设备型号", "Correct the model name (berth devices shows those present)"},
    {Reason::UnknownSlice, "UnknownSlice",
     "No device of an accepted model offers that slice profile",
     "可接受型号的设备都不提供该切片规格",
     "Choose a profile of the device model, or ask for a share or for memory instead"},
    {Reason::QueueMax, "QueueMax",
     "With it a queue on its path would hold more than its hard limit",
     "启动后其队列路径上的某个队列将超过硬上限",
     "Wait until work of that queue ends, or have the queue's max raised"},
    {Reason::GuaranteeOfOther, "GuaranteeOfOther",
     "What is free is kept for the guarantees of other queues, which do not lend it",
     "空闲资源为其他队列的保障量预留，不可借用",
     "Wait for work to end, have your guarantee raised, or ask the holders to lend more"},
    {Reason::OutsideGuarantee, "OutsideGuarantee",
     "Work that can never be taken back must fit into its queue's guarantee, and does not",
     "不可回收的任务必须在队列保障量之内，目前放不下",
     "Use a reclaimable class, or have the queue's guarantee raised"},
    {Reason::LimitReached, "LimitReached", "A limit of its user, queue or class is reached",
     "已达到用户、队列或类别的限额",
     "End other work under the same limit, or have the limit raised"},
    {Reason::BudgetExhausted, "BudgetExhausted", "The budget that pays for it is used up",
     "预算已用尽", "Wait for the next budget window, or have the budget raised"},
    {Reason::BehindHead, "BehindHead", "Its queue is strict, and another workload comes first",
     "队列严格按序执行，前面还有任务", "Wait for the head to start, or let the queue backfill"},
    {Reason::BackfillWouldDelay, "BackfillWouldDelay",
     "Starting it now would delay a start that was promised to another",
     "现在启动会推迟已承诺给其他任务的启动时间",
     "Give a shorter time limit, so that it ends before the promised start"},
    {Reason::NotEnoughFree, "NotEnoughFree", "Too few devices are free there now",
     "当前空闲设备不足", "Wait for work to end; the holders are listed"},
    {Reason::NotEnoughCpu, "NotEnoughCpu", "Too few CPU cores are free on the node",
     "节点空闲 CPU 不足", "Ask for fewer cores per member"},
    {Reason::NotEnoughMemory, "NotEnoughMemory", "Too little memory is free on the node",
     "节点空闲内存不足", "Ask for less memory per member"},
    {Reason::NotEnoughOther, "NotEnoughOther", "Too little of another resource is free on the node",
     "节点其他资源不足", "Ask for less of it per member; the dimension names it"},
    {Reason::DevicesBusy, "DevicesBusy", "The devices of the node are in use", "节点的设备正被占用",
     "Wait for the work on them to end"},
    {Reason::DeviceFragmented, "DeviceFragmented",
     "Enough is free in sum, but not in pieces in which the members fit",
     "空闲总量足够，但过于分散，放不下成员",
     "Ask for fewer devices per member, or wait for a whole device or node to come free"},
    {Reason::NodeNotReady, "NodeNotReady",
     "The node takes no new work: cordoned, draining, quarantined or lost",
     "节点不接受新任务：已封锁、排空、隔离或失联",
     "Bring the node back: berth uncordon <node>, after looking at its condition"},
    {Reason::TaintNotTolerated, "TaintNotTolerated",
     "The node has a taint that the workload does not tolerate", "节点带有任务不容忍的污点",
     "Add a toleration, if the work belongs there"},
    {Reason::AttributeMismatch, "AttributeMismatch",
     "The node lacks an attribute that the workload asks for", "节点不具备任务要求的属性",
     "Relax the constraints, or label the node"},
    {Reason::WrongModel, "WrongModel",
     "The devices of the node are of a model that the workload does not accept",
     "节点设备型号不在任务可接受的范围内", "Accept further models"},
    {Reason::DeviceUnhealthy, "DeviceUnhealthy",
     "Too many devices of the node are not healthy enough for new work", "节点上健康可用的设备不足",
     "Repair or reset the devices; berth devices shows their health"},
    {Reason::TenantIsolation, "TenantIsolation",
     "Isolation keeps it apart from work of another tenant that is there",
     "隔离规则不允许与该处其他租户的任务共处", "Wait, or let both tenants share devices"},
    {Reason::TopologyTooSmall, "TopologyTooSmall",
     "No single domain of the required level has room for all members",
     "要求的拓扑层级中没有一个域能容纳全部成员",
     "Require a wider level, prefer it instead of requiring it, or use fewer members"},
    {Reason::ClaimedByOther, "ClaimedByOther", "What is free there is claimed for another workload",
     "该处空闲资源已为其他任务保留", "Wait until the claim is used or expires"},
    {Reason::GangIncomplete, "GangIncomplete",
     "Its members must start together, and not all of them could be placed",
     "成员必须同时启动，目前无法全部放置", "Lower the minimum of members, or wait"},
    {Reason::OtherPool, "OtherPool", "The node is in a pool that the workload does not accept",
     "节点所在的资源池不被任务接受", "Add the pool to the workload's list"},
    {Reason::IsolationTooWeak, "IsolationTooWeak",
     "The devices there cannot keep owners apart as strictly as asked",
     "该处设备达不到要求的隔离级别",
     "Accept a weaker isolation, or ask for a slice or whole devices"},
    {Reason::WaitingForVictims, "WaitingForVictims",
     "What it needs is being freed for it, and some of that work is still stopping",
     "正在为其腾出资源，部分任务仍在停止中", "Wait; the grace periods bound it"},
    {Reason::MinRuntime, "MinRuntime",
     "The work that could give way is still within its protected run time",
     "可让出的任务仍在最短运行保护期内", "Wait until the time shown"},
    {Reason::NotReclaimable, "NotReclaimable",
     "The class of the work that holds it is never taken back", "占用资源的任务类别不可回收",
     "Wait for its end, or speak with its owner"},
    {Reason::NotPreemptible, "NotPreemptible",
     "The class of the work that holds it is never preempted", "占用资源的任务类别不可抢占",
     "Wait for its end, or speak with its owner"},
    {Reason::NotBorrowing, "NotBorrowing",
     "The queue that holds it is within what it is entitled to", "占用资源的队列未超出其应得份额",
     "Wait for its work to end, or have your guarantee raised"},
    {Reason::EvictionLimit, "EvictionLimit",
     "The work that could give way was evicted as often today as is allowed",
     "可让出的任务今日被驱逐次数已达上限", "Wait for its end, or until the day's count falls"},
    {Reason::ClaimBackoff, "ClaimBackoff",
     "It lost a claim a short while ago and may not take back again yet",
     "它刚失去一次资源保留，暂时不能再次触发回收", "Wait until the time shown"},
    {Reason::NotEnoughVictims, "NotEnoughVictims",
     "Even with all work gone that may be taken back it would not fit",
     "即使回收所有可回收的任务仍放不下", "Ask for less, or wait for protected work to end"},
    {Reason::Reclaim, "Reclaim", "Taken back for a queue that is entitled to it",
     "为应得该资源的队列回收",
     "Nothing to do: it goes back to its queue; more guarantee prevents it"},
    {Reason::Preempt, "Preempt", "Gave way to work of a higher class", "让位于更高优先级类别的任务",
     "Nothing to do: it goes back to its queue; a higher class prevents it"},
    {Reason::Rotate, "Rotate", "Its quantum was over and equal work was waiting",
     "时间片用完，轮换给同级任务", "Nothing to do: it goes back to its queue"},
    {Reason::TimeLimit, "TimeLimit", "It reached its time limit", "达到时间上限",
     "Submit again with a longer time limit, from its checkpoint"},
    {Reason::Cancelled, "Cancelled", "Somebody cancelled it", "已被取消",
     "Submit it again if that was a mistake"},
    {Reason::NodeLost, "NodeLost", "A node that it ran on is lost", "所在节点失联",
     "Nothing to do: it is retried elsewhere if its policy says so"},
    {Reason::IdleStop, "IdleStop",
     "It held devices without using them for longer than its class allows",
     "占用设备但长时间未使用，超过类别允许的时长", "Submit it again when the devices will be used"},
    {Reason::ClaimExpired, "ClaimExpired", "The time of the claim ran out before its owner started",
     "资源保留在任务启动前已过期", "Look at the victims that did not stop in time"},
    {Reason::ClaimTaken, "ClaimTaken", "A workload of a higher class took the claim",
     "资源保留被更高类别的任务取得",
     "Wait; it may take back again after the back-off of its queue"},
    {Reason::OwnerStarted, "OwnerStarted", "The owner of the claim started",
     "资源保留的所有者已启动", "Nothing to do"},
    {Reason::OwnerGone, "OwnerGone",
     "The owner of the claim was cancelled or changed and no longer needs it",
     "资源保留的所有者已取消或变更，不再需要", "Nothing to do"},
    {Reason::Drained, "Drained", "Its node is being drained", "所在节点正在排空",
     "Nothing to do: it goes back to its queue and starts elsewhere"},
    {Reason::DuplicateName, "DuplicateName",
     "An unfinished workload of that queue has the name already", "该队列中已有同名的未完成任务",
     "Choose another name, or cancel the other workload"},
    {Reason::UnknownQueue, "UnknownQueue", "There is no queue of that name", "没有该名称的队列",
     "Correct the name (berth queues shows them)"},
    {Reason::UnknownClass, "UnknownClass", "There is no class of that name", "没有该名称的类别",
     "Correct the name (berth classes shows them)"},
    {Reason::InvalidState, "InvalidState", "The thing is in a state in which that cannot be done",
     "当前状态不允许该操作", "Look at its present state: berth show <workload>"},
});

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < kCatalogue.size(); ++i)
    if (static_cast<std::size_t>(kCatalogue[i].reason) != i) return false;
  return true;
}
static_assert(is_in_order(), "each reason has one row, in the order of the enumeration");
static_assert(kCatalogue.size() == static_cast<std::size_t>(Reason::InvalidState) + 1,
              "the last reason of the enumeration has the last row");

constexpr auto kNames = [] {
  std::array<std::string_view, kCatalogue.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i)
    names[i] = kCatalogue[i].name;
  return names;
}();

}  // namespace

namespace {

bool is_want_of_room(Reason reason) {
  switch (reason) {
    case Reason::NotEnoughFree:
    case Reason::NotEnoughCpu:
    case Reason::NotEnoughMemory:
    case Reason::NotEnoughOther:
    case Reason::DeviceFragmented:
    case Reason::TopologyTooSmall:
    case Reason::MinRuntime:
    case Reason::ClaimBackoff:
    case Reason::NotEnoughVictims:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool is_same_wait(Reason a, Reason b) {
  return a == b || (is_want_of_room(a) && is_want_of_room(b));
}

std::span<const ReasonText> reason_catalogue() { return kCatalogue; }

std::span<const std::string_view> enum_names(Reason) { return kNames; }

}  // namespace model
