#include "base/text.h"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace base {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

TEST(ParseInteger, TakesTheWholeRangeAndNothingElse) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-3"), -3);
  EXPECT_EQ(parse_integer("9223372036854775807"), kLargest);
  EXPECT_EQ(parse_integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  for (const std::string_view bad :
       {"", "-", "+1", " 1", "1 ", "1x", "0x10", "1.0", "--1", "1e3", "9223372036854775808",
        "-9223372036854775809", "99999999999999999999999999"})
    EXPECT_FALSE(parse_integer(bad)) << bad;
}

TEST(ParseBytes, KnowsBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("1024"), 1024);
  EXPECT_EQ(parse_bytes("128Gi"), std::int64_t{128} << 30);
  EXPECT_EQ(parse_bytes("1.5Gi"), std::int64_t{3} << 29);
  EXPECT_EQ(parse_bytes("40G"), 40'000'000'000);
  EXPECT_EQ(parse_bytes("1k"), 1000);
  EXPECT_EQ(parse_bytes("1K"), 1000);
  EXPECT_EQ(parse_bytes("1KiB"), 1024);
  EXPECT_EQ(parse_bytes("7B"), 7);
  EXPECT_EQ(parse_bytes("0.5Ki"), 512);
  EXPECT_EQ(parse_bytes("1.50Ki"), 1536);
  EXPECT_EQ(parse_bytes("8191Pi"), std::int64_t{8191} << 50);
}

TEST(ParseBytes, RefusesWhatIsNoWholeNonNegativeNumberOfBytes) {
  for (const std::string_view bad :
       {"", "Gi", "-1", "-1Gi", "+1", "1 Gi", "1gi", "1Gi ", "1.Gi", ".5Gi", "1.5", "1.0001Ki",
        "8192Pi", "9223372036854775808", "1Gib", "1BB", "1e9", "0.00000000001Gi", "1Zi"})
    EXPECT_FALSE(parse_bytes(bad)) << bad;
}

TEST(ParseBytes, SaysWhatWouldHaveBeenRight) {
  const auto unknown_unit = parse_bytes("40GB!");
  ASSERT_FALSE(unknown_unit);
  EXPECT_EQ(unknown_unit.error().code, Code::InvalidArgument);
  EXPECT_EQ(to_text(unknown_unit.error()),
            "'40GB!' is not a size: the unit is unknown (write it like 1024, 128Gi, 1.5Gi or 40G)");
  EXPECT_EQ(to_text(parse_bytes("8192Pi").error()),
            "'8192Pi' is too large (the largest value is 9223372036854775807)");
}

TEST(PrintBytes, GivesTheShortestExactText) {
  EXPECT_EQ(print_bytes(0), "0");
  EXPECT_EQ(print_bytes(1023), "1023");
  EXPECT_EQ(print_bytes(1024), "1Ki");
  EXPECT_EQ(print_bytes(std::int64_t{128} << 30), "128Gi");
  EXPECT_EQ(print_bytes(std::int64_t{3} << 29), "1.5Gi");
  EXPECT_EQ(print_bytes(40'000'000'000), "40G");
  EXPECT_EQ(print_bytes(kLargest), "9223372036854775807");
}

TEST(ParseMilli, TakesWholesDecimalsAndThousandths) {
  EXPECT_EQ(parse_milli("16"), 16'000);
  EXPECT_EQ(parse_milli("0.5"), 500);
  EXPECT_EQ(parse_milli("500m"), 500);
  EXPECT_EQ(parse_milli("0.125"), 125);
  EXPECT_EQ(parse_milli("0"), 0);
  for (const std::string_view bad : {"", "-1", "0.1234", "1.5m", ".5", "1.", "m", "1 m", "1k",
                                     "9223372036854776", "9223372036854775808m"})
    EXPECT_FALSE(parse_milli(bad)) << bad;
}

TEST(PrintMilli, LeavesZerosAtTheEndOut) {
  EXPECT_EQ(print_milli(16'000), "16");
  EXPECT_EQ(print_milli(500), "0.5");
  EXPECT_EQ(print_milli(1), "0.001");
  EXPECT_EQ(print_milli(0), "0");
  EXPECT_EQ(print_milli(-2500), "-2.5");
  EXPECT_EQ(print_milli(std::numeric_limits<std::int64_t>::min()), "-9223372036854775.808");
}

TEST(Nearest, FindsATypingSlipAndNothingElse) {
  const std::vector<std::string_view> words{"replicas", "resources", "timeLimit", "queue", "gpu"};
  EXPECT_EQ(nearest("replica", words), "replicas");
  EXPECT_EQ(nearest("timelimit", words), "timeLimit");
  EXPECT_EQ(nearest("qeueu", words), std::nullopt);  // two swaps: too far for five letters
  EXPECT_EQ(nearest("queeu", words), "queue");
  EXPECT_EQ(nearest("gpus", words), "gpu");
  EXPECT_EQ(nearest("", words), std::nullopt);
  EXPECT_EQ(nearest("entirelyelse", words), std::nullopt);
  EXPECT_EQ(nearest(std::string(100'000, 'q'), words), std::nullopt);
  EXPECT_EQ(nearest("x", std::vector<std::string_view>{"y"}), std::nullopt);
}

TEST(CheckName, AllowsWhatIsSafeInPathsAndLabels) {
  for (const std::string_view good : {"a", "0", "llama-ft", "a.b_c-d", "7b"})
    EXPECT_TRUE(check_name(good, "metadata.name")) << good;
  EXPECT_TRUE(check_name(std::string(63, 'a'), "metadata.name"));
  for (const std::string_view bad :
       {"", "-a", "a-", ".", "..", "A", "a/b", "a b", "a\n", "\xFF", "训练", "a_"})
    EXPECT_FALSE(check_name(bad, "metadata.name")) << bad;
  EXPECT_FALSE(check_name(std::string(64, 'a'), "metadata.name"));
}

TEST(CheckName, NamesTheFieldAndTheRemedy) {
  const auto refused = check_name("Llama", "metadata.name");
  ASSERT_FALSE(refused);
  EXPECT_EQ(to_text(refused.error()),
            "metadata.name: the name 'Llama' holds a character that names do not have (use 1 to 63 "
            "of a-z, 0-9, '-', '_', '.', first and last a letter or digit)");
}

TEST(Messages, StayShortWhateverWasSent) {
  EXPECT_LT(parse_bytes(std::string(1'000'000, 'x')).error().message.size(), 200U);
  EXPECT_LT(parse_duration(std::string(1'000'000, '1')).error().message.size(), 200U);
  EXPECT_LT(check_name(std::string(1'000'000, 'X'), "f").error().message.size(), 200U);
}

}  // namespace
}  // namespace base
