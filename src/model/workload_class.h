#pragma once
// A class: a named bundle of priority, rights, run-time limits and placement strategy. All of it is
// data; the shipped defaults are in policy/default_policy.h.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/instant.h"
#include "model/ids.h"

namespace model {

// When another queue may take the devices back.
enum class Reclaimable { Never, WhenBorrowed, Always };
inline std::span<const std::string_view> enum_names(Reclaimable) {
  static constexpr std::array<std::string_view, 3> kNames{"never", "when_borrowed", "always"};
  return kNames;
}

enum class Preemptible { Never, ByHigher };
inline std::span<const std::string_view> enum_names(Preemptible) {
  static constexpr std::array<std::string_view, 2> kNames{"never", "by_higher"};
  return kNames;
}

enum class Order { Fifo, Priority, FinishTime, Deadline };
inline std::span<const std::string_view> enum_names(Order) {
  static constexpr std::array<std::string_view, 4> kNames{"fifo", "priority", "finish_time",
                                                          "deadline"};
  return kNames;
}

enum class Strategy { Pack, Spread, Value };
inline std::span<const std::string_view> enum_names(Strategy) {
  static constexpr std::array<std::string_view, 3> kNames{"pack", "spread", "value"};
  return kNames;
}

struct WorkloadClass {
  ClassId id;
  std::string name;
  std::int64_t priority = 0;
  Reclaimable reclaimable = Reclaimable::WhenBorrowed;
  Preemptible preemptible = Preemptible::ByHigher;
  base::Duration min_runtime = base::minutes(10);  // after each start, protected from both
  base::Duration grace = base::seconds(30);        // from the stop signal to the kill
  std::optional<base::Duration> max_runtime;       // nothing: no limit
  Order order = Order::Priority;
  Strategy strategy = Strategy::Pack;
  std::int32_t evictions_per_day = 5;
  std::int32_t retries = 0;              // failed attempts that are tried again
  std::vector<std::string> may_preempt;  // classes of other queues; empty: own queue only
  std::int64_t charge_factor_milli = 1000;
  bool operator==(const WorkloadClass&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "id", self.id);
    visit(2, "name", self.name);
    visit(3, "priority", self.priority);
    visit(4, "reclaimable", self.reclaimable);
    visit(5, "preemptible", self.preemptible);
    visit(6, "minRuntime", self.min_runtime);
    visit(7, "grace", self.grace);
    visit(8, "maxRuntime", self.max_runtime);
    visit(9, "order", self.order);
    visit(10, "strategy", self.strategy);
    visit(11, "evictionsPerDay", self.evictions_per_day);
    visit(12, "retries", self.retries);
    visit(13, "mayPreempt", self.may_preempt);
    visit(14, "chargeFactorMilli", self.charge_factor_milli);
  }
};

}  // namespace model
