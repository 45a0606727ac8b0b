#include "manifest/internal/tree.h"

#include <algorithm>
#include <array>

#include "base/json_text.h"

namespace manifest {

namespace {

Tree scalar(Tree::Shape shape, std::string_view text) {
  Tree tree;
  tree.shape = shape;
  tree.text = text;
  return tree;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Words that some reader of YAML takes for a boolean, a null or a float.
bool is_ambiguous(std::string_view text) {
  static constexpr std::array<std::string_view, 13> kWords{
      "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf", "~", ""};
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::find(kWords.begin(), kWords.end(), lower) != kWords.end();
}

// Only text that starts with a letter or a slash and has no character that YAML might read as more
// than a letter stays without quotes; everything else is quoted, which is always right.
bool is_plain_in_yaml(std::string_view text) {
  if (is_ambiguous(text)) return false;
  if (!is_letter(text.front()) && text.front() != '/' && text.front() != '_') return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '/' || c == '_' || c == '.' || c == '-' ||
           c == '+' || c == '=' || c == '@';
  });
}

// A double-quoted YAML string reads every escape that JSON has. The separators and the byte order
// mark, which JSON leaves as they are, some reader of YAML takes for the end of a line or for
// nothing.
void append_quoted_yaml(std::string& out, std::string_view text) {
  std::string quoted;
  base::append_json_string(quoted, text);
  for (std::size_t i = 0; i < quoted.size(); ++i) {
    const std::string_view rest = std::string_view(quoted).substr(i);
    if (rest.starts_with("\xe2\x80\xa8")) {
      out += "\\u2028";
      i += 2;
    } else if (rest.starts_with("\xe2\x80\xa9")) {
      out += "\\u2029";
      i += 2;
    } else if (rest.starts_with("\xef\xbb\xbf")) {
      out += "\\ufeff";
      i += 2;
    } else {
      out += quoted[i];
    }
  }
}

bool is_empty_block(const Tree& tree) {
  return (tree.shape == Tree::Shape::List && tree.items.empty()) ||
         (tree.shape == Tree::Shape::Map && tree.entries.empty());
}

void append_yaml_scalar(std::string& out, const Tree& tree) {
  switch (tree.shape) {
    case Tree::Shape::Null:
      out += "null";
      return;
    case Tree::Shape::Text:
      if (is_plain_in_yaml(tree.text))
        out += tree.text;
      else
        append_quoted_yaml(out, tree.text);
      return;
    case Tree::Shape::Word:
    case Tree::Shape::Number:
      out += tree.text;
      return;
    case Tree::Shape::List:
      out += "[]";
      return;
    case Tree::Shape::Map:
      out += "{}";
      return;
  }
}

bool is_short_list(const Tree& tree) {
  constexpr std::size_t kMaxFlowItems = 8;
  constexpr std::size_t kMaxFlowBytes = 70;
  if (tree.shape != Tree::Shape::List || tree.items.size() > kMaxFlowItems) return false;
  std::size_t bytes = 0;
  for (const Tree& item : tree.items) {
    if (item.shape == Tree::Shape::List || item.shape == Tree::Shape::Map) return false;
    bytes += item.text.size() + 2;
  }
  return bytes <= kMaxFlowBytes;
}

void append_yaml_key(std::string& out, const std::string& key) {
  if (is_plain_in_yaml(key))
    out += key;
  else
    append_quoted_yaml(out, key);
  out += ':';
}

// `indent` is where the entries of the block start; the cursor stands there already for the first
// one when `is_inline` (after "- ").
void append_yaml_block(std::string& out, const Tree& tree, int indent, bool is_inline) {
  const std::string pad(static_cast<std::size_t>(indent), ' ');
  const auto append_value = [&](const Tree& value, int inner_indent) {
    if (is_short_list(value)) {
      out += " [";
      for (bool is_first = true; const Tree& item : value.items) {
        if (!is_first) out += ", ";
        is_first = false;
        append_yaml_scalar(out, item);
      }
      out += "]\n";
    } else if (is_empty_block(value) || value.shape < Tree::Shape::List) {
      out += ' ';
      append_yaml_scalar(out, value);
      out += '\n';
    } else {
      out += '\n';
      append_yaml_block(out, value, inner_indent, false);
    }
  };
  if (tree.shape == Tree::Shape::Map) {
    for (const Tree::Entry& entry : tree.entries) {
      if (!is_inline) out += pad;
      is_inline = false;
      append_yaml_key(out, entry.key);
      append_value(entry.value, indent + 2);
    }
    return;
  }
  for (const Tree& item : tree.items) {
    if (!is_inline) out += pad;
    is_inline = false;
    out += '-';
    if (item.shape >= Tree::Shape::List && !is_empty_block(item) && !is_short_list(item)) {
      out += ' ';
      append_yaml_block(out, item, indent + 2, true);
    } else {
      append_value(item, indent + 2);
    }
  }
}

void append_json_tree(std::string& out, const Tree& tree, int indent) {
  const std::string pad(static_cast<std::size_t>(indent) + 2, ' ');
  const auto separate = [&](bool& is_first) {
    if (!is_first) out += ',';
    is_first = false;
    out += '\n';
    out += pad;
  };
  bool is_first = true;
  switch (tree.shape) {
    case Tree::Shape::Null:
      out += "null";
      return;
    case Tree::Shape::Text:
    case Tree::Shape::Word:
      base::append_json_string(out, tree.text);
      return;
    case Tree::Shape::Number:
      out += tree.text;
      return;
    case Tree::Shape::List:
      out += '[';
      for (const Tree& item : tree.items) {
        separate(is_first);
        append_json_tree(out, item, indent + 2);
      }
      break;
    case Tree::Shape::Map:
      out += '{';
      for (const Tree::Entry& entry : tree.entries) {
        separate(is_first);
        base::append_json_string(out, entry.key);
        out += ": ";
        append_json_tree(out, entry.value, indent + 2);
      }
      break;
  }
  if (!is_first) {
    out += '\n';
    out.append(static_cast<std::size_t>(indent), ' ');
  }
  out += tree.shape == Tree::Shape::List ? ']' : '}';
}

}  // namespace

