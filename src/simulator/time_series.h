#pragma once
// A quantity over virtual time in a bounded number of equal intervals, of an unknown total length:
// when time runs beyond the last interval, neighbours are merged and intervals become twice as
// long. Sums are exact 128-bit integers (amount times milliseconds), so merging loses nothing.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/instant.h"

namespace simulator {

class TimeSeries {
 public:
  // Begins at `start` with intervals of `width` > 0; `most` intervals at most, an even number.
  TimeSeries(base::Instant start, base::Duration width, std::size_t most = 480);

  // The amount from now on; time never goes back.
  void set(base::Instant at, std::int64_t amount);
  void add(base::Instant at, std::int64_t change) { set(at, amount_ + change); }
  std::int64_t amount() const { return amount_; }

  // Integral from the start up to `at`, of what was set so far.
  __int128 integral(base::Instant at) const;
  // Mean of each interval up to `at`; the last one may be shorter.
  std::vector<double> means(base::Instant at) const;
  base::Duration width() const { return width_; }
  base::Instant start() const { return start_; }

 private:
  void fill(base::Instant until);
  void make_room(base::Instant until);

  base::Instant start_;
  base::Duration width_;
  std::size_t most_;
  base::Instant filled_until_;
  std::int64_t amount_ = 0;
  __int128 total_ = 0;
  std::vector<__int128> sums_;
};

}  // namespace simulator
