#include "platform/fault_point.h"

#include <stdexcept>
#include <string>
#include <thread>
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

class Listing : public FaultDecider {
 public:
  bool decides_to_fail(std::string_view name) override {
    seen.emplace_back(name);
    if (name == "dies") throw std::runtime_error("killed here");
    return name == "fails";
  }
  std::vector<std::string> seen;
};

TEST_F(FaultPoint, ADeciderIsOfItsThreadAloneAndMayEndWhatItMeets) {
  ASSERT_TRUE(arm_faults("a=fail"));
  Listing listing;
  {
    const FaultDeciderScope scope(listing);
    EXPECT_FALSE(FAULT("a"));  // not what text says
    EXPECT_TRUE(FAULT("fails"));
    EXPECT_THROW(static_cast<void>(FAULT("dies")), std::runtime_error);
    std::jthread([] { EXPECT_TRUE(FAULT("a")); }).join();
  }
  EXPECT_TRUE(FAULT("a"));
  EXPECT_EQ(listing.seen, (std::vector<std::string>{"a", "fails", "dies"}));
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
