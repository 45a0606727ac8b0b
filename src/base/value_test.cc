// The small values of base: time that saturates, randomness that repeats, errors that read well.

#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/instant.h"
#include "base/random.h"
#include "base/result.h"

namespace base {
namespace {

TEST(Instant, NeverStaysNever) {
  EXPECT_EQ(kNever + hours(1), kNever);
  EXPECT_EQ(kNever - hours(1), kNever);
  EXPECT_EQ(kNever - Instant{5}, kForever);
  EXPECT_EQ(Instant{5} + kForever, kNever);
  EXPECT_EQ(kForever + hours(1), kForever);
}

TEST(Instant, AddsAndSubtracts) {
  EXPECT_EQ(Instant{1000} + seconds(2), Instant{3000});
  EXPECT_EQ(Instant{3000} - Instant{1000}, seconds(2));
  EXPECT_EQ(Instant{1000} - seconds(2), Instant{-1000});
}

TEST(Random, GivesTheSameNumbersEverywhere) {
  Random random(Seed{0});
  // The reference output of SplitMix64 for seed 0.
  EXPECT_EQ(random.next(), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(random.next(), 0x6E789E6AA1B965F4ULL);
  EXPECT_EQ(random.next(), 0x06C45D188009454FULL);
}

TEST(Random, StaysInItsRangeAndReachesBothEnds) {
  Random random(Seed{7});
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t drawn = random.between(-2, 2);
    ASSERT_GE(drawn, -2);
    ASSERT_LE(drawn, 2);
    seen.insert(drawn);
  }
  EXPECT_EQ(seen.size(), 5U);
}

TEST(Random, ForksDoNotDisturbEachOther) {
  const Random parent(Seed{7});
  Random first = parent.fork(1);
  Random again = parent.fork(1);
  Random second = parent.fork(2);
  EXPECT_EQ(first.next(), again.next());
  EXPECT_NE(first.next(), second.next());
}

TEST(Error, ReadsAsFieldMessageHint) {
  EXPECT_EQ(
      to_text(Error{.code = Code::NotFound, .message = "no queue nlp", .field = {}, .hint = {}}),
      "no queue nlp");
  EXPECT_EQ(
      to_text(fail_field(Code::InvalidArgument, "spec.gpu", "is -1", "use 0 or more").value()),
      "spec.gpu: is -1 (use 0 or more)");
  EXPECT_EQ(fail(Code::Conflict, "node {} changed", 7).value().message, "node 7 changed");
}

TEST(Error, EveryCodeHasAName) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(Code::Internal); ++code)
    names.insert(code_name(static_cast<Code>(code)));
  EXPECT_EQ(names.size(), 13U);
}

}  // namespace
}  // namespace base
