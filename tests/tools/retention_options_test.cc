// SPDX-License-Identifier: Apache-2.0
//
// What --window, --detail and --max-size say.
#include "tools/retention_options.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpubound {
namespace {

class RetentionOptionsTest : public testing::Test {
 protected:
  void SetUp() override { AddRetentionOptions(&app_, &options_); }

  Retention Parse(std::vector<std::string> words) {
    app_.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    return RetentionOf(options_);
  }
  bool Refuses(const std::vector<std::string>& words) {
    try {
      Parse(words);
    } catch (const CLI::ParseError&) {
      return true;
    }
    return false;
  }

  CLI::App app_;
  RetentionOptions options_;
};

TEST_F(RetentionOptionsTest, TheDefaultIsTenMinutesThreeTimesTheMedianAndAGigabyte) {
  const Retention retention = Parse({});
  EXPECT_EQ(retention.window_ns, 600'000'000'000);
  EXPECT_EQ(retention.slow_factor, 3.0);
  EXPECT_EQ(retention.max_bytes, uint64_t{1} << 30);
  EXPECT_FALSE(GaveRetentionOption(app_));
}

TEST_F(RetentionOptionsTest, UnitsAreUnderstood) {
  const Retention retention =
      Parse({"--window", "2h", "--detail", "slow:1.5x", "--max-size", "500MB"});
  EXPECT_EQ(retention.window_ns, int64_t{7200} * 1'000'000'000);
  EXPECT_EQ(retention.slow_factor, 1.5);
  EXPECT_EQ(retention.max_bytes, uint64_t{500} << 20);
  EXPECT_TRUE(GaveRetentionOption(app_));
}

TEST_F(RetentionOptionsTest, NoneKeepsNoOlderDetail) {
  EXPECT_FALSE(Parse({"--detail", "none"}).slow_factor);
}

TEST_F(RetentionOptionsTest, WhatMakesNoSenseIsRefused) {
  EXPECT_TRUE(Refuses({"--detail", "slow:0.5x"}));
  EXPECT_TRUE(Refuses({"--detail", "fast:3x"}));
  EXPECT_TRUE(Refuses({"--detail", "slow:x"}));
  EXPECT_TRUE(Refuses({"--window", "-3s"}));
  EXPECT_TRUE(Refuses({"--max-size", "many"}));
}

}  // namespace
}  // namespace gpubound
