#pragma once
// Binary form of records (base/fields.h): compact, deterministic, readable by later binaries.
//
// A record is a run of fields and ends with a zero byte. A field is `number << 2 | wire` as a
// varint, then by wire: 0 one varint (integers are zigzag-coded), 1 length and bytes, 2 a record,
// 3 a count and that many elements, each preceded by its own wire byte. Unknown field numbers are
// skipped, absent fields keep their defaults; only empty strings, lists, maps and optionals that
// are empty by default are left out, so an integer zero survives a changed default. Decoding never
// trusts a length: every read is checked against what is left, nesting is bounded by kMaxDepth.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/fields.h"
#include "base/result.h"

namespace base {

inline constexpr int kMaxDepth = 64;

enum class Wire : std::uint8_t { Varint = 0, Bytes = 1, Record = 2, List = 3 };

class Encoder {
 public:
  explicit Encoder(std::string& out) : out_(out) {}

  template <Record T>
  void record(const T& value) {
    T::fields(value, [this](int number, std::string_view, const auto& field) {
      if (!is_left_out(field) || is_kept_when_empty<T>(number)) put_field(number, field);
    });
    out_.push_back('\0');
  }

 private:
  template <class T>
  static constexpr Wire wire_of() {
    if constexpr (std::is_same_v<T, std::string>)
      return Wire::Bytes;
    else if constexpr (IsVector<T>::value || IsMap<T>::value)
      return Wire::List;
    else if constexpr (IsOptional<T>::value)
      return wire_of<typename T::value_type>();
    else if constexpr (IsVariant<T>::value || Record<T>)
      return Wire::Record;
    else
      return Wire::Varint;
  }

  template <class T>
  static constexpr bool can_be_empty() {
    return std::is_same_v<T, std::string> || IsVector<T>::value || IsMap<T>::value;
  }

  template <class T>
  static bool is_left_out(const T& value) {
    if constexpr (IsOptional<T>::value)
      return !value.has_value();
    else if constexpr (can_be_empty<T>())
      return value.empty();
    else
      return false;
  }

  // An absent field reads as its default, which is not empty for every string.
  template <Record T>
  static bool is_kept_when_empty(int number) {
    static const std::vector<int> kept = [] {
      std::vector<int> numbers;
      const T defaults{};
      T::fields(defaults, [&numbers]<class F>(int each, std::string_view, const F& field) {
        if constexpr (IsOptional<F>::value) ASSERT(!field.has_value());  // no bytes say "none"
        if constexpr (can_be_empty<F>())
          if (!is_left_out(field)) numbers.push_back(each);
      });
      return numbers;
    }();
    return std::ranges::find(kept, number) != kept.end();
  }

  template <class T>
  void put_field(int number, const T& value) {
    put_varint(static_cast<std::uint64_t>(number) << 2 | static_cast<std::uint64_t>(wire_of<T>()));
    put_value(value);
  }

  template <class T>
  void put_value(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      put_varint(value.size());
      out_.append(value);
    } else if constexpr (IsOptional<T>::value) {
      put_value(*value);
    } else if constexpr (IsVector<T>::value) {
      put_varint(value.size());
      for (const auto& element : value)
        put_element(element);
    } else if constexpr (IsMap<T>::value) {
      put_varint(value.size() * 2);
      for (const auto& [key, mapped] : value) {
        put_element(key);
        put_element(mapped);
      }
    } else if constexpr (IsVariant<T>::value) {
      put_field_of_variant(value);
    } else if constexpr (Record<T>) {
      record(value);
    } else if constexpr (std::is_same_v<T, bool>) {
      put_varint(value ? 1 : 0);
    } else if constexpr (std::is_enum_v<T>) {
      put_varint(static_cast<std::uint64_t>(value));
    } else if constexpr (IdLike<T>) {
      put_varint(value.value);
    } else if constexpr (IsAmount<T>::value) {
      put_signed(value.value);
    } else if constexpr (std::is_same_v<T, Instant> || std::is_same_v<T, Duration>) {
      put_signed(value.millis);
    } else {
      static_assert(std::is_integral_v<T>, "list the fields of this type, see base/fields.h");
      if constexpr (std::is_signed_v<T>)
        put_signed(value);
      else
        put_varint(value);
    }
  }

  template <class T>
  void put_element(const T& value) {
    out_.push_back(static_cast<char>(wire_of<T>()));
    put_value(value);
  }

  template <class T>
  void put_field_of_variant(const T& value) {
    std::visit(
        [&](const auto& alternative) {
          put_varint((value.index() + 1) << 2 | static_cast<std::uint64_t>(Wire::Record));
          record(alternative);
        },
        value);
    out_.push_back('\0');
  }

  void put_varint(std::uint64_t value) {
    while (value >= 0x80) {
      out_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    out_.push_back(static_cast<char>(value));
  }

  void put_signed(std::int64_t value) {
    put_varint(static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63));
  }

  std::string& out_;
};

// Reads what Encoder wrote. After the first fault everything reads as default and `fault()` says
// what was wrong; callers check once, at the end.
class Decoder {
 public:
  explicit Decoder(std::string_view bytes) : bytes_(bytes) {}

