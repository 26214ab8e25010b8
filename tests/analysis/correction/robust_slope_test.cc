// SPDX-License-Identifier: Apache-2.0
//
// The slope and its error, on points that are exact, noisy and wild.
#include "analysis/correction/robust_slope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace gpubound {
namespace {

constexpr double kTrue = 1.7;

// |groups| groups of |size| points around a line of slope kTrue, with normal noise; one point in
// |wild_one_in| is off by 1000 more.
std::vector<SlopeGroup> NoisyPoints(size_t groups, size_t size, uint64_t seed,
                                    uint32_t wild_one_in = 0) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, 5);
  std::vector<SlopeGroup> made(groups);
  for (SlopeGroup& group : made) {
    for (size_t i = 0; i < size; ++i) {
      const double predictor = 10 + static_cast<double>(random() % 10);
      double response = kTrue * predictor + noise(random);
      if (wild_one_in != 0 && random() % wild_one_in == 0) response += 1000;
      group.push_back({predictor, response});
    }
  }
  return made;
}

TEST(RobustSlopeTest, PointsOnALineGiveItsSlopeWithoutError) {
  const Slope slope = FitSlope({{{1, 2}, {2, 4}}, {{3, 6}}, {{5, 10}}});
  EXPECT_DOUBLE_EQ(slope.value, 2);
  EXPECT_DOUBLE_EQ(slope.standard_error, 0);
  EXPECT_EQ(slope.groups, 3u);
}

TEST(RobustSlopeTest, OneGroupTellsNothing) { EXPECT_EQ(FitSlope({{{1, 2}, {2, 4}}}).groups, 0u); }

TEST(RobustSlopeTest, PredictorsOfZeroTellNothing) {
  EXPECT_EQ(FitSlope({{{0, 2}}, {{0, 3}}, {{0, 4}}}).groups, 0u);
}

TEST(RobustSlopeTest, WildPointsMoveItLittle) {
  const Slope slope = FitSlope(NoisyPoints(100, 4, 1, 20));
  EXPECT_NEAR(slope.value, kTrue, 0.15);
}

TEST(RobustSlopeTest, TheIntervalHoldsTheTruthAsOftenAsItSays) {
  int held = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Slope slope = FitSlope(NoisyPoints(12, 6, 100 + static_cast<uint64_t>(trial)));
    if (std::abs(slope.value - kTrue) <= 1.96 * slope.standard_error) ++held;
  }
  // 95 % of 400 are 380, with a standard deviation of 4.4.
  EXPECT_GE(held, 360);
  EXPECT_LE(held, 395);
}

TEST(RobustSlopeTest, PointsOfOneGroupThatShareTheirNoiseDoNotNarrowTheInterval) {
  std::vector<SlopeGroup> alone = NoisyPoints(30, 1, 5);
  std::vector<SlopeGroup> repeated = alone;
  for (SlopeGroup& group : repeated) group.resize(8, group.front());
  const Slope once = FitSlope(alone);
  const Slope often = FitSlope(repeated);
  EXPECT_NEAR(often.value, once.value, 1e-6);
  EXPECT_NEAR(often.standard_error, once.standard_error, 1e-6);
}

}  // namespace
}  // namespace gpubound
