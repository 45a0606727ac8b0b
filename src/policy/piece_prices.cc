#include "policy/piece_prices.h"

#include <cstddef>
#include <numeric>
#include <optional>

#include <boost/multiprecision/cpp_int.hpp>

namespace policy {

namespace {

using Integer = boost::multiprecision::cpp_int;
using Rational = boost::multiprecision::cpp_rational;
using Pattern = std::vector<std::int64_t>;  // pieces of each size cut from one device

constexpr std::int64_t kDevice = 1000;

// The pattern that is worth most, its worth in `unit`s of one device.
template <class Number>
std::pair<Pattern, Number> best_pattern(const std::vector<std::int64_t>& sizes,
                                        const std::vector<Number>& prices) {
  const std::size_t count = sizes.size();
  std::int64_t step = kDevice;
  for (const std::int64_t size : sizes)
    step = std::gcd(step, size);
  const auto places = static_cast<std::size_t>(kDevice / step);
  std::vector<Number> best(places + 1, Number(0));
  std::vector<std::size_t> last(places + 1, count);  // the piece that ends there; count: none
  for (std::size_t place = 1; place <= places; ++place) {
    best[place] = best[place - 1];
    for (std::size_t i = 0; i < count; ++i) {
      const auto size = static_cast<std::size_t>(sizes[i] / step);
      if (size > place) continue;
      Number with = best[place - size] + prices[i];
      if (with <= best[place]) continue;
      best[place] = std::move(with);
      last[place] = i;
    }
  }
  Pattern pattern(count, 0);
  for (std::size_t place = places; place > 0;) {
    if (last[place] == count) {
      --place;
      continue;
    }
    ++pattern[last[place]];
    place -= static_cast<std::size_t>(sizes[last[place]] / step);
  }
  return {pattern, best[places]};
}

class CuttingStock {
 public:
  explicit CuttingStock(const std::vector<PieceDemand>& demand) {
    const std::size_t count = demand.size();
    inverse_.assign(count, std::vector<Rational>(count, Rational(0)));
    for (std::size_t i = 0; i < count; ++i) {
      sizes_.push_back(demand[i].size.value);
      const std::int64_t pieces = kDevice / sizes_[i];  // patterns of one size cover the demand
      inverse_[i][i] = Rational(1, pieces);
      devices_.push_back(Rational(demand[i].pieces, pieces));
    }
  }

  std::vector<Rational> prices() {
    std::vector<Rational> prices = duals();
    while (const auto better = improving(prices)) {
      enter(*better);
      prices = duals();
    }
    return prices;
  }

 private:
  std::vector<Rational> duals() const {
    std::vector<Rational> prices(sizes_.size(), Rational(0));
    for (const std::vector<Rational>& row : inverse_)
      for (std::size_t j = 0; j < prices.size(); ++j)
        prices[j] += row[j];
    return prices;
  }

  // A pattern worth more than the device that it is cut from.
  std::optional<Pattern> improving(const std::vector<Rational>& prices) const {
    Integer unit = 1;
    for (const Rational& price : prices)
      unit = boost::multiprecision::lcm(unit, Integer(denominator(price)));
    std::vector<Integer> scaled;
    for (const Rational& price : prices)
      scaled.push_back(Integer(numerator(price)) * (unit / Integer(denominator(price))));
    constexpr std::int64_t kSmall = std::int64_t{1} << 50;  // times 1000 pieces at most
    if (unit > kSmall) {
      auto [pattern, worth] = best_pattern(sizes_, scaled);
      return worth > unit ? std::optional(pattern) : std::nullopt;
    }
    std::vector<std::int64_t> small;
    for (const Integer& price : scaled)
      small.push_back(price.convert_to<std::int64_t>());
    auto [pattern, worth] = best_pattern(sizes_, small);
    return worth > unit ? std::optional(pattern) : std::nullopt;
  }

  // The lexicographically smaller of two rows, each divided by its entry of the entering column.
  bool leaves_before(std::size_t a, const Rational& by_a, std::size_t b,
                     const Rational& by_b) const {
    const Rational first = devices_[a] * by_b, second = devices_[b] * by_a;
    if (first != second) return first < second;
    for (std::size_t j = 0; j < sizes_.size(); ++j) {
      const Rational left = inverse_[a][j] * by_b, right = inverse_[b][j] * by_a;
      if (left != right) return left < right;
    }
    return false;
  }

  void enter(const Pattern& pattern) {
    const std::size_t count = sizes_.size();
    std::vector<Rational> column(count, Rational(0));
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < count; ++j)
        if (pattern[j] != 0) column[i] += inverse_[i][j] * pattern[j];
    std::size_t leaving = count;
    for (std::size_t i = 0; i < count; ++i)
      if (column[i] > 0 &&
          (leaving == count || leaves_before(i, column[i], leaving, column[leaving])))
        leaving = i;
    const Rational pivot = column[leaving];
    for (Rational& value : inverse_[leaving])
      value /= pivot;
    devices_[leaving] /= pivot;
    for (std::size_t i = 0; i < count; ++i) {
      if (i == leaving || column[i] == 0) continue;
      for (std::size_t j = 0; j < count; ++j)
        if (inverse_[leaving][j] != 0) inverse_[i][j] -= column[i] * inverse_[leaving][j];
      devices_[i] -= column[i] * devices_[leaving];
    }
  }

  std::vector<std::int64_t> sizes_;
  std::vector<std::vector<Rational>> inverse_;  // of the basis
  std::vector<Rational> devices_;               // that each pattern of the basis is cut from
};

}  // namespace

std::vector<std::int64_t> piece_prices(const std::vector<PieceDemand>& demand) {
  std::vector<std::int64_t> rounded;
  for (const Rational& price : CuttingStock(demand).prices()) {
    const Integer twice = Integer(numerator(price)) * 2'000'000 + Integer(denominator(price));
    rounded.push_back(
        Integer(twice / (2 * Integer(denominator(price)))).convert_to<std::int64_t>());
  }
  return rounded;
}

}  // namespace policy
