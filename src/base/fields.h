#pragma once
// One list of fields per record, written once, read by everything that walks records: the binary
// codec (base/codec.h), the JSON writer (base/json_text.h) and digests.
//
// A record lists its fields with a number that never changes its meaning and a name in
// lowerCamelCase:
//
//   struct Taint {
//     std::string key;
//     TaintEffect effect = TaintEffect::NoStart;
//     bool operator==(const Taint&) const = default;
//     static void fields(auto& self, auto&& visit) {
//       visit(1, "key", self.key);
//       visit(2, "effect", self.effect);
//     }
//   };
//
// Enumerations number their enumerators from 0 without gaps, only append, and offer
// `inline std::span<const std::string_view> enum_names(E)` beside them, found by ADL.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/amount.h"
#include "base/instant.h"
#include "base/strong_id.h"

namespace base {

struct FieldProbe {
  template <class T>
  void operator()(int, std::string_view, T&) const {}
};

template <class T>
concept Record = requires(T& value, FieldProbe probe) { T::fields(value, probe); };

template <class T>
concept NamedEnum = std::is_enum_v<T> && requires(T value) {
  { enum_names(value) } -> std::convertible_to<std::span<const std::string_view>>;
};

template <class T>
concept IdLike = requires { typename T::Representation; } &&
                 std::is_base_of_v<StrongId<T, typename T::Representation>, T>;

template <class T>
struct IsAmount : std::false_type {};
template <class Unit>
struct IsAmount<Amount<Unit>> : std::true_type {};

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
struct IsMap : std::false_type {};
template <class K, class V, class C>
struct IsMap<std::map<K, V, C>> : std::true_type {};

template <class T>
struct IsVariant : std::false_type {};
template <class... Ts>
struct IsVariant<std::variant<Ts...>> : std::true_type {};

// The name of an enumerator, "?" when the value was written by a later binary.
template <NamedEnum E>
std::string_view name_of(E value) {
  const std::span<const std::string_view> names = enum_names(value);
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names[index] : std::string_view("?");
}

// The enumerator of that exact name, or nothing.
template <NamedEnum E>
std::optional<E> enum_from(std::string_view name) {
  const std::span<const std::string_view> names = enum_names(E{});
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<E>(i);
  return std::nullopt;
}

}  // namespace base