Tree Tree::of_text(std::string_view text) { return scalar(Shape::Text, text); }
Tree Tree::of_word(std::string_view word) { return scalar(Shape::Word, word); }
Tree Tree::of_number(std::int64_t number) { return scalar(Shape::Number, std::to_string(number)); }
Tree Tree::of_boolean(bool is_true) { return scalar(Shape::Number, is_true ? "true" : "false"); }

Tree Tree::list(std::vector<Tree> items) {
  Tree tree;
  tree.shape = Shape::List;
  tree.items = std::move(items);
  return tree;
}

Tree Tree::map() {
  Tree tree;
  tree.shape = Shape::Map;
  return tree;
}

const Tree* Tree::find(std::string_view key) const {
  for (const Entry& entry : entries)
    if (entry.key == key) return &entry.value;
  return nullptr;
}

Tree& Tree::put(std::string_view key, Tree value) {
  entries.push_back(Entry{.key = std::string(key), .line = 0, .value = std::move(value)});
  return *this;
}

Tree& Tree::put_unless_empty(std::string_view key, Tree value) {
  const bool is_empty = is_empty_block(value) || (value.shape == Shape::Text && value.text.empty());
  return is_empty ? *this : put(key, std::move(value));
}

std::string to_yaml(const Tree& tree) {
  std::string out;
  if (tree.shape < Tree::Shape::List || is_empty_block(tree)) {
    append_yaml_scalar(out, tree);
    out += '\n';
  } else {
    append_yaml_block(out, tree, 0, false);
  }
  return out;
}

std::string to_json(const Tree& tree) {
  std::string out;
  append_json_tree(out, tree, 0);
  out += '\n';
  return out;
}

}  // namespace manifest
