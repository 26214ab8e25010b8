// SPDX-License-Identifier: Apache-2.0
//
// What a figure groups runs by.
#include "tools/commands/report_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubound {
namespace {

using ::testing::HasSubstr;

class PlotKeysTest : public testing::Test {
 protected:
  PlotKeysTest() {
    input_.runs.push_back({"a", {{"algorithm", "PPO"}}, nullptr});
    input_.runs.push_back({"b", {{"seed", "1"}}, nullptr});
  }
  PlotInput input_;
};

TEST_F(PlotKeysTest, AKeyThatOneRunHasIsEnough) {
  EXPECT_TRUE(CheckPlotKeys(input_, {"algorithm", "seed"}).ok());
}

TEST_F(PlotKeysTest, AKeyThatNoRunHasIsAnErrorThatNamesTheOthers) {
  const Status checked = CheckPlotKeys(input_, {"seed", "bogus\x1b"});
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().object, "--group-by bogus\\x1b");
  EXPECT_EQ(checked.error().expected, "algorithm, seed");
}

TEST_F(PlotKeysTest, AMistypedKeyGetsASuggestion) {
  const Status checked = CheckPlotKeys(input_, {"algoritm"});
  ASSERT_FALSE(checked.ok());
  EXPECT_EQ(checked.error().remedy, "Did you mean 'algorithm'?");
}

TEST_F(PlotKeysTest, RunsWithoutMetadataAreSaidToHaveNone) {
  const Status checked = CheckPlotKeys(PlotInput{}, {"seed"});
  ASSERT_FALSE(checked.ok());
  EXPECT_THAT(checked.error().expected, HasSubstr("they have none"));
}

}  // namespace
}  // namespace gpubound
