#pragma once
// Resources and amounts of them. A ResourceId is a small number; the well-known ones are below,
// others (licences, storage classes, RDMA bandwidth) are registered by name in the State and start
// at kFirstCustom.
//
// Two types that differ in what absence means: in Quantities a missing resource is zero, in Limits
// a missing resource is unlimited. Units: cpu milli-cores, memory and scratch bytes, device
// milli-devices, device memory bytes, everything else plain counts. Amounts are never negative.

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/fields.h"
#include "base/strong_id.h"
#include "model/ids.h"

namespace model {

struct ResourceId : base::StrongId<ResourceId, std::uint16_t> {
  using StrongId::StrongId;
};

inline constexpr ResourceId kCpu{1};           // milli-cores
inline constexpr ResourceId kMemory{2};        // bytes
inline constexpr ResourceId kScratch{3};       // bytes of local scratch
inline constexpr ResourceId kDevice{4};        // milli-devices, charged as model.md says
inline constexpr ResourceId kDeviceMemory{5};  // bytes
inline constexpr ResourceId kNetwork{6};       // RDMA network devices
inline constexpr ResourceId kFirstCustom{16};

struct ResourceAmount {
  ResourceId resource;
  std::int64_t amount = 0;
  friend constexpr auto operator<=>(const ResourceAmount&, const ResourceAmount&) = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "resource", self.resource);
    visit(2, "amount", self.amount);
  }
};

class Quantities {
 public:
  Quantities() = default;
  Quantities(std::initializer_list<ResourceAmount> amounts) {
    for (const auto& a : amounts)
      add(a.resource, a.amount);
  }

  std::int64_t of(ResourceId resource) const {
    for (const auto& a : amounts_)
      if (a.resource == resource) return a.amount;
    return 0;
  }
  void set(ResourceId resource, std::int64_t amount);
  void add(ResourceId resource, std::int64_t amount) { set(resource, of(resource) + amount); }
  void add(const Quantities& other, std::int64_t times = 1) {
    for (const auto& a : other.amounts_)
      add(a.resource, a.amount * times);
  }
  bool empty() const { return amounts_.empty(); }
  // Sorted by resource, no zero entries.
  const std::vector<ResourceAmount>& amounts() const { return amounts_; }

  friend auto operator<=>(const Quantities&, const Quantities&) = default;
  static void fields(auto& self, auto&& visit) { visit(1, "amounts", self.amounts_); }

 private:
  std::vector<ResourceAmount> amounts_;
};

class Limits {
 public:
  // Nothing means unlimited.
  std::optional<std::int64_t> of(ResourceId resource) const {
    for (const auto& a : amounts_)
      if (a.resource == resource) return a.amount;
    return std::nullopt;
  }
  void set(ResourceId resource, std::int64_t amount);
  const std::vector<ResourceAmount>& amounts() const { return amounts_; }

  friend auto operator<=>(const Limits&, const Limits&) = default;
  static void fields(auto& self, auto&& visit) { visit(1, "amounts", self.amounts_); }

 private:
  std::vector<ResourceAmount> amounts_;
};

// Where quota is counted: one resource in one pool.
struct Dimension {
  PoolId pool;
  ResourceId resource;
  friend constexpr auto operator<=>(const Dimension&, const Dimension&) = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "pool", self.pool);
    visit(2, "resource", self.resource);
  }
};

struct DimensionAmount {
  Dimension dimension;
  std::int64_t amount = 0;
  friend constexpr auto operator<=>(const DimensionAmount&, const DimensionAmount&) = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "dimension", self.dimension);
    visit(2, "amount", self.amount);
  }
};

// Amounts by dimension; missing is zero. Sorted by dimension, no zero entries.
class Usage {
 public:
  std::int64_t of(Dimension dimension) const;
  void add(Dimension dimension, std::int64_t amount);
  void add(const Usage& other, std::int64_t times = 1) {
    for (const auto& a : other.amounts_)
      add(a.dimension, a.amount * times);
  }
  bool empty() const { return amounts_.empty(); }
  const std::vector<DimensionAmount>& amounts() const { return amounts_; }

  friend auto operator<=>(const Usage&, const Usage&) = default;
  static void fields(auto& self, auto&& visit) { visit(1, "amounts", self.amounts_); }

 private:
  std::vector<DimensionAmount> amounts_;
};

}  // namespace model
