#pragma once
// JSON text of records (base/fields.h), for the event stream, archives and `-o json` of records.
// Field names as listed, enumerators by name, ids and amounts as numbers, instants as RFC 3339 UTC
// with milliseconds (kNever is null), durations as milliseconds, a variant as {"<kind>": {...}}
// where every alternative names itself by `static constexpr std::string_view kKind`. Empty strings,
// lists, maps and optionals are left out. Text that is not UTF-8 has its bad bytes replaced by
// U+FFFD, control characters are escaped.

#include <string>
#include <string_view>
#include <type_traits>

#include "base/fields.h"

namespace base {

void append_json_string(std::string& out, std::string_view text);
void append_json_instant(std::string& out, Instant instant);

// Keys that are not texts are written as texts, because JSON has no others.
template <class T>
void append_json_map(std::string& out, const T& value);

template <class T>
void append_json(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    append_json_string(out, value);
  } else if constexpr (std::is_same_v<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (IsOptional<T>::value) {
    append_json(out, *value);
  } else if constexpr (IsVector<T>::value) {
    out += '[';
    for (bool is_first = true; const auto& element : value) {
      if (!is_first) out += ',';
      is_first = false;
      append_json(out, element);
    }
    out += ']';
  } else if constexpr (IsMap<T>::value) {
    append_json_map(out, value);
  } else if constexpr (IsVariant<T>::value) {
    std::visit(
        [&out]<class A>(const A& alternative) {
          out += '{';
          append_json_string(out, A::kKind);
          out += ':';
          append_json(out, alternative);
          out += '}';
        },
        value);
  } else if constexpr (Record<T>) {
    out += '{';
    bool is_first = true;
    T::fields(value, [&](int, std::string_view name, const auto& field) {
      using F = std::remove_cvref_t<decltype(field)>;
      if constexpr (IsOptional<F>::value) {
        if (!field.has_value()) return;
      } else if constexpr (std::is_same_v<F, std::string> || IsVector<F>::value ||
                           IsMap<F>::value) {
        if (field.empty()) return;
      }
      if (!is_first) out += ',';
      is_first = false;
      append_json_string(out, name);
      out += ':';
      append_json(out, field);
    });
    out += '}';
  } else if constexpr (NamedEnum<T>) {
    append_json_string(out, name_of(value));
  } else if constexpr (IdLike<T> || IsAmount<T>::value) {
    out += std::to_string(value.value);
  } else if constexpr (std::is_same_v<T, Instant>) {
    append_json_instant(out, value);
  } else if constexpr (std::is_same_v<T, Duration>) {
    out += std::to_string(value.millis);
  } else {
    static_assert(std::is_integral_v<T>, "list the fields of this type, see base/fields.h");
    out += std::to_string(value);
  }
}

template <class T>
void append_json_map(std::string& out, const T& value) {
  out += '{';
  for (bool is_first = true; const auto& [key, mapped] : value) {
    if (!is_first) out += ',';
    is_first = false;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(key)>, std::string>) {
      append_json_string(out, key);
    } else {
      out += '"';
      append_json(out, key);
      out += '"';
    }
    out += ':';
    append_json(out, mapped);
  }
  out += '}';
}

template <Record T>
std::string to_json(const T& value) {
  std::string out;
  append_json(out, value);
  return out;
}

}  // namespace base