  template <Record T>
  void record(T& value) {
    if (!enter()) return;
    while (const std::uint64_t tag = take_varint()) {
      if (is_faulty()) break;
      const auto wire = static_cast<Wire>(tag & 3);
      bool known = false;
      T::fields(value, [&](int number, std::string_view, auto& field) {
        if (known || static_cast<std::uint64_t>(number) != tag >> 2) return;
        known = true;
        take_value(field, wire);
      });
      if (!known) skip(wire);
      if (is_faulty()) break;
    }
    --depth_;
  }

  bool is_faulty() const { return fault_ != nullptr; }
  const char* fault() const { return fault_ == nullptr ? "" : fault_; }
  bool is_at_end() const { return at_ == bytes_.size(); }
  std::size_t position() const { return at_; }

 private:
  template <class T>
  void take_value(T& value, Wire wire) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (wire != Wire::Bytes) return set_fault("expected bytes");
      value = std::string(take_bytes());
    } else if constexpr (IsOptional<T>::value) {
      take_value(value.emplace(), wire);
    } else if constexpr (IsVector<T>::value) {
      take_list(value, wire);
    } else if constexpr (IsMap<T>::value) {
      take_map(value, wire);
    } else if constexpr (IsVariant<T>::value) {
      if (wire != Wire::Record) return set_fault("expected a variant");
      take_variant(value);
    } else if constexpr (Record<T>) {
      if (wire != Wire::Record) return set_fault("expected a record");
      record(value);
    } else {
      if (wire != Wire::Varint) return set_fault("expected a number");
      take_number(value);
    }
  }

  template <class T>
  void take_number(T& value) {
    const std::uint64_t raw = take_varint();
    if constexpr (std::is_same_v<T, bool>)
      value = raw != 0;
    else if constexpr (std::is_enum_v<T>)
      value = static_cast<T>(raw);
    else if constexpr (IdLike<T>)
      value = T(static_cast<typename T::Representation>(raw));
    else if constexpr (IsAmount<T>::value)
      value = T(unzigzag(raw));
    else if constexpr (std::is_same_v<T, Instant> || std::is_same_v<T, Duration>)
      value = T{unzigzag(raw)};
    else if constexpr (std::is_signed_v<T>)
      value = static_cast<T>(unzigzag(raw));
    else
      value = static_cast<T>(raw);
  }

  template <class T>
  void take_list(std::vector<T>& value, Wire wire) {
    const std::uint64_t count = take_count(wire);
    value.clear();
    for (std::uint64_t i = 0; i < count && !is_faulty(); ++i)
      take_value(value.emplace_back(), take_wire());
  }

  template <class T>
  void take_map(T& value, Wire wire) {
    const std::uint64_t count = take_count(wire);
    value.clear();
    for (std::uint64_t i = 0; i + 1 < count && !is_faulty(); i += 2) {
      typename T::key_type key{};
      take_value(key, take_wire());
      take_value(value[std::move(key)], take_wire());
    }
  }

  template <class... Ts>
  void take_variant(std::variant<Ts...>& value) {
    const std::uint64_t tag = take_varint();
    const std::uint64_t number = tag >> 2;
    if (number == 0 || number > sizeof...(Ts) || static_cast<Wire>(tag & 3) != Wire::Record)
      return set_fault("unknown alternative, written by a later version");
    take_alternative(value, number - 1, std::index_sequence_for<Ts...>{});
    if (!is_faulty() && take_varint() != 0) set_fault("variant not closed");
  }

  template <class V, std::size_t... I>
  void take_alternative(V& value, std::size_t index, std::index_sequence<I...>) {
    ((I == index ? record(value.template emplace<I>()) : void()), ...);
  }

  // A list needs at least two bytes an element (its wire and its value), which bounds what a
  // hostile count can make us do.
  std::uint64_t take_count(Wire wire);
  Wire take_wire();
  std::uint64_t take_varint();
  std::string_view take_bytes();
  void skip(Wire wire);
  bool enter();
  void set_fault(const char* what) {
    if (fault_ == nullptr) fault_ = what;
    at_ = bytes_.size();
  }
  static std::int64_t unzigzag(std::uint64_t raw) {
    return static_cast<std::int64_t>(raw >> 1) ^ -static_cast<std::int64_t>(raw & 1);
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  int depth_ = 0;
  const char* fault_ = nullptr;
};

template <Record T>
std::string encode(const T& value) {
  std::string bytes;
  Encoder(bytes).record(value);
  return bytes;
}

// Code::DataLoss when the bytes are not exactly one record.
template <Record T>
Result<T> decode(std::string_view bytes) {
  T value{};
  Decoder decoder(bytes);
  decoder.record(value);
  if (decoder.is_faulty()) return fail(Code::DataLoss, "damaged record: {}", decoder.fault());
  if (!decoder.is_at_end())
    return fail(Code::DataLoss, "damaged record: {} bytes follow its end",
                bytes.size() - decoder.position());
  return value;
}

}  // namespace base
