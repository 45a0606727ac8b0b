// Prices are a solution of the dual of the cutting-stock program: no way to cut a device is worth
// more than it, and the demand is worth as much as any such prices can make it.

#include "policy/piece_prices.h"

#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace {

using policy::piece_prices;
using policy::PieceDemand;

std::vector<PieceDemand> demand(std::vector<std::pair<std::int64_t, std::int64_t>> pieces) {
  std::vector<PieceDemand> result;
  for (const auto& [size, count] : pieces)
    result.push_back({.size = base::MilliDevice(size), .pieces = count});
  return result;
}

using Pattern = std::vector<std::int64_t>;

void each_pattern(const std::vector<PieceDemand>& pieces, std::size_t from, std::int64_t room,
                  Pattern& pattern, std::vector<Pattern>& all) {
  if (from == pieces.size()) {
    all.push_back(pattern);
    return;
  }
  for (std::int64_t n = 0; n * pieces[from].size.value <= room; ++n) {
    pattern[from] = n;
    each_pattern(pieces, from + 1, room - n * pieces[from].size.value, pattern, all);
  }
  pattern[from] = 0;
}

std::vector<Pattern> all_patterns(const std::vector<PieceDemand>& pieces) {
  std::vector<Pattern> all;
  Pattern pattern(pieces.size(), 0);
  each_pattern(pieces, 0, 1000, pattern, all);
  return all;
}

// The most that the demand is worth at prices at which no pattern is worth more than 1: a textbook
// simplex over all patterns, in floating point, with the pivot rule of Bland.
double most_worth(const std::vector<PieceDemand>& pieces, const std::vector<Pattern>& patterns) {
  const std::size_t n = pieces.size(), m = patterns.size();
  std::vector<std::vector<double>> rows(m + 1, std::vector<double>(n + m + 1, 0));
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      rows[i][j] = static_cast<double>(patterns[i][j]);
    rows[i][n + i] = 1;
    rows[i][n + m] = 1;
  }
  for (std::size_t j = 0; j < n; ++j)
    rows[m][j] = -static_cast<double>(pieces[j].pieces);
  std::vector<std::size_t> basis(m);
  for (std::size_t i = 0; i < m; ++i)
    basis[i] = n + i;
  while (true) {
    std::size_t column = 0;
    while (column < n + m && rows[m][column] > -1e-9)
      ++column;
    if (column == n + m) return rows[m][n + m];
    std::size_t leaving = m;
    for (std::size_t i = 0; i < m; ++i) {
      if (rows[i][column] <= 1e-9) continue;
      const double ratio = rows[i][n + m] / rows[i][column];
      const double least = leaving == m ? 1e300 : rows[leaving][n + m] / rows[leaving][column];
      if (ratio < least - 1e-12 || (ratio < least + 1e-12 && basis[i] < basis[leaving]))
        leaving = i;
    }
    const double pivot = rows[leaving][column];
    for (double& value : rows[leaving])
      value /= pivot;
    for (std::size_t i = 0; i <= m; ++i) {
      const double factor = rows[i][column];
      if (i == leaving || factor == 0) continue;
      for (std::size_t j = 0; j < rows[i].size(); ++j)
        rows[i][j] -= factor * rows[leaving][j];
    }
    basis[leaving] = column;
  }
}

TEST(PiecePrices, AWholeDeviceIsWorthOne) {
  EXPECT_EQ(piece_prices(demand({{1000, 7}})), (std::vector<std::int64_t>{1'000'000}));
}

TEST(PiecePrices, ASizeThatLeavesNothingUsableIsWorthAWholeDevice) {
  EXPECT_EQ(piece_prices(demand({{810, 3}, {1000, 7}})),
            (std::vector<std::int64_t>{1'000'000, 1'000'000}));
}

TEST(PiecePrices, WhatFillsTheRestOfOthersIsWorthNothingWhileThereIsRestEnough) {
  // Every 700 leaves 300 over, more than the few 300s take.
  EXPECT_EQ(piece_prices(demand({{300, 2}, {700, 9}})), (std::vector<std::int64_t>{0, 1'000'000}));
  // And with more of them than rests, three go on a device and the 700s pay what is left.
  EXPECT_EQ(piece_prices(demand({{300, 90}, {700, 9}})),
            (std::vector<std::int64_t>{333'333, 666'667}));
}

TEST(PiecePrices, AreADualSolutionForEveryDemand) {
  base::Random random{base::Seed{11}};
  for (int run = 0; run < 400; ++run) {
    std::set<std::int64_t> sizes;
    const auto count = random.between(1, 4);
    while (std::ssize(sizes) < count)
      sizes.insert(10 * random.between(12, 100));
    std::vector<PieceDemand> pieces;
    for (const std::int64_t size : sizes)
      pieces.push_back({.size = base::MilliDevice(size), .pieces = random.between(1, 50)});
    const std::vector<std::int64_t> prices = piece_prices(pieces);
    const std::vector<Pattern> patterns = all_patterns(pieces);
    std::int64_t worth = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      EXPECT_GE(prices[i], 0);
      worth += prices[i] * pieces[i].pieces;
    }
    for (const Pattern& pattern : patterns) {
      std::int64_t sum = 0, cut = 0;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        sum += pattern[i] * prices[i];
        cut += pattern[i];
      }
      EXPECT_LE(sum, 1'000'000 + cut) << "a way to cut a device is worth more than the device";
    }
    EXPECT_NEAR(static_cast<double>(worth) / 1e6, most_worth(pieces, patterns), 1e-3);
  }
}

TEST(PiecePrices, AreTheSameForTheSameDemandAndForItsMultiples) {
  const auto once = demand({{220, 30}, {320, 11}, {470, 40}, {550, 9}, {650, 12}, {1000, 100}});
  auto often = once;
  for (PieceDemand& piece : often)
    piece.pieces *= 1000;
  EXPECT_EQ(piece_prices(once), piece_prices(once));
  EXPECT_EQ(piece_prices(once), piece_prices(often));
}

}  // namespace
