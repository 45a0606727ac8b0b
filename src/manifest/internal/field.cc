#include "manifest/internal/field.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/assert.h"
#include "base/text.h"

namespace manifest {

namespace {

using base::Code;

constexpr base::Duration kLongest = base::days(3653);

bool is_yaml_boolean(std::string_view word) {
  static constexpr std::array<std::string_view, 18> kWords{
      "true", "True", "TRUE", "false", "False", "FALSE", "yes", "Yes", "YES",
      "no",   "No",   "NO",   "on",    "On",    "ON",    "off", "Off", "OFF"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

std::string_view shape_name(const Tree& tree) {
  switch (tree.shape) {
    case Tree::Shape::Null:
      return "nothing";
    case Tree::Shape::Text:
      return "text";
    case Tree::Shape::Word:
    case Tree::Shape::Number:
      return "a word or number";
    case Tree::Shape::List:
      return "a list";
    case Tree::Shape::Map:
      return "a map";
  }
  return "?";
}

}  // namespace

std::string shortened(std::string_view text) {
  constexpr std::size_t kLimit = 60;
  std::string out;
  for (const char c : text.substr(0, kLimit))
    out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  // The cut may go through a character of up to four bytes.
  for (int i = 0; i < 3 && !base::is_utf8(out); ++i)
    out.pop_back();
  if (text.size() <= kLimit) return out;
  return out + "…";
}

std::string join_path(std::string_view path, std::string_view key) {
  // A key that is not a plain word would make the path ambiguous.
  const bool is_plain = !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  const std::string word = is_plain ? std::string(key) : "\"" + shortened(key) + "\"";
  return path.empty() ? word : std::string(path) + "." + word;
}

std::string list_words(std::span<const std::string_view> words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

void Field::refuse(std::string message, std::string hint, Code code) const {
  if (fault_->error) return;
  fault_->error = base::Error{
      .code = code, .message = std::move(message), .field = path_, .hint = std::move(hint)};
  fault_->line = tree_ == nullptr ? 0 : tree_->line;
}

Map Field::map(std::initializer_list<std::string_view> allowed) const {
  if (!is_map()) {
    refuse("expected a map, found " + std::string(shape_name(*tree_)),
           "keys here are " + list_words(std::span(allowed.begin(), allowed.size())));
    return Map(tree_, path_, *fault_);  // in which nothing is found
  }
  for (const Tree::Entry& entry : tree_->entries) {
    if (std::find(allowed.begin(), allowed.end(), entry.key) != allowed.end()) continue;
    const std::span<const std::string_view> words(allowed.begin(), allowed.size());
    const auto near = base::nearest(entry.key, words);
    Tree at;
    at.line = entry.line;
    Field(&at, join_path(path_, entry.key), *fault_)
        .refuse("unknown key " + shortened(entry.key),
                near ? "did you mean " + std::string(*near) + "?"
                     : "keys here are " + list_words(words));
    break;
  }
  return Map(tree_, path_, *fault_);
}

std::vector<std::pair<std::string, Field>> Field::entries(std::size_t max) const {
  std::vector<std::pair<std::string, Field>> found;
  if (!is_map()) {
    refuse("expected a map, found " + std::string(shape_name(*tree_)), "write key: value");
  } else if (tree_->entries.size() > max) {
    refuse(fmt::format("{} entries, at most {} are allowed", tree_->entries.size(), max),
           "leave some out", Code::TooLarge);
  } else {
    for (const Tree::Entry& entry : tree_->entries)
      found.emplace_back(entry.key, Field(&entry.value, join_path(path_, entry.key), *fault_));
  }
  return found;
}

std::vector<Field> Field::items(std::size_t max) const {
  std::vector<Field> found;
  if (!is_list()) {
    refuse("expected a list, found " + std::string(shape_name(*tree_)), "write [a, b]");
  } else if (tree_->items.size() > max) {
    refuse(fmt::format("{} items, at most {} are allowed", tree_->items.size(), max),
           "leave some out", Code::TooLarge);
  } else {
    for (std::size_t i = 0; i < tree_->items.size(); ++i)
      found.emplace_back(&tree_->items[i], fmt::format("{}[{}]", path_, i), *fault_);
  }
  return found;
}

std::vector<std::string> Field::texts(std::size_t max, std::size_t max_bytes) const {
  std::vector<std::string> found;
  if (is_scalar()) return {text(max_bytes)};
  for (const Field& item : items(max))
    found.push_back(item.text(max_bytes));
  return found;
}

std::map<std::string, std::string> Field::text_map(std::size_t max, std::size_t max_bytes) const {
  constexpr std::size_t kLongestKey = 128;
  std::map<std::string, std::string> found;
  for (const auto& [key, value] : entries(max)) {
    const bool is_good = !key.empty() && key.size() <= kLongestKey &&
                         std::all_of(key.begin(), key.end(), [](char c) {
                           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                  (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' ||
                                  c == '/';
                         });
    if (!is_good)
      value.refuse("the key " + shortened(key) + " is not allowed",
                   "use 1 to 128 of letters, digits, '.', '_', '-' and '/'");
    // A label without a value is a mark; it must be written as "" to be meant.
    const bool is_empty = value.tree_->shape == Tree::Shape::Text && value.written().empty();
    found.emplace(key, is_empty ? std::string() : value.text(max_bytes));
  }
  return found;
}

std::optional<std::string_view> Field::scalar(std::string_view wanted) const {
  ASSERT(tree_ != nullptr);
  if (is_scalar()) return tree_->text;
  if (tree_->shape == Tree::Shape::Null)
    refuse("has no value", fmt::format("write {}, or remove the line", wanted));
  else
    refuse(fmt::format("expected {}, found {}", wanted, shape_name(*tree_)), "");
  return std::nullopt;
}

template <class T>
std::optional<T> Field::parsed(base::Result<T> result) const {
  if (result) return *result;
  refuse(result.error().message, result.error().hint, result.error().code);
  return std::nullopt;
}

std::string Field::text(std::size_t max_bytes) const {
  const auto written = scalar("text");
  if (!written) return {};
  if (tree_->shape == Tree::Shape::Word && is_yaml_boolean(*written)) {
    refuse(fmt::format("expected text, found the plain word {}", *written),
           fmt::format("write \"{}\" in quotes if that is the text", *written));
  } else if (written->empty()) {
    refuse("the text is empty", "write one, or remove the line");
  } else if (written->size() > max_bytes) {
    refuse(fmt::format("{} bytes of text, at most {} are allowed", written->size(), max_bytes),
           "shorten it", Code::TooLarge);
  } else if (written->find('\0') != std::string_view::npos) {
    refuse("the text holds a NUL character", "remove it");
  } else if (!base::is_utf8(*written)) {
    refuse("the text is not UTF-8", "an escape in it makes half a character; write the whole one");
  } else {
    return std::string(*written);
  }
  return {};
}

std::string Field::name() const {
  std::string found = text(kMaxListItems);
  if (!found.empty()) parsed(base::check_name(found, path_));
  return found;
}

bool Field::boolean() const {
  const auto written = scalar("true or false");
  if (!written) return false;
  if (tree_->shape == Tree::Shape::Word && *written == "true") return true;
  if (tree_->shape == Tree::Shape::Word && *written == "false") return false;
  refuse(fmt::format("expected true or false, found {}", shortened(*written)),
         "write true or false, small and without quotes");
  return false;
}

std::int64_t Field::integer(std::int64_t low, std::int64_t high) const {
  const auto written = scalar("a whole number");
  if (!written) return low;
  const std::string_view digits =
      written->starts_with('-') ? written->substr(1) : std::string_view(*written);
  if (tree_->shape == Tree::Shape::Text) {
    refuse(fmt::format("expected a whole number, found the text \"{}\"", shortened(*written)),
           "write it without quotes");
  } else if (digits.size() > 1 && digits.starts_with('0')) {
    refuse(fmt::format("{} starts with a zero, which some read as octal or hexadecimal",
                       shortened(*written)),
           "write it in decimal without the zero");
  } else if (const auto value = parsed(base::parse_integer(*written))) {
    if (*value >= low && *value <= high) return *value;
    refuse(fmt::format("{} is outside {} to {}", *value, low, high),
           "choose a number in that range");
  }
  return low;
}

std::int32_t Field::small_integer(std::int32_t low, std::int32_t high) const {
  return static_cast<std::int32_t>(integer(low, high));
}

namespace {

// The faults that every kind of amount has in common; empty: none.
std::string_view fault_of_amount(std::string_view text) {
  if (text.starts_with('-')) return "an amount is never negative";
  if (text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9')
    return "it starts with a zero, which some read as octal";
  return {};
}

}  // namespace

std::int64_t Field::milli() const {
  const auto written = scalar("an amount like 16 or 0.5");
  if (!written) return 0;
  if (const auto fault = fault_of_amount(*written); !fault.empty()) {
    refuse(fmt::format("{}: {}", shortened(*written), fault), "write it like 16, 0.5 or 500m");
    return 0;
  }
  const auto value = parsed(base::parse_milli(*written));
  if (value.value_or(0) <= kMaxAmount) return value.value_or(0);
  refuse(fmt::format("{} is more than any cluster has", shortened(*written)),
         "write what is needed");
  return 0;
}

std::int64_t Field::bytes() const {
  const auto written = scalar("a size like 128Gi");
  if (!written) return 0;
  if (const auto fault = fault_of_amount(*written); !fault.empty()) {
    refuse(fmt::format("{}: {}", shortened(*written), fault), "write it like 1024, 128Gi or 40G");
    return 0;
  }
  const auto value = parsed(base::parse_bytes(*written));
  if (value.value_or(0) <= kMaxAmount) return value.value_or(0);
  refuse(fmt::format("{} is more than any cluster has", shortened(*written)),
         "write what is needed");
  return 0;
}

std::int64_t Field::count() const {
  const auto written = scalar("a whole number");
  if (!written) return 0;
  if (const auto fault = fault_of_amount(*written); !fault.empty()) {
    refuse(fmt::format("{}: {}", shortened(*written), fault), "write it like 4");
    return 0;
  }
  const auto value = parsed(base::parse_integer(*written));
  if (value.value_or(0) <= kMaxAmount) return value.value_or(0);
  refuse(fmt::format("{} is more than any cluster has", shortened(*written)),
         "write what is needed");
  return 0;
}

base::Duration Field::duration(Zero zero) const {
  const auto written = scalar("a duration like 90s or 2h");
  if (!written) return {};
  if (written->starts_with('-')) {
    refuse(fmt::format("{}: a duration is never negative", shortened(*written)),
           "write it like 90s, 2h or 1d12h");
    return {};
  }
  const bool is_bare_zero = *written == "0";
  const auto value = is_bare_zero ? base::Duration{} : parsed(base::parse_duration(*written));
  if (!value) return {};
  if (*value > kLongest) {
    refuse(fmt::format("{} is longer than ten years", shortened(*written)), "shorten it");
    return {};
  }
  if (*value == base::Duration{} && zero == Zero::Refused)
    refuse("the duration is zero", "write a longer one, or remove the line");
  return *value;
}

base::Instant Field::instant() const {
  const auto written = scalar("a time like 2026-12-01T09:30:00Z");
  if (!written) return {};
  const auto value = parsed(base::parse_instant(*written));
  // From 1970 to 9999, which is what the printed form can say.
  constexpr base::Instant kLast{253'402'300'799'999};
  if (value && (*value < base::Instant{} || *value > kLast))
    refuse(fmt::format("{} is not between 1970 and 9999", shortened(*written)),
           "write a real time");
  return value.value_or(base::Instant{});
}

std::size_t Field::index_of(std::span<const std::string_view> words) const {
  const auto written = scalar(list_words(words));
  if (!written) return 0;
  const auto at = std::find(words.begin(), words.end(), *written);
  if (at != words.end()) return static_cast<std::size_t>(at - words.begin());
  const auto near = base::nearest(*written, words);
  refuse(
      fmt::format("unknown word {}", shortened(*written)),
      near ? fmt::format("did you mean {}?", *near) : fmt::format("write {}", list_words(words)));
  return 0;
}

Field Map::operator[](std::string_view key) const {
  return Field(tree_->find(key), join_path(path_, key), *fault_);
}

Field Map::required(std::string_view key, std::string hint) const {
  Field field = (*this)[key];
  if (!field && !fault_->error) {
    Field(tree_, field.path(), *fault_).refuse("is missing", std::move(hint));
  }
  return field;
}

}  // namespace manifest
