#pragma once
// A document before its words mean anything: scalars, lists and maps with the line each stood on.
// Both readers (YAML, JSON) make it and both writers take it, so that a form is described once.
// A scalar keeps the characters that were written: nothing is turned into a number, a boolean or a
// float before the field that it stands in says what it wants. Map entries keep their order.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace manifest {

struct Tree {
  enum class Shape {
    Null,
    Text,    // certainly text: quoted, or a JSON string
    Word,    // written plainly: a number, true, 72h, a name
    Number,  // only for writing: a Word that JSON takes without quotes
    List,
    Map
  };
  struct Entry;

  // Defined below, where Entry is whole.
  Tree();
  Tree(const Tree& other);
  Tree(Tree&& other) noexcept;
  Tree& operator=(const Tree& other);
  Tree& operator=(Tree&& other) noexcept;
  ~Tree();

  Shape shape = Shape::Null;
  int line = 0;  // counted from 1; 0: made by the program
  std::string text;
  std::vector<Tree> items;
  std::vector<Entry> entries;

  static Tree of_text(std::string_view text);
  static Tree of_word(std::string_view word);  // never needs quotes in YAML, does in JSON
  static Tree of_number(std::int64_t number);
  static Tree of_boolean(bool is_true);
  static Tree list(std::vector<Tree> items = {});
  static Tree map();

  bool is_scalar() const { return shape == Shape::Text || shape == Shape::Word; }
  // Null where there is no such entry.
  const Tree* find(std::string_view key) const;
  // Both return this, so that calls can be chained.
  Tree& put(std::string_view key, Tree value);
  // The same, unless the value is an empty text, list or map.
  Tree& put_unless_empty(std::string_view key, Tree value);
};

struct Tree::Entry {
  std::string key;
  int line = 0;
  Tree value;
};

inline Tree::Tree() = default;
inline Tree::Tree(const Tree& other) = default;
inline Tree::Tree(Tree&& other) noexcept = default;
inline Tree& Tree::operator=(const Tree& other) = default;
inline Tree& Tree::operator=(Tree&& other) noexcept = default;
inline Tree::~Tree() = default;

// One document, ending with a newline, without the leading "---".
std::string to_yaml(const Tree& tree);
// Two spaces of indent, ending with a newline.
std::string to_json(const Tree& tree);

}  // namespace manifest
