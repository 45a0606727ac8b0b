#include "platform/log.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace platform {
namespace {

class Log : public testing::Test {
 protected:
  void SetUp() override {
    set_log(LogLevel::Info, LogForm::Json);
    set_log_sink([this](const std::string& line) { lines_.push_back(line); });
  }
  void TearDown() override {
    set_log_sink(nullptr);
    set_log(LogLevel::Info);
  }
  // The line without its time, which is real.
  std::string last() const {
    const std::string& line = lines_.back();
    return line.substr(line.find("\"level\""));
  }
  std::vector<std::string> lines_;
};

TEST_F(Log, AnEventIsOneJsonLineWithItsFieldsInOrder) {
  LOG(Warning, "disk_slow", {"path", std::string("data")}, {"millis", 1500}, {"fatal", false});
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_EQ(last(),
            R"("level":"warning","event":"disk_slow","path":"data","millis":1500,"fatal":false})");
  EXPECT_EQ(lines_[0].substr(0, 9), "{\"at\":\"20");
}

TEST_F(Log, TextFromOutsideCannotBreakALineOrColourATerminal) {
  LOG(Info, "submitted", {"name", "a\nb\x1b[31m\"\\"});
  EXPECT_EQ(last().find('\n'), std::string::npos);
  EXPECT_EQ(last().find('\x1b'), std::string::npos);
  EXPECT_NE(last().find(R"(a\nb\u001b[31m\"\\)"), std::string::npos) << last();

  set_log(LogLevel::Info, LogForm::Human);
  LOG(Info, "submitted", {"name", "a\nb\x1b[31m"}, {"plain", "x.y"}, {"empty", ""});
  const std::string& line = lines_.back();
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_NE(line.find(R"( info submitted name="a\nb\u001b[31m" plain=x.y empty="")"),
            std::string::npos)
      << line;
}

TEST_F(Log, FieldsOfALevelThatIsNotLoggedAreNotEvaluated) {
  int evaluated = 0;
  const auto costly = [&evaluated] { return ++evaluated; };
  LOG(Debug, "detail", {"n", costly()});
  EXPECT_TRUE(lines_.empty());
  EXPECT_EQ(evaluated, 0);
  set_log(LogLevel::Debug, LogForm::Json);
  LOG(Debug, "detail", {"n", costly()});
  EXPECT_EQ(last(), R"("level":"debug","event":"detail","n":1})");
}

TEST_F(Log, LevelsHaveNamesBothWays) {
  EXPECT_EQ(level_from("warning"), LogLevel::Warning);
  EXPECT_EQ(level_from("Warning"), std::nullopt);
  EXPECT_EQ(level_name(LogLevel::Error), "error");
}

}  // namespace
}  // namespace platform
