#pragma once
// A queue: a node of the one tree tenant -> team -> project. Its quota per dimension is the row
// {guarantee, lend, max, weight}; a missing row means guarantee 0 (of an inner queue: the sum of
// its children's), lend = guarantee, no max, weight 1.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/instant.h"
#include "model/ids.h"
#include "model/resources.h"

namespace model {

struct Quota {
  Dimension dimension;
  std::optional<std::int64_t> guarantee;  // nothing: 0 for a leaf, the children's sum for an inner
  std::optional<std::int64_t> lend;       // nothing: all of the guarantee
  std::optional<std::int64_t> max;        // nothing: unlimited
  bool operator==(const Quota&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "dimension", self.dimension);
    visit(2, "guarantee", self.guarantee);
    visit(3, "lend", self.lend);
    visit(4, "max", self.max);
  }
};

// Whether work behind a blocked head may start before it.
enum class Passing { Backfill, Strict };
inline std::span<const std::string_view> enum_names(Passing) {
  static constexpr std::array<std::string_view, 2> kNames{"backfill", "strict"};
  return kNames;
}

// How far others are kept away from a tenant's work.
enum class Exclusive { Nothing, Device, Node, Pool };
inline std::span<const std::string_view> enum_names(Exclusive) {
  static constexpr std::array<std::string_view, 4> kNames{"nothing", "device", "node", "pool"};
  return kNames;
}

struct Queue {
  QueueId id;
  std::string name;           // full path, "search/nlp"; the first segment is the tenant
  QueueId parent;             // none: directly under the root
  std::vector<Quota> quotas;  // sorted by dimension
  std::int64_t weight = 1;    // share of surplus, 0..1000000
  std::int64_t priority = 0;  // order in which surplus is handed out, highest first
  Passing passing = Passing::Backfill;
  Exclusive exclusive = Exclusive::Nothing;
  bool shares_devices_across_tenants = false;
  std::optional<base::Duration> quantum;  // nothing: never rotate
  base::Duration claim_backoff = base::minutes(5);
  bool operator==(const Queue&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "id", self.id);
    visit(2, "name", self.name);
    visit(3, "parent", self.parent);
    visit(4, "quotas", self.quotas);
    visit(5, "weight", self.weight);
    visit(6, "priority", self.priority);
    visit(7, "passing", self.passing);
    visit(8, "exclusive", self.exclusive);
    visit(9, "sharesDevicesAcrossTenants", self.shares_devices_across_tenants);
    visit(10, "quantum", self.quantum);
    visit(11, "claimBackoff", self.claim_backoff);
  }
};

}  // namespace model
