#include "simulator/time_series.h"

#include <algorithm>

#include "base/assert.h"

namespace simulator {

TimeSeries::TimeSeries(base::Instant start, base::Duration width, std::size_t most)
    : start_(start), width_(width), most_(most), filled_until_(start) {
  ASSERT(width.millis > 0 && most >= 2 && most % 2 == 0);
}

void TimeSeries::set(base::Instant at, std::int64_t amount) {
  fill(at);
  amount_ = amount;
}

void TimeSeries::make_room(base::Instant until) {
  while ((until - start_).millis > width_.millis * static_cast<std::int64_t>(most_)) {
    for (std::size_t i = 0; i < sums_.size(); i += 2)
      sums_[i / 2] = sums_[i] + (i + 1 < sums_.size() ? sums_[i + 1] : 0);
    sums_.resize((sums_.size() + 1) / 2);
    width_ = width_ * 2;
  }
}

void TimeSeries::fill(base::Instant until) {
  if (until <= filled_until_) return;
  make_room(until);
  total_ += static_cast<__int128>(amount_) * (until - filled_until_).millis;
  while (filled_until_ < until) {
    const std::int64_t index = (filled_until_ - start_).millis / width_.millis;
    const base::Instant end = std::min(until, start_ + width_ * (index + 1));
    if (static_cast<std::size_t>(index) >= sums_.size())
      sums_.resize(static_cast<std::size_t>(index) + 1);
    sums_[static_cast<std::size_t>(index)] +=
        static_cast<__int128>(amount_) * (end - filled_until_).millis;
    filled_until_ = end;
  }
}

__int128 TimeSeries::integral(base::Instant at) const {
  ASSERT(at >= filled_until_);
  return total_ + static_cast<__int128>(amount_) * (at - filled_until_).millis;
}

std::vector<double> TimeSeries::means(base::Instant at) const {
  TimeSeries copy = *this;
  copy.fill(at);
  std::vector<double> means;
  means.reserve(copy.sums_.size());
  for (std::size_t i = 0; i < copy.sums_.size(); ++i) {
    const base::Instant begin = copy.start_ + copy.width_ * static_cast<std::int64_t>(i);
    const std::int64_t length = std::min(copy.width_, copy.filled_until_ - begin).millis;
    means.push_back(static_cast<double>(copy.sums_[i]) / static_cast<double>(length));
  }
  return means;
}

}  // namespace simulator
