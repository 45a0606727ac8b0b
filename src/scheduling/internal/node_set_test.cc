// A bitmap of nodes says what a set of their ids says, whatever enters and leaves.

#include "scheduling/internal/node_set.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "model/ids.h"

namespace {

using model::NodeId;
using scheduling::internal::NodeSet;

std::vector<NodeId> walk(const NodeSet& set, bool is_down, std::size_t stop_after) {
  std::vector<NodeId> seen;
  const auto takes = [&](NodeId id) {
    seen.push_back(id);
    return seen.size() == stop_after;
  };
  const bool was_taken = is_down ? set.any_down(takes) : set.any(takes);
  EXPECT_EQ(was_taken, seen.size() == stop_after);
  return seen;
}

void expect_same(const NodeSet& set, const std::set<NodeId>& oracle) {
  ASSERT_EQ(set.size(), oracle.size());
  ASSERT_EQ(set.empty(), oracle.empty());
  const std::size_t all = oracle.size() + 1;
  ASSERT_EQ(walk(set, false, all), std::vector<NodeId>(oracle.begin(), oracle.end()));
  ASSERT_EQ(walk(set, true, all), std::vector<NodeId>(oracle.rbegin(), oracle.rend()));
}

// Ids near the borders of a word (64) and of a word of the summary (64 * 64) are as likely as the
// rest.
rc::Gen<std::uint32_t> any_node() {
  const auto near = [](std::uint32_t border) {
    return rc::gen::inRange<std::uint32_t>(border - 2, border + 3);
  };
  return rc::gen::oneOf(rc::gen::inRange<std::uint32_t>(1, 20'000), near(64), near(128), near(4096),
                        near(8192));
}

RC_GTEST_PROP(NodeSet, IsASetOfIds, ()) {
  const auto numbers = *rc::gen::container<std::vector<std::uint32_t>>(any_node());
  NodeSet set;
  std::set<NodeId> oracle;
  // Whoever comes a second time leaves.
  for (const std::uint32_t number : numbers) {
    const NodeId id(number);
    if (oracle.erase(id) > 0) {
      set.erase(id);
    } else {
      set.insert(id);
      oracle.insert(id);
    }
  }
  expect_same(set, oracle);
}

TEST(NodeSet, IsEmptyAtFirstAndAfterAllHaveLeft) {
  NodeSet set;
  expect_same(set, {});
  for (const std::uint32_t id : {1U, 63U, 64U, 4096U, 70'000U})
    set.insert(NodeId(id));
  expect_same(set, {NodeId(1), NodeId(63), NodeId(64), NodeId(4096), NodeId(70'000)});
  for (const std::uint32_t id : {64U, 1U, 70'000U, 63U, 4096U})
    set.erase(NodeId(id));
  expect_same(set, {});
}

TEST(NodeSet, AWalkEndsWithTheFirstThatIsTaken) {
  NodeSet set;
  for (const std::uint32_t id : {7U, 640U, 9000U})
    set.insert(NodeId(id));
  EXPECT_EQ(walk(set, false, 2), (std::vector<NodeId>{NodeId(7), NodeId(640)}));
  EXPECT_EQ(walk(set, true, 1), std::vector<NodeId>{NodeId(9000)});
}

}  // namespace
