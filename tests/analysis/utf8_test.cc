// SPDX-License-Identifier: Apache-2.0
//
// Names as formats that know only UTF-8 get them.
#include "analysis/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace gpubound {
namespace {

constexpr char kNone[] = "\xef\xbf\xbd";

std::string Valid(std::string_view text) {
  std::string scratch;
  return std::string(ValidUtf8(text, &scratch));
}

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
