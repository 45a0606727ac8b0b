#include "simulator/csv_table.h"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"

namespace simulator {

using base::Code;

namespace {

constexpr std::uintmax_t kLargestFile = std::uintmax_t{1} << 30;
constexpr std::size_t kShownMax = 40;

std::string_view without_bom(std::string_view text) {
  constexpr std::string_view kBom = "\xEF\xBB\xBF";
  if (text.starts_with(kBom)) text.remove_prefix(kBom.size());
  return text;
}

// One line without its end; the rest moves on behind it.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool has_control_byte(std::string_view line) {
  return std::any_of(line.begin(), line.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; });
}

}  // namespace

base::Result<CsvTable> CsvTable::read(const std::filesystem::path& path) {
  std::error_code failure;
  const std::string source = path.filename().string();
  if (!std::filesystem::is_regular_file(path, failure))
    return base::fail(Code::NotFound, "{} is not a file that can be read", path.string());
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (failure || size > kLargestFile)
    return base::fail(Code::TooLarge, "{} is larger than 1 GiB; split it", path.string());
  std::string text(size, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(size));
  if (!in || static_cast<std::uintmax_t>(in.gcount()) != size)
    return base::fail(Code::Unavailable, "{} could not be read to its end", path.string());
  return parse(std::move(text), source);
}

base::Result<CsvTable> CsvTable::parse(std::string text, std::string source) {
  CsvTable table;
  table.source_ = std::move(source);
  table.text_ = std::make_unique<std::string>(std::move(text));
  if (base::Result<base::Done> done = table.split(); !done)
    return tl::unexpected(std::move(done.error()));
  return table;
}

base::Result<base::Done> CsvTable::split() {
  std::string_view rest = without_bom(*text_);
  if (rest.empty()) return bad_line(1, "the file is empty", "a header row is needed");
  std::size_t number = 0;
  std::size_t blank = 0;  // number of the first of the blank lines that were just read
  while (!rest.empty()) {
    const std::string_view line = take_line(rest);
    ++number;
    if (line.empty()) {
      if (blank == 0) blank = number;
      continue;
    }
    if (blank != 0)
      return bad_line(blank, "blank line between rows", "remove it, or the rows behind it");
    if (!base::is_utf8(line)) return bad_line(number, "not UTF-8", "convert the file with iconv");
    if (has_control_byte(line))
      return bad_line(number, "control character in the line", "is this a text file?");
    auto fields = split_line(line, number);
    if (!fields) return tl::unexpected(std::move(fields.error()));
    if (header_.empty()) {
      header_ = std::move(*fields);
      std::vector<std::string_view> sorted = header_;
      std::sort(sorted.begin(), sorted.end());
      const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
      if (twice != sorted.end())
        return bad_line(number, fmt::format("column '{}' stands twice in the header", *twice),
                        "rename one of the two");
      continue;
    }
    if (fields->size() != header_.size())
      return bad_line(
          number, fmt::format("{} fields where the header has {}", fields->size(), header_.size()),
          "give every column of the header a field");
    cells_.insert(cells_.end(), fields->begin(), fields->end());
  }
  if (header_.empty()) return bad_line(1, "there is no header row", "name the columns in line 1");
  if (cells_.empty()) return bad_line(number, "no rows follow the header", "is the file complete?");
  return base::Done{};
}

base::Result<std::vector<std::string_view>> CsvTable::split_line(std::string_view line,
                                                                 std::size_t number) {
  std::vector<std::string_view> fields;
  fields.reserve(header_.size());
  while (true) {
    if (!line.starts_with('"')) {
      const std::size_t end = line.find(',');
      const std::string_view field = line.substr(0, end);
      if (field.find('"') != std::string_view::npos)
        return bad_line(number, "a quote inside a field that does not begin with one",
                        "quote the whole field and double the quote");
      fields.push_back(field);
      if (end == std::string_view::npos) return fields;
      line.remove_prefix(end + 1);
      continue;
    }
    std::string field;
    std::size_t at = 1;
    for (; at < line.size(); ++at) {
      if (line[at] != '"') {
        field += line[at];
      } else if (at + 1 < line.size() && line[at + 1] == '"') {
        field += line[at++];
      } else {
        break;
      }
    }
    if (at >= line.size())
      return bad_line(number, "a quoted field does not end in its line", "close the quote");
    fields.push_back(unquoted_.emplace_back(std::move(field)));
    line.remove_prefix(at + 1);
    if (line.empty()) return fields;
    if (!line.starts_with(','))
      return bad_line(number, "text behind the closing quote of a field", "put a comma there");
    line.remove_prefix(1);
  }
}

base::Result<std::size_t> CsvTable::column(std::string_view name) const {
  if (const std::optional<std::size_t> found = optional_column(name)) return *found;
  return base::fail_field(Code::InvalidArgument, fmt::format("{}:1:{}", source_, name),
                          "there is no such column",
                          fmt::format("the header has {}", fmt::join(header_, ", ")));
}

std::optional<std::size_t> CsvTable::optional_column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header_.begin());
}

base::Result<std::int64_t> CsvTable::integer(std::size_t row, std::size_t column, std::int64_t low,
                                             std::int64_t high) const {
  const base::Result<std::int64_t> value = base::parse_integer(cell(row, column));
  if (value && *value >= low && *value <= high) return *value;
  return bad_cell(row, column, "is not a whole number in range",
                  fmt::format("write one from {} to {}", low, high));
}

base::Result<base::Duration> CsvTable::duration(std::size_t row, std::size_t column) const {
  const std::string_view text = cell(row, column);
  // Thousandths of a second; a unit letter is for people, not for tables.
  const bool is_plain = !text.empty() && text.back() >= '0' && text.back() <= '9';
  if (is_plain)
    if (const base::Result<std::int64_t> millis = base::parse_milli(text))
      return base::Duration{*millis};
  return bad_cell(row, column, "is not a time in seconds",
                  "write seconds, not negative, with at most three decimals, like 2951.5");
}

base::Result<base::Instant> CsvTable::instant(std::size_t row, std::size_t column) const {
  if (const base::Result<base::Instant> at = base::parse_instant(cell(row, column))) return *at;
  return bad_cell(row, column, "is not a time", "write it in UTC like 2017-10-09 07:01:55");
}

tl::unexpected<base::Error> CsvTable::bad_cell(std::size_t row, std::size_t column,
                                               std::string message, std::string hint) const {
  std::string_view shown = cell(row, column);
  const bool is_cut = shown.size() > kShownMax;
  // A cut in the middle of a character would make the message itself bad UTF-8.
  shown = shown.substr(0, kShownMax);
  while (is_cut && !shown.empty() && (static_cast<unsigned char>(shown.back()) & 0x80) != 0)
    shown.remove_suffix(1);
  return base::fail_field(
      Code::InvalidArgument, fmt::format("{}:{}:{}", source_, row + 2, header_[column]),
      fmt::format("'{}{}' {}", shown, is_cut ? "…" : "", message), std::move(hint));
}

tl::unexpected<base::Error> CsvTable::bad_line(std::size_t number, std::string message,
                                               std::string hint) const {
  return base::fail_field(Code::InvalidArgument, fmt::format("{}:{}", source_, number),
                          std::move(message), std::move(hint));
}

}  // namespace simulator
