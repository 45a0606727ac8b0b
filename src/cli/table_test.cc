#include "cli/table.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace cli {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  return lines;
}

TEST(Table, ColumnsLineUpAndNumbersStandRight) {
  Table table({{.title = "NAME"}, {.title = "GPUS", .is_number = true}});
  table.add({{"a"}, {"8"}});
  table.add({{"long-name"}, {"16"}});
  EXPECT_EQ(table.print(80, false),
            "NAME       GPUS\n"
            "a             8\n"
            "long-name    16\n");
}

TEST(Table, WideCharactersTakeTwoColumns) {
  Table table({{.title = "NAME"}, {.title = "STATE"}});
  table.add({{"大模型微调"}, {"Running"}});
  table.add({{"llama"}, {"Queued"}});
  const auto lines = lines_of(table.print(80, false));
  // Five characters of two columns each, two of space: the state begins in column 12.
  EXPECT_EQ(lines[1], "大模型微调  Running");
  EXPECT_EQ(lines[2], "llama       Queued");
}

TEST(Table, StaysWithinTheWidthByCuttingWhatMayShrink) {
  Table table({{.title = "NUMBER", .is_number = true},
               {.title = "NAME", .may_shrink = true},
               {.title = "REASON", .may_shrink = true}});
  table.add({{"1042"},
             {std::string(60, 'n')},
             {"训练任务正在等待其它队列归还它们借用的加速卡资源和内存"}});
  for (const std::string& line : lines_of(table.print(80, false)))
    EXPECT_LE(base::display_width(line), 80u) << line;
  EXPECT_NE(table.print(80, false).find("…"), std::string::npos);
  EXPECT_NE(table.print(80, false).find("1042"), std::string::npos);
}

TEST(Table, ColumnsMoveTogetherBeforeAnyIsCut) {
  Table table({{.title = "AAAA"}, {.title = "BBBB", .may_shrink = true, .least = 1}});
  table.add({{"1234"}, {"5678"}});
  EXPECT_EQ(table.print(10, false), "AAAA  BBBB\n1234  5678\n");
  EXPECT_EQ(table.print(9, false), "AAAA BBBB\n1234 5678\n");
}

TEST(Table, AWidthOfZeroCutsNothing) {
  Table table({{.title = "NAME", .may_shrink = true}});
  table.add({{std::string(300, 'x')}});
  EXPECT_EQ(lines_of(table.print(0, false))[1].size(), 300u);
}

TEST(Table, NoDataIsADash) {
  Table table({{.title = "A"}, {.title = "B"}});
  table.add({{""}, {"0"}});
  EXPECT_EQ(lines_of(table.print(80, false))[1], "-  0");
}

TEST(Table, TextFromOutsideCannotReachTheTerminal) {
  Table table({{.title = "NAME"}});
  table.add({{"evil\x1b[2J\r\nname"}});
  const std::string text = table.print(80, true);
  EXPECT_EQ(lines_of(text).size(), 2u);
  EXPECT_NE(text.find("evil\\x1b[2J\\x0d\\nname"), std::string::npos) << text;
}

TEST(Table, ColourIsOnlyWhereItIsAskedFor) {
  Table table({{.title = "STATE"}});
  table.add({{"Failed", Color::Broken}});
  EXPECT_EQ(table.print(80, false).find('\x1b'), std::string::npos);
  EXPECT_NE(table.print(80, true).find("\x1b[31mFailed\x1b[0m"), std::string::npos);
}

TEST(Table, WideColumnsAreForWideOutput) {
  const std::vector<Column> columns{{.title = "A"}, {.title = "B", .is_wide_only = true}};
  Table narrow(columns), wide(columns, true);
  narrow.add({{"1"}, {"2"}});
  wide.add({{"1"}, {"2"}});
  EXPECT_EQ(narrow.print(80, false), "A\n1\n");
  EXPECT_EQ(wide.print(80, false), "A  B\n1  2\n");
}

TEST(Printable, EscapesControlsAndMarksThatReorderText) {
  EXPECT_EQ(printable("plain 文本 é"), "plain 文本 é");
  EXPECT_EQ(printable("a\tb\nc"), "a\\tb\\nc");
  EXPECT_EQ(printable(std::string("\x00\x07\x7f", 3)), "\\x00\\x07\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\x9b31m");  // C1 control sequence introducer
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "gpj.exe"),
            "\\u202egpj.exe");  // right-to-left override
  EXPECT_EQ(printable("\xff\xfe"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Clipped, NeverCutsAWideCharacterInHalf) {
  EXPECT_EQ(clipped("abcdef", 6), "abcdef");
  EXPECT_EQ(clipped("abcdefg", 6), "abcde…");
  for (std::size_t columns = 1; columns < 12; ++columns) {
    const std::string cut = clipped("显卡a资源池中文", columns);
    EXPECT_LE(base::display_width(cut), columns);
    EXPECT_TRUE(base::is_utf8(cut)) << cut;
  }
}

}  // namespace
}  // namespace cli
