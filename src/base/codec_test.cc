// The binary form itself; that every event survives it is tested where events are (model/).

#include "base/codec.h"

#include <array>
#include <cstdint>
#include <limits>
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

struct NameId : StrongId<NameId> {
  using StrongId::StrongId;
};

struct Point {
  std::int64_t x = 7;  // a default other than zero: a written zero must win over it
  std::int32_t y = 0;
  bool operator==(const Point&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "x", self.x);
    visit(2, "y", self.y);
  }
};
struct Label {
  std::string text;
  bool operator==(const Label&) const = default;
  static void fields(auto& self, auto&& visit) { visit(1, "text", self.text); }
};
struct Everything {
  std::string name;
  bool is_set = false;
  std::int64_t amount = 0;
  std::uint64_t big = 0;
  NameId id;
  Bytes bytes;
  Instant at;
  std::optional<std::int64_t> maybe;
  std::vector<Point> points;
  std::vector<std::vector<std::string>> words;
  std::map<std::string, Point> by_name;
  std::variant<Point, Label> either;
  bool operator==(const Everything&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "name", self.name);
    visit(2, "isSet", self.is_set);
    visit(3, "amount", self.amount);
    visit(4, "big", self.big);
    visit(5, "id", self.id);
    visit(6, "bytes", self.bytes);
    visit(7, "at", self.at);
    visit(8, "maybe", self.maybe);
    visit(9, "points", self.points);
    visit(10, "words", self.words);
    visit(11, "byName", self.by_name);
    visit(12, "either", self.either);
  }
};

Everything full() {
  return {.name = std::string("a\0b", 3),
          .is_set = true,
          .amount = std::numeric_limits<std::int64_t>::min(),
          .big = std::numeric_limits<std::uint64_t>::max(),
          .id = NameId(4'000'000'000U),
          .bytes = Bytes(-1),
          .at = kNever,
          .maybe = 0,
          .points = {{.x = 0, .y = 1}, {.x = -1, .y = std::numeric_limits<std::int32_t>::min()}},
          .words = {{}, {"", "x"}},
          .by_name = {{"", {}}, {"b", {.x = 0, .y = 0}}},
          .either = Label{.text = "t"}};
}

TEST(Codec, GivesBackEveryFormOfField) {
  EXPECT_EQ(*decode<Everything>(encode(full())), full());
  EXPECT_EQ(*decode<Everything>(encode(Everything{})), Everything{});
}

TEST(Codec, KeepsAZeroWhereTheDefaultIsAnother) {
  const Point origin{.x = 0, .y = 0};
  EXPECT_EQ(*decode<Point>(encode(origin)), origin);
}

struct NotEmptyByDefault {
  std::string name = "default";
  std::vector<std::int32_t> sizes{1, 2};
  std::map<std::string, std::int32_t> limits{{"gpu", 8}};
  bool operator==(const NotEmptyByDefault&) const = default;
  static void fields(auto& self, auto&& visit) {
    visit(1, "name", self.name);
    visit(2, "sizes", self.sizes);
    visit(3, "limits", self.limits);
  }
};

TEST(Codec, KeepsEmptinessWhereTheDefaultIsNotEmpty) {
  const NotEmptyByDefault empty{.name = {}, .sizes = {}, .limits = {}};
  const auto again = decode<NotEmptyByDefault>(encode(empty));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, empty);
  EXPECT_EQ(decode<NotEmptyByDefault>(encode(NotEmptyByDefault{})).value(), NotEmptyByDefault{});
}

TEST(Codec, WritesTheSameBytesForEver) {
  // x: tag 1<<2|0, zigzag(1) = 2; y: tag 2<<2|0, zigzag(-1) = 1; end.
  EXPECT_EQ(encode(Point{.x = 1, .y = -1}), std::string("\x04\x02\x08\x01\x00", 5));
  EXPECT_EQ(encode(Label{.text = "ab"}), std::string("\x05\x02\x61\x62\x00", 5));
}

// What an earlier version reads of a later one's record.
struct OldPoint {
  std::int32_t y = 0;
  static void fields(auto& self, auto&& visit) { visit(2, "y", self.y); }
};
struct NewPoint {
  std::int64_t x = 7;
  std::int32_t y = 0;
  Everything more;
  static void fields(auto& self, auto&& visit) {
    visit(1, "x", self.x);
    visit(2, "y", self.y);
    visit(3, "more", self.more);
  }
};

TEST(Codec, SkipsFieldsThatItDoesNotKnow) {
  const NewPoint later{.x = 5, .y = 6, .more = full()};
  EXPECT_EQ(decode<OldPoint>(encode(later))->y, 6);
  EXPECT_EQ(decode<Point>(encode(later))->x, 5);
}

TEST(Codec, KeepsDefaultsOfFieldsThatAreAbsent) {
  const auto earlier = decode<NewPoint>(encode(OldPoint{.y = 3}));
  ASSERT_TRUE(earlier);
  EXPECT_EQ(earlier->x, 7);
  EXPECT_EQ(earlier->y, 3);
}

TEST(Codec, RefusesEveryTruncation) {
  const std::string bytes = encode(full());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto decoded = decode<Everything>(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(decoded) << size;
    EXPECT_EQ(decoded.error().code, Code::DataLoss);
  }
}

TEST(Codec, RefusesBytesBehindTheEnd) {
  EXPECT_EQ(decode<Point>(encode(Point{}) + "x").error().message,
            "damaged record: 1 bytes follow its end");
}

TEST(Codec, SurvivesEveryFlippedBit) {
  const std::string bytes = encode(full());
  for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
    std::string damaged = bytes;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << (i % 8)));
    const auto decoded = decode<Everything>(damaged);
    if (decoded)
      EXPECT_TRUE(decode<Everything>(encode(*decoded))) << i;
    else
      EXPECT_EQ(decoded.error().code, Code::DataLoss);
  }
}

TEST(Codec, DoesNotBelieveALengthBeyondTheRecord) {
  // Field 9 (a list) with 2^60 elements in four bytes.
  std::string list("\x27", 1);
  list += "\x80\x80\x80\x80\x80\x80\x80\x80\x10";
  EXPECT_EQ(decode<Everything>(list).error().message,
            "damaged record: a list longer than its record");
  std::string text("\x05", 1);
  text += "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F";
  EXPECT_EQ(decode<Label>(text).error().message, "damaged record: bytes longer than their record");
}

TEST(Codec, RefusesNumbersBeyond64Bits) {
  std::string bytes("\x04", 1);
  bytes += "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01";
  bytes.push_back('\0');
  EXPECT_FALSE(decode<Point>(bytes));
}

TEST(Codec, RefusesUnboundedNesting) {
  // An unknown field 3 that holds a record that holds a field 3 ...
  EXPECT_EQ(decode<Label>(std::string(100'000, '\x0E')).error().message,
            "damaged record: nested too deeply");
}

TEST(Codec, RefusesAFieldInAnotherForm) {
  EXPECT_FALSE(decode<Label>(std::string("\x04\x02\x00", 3)));   // a number for a text
  EXPECT_FALSE(decode<Point>(std::string("\x05\x01z\x00", 4)));  // a text for a number
}

TEST(Codec, RefusesAnAlternativeOfALaterVersion) {
  // Field 12, a record whose only field is 3: alternative 3 of two.
  const std::string bytes("\x32\x0E\x00\x00\x00", 5);
  EXPECT_EQ(decode<Everything>(bytes).error().message,
            "damaged record: unknown alternative, written by a later version");
}

}  // namespace
}  // namespace base
