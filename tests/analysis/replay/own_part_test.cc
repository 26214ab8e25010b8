// SPDX-License-Identifier: Apache-2.0
#include "analysis/replay/own_part.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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
  for (int i = 0; i < 1000; ++i) own_part_.AddBelow(kMean + 10 * kDeviation);
  EXPECT_NEAR(own_part_.mean(), before, 1e-3 * kMean);
}

// Where all but the longest of calls wait, these few are no picture of them.
TEST_F(OwnPartTest, AFewLongCallsAmongManyThatWaitedAreNoRule) {
  std::lognormal_distribution<double> draw(std::log(kMean), 0.5);
  OwnPart others;
  for (int i = 0; i < 1000; ++i) others.Add(draw(random_), true);
  own_part_.BeginLike(others);
  for (int i = 0; i < 20'000; ++i) {
    const double own_ns = draw(random_);
    const double over_ns = 4 * kMean;
    if (own_ns > over_ns) {
      own_part_.Add(own_ns, false);
    } else {
      own_part_.AddBelow(over_ns);
    }
  }
  EXPECT_TRUE(own_part_.told());
  EXPECT_NEAR(own_part_.mean(), others.mean(), 0.15 * kMean);
}

TEST_F(OwnPartTest, HowMuchLongerThanAnEarlierReleaseAndHowManyAreNot) {
  constexpr double kCost = 500;
  constexpr double kLimit = 6000;
  constexpr double kRelease = 4500;
  std::lognormal_distribution<double> draw(std::log(kMean - kCost), 0.3);
  for (int i = 0; i < 4000; ++i) own_part_.Add(kCost + draw(random_), true);
  double sum = 0;
  double below = 0;
  double over = 0;  // before the release
  for (int i = 0; i < 200'000; ++i) {
    const double ns = draw(random_);
    if (ns >= kLimit) continue;
    ++below;
    sum += std::max(0.0, ns - kRelease);
    over += ns < kRelease ? 1 : 0;
  }
  EXPECT_NEAR(own_part_.LongerThan(kRelease, kLimit, kCost, 0), sum / below, 0.1 * sum / below);
  EXPECT_NEAR(own_part_.ShareBelow(kRelease, kLimit, kCost, 0), over / below, 0.02);
  EXPECT_EQ(own_part_.ShareBelow(kLimit, kLimit, kCost, 0), 1);
  EXPECT_EQ(own_part_.LongerThan(kLimit, kLimit, kCost, 0), 0);
  EXPECT_EQ(OwnPart().LongerThan(0, kLimit, kCost, 0), 0);
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

TEST(LognormalTest, WhatLiesBelowALimitIsAsDrawn) {
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> draw(0, 0.8);
  const double mean = std::exp(0.32);
  const Lognormal times(mean, mean * mean * std::expm1(0.64));
  constexpr int kDraws = 400'000;
  constexpr double kLimit = 1.5;
  double share = 0;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double value = draw(random);
    if (value >= kLimit) continue;
    share += 1.0 / kDraws;
    sum += value / kDraws;
    squares += value * value / kDraws;
  }
  EXPECT_NEAR(times.ShareBelow(kLimit), share, 0.01);
  EXPECT_NEAR(times.SumBelow(kLimit), sum, 0.01);
  EXPECT_NEAR(times.SquaresBelow(kLimit), squares, 0.01);
  EXPECT_EQ(times.ShareBelow(0), 0);
  EXPECT_NEAR(times.InformationBelow(1e-9), 1, 0.01);
  EXPECT_NEAR(times.InformationBelow(1e9), 0, 0.01);
}

TEST(LognormalTest, WithoutAVarianceAllAreTheMean) {
  const Lognormal times(3, 0);
  EXPECT_EQ(times.ShareBelow(2.9), 0);
  EXPECT_EQ(times.ShareBelow(3), 1);
  EXPECT_EQ(times.SquaresBelow(4), 9);
  EXPECT_EQ(times.InformationBelow(4), 0);
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
