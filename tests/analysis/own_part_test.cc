// SPDX-License-Identifier: Apache-2.0
#include "analysis/own_part.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gpubound {
namespace {

class OwnPartTest : public ::testing::Test {
 protected:
  static constexpr double kMean = 5000;
  static constexpr double kDeviation = 1000;

  double Draw() { return std::normal_distribution<double>(kMean, kDeviation)(random_); }
  // Calls of which each waits for something that is over after about |usually| ns.
  void CallsThatWait(double usually) {
    for (int i = 0; i < 4000; ++i) {
      const double own_ns = Draw();
      const double over_ns = std::normal_distribution<double>(usually, kDeviation)(random_);
      if (own_ns > over_ns) {
        own_part_.Add(own_ns, false);
      } else {
        own_part_.AddBelow(over_ns);
      }
    }
  }

  std::mt19937_64 random_{1};
  OwnPart own_part_;
};

TEST_F(OwnPartTest, CallsThatWaitHalfTheTimeDoNotMakeTheOthersUsual) {
  CallsThatWait(kMean);
  EXPECT_NEAR(own_part_.mean(), kMean, 0.05 * kMean);
}

TEST_F(OwnPartTest, CallsThatMostlyWaitStillTellTheirMean) {
  CallsThatWait(kMean + kDeviation);
  EXPECT_NEAR(own_part_.mean(), kMean, 0.1 * kMean);
}

TEST_F(OwnPartTest, ALimitFarAboveTheMeanTellsNothing) {
  for (int i = 0; i < 100; ++i) own_part_.Add(Draw(), true);
  const double before = own_part_.mean();
  own_part_.AddBelow(kMean + 10 * kDeviation);
  EXPECT_EQ(own_part_.mean(), before);
}

TEST_F(OwnPartTest, CallsThatNearlyAlwaysWaitAreNotOverBeforeTheyBegin) {
  for (int i = 0; i < 100; ++i) own_part_.Add(Draw(), true);
  for (int i = 0; i < 4000; ++i) own_part_.AddBelow(kMean / 10 + i % 1000);
  EXPECT_GE(own_part_.mean(), 0);
  EXPECT_LE(own_part_.mean(), kMean);
  EXPECT_GE(own_part_.MeanBelow(kMean), 0);
}

TEST_F(OwnPartTest, HowMuchCallsDifferIsKnownFromSeveral) {
  own_part_.Add(Draw(), true);
  EXPECT_TRUE(own_part_.usual().known());
  EXPECT_FALSE(own_part_.usual().known_well());
  for (int i = 0; i < 100; ++i) own_part_.Add(Draw(), true);
  EXPECT_TRUE(own_part_.usual().known_well());
}

TEST_F(OwnPartTest, ALimitBeforeAnythingIsKnownTellsNothing) {
  own_part_.AddBelow(kMean);
  EXPECT_FALSE(own_part_.known());
}

TEST_F(OwnPartTest, WhereCallsDifferByTheCostAloneTheMeanIsLikely) {
  for (int i = 0; i < 4000; ++i) own_part_.Add(Draw(), true);
  const double likely = own_part_.Likely(kMean + 3 * kDeviation, 2 * kDeviation * kDeviation);
  EXPECT_EQ(likely, own_part_.mean());
}

TEST_F(OwnPartTest, WithoutACostACallTookWhatItTook) {
  for (int i = 0; i < 4000; ++i) own_part_.Add(Draw(), true);
  EXPECT_DOUBLE_EQ(own_part_.Likely(kMean + 3 * kDeviation, 0), kMean + 3 * kDeviation);
}

TEST_F(OwnPartTest, AStrayCallHardlyMovesTheMean) {
  for (int i = 0; i < 1000; ++i) own_part_.Add(Draw(), true);
  const double before = own_part_.mean();
  own_part_.Add(1000 * kMean, true);
  EXPECT_NEAR(own_part_.mean(), before, 0.01 * kMean);
}

TEST_F(OwnPartTest, AnotherKindOfCallBeginsWithTheMeanAndNotWithWhatIsCertain) {
  for (int i = 0; i < 100; ++i) own_part_.Add(Draw(), true);
  OwnPart other;
  other.BeginLike(own_part_);
  EXPECT_EQ(other.mean(), own_part_.mean());
  EXPECT_FALSE(other.usual().known());
}

TEST(LaterByTest, IsTheMeanOfTheLaterOfBothAsDrawn) {
  std::mt19937_64 random(2);
  for (const double b : {-1.5, 0.0, 0.7}) {
    std::normal_distribution<double> draw(0, 1);
    double sum = 0;
    constexpr int kDraws = 200'000;
    for (int i = 0; i < kDraws; ++i) sum += std::max(draw(random), b);
    EXPECT_NEAR(std::max(0.0, b) + LaterBy(0, b, 1), sum / kDraws, 0.01) << b;
  }
}

TEST(LaterByTest, IsNothingWithoutUncertainty) { EXPECT_EQ(LaterBy(1, 1, 0), 0); }

}  // namespace
}  // namespace gpubound
