#pragma once
// Every fault that storm knows, by name: the points that the product passes itself (FAULT), those
// that storm's own network and machines pass, and the happenings of the script. A row says what a
// hit means, how often one happens where the seed turns it on, and which part of the system it is
// about. A point that is passed and has no row is counted and shown, so that none is forgotten.
//
// Immutable. Rates are hits of ten thousand passages; for a happening, its weight in the script.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace storm {

enum class FaultKind {
  Kill,       // the controller's process dies at the point
  Fail,       // FAULT gives true, and the product acts as if the world failed
  Either,     // one or the other
  Twist,      // FAULT gives true to storm's own code, which does what the row says
  Happening,  // an action of the script; passed and hit at once
};

enum class FaultPart { Store, Controller, Link, Machine, Device, Clock, Client };

struct FaultRow {
  std::string_view name;
  FaultPart part = FaultPart::Store;
  FaultKind kind = FaultKind::Kill;
  std::int32_t rate = 0;
  std::string_view meaning;
};

std::span<const FaultRow> fault_catalogue();
// The row's place in the catalogue.
std::optional<std::size_t> fault_named(std::string_view name);
std::string_view name_of(FaultKind kind);
std::string_view name_of(FaultPart part);

}  // namespace storm
