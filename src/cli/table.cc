#include "cli/table.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/text.h"

namespace cli {
namespace {

constexpr std::size_t kWideGap = 2;
constexpr std::size_t kNarrowGap = 1;

std::string padded(const std::string& text, std::size_t width, bool is_number) {
  const std::size_t used = base::display_width(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return is_number ? space + text : text + space;
}

void trim_end(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

Table::Table(std::vector<Column> columns, bool is_wide)
    : columns_(std::move(columns)), is_wide_(is_wide) {}

void Table::add(std::vector<Cell> row) {
  ASSERT(row.size() == columns_.size());
  for (Cell& cell : row)
    cell.text = cell.text.empty() ? "-" : printable(cell.text);
  rows_.push_back(std::move(row));
}

Table::Layout Table::fitted(std::size_t width) const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  std::size_t total = 0, shown = 0;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!is_shown(i)) continue;
    widths[i] = base::display_width(columns_[i].title);
    for (const auto& row : rows_)
      widths[i] = std::max(widths[i], base::display_width(row[i].text));
    total += widths[i];
    ++shown;
  }
  const std::size_t gaps = shown == 0 ? 0 : shown - 1;
  const bool is_tight = width != 0 && total + gaps * kWideGap > width;
  const std::size_t gap = is_tight ? kNarrowGap : kWideGap;
  total += gaps * gap;
  while (width != 0 && total > width) {
    std::size_t widest = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::size_t least = std::max(columns_[i].least, base::display_width(columns_[i].title));
      if (!is_shown(i) || !columns_[i].may_shrink || widths[i] <= least) continue;
      if (widest == columns_.size() || widths[i] > widths[widest]) widest = i;
    }
    if (widest == columns_.size()) break;  // nothing gives way any more: the lines wrap
    --widths[widest];
    --total;
  }
  return {.widths = std::move(widths), .gap = gap};
}

std::string Table::print(std::size_t width, bool has_color) const {
  const Layout layout = fitted(width);
  std::string out;
  const auto line = [&](const std::vector<Cell>& cells) {
    std::string text;
    bool is_first = true;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!is_shown(i)) continue;
      if (!is_first) text.append(layout.gap, ' ');
      is_first = false;
      const std::string shown =
          padded(clipped(cells[i].text, layout.widths[i]), layout.widths[i], columns_[i].is_number);
      text += colored(shown, cells[i].color, has_color);
    }
    trim_end(text);
    out += text + "\n";
  };
  std::vector<Cell> titles;
  for (const Column& column : columns_)
    titles.push_back({column.title, Color::Heading});
  line(titles);
  for (const auto& row : rows_)
    line(row);
  return out;
}

}  // namespace cli
