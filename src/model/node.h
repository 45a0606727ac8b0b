#pragma once
// A node: what it can give, where it stands, who may use it. As reported and as configured; what is
// used of it at the moment is in State (model/state.h).

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "model/device.h"
#include "model/ids.h"
#include "model/resources.h"

namespace model {

enum class NodeCondition { Ready, Cordoned, Draining, Quarantined, Lost };
inline std::span<const std::string_view> enum_names(NodeCondition) {
  static constexpr std::array<std::string_view, 5> kNames{"ready", "cordoned", "draining",
                                                          "quarantined", "lost"};
  return kNames;
}

enum class TaintEffect { NoStart, NoStay };  // NoStay also ends what already runs there
inline std::span<const std::string_view> enum_names(TaintEffect) {
  static constexpr std::array<std::string_view, 2> kNames{"no_start", "no_stay"};
  return kNames;
}

struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::NoStart;
  bool operator==(const Taint&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "key", self.key);
    visit(2, "value", self.value);
    visit(3, "effect", self.effect);
  }
};

// The node's place in one topology tree: the domain at each level, outermost first, parallel to
// Topology::levels. {"fabric", {"hall-1", "block-3", "rack-17"}}
struct TopologyPath {
  std::string topology;
  std::vector<std::string> domains;
  bool operator==(const TopologyPath&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "topology", self.topology);
    visit(2, "domains", self.domains);
  }
};

struct Node {
  NodeId id;
  std::string name;
  std::string backend;     // which backend of this controller speaks for it, "local"
  PoolId pool;             // a leaf pool
  Quantities allocatable;  // kDevice and kDeviceMemory are derived from `devices`, not set here
  std::vector<Device> devices;
  std::map<std::string, std::string> attributes;
  std::vector<Taint> taints;
  std::vector<TopologyPath> topology;
  std::map<std::string, std::string> enforcement;  // resource -> "cgroup v1" | "not enforced" …
  NodeCondition condition = NodeCondition::Ready;
  std::string condition_note;  // why, for people; empty when ready
  bool operator==(const Node&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "id", self.id);
    visit(2, "name", self.name);
    visit(3, "backend", self.backend);
    visit(4, "pool", self.pool);
    visit(5, "allocatable", self.allocatable);
    visit(6, "devices", self.devices);
    visit(7, "attributes", self.attributes);
    visit(8, "taints", self.taints);
    visit(9, "topology", self.topology);
    visit(10, "enforcement", self.enforcement);
    visit(11, "condition", self.condition);
    visit(12, "conditionNote", self.condition_note);
  }
};

}  // namespace model
