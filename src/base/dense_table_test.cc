#include "base/dense_table.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/strong_id.h"

namespace base {
namespace {

struct ThingId : StrongId<ThingId> {
  using StrongId::StrongId;
};
using Table = DenseTable<ThingId, std::string>;

TEST(DenseTable, FindsWhatWasInsertedAndNothingElse) {
  Table table;
  table.insert(ThingId(3), "three");
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(*table.find(ThingId(3)), "three");
  EXPECT_EQ(table.find(ThingId(0)), nullptr);
  EXPECT_EQ(table.find(ThingId(1)), nullptr);
  EXPECT_EQ(table.find(ThingId(4)), nullptr);
  EXPECT_EQ(table.next_id(), ThingId(4));
}

TEST(DenseTable, VisitsInTheOrderOfIds) {
  Table table;
  for (const unsigned id : {5U, 1U, 3U})
    table.insert(ThingId(id), std::to_string(id));
  table.erase(ThingId(3));
  std::vector<unsigned> visited;
  table.each([&](ThingId id, const std::string& text) {
    EXPECT_EQ(text, std::to_string(id.value));
    visited.push_back(id.value);
  });
  EXPECT_EQ(visited, (std::vector<unsigned>{1, 5}));
}

TEST(DenseTable, KeepsAddressesWhileItGrows) {
  Table table;
  const std::string* first = &table.insert(ThingId(1), "one");
  for (unsigned id = 2; id < 1000; ++id)
    table.insert(ThingId(id), "x");
  EXPECT_EQ(table.find(ThingId(1)), first);
}

TEST(DenseTable, ComparesValuesAndNotTheGapsBehindThem) {
  Table left;
  Table right;
  left.insert(ThingId(1), "one");
  right.insert(ThingId(1), "one");
  right.insert(ThingId(9), "nine");
  EXPECT_FALSE(left == right);
  right.erase(ThingId(9));
  EXPECT_TRUE(left == right);
  *right.find(ThingId(1)) = "uno";
  EXPECT_FALSE(left == right);
}

TEST(DenseTable, CopiesDeeply) {
  Table original;
  original.insert(ThingId(2), "two");
  Table copy = original;
  *copy.find(ThingId(2)) = "changed";
  EXPECT_EQ(original.at(ThingId(2)), "two");
  copy = original;
  EXPECT_TRUE(copy == original);
}

TEST(DenseTableDeathTest, TellsOurOwnMistakes) {
  Table table;
  table.insert(ThingId(1), "one");
  EXPECT_DEATH(table.insert(ThingId(1), "again"), "dense_table");
  EXPECT_DEATH(table.insert(ThingId(0), "none"), "dense_table");
  EXPECT_DEATH(table.at(ThingId(2)), "dense_table");
  EXPECT_DEATH(table.erase(ThingId(2)), "dense_table");
}

}  // namespace
}  // namespace base
