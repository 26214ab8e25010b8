// SPDX-License-Identifier: Apache-2.0
//
// Decimals of microseconds as nanoseconds.
#include "analysis/import/import_decimal.h"

#include <gtest/gtest.h>

#include <string>

namespace gpubound {
namespace {

TEST(ImportDecimal, WholeMicrosecondsAreThousands) {
  EXPECT_EQ(NanosecondsOf("0"), 0);
  EXPECT_EQ(NanosecondsOf("1694039968955744"), 1694039968955744000);
}

TEST(ImportDecimal, KeepsDigitsThatADoubleWouldLose) {
  EXPECT_EQ(NanosecondsOf("1694039968955744.123"), 1694039968955744123);
  EXPECT_EQ(NanosecondsOf("9007199254740.993"), 9007199254740993);
}

TEST(ImportDecimal, RoundsHalfUp) {
  EXPECT_EQ(NanosecondsOf("0.0004"), 0);
  EXPECT_EQ(NanosecondsOf("0.0005"), 1);
  EXPECT_EQ(NanosecondsOf("0.00049999999999999999999"), 0);
  EXPECT_EQ(NanosecondsOf("0.9995"), 1000);
}

TEST(ImportDecimal, TheHalfOfANegativeNumberGoesUpToo) {
  EXPECT_EQ(NanosecondsOf("-0.0005"), 0);
  EXPECT_EQ(NanosecondsOf("-0.00050001"), -1);
  EXPECT_EQ(NanosecondsOf("-1.0006"), -1001);
  EXPECT_EQ(NanosecondsOf("-0.0015"), -1);
}

TEST(ImportDecimal, ReadsExponents) {
  EXPECT_EQ(NanosecondsOf("1.5e3"), 1500000);
  EXPECT_EQ(NanosecondsOf("15E-4"), 2);
  EXPECT_EQ(NanosecondsOf("1e-400"), 0);
  EXPECT_EQ(NanosecondsOf("0e999999999999999999999"), 0);
}

TEST(ImportDecimal, RefusesWhatDoesNotFit) {
  EXPECT_EQ(NanosecondsOf("9223372036854775.807"), INT64_MAX);
  EXPECT_EQ(NanosecondsOf("9223372036854775.808"), std::nullopt);
  EXPECT_EQ(NanosecondsOf("9223372036854775.8075"), std::nullopt);
  EXPECT_EQ(NanosecondsOf("1e300"), std::nullopt);
}

TEST(ImportDecimal, RefusesWhatIsNoJsonNumber) {
  for (const char* text :
       {"", "-", ".5", "5.", "+1", "01", "1e", "1e+", "1x", "0x10", "NaN", "1 "}) {
    EXPECT_EQ(NanosecondsOf(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace gpubound
