#include "base/json_text.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace base {
namespace {

std::string json_of(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

TEST(AppendJsonString, EscapesWhatJsonAndTerminalsDemand) {
  EXPECT_EQ(json_of("plain"), R"("plain")");
  EXPECT_EQ(json_of("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(json_of("\n\r\t"), R"("\n\r\t")");
  EXPECT_EQ(json_of(std::string("\0\x1B[31m\x7F", 7)), R"("\u0000\u001b[31m\u007f")");
  EXPECT_EQ(json_of("\xC2\x9B"), R"("\u009b")");  // the one-character form of ESC [
  EXPECT_EQ(json_of("队列"), R"("队列")");
}

TEST(AppendJsonString, ReplacesEachBadByte) {
  EXPECT_EQ(json_of("a\xFF\xC0z"), "\"a\uFFFD\uFFFDz\"");
  EXPECT_EQ(json_of("\xE4\xB8"), "\"\uFFFD\uFFFD\"");
}

enum class Colour { Red, Green };
std::span<const std::string_view> enum_names(Colour) {
  static constexpr std::array<std::string_view, 2> kNames{"red", "green"};
  return kNames;
}

struct Leaf {
  static constexpr std::string_view kKind = "leaf";
  std::int64_t size = 0;
  static void fields(auto& self, auto&& visit) { visit(1, "size", self.size); }
};
struct Bird {
  static constexpr std::string_view kKind = "bird";
  std::string name;
  static void fields(auto& self, auto&& visit) { visit(1, "name", self.name); }
};
struct Tree {
  std::string name;
  bool is_tall = false;
  Colour colour = Colour::Green;
  Bytes weight;
  Instant planted;
  Instant felled = kNever;
  Duration grows;
  std::optional<std::int64_t> age;
  std::vector<Leaf> leaves;
  std::map<std::string, std::string> labels;
  std::variant<Leaf, Bird> top;
  static void fields(auto& self, auto&& visit) {
    visit(1, "name", self.name);
    visit(2, "isTall", self.is_tall);
    visit(3, "colour", self.colour);
    visit(4, "weight", self.weight);
    visit(5, "planted", self.planted);
    visit(6, "felled", self.felled);
    visit(7, "grows", self.grows);
    visit(8, "age", self.age);
    visit(9, "leaves", self.leaves);
    visit(10, "labels", self.labels);
    visit(11, "top", self.top);
  }
};

TEST(ToJson, LeavesEmptyThingsOut) {
  EXPECT_EQ(to_json(Tree{}),
            R"({"isTall":false,"colour":"green","weight":0,"planted":"1970-01-01T00:00:00.000Z",)"
            R"("felled":null,"grows":0,"top":{"leaf":{"size":0}}})");
}

TEST(ToJson, WritesEveryFormOfField) {
  const Tree tree{.name = "oak",
                  .is_tall = true,
                  .colour = static_cast<Colour>(9),
                  .weight = Bytes(-5),
                  .planted = Instant{1},
                  .felled = Instant{1000},
                  .grows = seconds(2),
                  .age = 0,
                  .leaves = {{.size = 1}, {.size = 2}},
                  .labels = {{"a", "1"}, {"b", "2"}},
                  .top = Bird{.name = "owl"}};
  EXPECT_EQ(to_json(tree),
            R"({"name":"oak","isTall":true,"colour":"?","weight":-5,)"
            R"("planted":"1970-01-01T00:00:00.001Z","felled":"1970-01-01T00:00:01.000Z",)"
            R"("grows":2000,"age":0,"leaves":[{"size":1},{"size":2}],)"
            R"("labels":{"a":"1","b":"2"},"top":{"bird":{"name":"owl"}}})");
}

}  // namespace
}  // namespace base
