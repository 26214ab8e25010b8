// SPDX-License-Identifier: Apache-2.0
//
// Names as formats that know only UTF-8 get them.
#include "analysis/base/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace gpubound {
namespace {

constexpr char kNone[] = "\xef\xbf\xbd";

std::string Valid(std::string_view text) {
  std::string scratch;
  return std::string(ValidUtf8(text, &scratch));
}

std::optional<uint32_t> First(std::string_view text) {
  const std::optional<Utf8Character> character = FirstCharacter(text);
  return character ? std::optional(character->code) : std::nullopt;
}

TEST(Utf8, TheFirstAndLastCharacterOfEachLengthAreKnown) {
  EXPECT_EQ(First(std::string_view("\0", 1)), 0u);
  EXPECT_EQ(First("\x7f"), 0x7fu);
  EXPECT_EQ(First("\xc2\x80"), 0x80u);
  EXPECT_EQ(First("\xdf\xbf"), 0x7ffu);
  EXPECT_EQ(First("\xe0\xa0\x80"), 0x800u);
  EXPECT_EQ(First("\xef\xbf\xbf"), 0xffffu);
  EXPECT_EQ(First("\xf0\x90\x80\x80"), 0x10000u);
  EXPECT_EQ(First("\xf4\x8f\xbf\xbf"), 0x10ffffu);
}

TEST(Utf8, WhatLiesJustBeyondThemIsNoCharacter) {
  for (const char* text : {"\xc1\xbf", "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf",  // overlong
                           "\xed\xa0\x80", "\xed\xbf\xbf",                  // surrogates
                           "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\x80"}) {
    EXPECT_EQ(First(text), std::nullopt);
  }
  EXPECT_EQ(First("\xed\x9f\xbf"), 0xd7ffu);
  EXPECT_EQ(First("\xee\x80\x80"), 0xe000u);
}

TEST(Utf8, ACharacterThatIsCutShortIsNone) {
  for (const char* text : {"\xc2", "\xe2\x82", "\xf0\x9f\x98", "\xe2\x82z", "\xf0\x9fzz"}) {
    EXPECT_EQ(First(text), std::nullopt);
  }
}

TEST(Utf8, OnlyTheFirstCharacterIsTaken) { EXPECT_EQ(FirstCharacter("\xc3\xa9z")->bytes, 2u); }

TEST(Utf8, WhatIsUtf8StaysAsItIs) {
  for (const char* text : {"", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    EXPECT_EQ(Valid(text), text);
  }
}

TEST(Utf8, EachByteThatDoesNotFitBecomesAReplacement) {
  EXPECT_EQ(Valid("a\x80z"), std::string("a") + kNone + "z");
  EXPECT_EQ(Valid("\xe2\x82"), std::string(kNone) + kNone);              // cut short
  EXPECT_EQ(Valid("\xc0\xaf"), std::string(kNone) + kNone);              // overlong
  EXPECT_EQ(Valid("\xed\xa0\x80"), std::string(kNone) + kNone + kNone);  // a surrogate
  EXPECT_EQ(Valid("\xf4\x90\x80\x80").size(), 12u);  // beyond the last character
}

TEST(Utf8, JsonEscapesQuotesAndControls) {
  EXPECT_EQ(JsonString("a\"b\\c\n\t\x01\x7f"), "\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\"");
  EXPECT_EQ(JsonString(std::string_view("\0", 1)), "\"\\u0000\"");
}

TEST(Utf8, CsvQuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(CsvField("plain text"), "plain text");
  EXPECT_EQ(CsvField("a,b"), "\"a,b\"");
  EXPECT_EQ(CsvField("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(CsvField(" x"), "\" x\"");
}

}  // namespace
}  // namespace gpubound
