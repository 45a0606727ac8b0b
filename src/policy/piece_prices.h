#pragma once
// What a piece of a device is worth when devices are cut into pieces of the sizes that are asked
// for: the dual prices of the cutting-stock program "cover the demand with the fewest devices"
// (Gilmore and Gomory, A Linear Programming Approach to the Cutting-Stock Problem, 1961).
//
// Solved by column generation in exact rational numbers; the row that leaves is the least in the
// lexicographic order (Dantzig, Orden and Wolfe 1955), so that the search ends, and ends at the
// same of several optimal prices everywhere. A device is worth 1, a size that divides it well a
// part of 1 in proportion to how well the demand fills the rest.

#include <cstdint>
#include <vector>

#include "base/amount.h"

namespace policy {

struct PieceDemand {
  base::MilliDevice size;   // 1..1000, each size once
  std::int64_t pieces = 0;  // > 0
};

// In millionths of a device, rounded to the nearest, in the order of the demand. Cost: grows with
// the cube of the sizes; 32 of them take some milliseconds.
std::vector<std::int64_t> piece_prices(const std::vector<PieceDemand>& demand);

}  // namespace policy
