// SPDX-License-Identifier: Apache-2.0
//
// What an output stream can show, and how errors look.
#include "tools/console/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/tool_fixtures.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::Not;

TextOptions OptionsFor(StreamFacts stream, std::map<std::string, std::string> variables) {
  const GetVariable environment = FakeVariables(std::move(variables));
  return TextOptionsFor(stream, environment);
}

constexpr StreamFacts kPipe = {false, 0};
constexpr StreamFacts kTerminal = {true, 132};

TEST(Console, APipeIsEightyColumnsWideAndWithoutColour) {
  EXPECT_EQ(OptionsFor(kPipe, {}).width, 80);
  EXPECT_FALSE(OptionsFor(kPipe, {{"TERM", "xterm"}}).color);
}

TEST(Console, ATerminalSaysItsWidthAndTakesColour) {
  EXPECT_EQ(OptionsFor(kTerminal, {{"TERM", "xterm"}}).width, 132);
  EXPECT_TRUE(OptionsFor(kTerminal, {{"TERM", "xterm"}}).color);
}

TEST(Console, ColumnsOverridesTheTerminalUnlessItIsNonsense) {
  EXPECT_EQ(OptionsFor(kTerminal, {{"COLUMNS", "100"}}).width, 100);
  EXPECT_EQ(OptionsFor(kPipe, {{"COLUMNS", "100"}}).width, 100);
  for (const char* columns : {"", "0", "-5", "12x", "99999999999"}) {
    EXPECT_EQ(OptionsFor(kTerminal, {{"COLUMNS", columns}}).width, 132) << columns;
  }
}

TEST(Console, NoColorAndDumbTerminalsGetNone) {
  EXPECT_FALSE(OptionsFor(kTerminal, {{"NO_COLOR", "1"}}).color);
  EXPECT_FALSE(OptionsFor(kTerminal, {{"TERM", "dumb"}}).color);
  EXPECT_TRUE(OptionsFor(kTerminal, {{"NO_COLOR", ""}}).color);
}

TEST(Console, SymbolsNeedAUtf8Locale) {
  EXPECT_TRUE(OptionsFor(kPipe, {{"LANG", "en_US.UTF-8"}}).unicode);
  EXPECT_TRUE(OptionsFor(kPipe, {{"LC_CTYPE", "C.utf8"}, {"LANG", "C"}}).unicode);
  EXPECT_FALSE(OptionsFor(kPipe, {{"LC_ALL", "C"}, {"LANG", "en_US.UTF-8"}}).unicode);
  EXPECT_FALSE(OptionsFor(kPipe, {}).unicode);
}

TEST(Console, AMessageFitsATerminalAndIsOneLineElsewhere) {
  const GetVariable none = FakeVariables({});
  const StreamFacts narrow = {true, 24};
  EXPECT_EQ(MessageText("there is no such run.\nTry 'gpubound --help'.", narrow, none),
            "gpubound: there is no\n  such run.\nTry 'gpubound --help'.\n");
  EXPECT_EQ(MessageText("there is no such run here.", kPipe, none),
            "gpubound: there is no such run here.\n");
}

TEST(Console, AnErrorIsEscapedPartByPart) {
  const std::string text =
      ErrorText({"reading", "a\x1b[31m\nb", "\xff", "text", "Do something else."});
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("\\x1b[31m"));
  EXPECT_THAT(text, HasSubstr("\\xff"));
  EXPECT_THAT(text, HasSubstr("\nDo something else."));
}

}  // namespace
}  // namespace gpubound
