#include "platform/fault_point.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace platform {
namespace {

class FaultPoint : public testing::Test {
 protected:
  void TearDown() override { EXPECT_TRUE(arm_faults("")); }
};

TEST_F(FaultPoint, DoesNothingUnlessItIsArmedByName) {
  EXPECT_FALSE(FAULT("a"));
  ASSERT_TRUE(arm_faults("b=fail"));
  EXPECT_FALSE(FAULT("a"));
  EXPECT_TRUE(FAULT("b"));
  EXPECT_TRUE(FAULT("b"));
}

TEST_F(FaultPoint, FailsAtTheNthPassageOnly) {
  ASSERT_TRUE(arm_faults("a=fail@3,b=fail@1"));
  std::vector<bool> passages;
  for (int i = 0; i < 5; ++i)
    passages.push_back(FAULT("a"));
  EXPECT_EQ(passages, (std::vector<bool>{false, false, true, false, false}));
  EXPECT_TRUE(FAULT("b"));
  EXPECT_FALSE(FAULT("b"));
}

TEST_F(FaultPoint, AbortEndsTheProcessAtOnceAsAPowerCutWould) {
  ASSERT_TRUE(arm_faults("a=abort@2"));
  EXPECT_FALSE(FAULT("a"));
  EXPECT_EXIT(static_cast<void>(FAULT("a")), testing::ExitedWithCode(137), "");
}

TEST_F(FaultPoint, AHandlerSeesEveryPassageAndDecides) {
  std::vector<std::string> seen;
  set_fault_handler([&seen](std::string_view name) {
    seen.emplace_back(name);
    return name == "y";
  });
  EXPECT_FALSE(FAULT("x"));
  EXPECT_TRUE(FAULT("y"));
  EXPECT_EQ(seen, (std::vector<std::string>{"x", "y"}));
}

TEST_F(FaultPoint, ItemsThatAreNotUnderstoodAreRefusedAndNothingIsArmed) {
  ASSERT_TRUE(arm_faults("a=fail"));
  for (const char* text : {"a", "=fail", "a=explode", "a=fail@0", "a=fail@x", "a=fail,,b=fail"}) {
    const auto armed = arm_faults(text);
    ASSERT_FALSE(armed) << text;
    EXPECT_EQ(armed.error().code, base::Code::InvalidArgument);
  }
  EXPECT_TRUE(FAULT("a"));  // what was armed before stays
}

}  // namespace
}  // namespace platform
