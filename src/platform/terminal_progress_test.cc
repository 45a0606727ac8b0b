#include "platform/terminal_progress.h"

#include <gtest/gtest.h>

namespace platform {
namespace {

TEST(ProgressLine, ShowsThePartDoneAndTheTimeLeft) {
  EXPECT_EQ(progress_line("replay", 1200, 2400, base::seconds(12), 79),
            "replay  [####################                    ]   50%  1200/2400  12s left");
  EXPECT_EQ(progress_line("replay", 0, 2400, base::seconds(3), 79).find("left"), std::string::npos);
}

TEST(ProgressLine, NeverExceedsItsWidthNorItsTotal) {
  for (const std::size_t width : {1u, 10u, 20u, 40u, 79u, 200u})
    for (const std::int64_t total : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1} << 62})
      for (const std::int64_t done :
           {std::int64_t{-5}, std::int64_t{0}, std::int64_t{7}, std::int64_t{1} << 62})
        EXPECT_LE(progress_line("replay", done, total, base::hours(1), width).size(), width);
  EXPECT_NE(progress_line("x", 500, 100, base::seconds(1), 79).find("100%"), std::string::npos);
}

TEST(ProgressLine, WithoutATotalThereIsNoBar) {
  EXPECT_EQ(progress_line("read", 17, 0, base::seconds(5), 79), "read  17  5s");
}

class Progress : public ::testing::Test {
 protected:
  std::string drawn_;
  base::Duration now_;
  TerminalProgress progress_{"replay", 100, [this](std::string_view text) { drawn_ += text; },
                             [this] { return now_; }};
};

TEST_F(Progress, IsDrawnAtMostTenTimesASecond) {
  progress_.update(1);
  const std::size_t first = drawn_.size();
  EXPECT_GT(first, 0u);
  now_ = base::milliseconds(99);
  progress_.update(2);
  EXPECT_EQ(drawn_.size(), first);
  now_ = base::milliseconds(100);
  progress_.update(3);
  EXPECT_GT(drawn_.size(), first);
}

TEST_F(Progress, TheLineIsRemovedAtTheEnd) {
  progress_.update(1);
  progress_.finish();
  EXPECT_TRUE(drawn_.ends_with("\r\x1b[K"));
  drawn_.clear();
  progress_.update(2);
  progress_.finish();
  EXPECT_EQ(drawn_, "");
}

TEST(TerminalProgress, IsSilentWithoutATerminal) {
  TerminalProgress progress("replay", 10, {}, [] { return base::Duration{}; });
  progress.update(5);  // nothing to draw on: must not call an empty function
}

}  // namespace
}  // namespace platform
