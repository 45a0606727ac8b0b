#pragma once
// Reading a tree by what each field wants. A Field is a place in the tree with its path; asking it
// for a value of some type gives the value, or notes the fault and gives a default. Only the first
// fault of a document is kept, so readers go straight on and the caller looks once, at the end.
//
//   Map spec = root.map({"weight", "quantum"});       // any other key is a fault
//   if (const Field f = spec["weight"]) queue.weight = f.integer(0, 1000000);

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/instant.h"
#include "base/result.h"
#include "manifest/internal/tree.h"

namespace manifest {

class Map;

// The first fault of one document. `field` of the error is the path, "spec.replicas.min".
struct Fault {
  std::optional<base::Error> error;
  int line = 0;
};

// No amount in a manifest, and no sum over one workload, is above this (16 PiB when bytes): sums
// over very many workloads stay far from the end of 64 bits.
inline constexpr std::int64_t kMaxAmount = std::int64_t{1} << 54;
inline constexpr std::size_t kMaxListItems = 4096;

class Field {
 public:
  // `tree` may be nullptr: the field is absent, which asking for a value of it must not meet.
  Field(const Tree* tree, std::string path, Fault& fault)
      : tree_(tree), path_(std::move(path)), fault_(&fault) {}

  explicit operator bool() const { return tree_ != nullptr; }
  const std::string& path() const { return path_; }
  bool is_list() const { return tree_->shape == Tree::Shape::List; }
  bool is_map() const { return tree_->shape == Tree::Shape::Map; }
  bool is_scalar() const { return tree_->is_scalar(); }
  // As written, "" when it is no scalar; for choosing between forms.
  std::string_view written() const { return tree_->text; }

  void refuse(std::string message, std::string hint,
              base::Code code = base::Code::InvalidArgument) const;

  // A map of these keys only; another key is a fault that suggests the nearest.
  Map map(std::initializer_list<std::string_view> allowed) const;
  // A map with keys of the writer's own, in the order written.
  std::vector<std::pair<std::string, Field>> entries(std::size_t max) const;
  std::vector<Field> items(std::size_t max) const;
  // A list of texts, or one text standing for a list of one.
  std::vector<std::string> texts(std::size_t max, std::size_t max_bytes) const;
  std::map<std::string, std::string> text_map(std::size_t max, std::size_t max_bytes) const;

  // Text without NUL and not empty. A plain word that some reader of YAML takes for a boolean or
  // null (yes, on, true) must be quoted.
  std::string text(std::size_t max_bytes) const;
  // Text that satisfies base::check_name.
  std::string name() const;
  bool boolean() const;
  // A plain whole number, low <= n <= high.
  std::int64_t integer(std::int64_t low, std::int64_t high) const;
  std::int32_t small_integer(std::int32_t low, std::int32_t high) const;
  // Amounts as people write them, 0 .. kMaxAmount.
  std::int64_t milli() const;
  std::int64_t bytes() const;
  std::int64_t count() const;
  // Up to ten years; zero only where `may_be_zero`.
  enum class Zero { Allowed, Refused };
  base::Duration duration(Zero zero) const;
  base::Instant instant() const;

  template <base::NamedEnum E>
  E one_of() const {
    return static_cast<E>(index_of(enum_names(E{})));
  }
  // The position among `words`; an unknown word is a fault that lists them.
  std::size_t index_of(std::span<const std::string_view> words) const;

 private:
  // The scalar as it stands; nothing after a fault.
  std::optional<std::string_view> scalar(std::string_view wanted) const;
  template <class T>
  std::optional<T> parsed(base::Result<T> result) const;

  const Tree* tree_;
  std::string path_;
  Fault* fault_;
};

// A map whose keys have been checked.
class Map {
 public:
  Map(const Tree* tree, std::string path, Fault& fault)
      : tree_(tree), path_(std::move(path)), fault_(&fault) {}
  // Absent when there is no such key.
  Field operator[](std::string_view key) const;
  // Absent is a fault, which says `hint`; the caller gets the absent field.
  Field required(std::string_view key, std::string hint) const;
  const Fault& fault() const { return *fault_; }

 private:
  const Tree* tree_;
  std::string path_;
  Fault* fault_;
};

// "spec" + "weight" -> "spec.weight"
std::string join_path(std::string_view path, std::string_view key);
// Text for a message: long text is cut, control characters become '?'.
std::string shortened(std::string_view text);
// "a, b or c"
std::string list_words(std::span<const std::string_view> words);

}  // namespace manifest
