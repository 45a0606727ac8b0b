#include "cli/yaml_text.h"

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "cli/json_access.h"

namespace cli {
namespace {

namespace json = boost::json;

TEST(YamlText, WritesBlocksInTheOrderGiven) {
  EXPECT_EQ(
      yaml_text(json::parse(
          R"({"name":"search/nlp","weight":2,"quotas":[{"pool":"h800","max":8},{"pool":"a800"}],
                                      "labels":{},"nodes":[],"nested":{"a":{"b":true,"c":null}},"list":[1,[2,3]]})")),
      "name: search/nlp\n"
      "weight: 2\n"
      "quotas:\n"
      "- pool: h800\n"
      "  max: 8\n"
      "- pool: a800\n"
      "labels: {}\n"
      "nodes: []\n"
      "nested:\n"
      "  a:\n"
      "    b: true\n"
      "    c: null\n"
      "list:\n"
      "- 1\n"
      "- - 2\n"
      "  - 3\n");
}

TEST(YamlText, QuotesWhatAReaderWouldTakeForSomethingElse) {
  for (const char* text :
       {"yes",  "No",   "on", "null", "~",    "1.20", "0x1f", "12:30", "2026-12-01",
        "",     " a",   "a ", "a: b", "a #b", "- a",  "*a",   "&a",    "!a",
        "%a",   "@a",   "`a", "{a",   "[a",   "'a",   "\"a",  "|",     ">",
        "a\nb", "a\tb", "?",  "=",    "<<",   ".inf", "-1",   "y"}) {
    const std::string written = yaml_text(json::value(text));
    EXPECT_EQ(written, json::serialize(json::value(text)) + "\n") << text;
  }
  for (const char* text : {"llama-ft", "search/nlp", "python train.py", "大模型", "H800"})
    EXPECT_EQ(yaml_text(json::value(text)), std::string(text) + "\n");
}

TEST(PrettyJson, IsReadableAndTheSameValue) {
  const json::value value = json::parse(R"({"a":[1,{"b":"c"}],"d":{},"e":[]})");
  EXPECT_EQ(pretty_json(value),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"c\"\n    }\n  ],\n  \"d\": {},\n  \"e\": "
            "[]\n}\n");
  EXPECT_EQ(json::parse(pretty_json(value)), value);
}

TEST(JsonAccess, WhatIsMissingOrOfAnotherTypeIsNothing) {
  const json::value value = json::parse(R"({"a":{"b":"text","n":5,"f":1.5},"l":["x",2]})");
  EXPECT_EQ(text_at(value, "a.b"), "text");
  EXPECT_EQ(text_at(value, "a.n"), "5");
  EXPECT_EQ(text_at(value, "a.b.c"), "");
  EXPECT_EQ(text_at(value, "l"), "");
  EXPECT_EQ(integer_at(value, "a.n"), 5);
  EXPECT_EQ(integer_at(value, "a.b"), std::nullopt);
  EXPECT_TRUE(array_at(value, "a").empty());
  EXPECT_EQ(joined_at(value, "l"), "x,2");
}

}  // namespace
}  // namespace cli
