#pragma once
// A named set of rules, applied as one: what the planner is allowed to do and in which order it
// looks. Data, not code: FIFO, priority and the default policy are three values of this type
// (policy/default_policy.h).

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/fields.h"
#include "base/instant.h"
#include "model/workload_class.h"

namespace model {

// How queues compete for the next start.
enum class Sharing {
  Shares,  // by dominant ratio of held to entitlement, from the root down
  OneLine  // all queues are one line in the workloads' own order; quota limits still hold
};
inline std::span<const std::string_view> enum_names(Sharing) {
  static constexpr std::array<std::string_view, 2> kNames{"shares", "one_line"};
  return kNames;
}

// How the node is chosen among those that can take a member. Higher is better, then the first node.
enum class PlacementRule {
  BestFit,        // leaves the least cpu and devices free
  DotProduct,     // what is asked for points where most is free (Grandl and others, SIGCOMM 2014)
  Clustering,     // beside members that take as many devices
  Packing,        // devices in use first, then nodes in use (Gandiva, OSDI 2018)
  Fragmentation,  // makes the least of what is free useless to the mix (FGD, ATC 2023)
  Random,         // by lot: what the others are measured against
  Value           // destroys the least of what the mix could still make of the node
};
inline std::span<const std::string_view> enum_names(PlacementRule) {
  static constexpr std::array<std::string_view, 7> kNames{
      "best_fit", "dot_product", "clustering", "packing", "fragmentation", "random", "value"};
  return kNames;
}

struct PolicySet {
  std::string name = "default";
  Sharing sharing = Sharing::Shares;
  std::optional<Order> order;       // instead of the classes' own; nothing: the classes'
  bool uses_class_priority = true;  // false: class priority does not order
  bool allows_reclaim = true;
  bool allows_preemption = true;
  base::Duration claim_lifetime = base::minutes(10);
  base::Duration age_credit_every = base::hours(1);  // one point of priority a full interval waited
  std::int64_t age_credit_max = 100;
  base::Duration keeps_finished = base::days(7);  // finished workloads stay in State that long
  std::optional<PlacementRule> placement;  // instead of the classes' strategies; nothing: theirs
  bool operator==(const PolicySet&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "name", self.name);
    visit(2, "sharing", self.sharing);
    visit(3, "order", self.order);
    visit(4, "usesClassPriority", self.uses_class_priority);
    visit(5, "allowsReclaim", self.allows_reclaim);
    visit(6, "allowsPreemption", self.allows_preemption);
    visit(7, "claimLifetime", self.claim_lifetime);
    visit(8, "ageCreditEvery", self.age_credit_every);
    visit(9, "ageCreditMax", self.age_credit_max);
    visit(10, "keepsFinished", self.keeps_finished);
    visit(11, "placement", self.placement);
  }
};

}  // namespace model
