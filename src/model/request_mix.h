#pragma once
// What is asked for, as a distribution: kinds of members by how often they come, and what follows
// from it for placement: what a part of a device is worth and which models are scarce. Made by
// policy/request_mix.h, set by an event, so that every reader places by the same numbers.

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/amount.h"
#include "base/fields.h"

namespace model {

// Members that are equal in what placement by value looks at.
struct RequestKind {
  std::int64_t cpu = 0;             // milli-cores
  std::int32_t devices = 0;         // 0: none
  base::MilliDevice milli;          // of each device; 1000: whole devices
  std::vector<std::string> models;  // allowed ones, by name, each once; empty: any
  friend auto operator<=>(const RequestKind&, const RequestKind&) = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "cpu", self.cpu);
    visit(2, "devices", self.devices);
    visit(3, "milli", self.milli);
    visit(4, "models", self.models);
  }
};

struct WeighedKind {
  RequestKind kind;
  std::int64_t weight = 0;  // how often, against the others
  friend auto operator<=>(const WeighedKind&, const WeighedKind&) = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "kind", self.kind);
    visit(2, "weight", self.weight);
  }
};

// What a piece of a device of that size is worth, in millionths of a device.
struct SizePrice {
  base::MilliDevice size;
  std::int64_t price = 0;
  std::int64_t cpu = 0;  // milli-cores that come with a piece of that size
  friend auto operator<=>(const SizePrice&, const SizePrice&) = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "size", self.size);
    visit(2, "price", self.price);
    visit(3, "cpu", self.cpu);
  }
};

// The load that members bound to certain models put on one of them, in millionths of what nodes
// with it have.
struct ModelLoad {
  std::string model;
  std::int64_t load = 0;
  friend auto operator<=>(const ModelLoad&, const ModelLoad&) = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "model", self.model);
    visit(2, "load", self.load);
  }
};

struct RequestMix {
  std::vector<WeighedKind> kinds;  // the most frequent first, equal ones by kind
  std::vector<SizePrice> prices;   // by size
  std::vector<ModelLoad> loads;    // by model
  bool operator==(const RequestMix&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "kinds", self.kinds);
    visit(2, "prices", self.prices);
    visit(3, "loads", self.loads);
  }
};

// What was asked for lately: each member submitted counts, old ones less and less
// (policy/request_mix.h).
struct RequestCounts {
  std::vector<WeighedKind> kinds;   // by kind
  std::int64_t total = 0;           // of the weights
  std::int64_t members = 0;         // ever counted
  std::int64_t members_at_mix = 0;  // of them, when the mix was last made
  bool operator==(const RequestCounts&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "kinds", self.kinds);
    visit(2, "total", self.total);
    visit(3, "members", self.members);
    visit(4, "membersAtMix", self.members_at_mix);
  }
};

}  // namespace model
