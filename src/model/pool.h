#pragma once
// A pool: a set of nodes with one meaning (device model, network, owner). Pools form a tree; each
// node is in one leaf; what is held there is charged on the leaf and on every ancestor. And a
// topology: the names of the levels of one tree of places.

#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "model/ids.h"

namespace model {

struct Pool {
  PoolId id;
  std::string name;
  PoolId parent;  // none: a root
  // A node that names no pool itself joins the first pool (by id) whose selector its attributes
  // contain. Empty selects nothing.
  std::map<std::string, std::string> selector;
  bool operator==(const Pool&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "id", self.id);
    visit(2, "name", self.name);
    visit(3, "parent", self.parent);
    visit(4, "selector", self.selector);
  }
};

struct Topology {
  std::string name;
  std::vector<std::string> levels;  // outermost first: {"hall", "block", "rack"}
  bool operator==(const Topology&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "name", self.name);
    visit(2, "levels", self.levels);
  }
};

}  // namespace model
