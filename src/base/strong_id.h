#pragma once
// Identities that the compiler keeps apart: `struct QueueId : StrongId<QueueId> {...}`.
// Zero is "none"; real ids start at 1 and are never reused. Ordered, because every order in Berth
// ends in an id.

#include <compare>
#include <cstdint>

namespace base {

template <class Self, class Rep = std::uint32_t>
struct StrongId {
  using Representation = Rep;

  Rep value = 0;

  constexpr StrongId() = default;
  constexpr explicit StrongId(Rep v) : value(v) {}

  constexpr bool is_none() const { return value == 0; }
  constexpr explicit operator bool() const { return value != 0; }
  friend constexpr auto operator<=>(const StrongId&, const StrongId&) = default;
};

}  // namespace base
