// SPDX-License-Identifier: Apache-2.0
//
// A change of level found beside drift, noise, wild iterations and kinds that take turns.
#include "analysis/correction/level_change.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace gpubound {
namespace {

constexpr double kLengthNs = 1'000'000;
constexpr double kChangeNs = -100'000;

struct Series {
  std::vector<TimedLength> before;
  std::vector<TimedLength> behind;
  LevelChange Fit() const { return FitLevelChange(before, behind); }
};

// |length| of iteration i, from -before on; 0 is the first one behind the instant.
template <typename Length>
Series Draw(int before, int behind, const Length& length) {
  Series series;
  double now_ns = 0;
  for (int i = -before; i < behind; ++i) {
    const double length_ns = length(i) + (i < 0 ? 0 : kChangeNs);
    now_ns += length_ns;
    (i < 0 ? series.before : series.behind).push_back({now_ns, length_ns});
  }
  return series;
}

TEST(LevelChangeTest, WithoutNoiseItIsExact) {
  const LevelChange change = Draw(50, 70, [](int) { return kLengthNs; }).Fit();
  EXPECT_EQ(change.used, 50u);
  EXPECT_NEAR(change.before_ns, kLengthNs, 1e-3);
  EXPECT_NEAR(change.change_ns(), kChangeNs, 1e-3);
  EXPECT_NEAR(change.standard_error_ns, 0, 1e-3);
}

TEST(LevelChangeTest, ADriftIsNoChange) {
  const LevelChange change = Draw(200, 200, [](int i) { return kLengthNs + 1'000.0 * i; }).Fit();
  EXPECT_NEAR(change.change_ns(), kChangeNs, 0.01 * std::abs(kChangeNs));
}

TEST(LevelChangeTest, WildIterationsCountLittle) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 20'000);
  const LevelChange change =
      Draw(400, 400, [&](int i) {
        return kLengthNs + noise(random) + (i % 97 == 5 || i % 97 == -5 ? 50e6 : 0);
      }).Fit();
  EXPECT_NEAR(change.change_ns(), kChangeNs, 0.1 * std::abs(kChangeNs));
  EXPECT_LT(change.standard_error_ns, 0.1 * std::abs(kChangeNs));
}

TEST(LevelChangeTest, KindsOfIterationsThatTakeTurnsAreOneLoop) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> noise(0, 20'000);
  const LevelChange change = Draw(400, 400, [&](int i) {
                               return kLengthNs + noise(random) + (i % 4 == 0 ? 4e6 : 0);
                             }).Fit();
  EXPECT_NEAR(change.change_ns(), kChangeNs, 3 * change.standard_error_ns);
  EXPECT_LT(change.standard_error_ns, std::abs(kChangeNs));
}

TEST(LevelChangeTest, TheNearestOfTheLongerSideAreCompared) {
  // Far away iterations took three times as long.
  const LevelChange change =
      Draw(1'000, 40, [](int i) { return (i < -40 ? 3 : 1) * kLengthNs; }).Fit();
  EXPECT_EQ(change.used, 40u);
  EXPECT_NEAR(change.change_ns(), kChangeNs, 1e-3);
}

TEST(LevelChangeTest, AFewTellNothing) {
  const LevelChange change = Draw(7, 100, [](int) { return kLengthNs; }).Fit();
  EXPECT_EQ(change.used, 0u);
  EXPECT_FALSE(std::isfinite(change.standard_error_ns));
  EXPECT_EQ(Draw(100, 8, [](int) { return kLengthNs; }).Fit().used, 8u);
  EXPECT_EQ(FitLevelChange({}, {}).used, 0u);
}

// Of many series: |walk| has iterations resemble those before them.
double Covered(int iterations, double walk) {
  constexpr int kSeries = 1'000;
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(0, 30'000);
  int covered = 0;
  for (int s = 0; s < kSeries; ++s) {
    double wander = 0;
    const LevelChange change = Draw(iterations, iterations, [&](int) {
                                 wander = walk * wander + noise(random);
                                 return kLengthNs + wander;
                               }).Fit();
    covered += std::abs(change.change_ns() - kChangeNs) <= 1.96 * change.standard_error_ns ? 1 : 0;
  }
  const double share = static_cast<double>(covered) / kSeries;
  std::printf("%d iterations, each %.2f of the one before: covered %.1f %%\n", iterations, walk,
              100 * share);
  return share;
}

TEST(LevelChangeTest, TheIntervalHoldsTheTruthAsOftenAsItSays) {
  for (const int iterations : {8, 20, 50, 400}) {
    EXPECT_GT(Covered(iterations, 0), 0.91);
    EXPECT_GT(Covered(iterations, 0.5), 0.86);
  }
  EXPECT_GT(Covered(2'000, 0.9), 0.9);
}

}  // namespace
}  // namespace gpubound
