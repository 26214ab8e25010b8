// SPDX-License-Identifier: Apache-2.0
#include "analysis/replay/segment_lengths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace gpubound {
namespace {

constexpr uint64_t kKind = 7;
constexpr int kOccurrences = 100'000;

double Lognormal(double mean, double deviation, std::mt19937_64* random) {
  const double variance = std::log(1 + deviation * deviation);
  std::lognormal_distribution<double> draw(std::log(mean) - variance / 2, std::sqrt(variance));
  return draw(*random);
}

TEST(SegmentLengthsTest, WhatDiffersByMoreThanTheCostIsItself) {
  SegmentLengths lengths;
  for (int i = 0; i < kOccurrences; ++i) {
    const double length = i % 2 == 0 ? 1'000 : 9'000;
    EXPECT_NEAR(lengths.Likely(kKind, length, 1), length, 50) << "occurrence " << i;
  }
}

TEST(SegmentLengthsTest, WhatDiffersByNoMoreThanTheCostIsTheUsual) {
  SegmentLengths lengths;
  std::mt19937_64 random(1);
  constexpr double kMean = 5'000;
  constexpr double kDeviation = 0.3;
  double squares = 0;
  for (int i = 0; i < kOccurrences; ++i) {
    const double length = 2'000 + Lognormal(kMean, kDeviation, &random);
    const double likely = lengths.Likely(kKind, length, kMean * kDeviation * kMean * kDeviation);
    squares += (likely - 2'000 - kMean) * (likely - 2'000 - kMean);
  }
  EXPECT_LT(std::sqrt(squares / kOccurrences), 0.35 * kMean * kDeviation);
}

// A heavy tail makes the rare long one look like noise and the short ones after it like the
// program's own; nothing may get lost that way.
TEST(SegmentLengthsTest, SumsStayWhatTheyAreUnderAHeavyTail) {
  for (const double deviation : {0.3, 1.2, 3.0}) {
    SegmentLengths lengths;
    std::mt19937_64 random(2);
    constexpr double kMean = 5'000;
    double recorded = 0;
    double likely = 0;
    for (int i = 0; i < kOccurrences; ++i) {
      const double length = 2'000 + Lognormal(kMean, deviation, &random);
      recorded += length;
      likely += lengths.Likely(kKind, length, kMean * deviation * kMean * deviation);
    }
    EXPECT_NEAR(likely / recorded, 1, 5e-4) << "deviation " << deviation;
  }
}

TEST(SegmentLengthsTest, ALengthThatNoCostExplainsIsItself) {
  constexpr double kCost = 300;
  constexpr double kPause = 5e8;
  SegmentLengths lengths;
  std::mt19937_64 random(3);
  double recorded = 0;
  double likely = 0;
  for (int i = 0; i < 2'000; ++i) {
    const double length = 200 + Lognormal(kCost, 0.3, &random);
    recorded += length;
    likely += lengths.Likely(kKind, length, kCost * 0.3 * kCost * 0.3);
  }
  EXPECT_EQ(lengths.Likely(kKind, kPause, kCost * 0.3 * kCost * 0.3), kPause);
  EXPECT_NEAR(likely, recorded, 20 * kCost);
  // What is usual has not changed by it.
  EXPECT_NEAR(lengths.Likely(kKind, 200 + kCost, kCost * 0.3 * kCost * 0.3), 200 + kCost, kCost);
}

TEST(SegmentLengthsTest, AFirstLengthThatIsOddIsForgotten) {
  constexpr double kCost = 300;
  constexpr double kVariance = kCost * 0.3 * kCost * 0.3;
  SegmentLengths lengths;
  std::mt19937_64 random(4);
  EXPECT_EQ(lengths.Likely(kKind, 1e8, kVariance), 1e8);
  double squares = 0;
  for (int i = 0; i < 2'000; ++i) {
    const double noise = Lognormal(kCost, 0.3, &random) - kCost;
    const double off = lengths.Likely(kKind, 500 + noise, kVariance) - 500;
    if (i >= 100) squares += off * off;
  }
  EXPECT_LT(std::sqrt(squares / 1'900), 0.5 * kCost * 0.3);
}

}  // namespace
}  // namespace gpubound
