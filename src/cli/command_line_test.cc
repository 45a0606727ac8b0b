#include "cli/command_line.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/help.h"

namespace cli {
namespace {

using Words = std::vector<std::string>;

Invocation parsed(const Words& words) {
  const auto invocation = parse_command_line(words);
  EXPECT_TRUE(invocation.has_value()) << invocation.error().message;
  return invocation.value_or(Invocation{});
}

base::Error refused(const Words& words) {
  const auto invocation = parse_command_line(words);
  EXPECT_FALSE(invocation.has_value());
  if (invocation) return {};
  EXPECT_EQ(invocation.error().code, base::Code::InvalidArgument);
  return invocation.error();
}

TEST(CommandLine, FlagsAndTheCommandToRunAreToldApart) {
  const Invocation typed = parsed({"submit", "--gpus", "2", "--queue", "nlp", "--time", "2h", "--",
                                   "python", "train.py", "--gpus", "9"});
  EXPECT_EQ(typed.value("gpus"), "2");
  EXPECT_EQ(typed.value("queue"), "nlp");
  EXPECT_EQ(typed.command, (Words{"python", "train.py", "--gpus", "9"}));
}

TEST(CommandLine, TheFirstWordThatIsNoFlagBeginsTheCommandToo) {
  const Invocation typed =
      parsed({"run", "-g", "1", "--env=A=b", "python", "-c", "print(1)", "--x"});
  EXPECT_EQ(typed.value("gpus"), "1");
  EXPECT_EQ(typed.values("env"), (Words{"A=b"}));
  EXPECT_EQ(typed.command, (Words{"python", "-c", "print(1)", "--x"}));
}

TEST(CommandLine, FlagsMayStandBeforeTheVerb) {
  const Invocation typed = parsed({"--server", "http://h:1", "-o", "json", "queue", "-a"});
  EXPECT_EQ(typed.verb->name, "queue");
  EXPECT_EQ(typed.value("server"), "http://h:1");
  EXPECT_EQ(typed.value("output"), "json");
  EXPECT_TRUE(typed.has("all"));
}

TEST(CommandLine, RepeatableFlagsKeepTheirOrder) {
  const Invocation typed = parsed({"submit", "--pool", "b", "--pool", "a", "--", "true"});
  EXPECT_EQ(typed.values("pool"), (Words{"b", "a"}));
}

TEST(CommandLine, ANegativeValueIsAValue) {
  EXPECT_EQ(parsed({"submit", "--priority", "-5", "--", "true"}).value("priority"), "-5");
  EXPECT_EQ(parsed({"submit", "--priority=-5", "--", "true"}).value("priority"), "-5");
}

TEST(CommandLine, AnUnknownVerbNamesTheNearest) {
  EXPECT_EQ(refused({"sumbit"}).hint, "did you mean: berth submit");
  EXPECT_EQ(refused({"xyzzy"}).hint, "see: berth help");
}

TEST(CommandLine, AnUnknownFlagNamesTheNearest) {
  const base::Error error = refused({"queue", "--quene", "nlp"});
  EXPECT_EQ(error.message, "berth queue has no flag --quene");
  EXPECT_EQ(error.hint, "did you mean --queue");
  EXPECT_EQ(refused({"cancel", "1042", "--zzzzzzzz"}).hint, "see: berth cancel --help");
}

TEST(CommandLine, AFlagOfAnotherVerbIsUnknownHere) {
  EXPECT_EQ(refused({"why", "1042", "--gpus", "2"}).message, "berth why has no flag --gpus");
}

TEST(CommandLine, AMissingValueOrArgumentIsSaid) {
  EXPECT_NE(refused({"submit", "--gpus"}).message.find("--gpus"), std::string::npos);
  EXPECT_EQ(refused({"why"}).message, "berth why needs WORKLOAD");
  EXPECT_EQ(refused({"why", "1", "2"}).message, "berth why does not take \"2\"");
  EXPECT_EQ(refused({"queue", "nlp"}).message, "berth queue does not take \"nlp\"");
  EXPECT_EQ(refused({"queue", "--", "nlp"}).message, "berth queue does not take \"nlp\"");
}

TEST(CommandLine, AValueOutsideItsChoicesListsThem) {
  const base::Error error = refused({"queue", "-o", "xml"});
  EXPECT_EQ(error.message, "--output cannot be \"xml\"");
  EXPECT_EQ(error.hint, "it is one of: table wide json yaml name");
  refused({"queue", "-o", ""});
  refused({"queue", "-o", "json yaml"});
}

TEST(CommandLine, AFlagGivenTwiceIsRefusedUnlessItMayRepeat) {
  EXPECT_EQ(refused({"queue", "--queue", "a", "--queue", "b"}).message, "--queue is given 2 times");
}

TEST(CommandLine, NoWordsAskForHelp) {
  EXPECT_EQ(parsed({}).verb->name, "help");
  EXPECT_EQ(parsed({"--help"}).verb->name, "help");
  EXPECT_EQ(parsed({"--version"}).verb->name, "version");
  EXPECT_TRUE(parsed({"why", "--help"}).wants_help);
  EXPECT_EQ(refused({"--server"}).hint, "see: berth help");
}

TEST(CommandLine, ARoleThatParsesItselfGetsEveryWord) {
  EXPECT_EQ(parsed({"simulate", "--trace", "philly", "--strange"}).arguments,
            (Words{"--trace", "philly", "--strange"}));
}

// Every flag of every verb must get through the parser under both of its names.
TEST(CommandTree, EveryFlagOfEveryVerbParses) {
  int flags = 0;
  for (const Verb& verb : verbs()) {
    if (verb.parses_itself) continue;
    for (const auto list : {verb.flags, shared_flags(), server_flags()}) {
      for (const Flag& flag : list) {
        if (find_flag(verb, flag.name) == nullptr || flag.name == "help") continue;
        std::string value = "1";
        if (flag.offers == Offers::Choices)
          value = std::string(flag.choices.substr(0, flag.choices.find(' ')));
        Words words{std::string(verb.name), "--" + std::string(flag.name)};
        if (!flag.value.empty()) words.push_back(value);
        for (const Argument& argument : verb.arguments)
          for (int i = 0; i < argument.least; ++i)
            words.emplace_back("x");
        const auto invocation = parse_command_line(words);
        ASSERT_TRUE(invocation.has_value())
            << verb.name << " --" << flag.name << ": " << invocation.error().message;
        EXPECT_EQ(invocation->value(flag.name), flag.value.empty() ? "true" : value);
        ++flags;
      }
    }
  }
  EXPECT_GT(flags, 150);
}

TEST(CommandTree, LettersOfOneVerbDiffer) {
  for (const Verb& verb : verbs()) {
    std::string letters;
    for (const auto list : {verb.flags, shared_flags()})
      for (const Flag& flag : list) {
        if (flag.letter == 0) continue;
        EXPECT_EQ(letters.find(flag.letter), std::string::npos) << verb.name << " -" << flag.letter;
        letters += flag.letter;
      }
  }
}

TEST(Help, IsAtMostEightyColumnsWideAndNamesEverything) {
  std::string all = help_overview();
  for (const Verb& verb : verbs()) {
    EXPECT_NE(help_overview().find(verb.name), std::string::npos) << verb.name;
    const std::string page = help_of(verb);
    for (const Flag& flag : verb.flags)
      EXPECT_NE(page.find("--" + std::string(flag.name)), std::string::npos) << verb.name;
    for (const Example& example : verb.examples)
      EXPECT_NE(page.find(example.line), std::string::npos) << verb.name;
    all += page;
  }
  std::size_t begin = 0;
  for (std::size_t end; (end = all.find('\n', begin)) != std::string::npos; begin = end + 1)
    EXPECT_LE(base::display_width(all.substr(begin, end - begin)), 80u)
        << all.substr(begin, end - begin);
}

TEST(Help, ExamplesAreCommandLinesThatParse) {
  for (const Verb& verb : verbs()) {
    if (verb.parses_itself || verb.name == "completion") continue;
    for (const Example& example : verb.examples) {
      Words words;
      std::string word;
      bool is_quoted = false;
      for (const char c : std::string(example.line) + " ") {
        if (c == '\'')
          is_quoted = !is_quoted;
        else if (c != ' ' || is_quoted)
          word += c;
        else if (!word.empty())
          words.push_back(std::exchange(word, {}));
      }
      ASSERT_EQ(words.front(), "berth");
      words.erase(words.begin());
      const auto invocation = parse_command_line(words);
      EXPECT_TRUE(invocation.has_value()) << example.line << ": " << invocation.error().message;
    }
  }
}

}  // namespace
}  // namespace cli
