// SPDX-License-Identifier: Apache-2.0
#include "examples/cartpole_ppo/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubound::cartpole {
namespace {

using testing::HasSubstr;

Options Parsed(const std::vector<std::string>& arguments) {
  Options options;
  EXPECT_EQ(ParseOptions(arguments, options), "");
  return options;
}

std::string Problem(const std::vector<std::string>& arguments) {
  Options options;
  return ParseOptions(arguments, options);
}

TEST(OptionsTest, NothingSaidLeavesTheDefaults) {
  const Options options = Parsed({});
  EXPECT_EQ(options.target_return, 450);
  EXPECT_FALSE(options.quiet);
}

TEST(OptionsTest, ValuesFollowOrAreJoined) {
  const Options options = Parsed({"--seed", "7", "--envs=64", "--time-limit", "1.5", "--quiet"});
  EXPECT_EQ(options.seed, 7u);
  EXPECT_EQ(options.environments, 64u);
  EXPECT_EQ(options.time_limit_s, 1.5);
  EXPECT_TRUE(options.quiet);
}

TEST(OptionsTest, EveryOptionIsRead) {
  const Options options = Parsed({"--total-steps", "1000", "--iterations", "3", "--threads", "5",
                                  "--target-return", "475.5", "--help"});
  EXPECT_EQ(options.total_steps, 1000u);
  EXPECT_EQ(options.iterations, 3u);
  EXPECT_EQ(options.threads, 5u);
  EXPECT_EQ(options.target_return, 475.5);
  EXPECT_TRUE(options.help);
}

TEST(OptionsTest, UnknownOptionsAreNamed) {
  EXPECT_THAT(Problem({"--sed", "7"}), HasSubstr("'--sed'"));
  EXPECT_THAT(Problem({"7"}), HasSubstr("'7'"));
}

TEST(OptionsTest, MissingValuesAreNoticed) {
  EXPECT_THAT(Problem({"--seed"}), HasSubstr("--seed needs a value"));
}

TEST(OptionsTest, ValuesThatAreNoNumbersAreQuoted) {
  for (const char* text : {"", "x", "7x", "-1", "1e3", "99999999999999999999"}) {
    EXPECT_THAT(Problem({"--seed", text}), HasSubstr("'" + std::string(text) + "'"));
  }
  for (const char* text : {"", "fast", "-1", "nan", "inf"}) {
    EXPECT_THAT(Problem({"--time-limit", text}), HasSubstr("'" + std::string(text) + "'"));
  }
}

TEST(OptionsTest, CountsOutOfRangeAreRefusedWithTheRange) {
  EXPECT_THAT(Problem({"--envs", "0"}), HasSubstr("from 8 to 4096"));
  EXPECT_THAT(Problem({"--envs", "4104"}), HasSubstr("from 8 to 4096"));
  EXPECT_THAT(Problem({"--envs", "12"}), HasSubstr("a multiple of 8"));
  EXPECT_THAT(Problem({"--threads", "0"}), HasSubstr("from 1 to 256"));
}

}  // namespace
}  // namespace gpubound::cartpole
