#pragma once
// A table for people. Columns are as wide as their widest cell; when the whole is wider than the
// terminal, they move together, then those that may shrink give way, the widest first, and cut
// cells end in "…". Widths
// are those that a terminal shows, so Chinese names line up. Cells hold text from outside: they are
// made printable here and nowhere else. An empty cell shows "-": no data is not zero.
//
//   Table table({{.title = "NAME", .may_shrink = true}, {.title = "GPUS", .is_number = true}});
//   table.add({{"llama-ft"}, {"8"}});
//   console.out(table.print(console.width, console.has_color));

#include <cstddef>
#include <string>
#include <vector>

#include "cli/console.h"

namespace cli {

struct Column {
  std::string title;
  bool is_number = false;  // right-aligned
  bool may_shrink = false;
  bool is_wide_only = false;  // shown by -o wide alone
  std::size_t least = 8;      // a column that may shrink stays at least so wide
};

struct Cell {
  std::string text;
  Color color = Color::Plain;
};

class Table {
 public:
  // `is_wide` shows the columns that are for -o wide alone.
  explicit Table(std::vector<Column> columns, bool is_wide = false);

  // As many cells as columns.
  void add(std::vector<Cell> row);
  bool empty() const { return rows_.empty(); }
  // Lines end in a line feed and have no spaces before it. `width` 0: as wide as it gets.
  std::string print(std::size_t width, bool has_color) const;

 private:
  struct Layout {
    std::vector<std::size_t> widths;
    std::size_t gap = 0;
  };
  Layout fitted(std::size_t width) const;
  bool is_shown(std::size_t column) const { return is_wide_ || !columns_[column].is_wide_only; }

  std::vector<Column> columns_;
  bool is_wide_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace cli
