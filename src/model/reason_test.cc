#include "model/reason.h"

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/text.h"

namespace model {
namespace {

TEST(ReasonCatalogue, HasOneRowForEachReasonInOrder) {
  ASSERT_EQ(reason_catalogue().size(), enum_names(Reason::None).size());
  for (std::size_t i = 0; i < reason_catalogue().size(); ++i) {
    const ReasonText& row = reason_catalogue()[i];
    EXPECT_EQ(static_cast<std::size_t>(row.reason), i);
    EXPECT_EQ(base::name_of(row.reason), row.name);
    EXPECT_EQ(base::enum_from<Reason>(row.name), row.reason);
  }
}

TEST(ReasonCatalogue, NamesAreThoseOfTheEnumerators) {
  EXPECT_EQ(base::name_of(Reason::None), "None");
  EXPECT_EQ(base::name_of(Reason::GuaranteeOfOther), "GuaranteeOfOther");
  EXPECT_EQ(base::name_of(Reason::WaitingForVictims), "WaitingForVictims");
  EXPECT_EQ(base::name_of(Reason::InvalidState), "InvalidState");
  EXPECT_EQ(base::name_of(static_cast<Reason>(10'000)), "?");
  EXPECT_EQ(base::enum_from<Reason>("guaranteeofother"), std::nullopt);
}

TEST(ReasonCatalogue, SaysSomethingOfItsOwnInBothLanguagesWithARemedy) {
  std::set<std::string_view> english;
  std::set<std::string_view> chinese;
  for (const ReasonText& row : reason_catalogue()) {
    EXPECT_TRUE(english.insert(row.english).second) << row.name;
    EXPECT_TRUE(chinese.insert(row.chinese).second) << row.name;
    EXPECT_FALSE(row.remedy.empty()) << row.name;
    EXPECT_TRUE(base::is_utf8(row.chinese)) << row.name;
    // Wide characters make the columns exceed the code points: it is Chinese, not English.
    EXPECT_GE(base::display_width(row.chinese), row.chinese.size() / 2) << row.name;
    EXPECT_LT(base::display_width(row.chinese), row.chinese.size()) << row.name;
    EXPECT_EQ(base::display_width(row.english), row.english.size()) << row.name;
    for (const std::string_view text : {row.english, row.chinese, row.remedy})
      EXPECT_FALSE(text.ends_with('.') || text.ends_with("。")) << row.name;
  }
}

}  // namespace
}  // namespace model
