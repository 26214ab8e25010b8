// SPDX-License-Identifier: Apache-2.0
//
// What --window, --detail and --max-size say.
#include "tools/commands/retention_options.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tools/commands/option_parser.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

constexpr CommandHelp kHelp = {"gpubound test", "[OPTIONS]", "Tests.", "", "  gpubound test\n"};
constexpr char kMessageBegin[] = "gpubound: ";

class RetentionOptionsTest : public testing::Test {
 protected:
  void SetUp() override { AddRetentionOptions(&parser_, &options_); }

  Retention Parse(const Arguments& words) {
    EXPECT_EQ(parser_.Parse(words, kExitWrongUse), std::nullopt);
    return RetentionOf(options_);
  }
  // What is said of |words|; nothing where they are accepted.
  std::string Refusal(const Arguments& words) {
    testing::internal::CaptureStderr();
    const std::optional<int> over = parser_.Parse(words, kExitWrongUse);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(over.has_value(), !said.empty());
    if (!said.starts_with(kMessageBegin)) return said;
    const size_t begin = sizeof(kMessageBegin) - 1;
    return said.substr(begin, said.find('\n') - begin);
  }

  OptionParser parser_{kHelp};
  RetentionOptions options_;
};

TEST_F(RetentionOptionsTest, TheDefaultIsTenMinutesThreeTimesTheMedianAndAGigabyte) {
  const Retention retention = Parse({});
  EXPECT_EQ(retention.window_ns, 600'000'000'000);
  EXPECT_EQ(retention.slow_factor, 3.0);
  EXPECT_EQ(retention.max_bytes, uint64_t{1} << 30);
  EXPECT_FALSE(GaveRetentionOption(parser_));
}

TEST_F(RetentionOptionsTest, UnitsAreUnderstood) {
  const Retention retention =
      Parse({"--window", "2h", "--detail", "slow:1.5x", "--max-size", "500MB"});
  EXPECT_EQ(retention.window_ns, int64_t{7200} * 1'000'000'000);
  EXPECT_EQ(retention.slow_factor, 1.5);
  EXPECT_EQ(retention.max_bytes, uint64_t{500} << 20);
  EXPECT_TRUE(GaveRetentionOption(parser_));
}

TEST_F(RetentionOptionsTest, NoneKeepsNoOlderDetail) {
  EXPECT_FALSE(Parse({"--detail", "none"}).slow_factor);
}

TEST_F(RetentionOptionsTest, ShortTimesAreTimes) {
  EXPECT_EQ(Parse({"--window", "1500ms"}).window_ns, 1'500'000'000);
  EXPECT_EQ(Parse({"--window", "0s"}).window_ns, 0);
}

TEST_F(RetentionOptionsTest, WhatMakesNoSenseIsRefused) {
  EXPECT_NE(Refusal({"--detail", "slow:0.5x"}), "");
  EXPECT_NE(Refusal({"--detail", "fast:3x"}), "");
  EXPECT_NE(Refusal({"--detail", "slow:x"}), "");
  EXPECT_EQ(Refusal({"--window", "-3s"}), "--window: '-3s' is no time: 500ms, 30s, 10m, 2h, 1d");
  EXPECT_EQ(Refusal({"--window", "1e300h"}), "--window: '1e300h' is more than 36500d");
  EXPECT_EQ(Refusal({"--max-size", "many"}), "--max-size: 'many' is no size: 500MB, 1GB");
  EXPECT_EQ(Refusal({"--max-size", "1e300GB"}), "--max-size: '1e300GB' is more than there can be");
}

// Ten bytes, or seconds instead of minutes, would cost detail for good.
TEST_F(RetentionOptionsTest, ANumberWithoutItsUnitIsRefused) {
  EXPECT_EQ(Refusal({"--max-size", "10"}), "--max-size: '10' lacks a unit: 500MB, 1GB");
  EXPECT_EQ(Refusal({"--window", "10"}), "--window: '10' lacks a unit: 500ms, 30s, 10m, 2h, 1d");
}

TEST_F(RetentionOptionsTest, ASizeThatHoldsNothingIsRefused) {
  EXPECT_EQ(Refusal({"--max-size", "10KB"}), "--max-size: '10KB' is less than 1MB");
  EXPECT_EQ(Parse({"--max-size", "1MB"}).max_bytes, uint64_t{1} << 20);
}

}  // namespace
}  // namespace gpubound
