// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/text_table.h"

#include <gtest/gtest.h>

#include <string>

#include "analysis/base/status.h"

namespace gpubound {
namespace {

TEST(TextTableTest, TimesHaveThreeDigitsAndAUnit) {
  EXPECT_EQ(FormatTime(0), "0");
  EXPECT_EQ(FormatTime(999), "999 ns");
  EXPECT_EQ(FormatTime(1000), "1.00 us");
  EXPECT_EQ(FormatTime(12'345), "12.3 us");
  EXPECT_EQ(FormatTime(999'499), "999 us");
  EXPECT_EQ(FormatTime(999'500), "1.00 ms");
  EXPECT_EQ(FormatTime(123'456'789'000), "123 s");
  EXPECT_EQ(FormatTime(12'345, /*raw=*/true), "12345");
}

TEST(FormatBytes, HasThreeDigitsAndABinaryUnit) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(1536), "1.50 KiB");
  EXPECT_EQ(FormatBytes((int64_t{1} << 20) - 1), "1.00 MiB");
  EXPECT_EQ(FormatBytes(int64_t{80} << 30), "80.0 GiB");
  EXPECT_EQ(FormatBytes(int64_t{1500} << 30), "1500 GiB");
}

TEST(TextTableTest, SharesNeverRoundToAllOrNothing) {
  EXPECT_EQ(FormatShare(0), "0 %");
  EXPECT_EQ(FormatShare(0.00001), "<0.1 %");
  EXPECT_EQ(FormatShare(0.041), "4.1 %");
  EXPECT_EQ(FormatShare(0.413), "41 %");
  EXPECT_EQ(FormatShare(0.9985), "99.8 %");
  EXPECT_EQ(FormatShare(1), "100 %");
}

TEST(TextTableTest, OfOneThingTheNounIsSingular) {
  EXPECT_EQ(Counted(0, "row"), "0 rows");
  EXPECT_EQ(Counted(1, "row"), "1 row");
  EXPECT_EQ(Counted(12'345, "row"), "12.3k rows");
}

TEST(TextTableTest, NamesCannotHarmATerminal) {
  EXPECT_EQ(EscapeName("\033[31mred\n"), "\\x1b[31mred\\x0a");
  EXPECT_EQ(EscapeName("größe 訓練"), "größe 訓練");
  EXPECT_EQ(EscapeName("\xff\xc0\x80"), "\\xff\\xc0\\x80");
  EXPECT_EQ(EscapeName("a\u202eb"), "a\\xe2\\x80\\xaeb");
  EXPECT_EQ(EscapeName("\xc2\x9b"), "\\xc2\\x9b");
  EXPECT_EQ(EscapeName("\xe2\x80"), "\\xe2\\x80");
}

TEST(TextTableTest, WidthCountsColumnsNotBytes) {
  EXPECT_EQ(DisplayWidth("größe"), 5);
  EXPECT_EQ(DisplayWidth("訓練"), 4);
  EXPECT_EQ(PadRight("訓練", 6, true), "訓練  ");
}

TEST(TextTableTest, LongNamesKeepBothEnds) {
  EXPECT_EQ(PadRight("abcdefghij", 7, true), "abc…hij");
  EXPECT_EQ(PadRight("abcdefghij", 7, false), "abc..ij");
}

// Where each character cost what is behind it, this would go on for minutes.
TEST(TextTableTest, CutsNamesOfAnyLength) {
  EXPECT_EQ(PadRight("abc" + std::string(1'000'000, '-') + "xyz", 7, true), "abc…xyz");
}

TEST(TextTableTest, WrapsAtSpacesWithAnIndent) {
  EXPECT_EQ(Wrap("one two three", 8, 2), "one two\n  three\n");
  EXPECT_EQ(Wrap("unbreakable word", 5, 0), "unbreakable\nword\n");
}

TEST(TextTableTest, AFigureStaysWithItsUnit) {
  EXPECT_EQ(Wrap("shutdown 9.13 ms.", 13, 0), "shutdown\n9.13 ms.\n");
  EXPECT_EQ(Wrap("(4 s to 5 s, 95 %), GPU", 17, 0), "(4 s to 5 s,\n95 %), GPU\n");
  EXPECT_EQ(Wrap("of 12 workers", 5, 0), "of 12\nworkers\n");
}

TEST(TextTableTest, ColumnsLineUpWithinTheWidth) {
  TextTable table({"Name", "ns"});
  table.AddRow({"a", "1"});
  table.AddRow({"a very long name that does not fit", "12345"});
  EXPECT_EQ(table.Render(20, 0, false),
            "Name              ns\n"
            "a                  1\n"
            "a very..ot fit 12345\n");
}

TEST(TextTableTest, NamesThatWouldBeCutAlikeShowWhereTheyDiffer) {
  TextTable table({"Operation", "wall"});
  table.AddRow({"[param|net|0|warmup|forward]", "1"});
  table.AddRow({"[param|net|0|measure|forward]", "2"});
  table.AddRow({"[param|clear_the_cache|0]", "3"});
  table.AddRow({"[param|net|0|warmup|forward]", "4"});
  EXPECT_EQ(table.Render(21, 0, true),
            "Operation        wall\n"
            "[para…warmup|fo…    1\n"
            "[para…measure|f…    2\n"
            "[param|c…ache|0]    3\n"
            "[para…warmup|fo…    4\n");
}

TEST(TextTableTest, OfSeveralThatAreAlikeThoseThatStillAreShowWhereTheseDiffer) {
  TextTable table({"Work", "ns"});
  table.AddRow({"void kernel<512, 1, Max>(int, int*)", "1"});
  table.AddRow({"void kernel<512, 1, Sum>(int, int*)", "2"});
  table.AddRow({"void kernel<256, 1, Max>(int, int*)", "3"});
  EXPECT_EQ(table.Render(22, 0, false),
            "Work                ns\n"
            "void k..Max>(int..   1\n"
            "void k..Sum>(int..   2\n"
            "void k..256, 1, ..   3\n");
}

TEST(TextTableTest, NamesThatDifferInsideACharacterShowIt) {
  TextTable table({"Operation", "wall"});
  table.AddRow({"[schedule|学|0|0|0|0|0|forward]", "1"});
  table.AddRow({"[schedule|字|0|0|0|0|0|forward]", "2"});
  EXPECT_EQ(table.Render(18, 0, false),
            "Operation     wall\n"
            "[sch..学|0|..    1\n"
            "[sch..字|0|..    2\n");
}

TEST(TextTableTest, ColumnsStandApartWhereNamesHaveRoom) {
  TextTable table({"Name", "ns"});
  table.AddRow({"a name of eighteen", "12345"});
  EXPECT_EQ(table.Render(25, 0, false),
            "Name                   ns\n"
            "a name of eighteen  12345\n");
  EXPECT_EQ(table.Render(24, 0, false),
            "Name                  ns\n"
            "a name of eighteen 12345\n");
}

TEST(TextTableTest, ColumnsWithoutRoomAreATableOfTheirOwn) {
  TextTable table({"Name", "first", "second", "third"});
  table.AddRow({"a name of eighteen", "1", "2", "3"});
  EXPECT_EQ(table.RenderInParts(29, false),
            "Name       first second third\n"
            "a na..teen     1      2     3\n");
  EXPECT_EQ(table.RenderInParts(28, false),
            "Name            first second\n"
            "a name ..ghteen     1      2\n"
            "\n"
            "Name                third\n"
            "a name of eighteen      3\n");
}

TEST(ErrorTest, NamesWhatWhereBothSidesAndTheRemedy) {
  const Error error{"reading the trace", "x.db", "version 2", "version 1", "Upgrade."};
  EXPECT_EQ(error.ToString(),
            "reading the trace x.db: found version 2, expected version 1.\nUpgrade.");
  EXPECT_EQ((Error{"reading", "x", "", "", ""}).ToString(), "reading x: failed.");
}

}  // namespace
}  // namespace gpubound
