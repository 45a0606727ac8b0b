#pragma once
// Where the command writes and what the other side can show. Programs read standard output, so only
// answers go there; notes, hints and progress go to the error stream.
//
// Colours mean one thing each: green useful, grey idle, amber warning, red broken, blue lent,
// violet reserved. Text from outside passes through printable() before it reaches a terminal.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace cli {

enum class Color { Plain, Useful, Idle, Warning, Broken, Lent, Reserved, Heading };

struct Console {
  // Both may be called from several threads at once.
  std::function<void(std::string_view)> out;
  std::function<void(std::string_view)> err;
  bool is_terminal = false;  // standard output is one
  bool has_color = false;    // a terminal, and neither NO_COLOR nor --no-color
  std::size_t width = 80;    // columns
};

// `text` in the colour, or as it is when `has_color` is false or the colour is Plain.
std::string colored(std::string_view text, Color color, bool has_color);

// Control characters as \x1b, line ends as \n, marks that reorder text as \u202e, bytes that are
// not UTF-8 as U+FFFD: nothing that a user named can move the cursor or hide what follows.
std::string printable(std::string_view text);

// The same for text that has lines of its own; each ends in a line feed.
std::string printable_lines(std::string_view text);

// The first columns of `text`; when something is left out the last column is "…". Counts what a
// terminal shows: wide characters are two columns and are never cut in half.
std::string clipped(std::string_view text, std::size_t columns);

}  // namespace cli
