#include "platform/url.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "platform/event_stream.h"

namespace platform {
namespace {

TEST(Url, DecodingUndoesEncodingOfAnyTextWithoutZeroBytes) {
  EXPECT_TRUE(rc::check("decode(encode(x)) = x", [](std::string text) {
    std::erase(text, '\0');
    RC_ASSERT(percent_decode(percent_encode(text)) == text);
  }));
}

TEST(Url, BrokenEncodingIsRefused) {
  for (const char* text : {"%", "%4", "%zz", "a%2", "%00", "%-1"})
    EXPECT_EQ(percent_decode(text), std::nullopt) << text;
  EXPECT_EQ(percent_decode("a%2Fb%c3%a9"), "a/b\xc3\xa9");
  EXPECT_EQ(percent_decode("+"), "+");  // a plus is a space in queries only
}

TEST(Url, QueriesKeepOrderAndRepeatedKeys) {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(
      parse_query("queue=a%2Fb&label=x%3Dy&label=z&flag&&empty="),
      (Pairs{{"queue", "a/b"}, {"label", "x=y"}, {"label", "z"}, {"flag", ""}, {"empty", ""}}));
  EXPECT_EQ(parse_query(""), Pairs{});
  EXPECT_EQ(parse_query("a=b+c%2B"), (Pairs{{"a", "b c+"}}));
  EXPECT_EQ(parse_query("a=%zz"), std::nullopt);
}

TEST(EventStream, WhatIsPrintedIsParsedHoweverTheBytesAreCut) {
  EXPECT_TRUE(rc::check("parse(print(x)) = x", [] {
    const auto word = rc::gen::container<std::string>(rc::gen::element('a', 'b', ':', ' ', '1'));
    const auto data =
        rc::gen::container<std::string>(rc::gen::element('a', '\n', ':', ' ', '{', '\xc3'));
    std::vector<StreamEvent> events;
    std::string bytes;
    const int count = *rc::gen::inRange(0, 5);
    for (int i = 0; i < count; ++i) {
      events.push_back({.id = "i" + *word, .name = "n" + *word, .data = *data});
      bytes += print_stream_event(events.back());
      if (*rc::gen::arbitrary<bool>()) bytes += ":\n\n";  // keep-alive comments change nothing
    }
    EventStreamParser parser;
    std::vector<StreamEvent> parsed;
    while (!bytes.empty()) {
      const auto cut =
          static_cast<std::size_t>(*rc::gen::inRange<int>(1, static_cast<int>(bytes.size()) + 1));
      for (StreamEvent& event : parser.feed(bytes.substr(0, cut)))
        parsed.push_back(event);
      bytes.erase(0, cut);
    }
    RC_ASSERT(parsed == events);
    if (!events.empty()) RC_ASSERT(parser.last_id() == events.back().id);
  }));
}

TEST(EventStream, AcceptsTheLineEndsAndFieldsOfTheFormat) {
  EventStreamParser parser;
  const auto events =
      parser.feed("id: 7\r\ndata:x\rdata: y\nretry: 10\n\nevent: only-a-name\n\ndata\n\n");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0], (StreamEvent{.id = "7", .name = "", .data = "x\ny"}));
  EXPECT_EQ(events[1], (StreamEvent{.id = "7", .name = "", .data = ""}));
}

TEST(EventStream, ANameOrIdCannotSmuggleALine) {
  EXPECT_EQ(print_stream_event({.id = "1\n2", .name = "a\r\nb", .data = "x\r\ny"}),
            "id: 12\nevent: ab\ndata: x\ndata: y\n\n");
}

}  // namespace
}  // namespace platform
