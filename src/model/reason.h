#pragma once
// Why something did not start, was refused or was taken back: the closed enumeration. Only append;
// the journal keeps the numbers. Each reason has a row in reason_catalogue() from which
// docs/reasons.md is generated, and a scenario in tests/scenarios.

#include <array>
#include <span>
#include <string_view>

#include "base/fields.h"

namespace model {

enum class Reason {
  None,
  // Not a candidate at the moment.
  Held,
  AwaitingApproval,
  BackOff,
  Stopping,
  // Can never run as asked here.
  NoSuchPool,
  NoNodeFits,
  TooFewNodesFit,
  AboveQueueMax,
  UnknownModel,
  UnknownSlice,
  // Quota.
  QueueMax,
  GuaranteeOfOther,
  OutsideGuarantee,
  LimitReached,
  BudgetExhausted,
  // Order.
  BehindHead,
  BackfillWouldDelay,
  // Place: why nodes were rejected, and why together they were not enough.
  NotEnoughFree,
  NotEnoughCpu,
  NotEnoughMemory,
  NotEnoughOther,
  DevicesBusy,
  DeviceFragmented,
  NodeNotReady,
  TaintNotTolerated,
  AttributeMismatch,
  WrongModel,
  DeviceUnhealthy,
  TenantIsolation,
  TopologyTooSmall,
  ClaimedByOther,
  GangIncomplete,
  OtherPool,
  IsolationTooWeak,
  // Taking back.
  WaitingForVictims,
  MinRuntime,
  NotReclaimable,
  NotPreemptible,
  NotBorrowing,
  EvictionLimit,
  ClaimBackoff,
  NotEnoughVictims,
  // Why an attempt was evicted, or a claim ended.
  Reclaim,
  Preempt,
  Rotate,
  TimeLimit,
  Cancelled,
  NodeLost,
  IdleStop,
  ClaimExpired,
  ClaimTaken,
  OwnerStarted,
  OwnerGone,
  Drained,
  // Why a command was refused.
  DuplicateName,
  UnknownQueue,
  UnknownClass,
  InvalidState
};

struct ReasonText {
  Reason reason = Reason::None;
  std::string_view name;     // the enumerator
  std::string_view english;  // one sentence: what it means
  std::string_view chinese;
  std::string_view remedy;  // what a person can do, English
};

// Every reason in the order of the enumeration.
std::span<const ReasonText> reason_catalogue();

// What to wait for is the same: room that somebody else has to leave. How the room is short (in
// sum, in pieces, by victims that cannot be had yet) changes with every start and end; a workload
// that waits is not told anew for that, `why` gives the numbers of the moment.
bool is_same_wait(Reason a, Reason b);

std::span<const std::string_view> enum_names(Reason);

}  // namespace model
