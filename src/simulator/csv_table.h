#pragma once
// A CSV file with a header row, read strictly: UTF-8 only, every row as wide as the header, nothing
// repaired or guessed. Columns are found by name. Errors name "file:line:column-name" and the
// remedy. Quotes as in RFC 4180, except that a field never spans lines; blank lines are allowed at
// the end only. Reading costs O(bytes); cells are views into the text that the table owns.
//
//   auto table = CsvTable::read("philly.csv");
//   auto duration = table->column("duration");
//   auto millis = table->duration(row, *duration);

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"
#include "base/result.h"

namespace simulator {

class CsvTable {
 public:
  // Code::NotFound, Code::TooLarge beyond 1 GiB, Code::InvalidArgument for everything in the text.
  static base::Result<CsvTable> read(const std::filesystem::path& path);
  // `source` stands for the file in messages.
  static base::Result<CsvTable> parse(std::string text, std::string source);

  std::size_t rows() const { return cells_.size() / header_.size(); }
  // The error lists the columns that there are.
  base::Result<std::size_t> column(std::string_view name) const;
  std::optional<std::size_t> optional_column(std::string_view name) const;

  std::string_view cell(std::size_t row, std::size_t column) const {
    return cells_[row * header_.size() + column];
  }
  base::Result<std::int64_t> integer(std::size_t row, std::size_t column, std::int64_t low,
                                     std::int64_t high) const;
  // Seconds with up to three decimals, "2951.0"; never negative.
  base::Result<base::Duration> duration(std::size_t row, std::size_t column) const;
  // "2017-10-09 07:01:55" in UTC, or RFC 3339.
  base::Result<base::Instant> instant(std::size_t row, std::size_t column) const;

  // An error about one cell.
  tl::unexpected<base::Error> bad_cell(std::size_t row, std::size_t column, std::string message,
                                       std::string hint) const;

 private:
  CsvTable() = default;
  base::Result<base::Done> split();
  base::Result<std::vector<std::string_view>> split_line(std::string_view line, std::size_t number);
  tl::unexpected<base::Error> bad_line(std::size_t number, std::string message,
                                       std::string hint) const;

  std::string source_;
  std::unique_ptr<std::string> text_;  // its address never changes: cells point into it
  std::deque<std::string> unquoted_;   // cells whose text had doubled quotes
  std::vector<std::string_view> header_;
  std::vector<std::string_view> cells_;  // row by row
};

}  // namespace simulator
