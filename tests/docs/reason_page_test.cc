// docs/reasons.md is what the program says. Rewritten by running this test with
// BERTH_UPDATE_DOCS=1; a missing BERTH_SOURCE (the root of the repository, set by ctest) skips it.

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "governance/reason_page.h"
#include "model/reason.h"

namespace {

TEST(ReasonPage, IsWhatIsCommitted) {
  const char* root = std::getenv("BERTH_SOURCE");
  if (root == nullptr) GTEST_SKIP() << "set BERTH_SOURCE to the root of the repository";
  const std::string path = std::string(root) + "/docs/reasons.md";
  if (std::getenv("BERTH_UPDATE_DOCS") != nullptr) {
    std::ofstream out(path, std::ios::binary);
    out << governance::reason_page();
    ASSERT_TRUE(out.flush().good()) << path;
  }
  std::ifstream in(path, std::ios::binary);
  const std::string committed{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(committed, governance::reason_page())
      << path << " is stale: run this test with BERTH_UPDATE_DOCS=1 and commit the page";
}

TEST(ReasonPage, HasARowForEveryReason) {
  const std::string page = governance::reason_page();
  for (const auto& row : model::reason_catalogue().subspan(1))  // all but None
    EXPECT_NE(page.find("| `" + std::string(row.name) + "` |"), std::string::npos) << row.name;
  // A sentence with a bar would break its table.
  for (const auto& row : model::reason_catalogue())
    for (const auto text : {row.english, row.chinese, row.remedy})
      EXPECT_EQ(text.find('|'), std::string::npos) << row.name;
}

}  // namespace
