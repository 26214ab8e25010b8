// SPDX-License-Identifier: Apache-2.0
//
// Means, errors and intervals on data whose answer is known.
#include "analysis/base/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "analysis/calibration/paired_blocks.h"
#include "analysis/calibration/paired_ratio.h"

namespace gpubound {
namespace {

TEST(Median, IsTheMiddleOfAnOddNumberOfValues) { EXPECT_EQ(Median({9, 1, 5}), 5); }

TEST(Median, OfAnEvenNumberLiesBetweenTheTwoInTheMiddle) { EXPECT_EQ(Median({4, 1, 9, 2}), 3); }

TEST(Median, OfNothingIsZero) { EXPECT_EQ(Median({}), 0); }

TEST(TrimmedMean, LeavesOutAFifthAtEachEnd) {
  const Estimate estimate = TrimmedMean({1e9, 2, 3, 4, -1e9});
  EXPECT_DOUBLE_EQ(estimate.mean, 3);
  EXPECT_EQ(estimate.samples, 5u);
}

TEST(TrimmedMean, HasTheVarianceOfTheValuesPulledInToTheLimits) {
  // 2 2 3 4 4: mean 3, squares 1 1 0 1 1, over 4.
  const Estimate estimate = TrimmedMean({1e9, 2, 3, 4, -1e9});
  EXPECT_DOUBLE_EQ(estimate.variance, 1.0);
  EXPECT_DOUBLE_EQ(estimate.standard_error, std::sqrt(1.0 / 5) / 0.6);
}

TEST(TrimmedMean, OfFewValuesIsTheirMean) { EXPECT_DOUBLE_EQ(TrimmedMean({1, 2, 6}).mean, 3); }

TEST(TrimmedMean, OfNothingHasNoSamples) { EXPECT_EQ(TrimmedMean({}).samples, 0u); }

TEST(TrimmedMean, IsUnmovedByWhatPreemptionAdds) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(100, 2);
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) values.push_back(noise(random) + (i % 10 == 0 ? 1e6 : 0));
  const Estimate estimate = TrimmedMean(values);
  EXPECT_NEAR(estimate.mean, 100, 3 * estimate.standard_error + 0.5);
}

TEST(StudentQuantile, IsWideForFewAndNormalForMany) {
  EXPECT_DOUBLE_EQ(StudentQuantile(1), 12.706);
  EXPECT_DOUBLE_EQ(StudentQuantile(9), 2.262);
  EXPECT_NEAR(StudentQuantile(11), 2.201, 5e-4);
  EXPECT_NEAR(StudentQuantile(30), 2.042, 5e-4);
  EXPECT_NEAR(StudentQuantile(31), 2.0395, 5e-4);
  EXPECT_NEAR(StudentQuantile(1000), 1.962, 5e-4);
}

TEST(StudentQuantile, IsTheNormalOneAtInfinity) {
  EXPECT_DOUBLE_EQ(StudentQuantile(std::numeric_limits<double>::infinity()), 1.96);
}

TEST(MeanOfGroups, CountsEachGroupOnce) {
  EXPECT_DOUBLE_EQ(MeanOfGroups({{10}, {20, 20, 20, 20, 20, 20}}).mean, 15);
}

TEST(MeanOfGroups, HasTheErrorThatGroupsDifferBy) {
  // Means 9 and 11: standard deviation sqrt(2), over sqrt(2), times Student's factor for two.
  const Estimate estimate = MeanOfGroups({{9, 9, 9}, {11, 11, 11}});
  EXPECT_DOUBLE_EQ(estimate.mean, 10);
  EXPECT_DOUBLE_EQ(estimate.standard_error, 12.706 / 1.96);
  EXPECT_DOUBLE_EQ(estimate.variance, 0);
}

TEST(MeanOfGroups, IsUnmovedByAGroupThatWasDisturbed) {
  const Estimate estimate = MeanOfGroups({{9, 9}, {10, 10}, {-1e6, -1e6}, {11, 11}, {10, 10}});
  EXPECT_DOUBLE_EQ(estimate.mean, 29.0 / 3);
  EXPECT_LT(estimate.standard_error, 5);
}

TEST(MeanOfGroups, IsNeverSurerThanTheValuesWithinThem) {
  const Estimate one = TrimmedMean({0, 5, 10, 15, 20});
  const Estimate both = MeanOfGroups({{0, 5, 10, 15, 20}, {0, 5, 10, 15, 20}});
  EXPECT_DOUBLE_EQ(both.standard_error, one.standard_error / std::sqrt(2.0));
}

TEST(MeanOfGroups, SkipsEmptyGroups) {
  EXPECT_DOUBLE_EQ(MeanOfGroups({{}, {4}}).mean, 4);
  EXPECT_EQ(MeanOfGroups({{}, {}}).samples, 0u);
}

TEST(MeanOfGroups, OfOneGroupIsAsUncertainAsItIsLarge) {
  // Of two groups it is told from what they differ by; of one it must not look surer than that.
  EXPECT_DOUBLE_EQ(MeanOfGroups({{9, 10, 11}}).standard_error, 10);
  EXPECT_DOUBLE_EQ(MeanOfGroups({{}, {-9, -10, -11}}).standard_error, 10);
}

TEST(MeanOfGroups, CoversTheTruthAsOftenAsItSays) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> bias(0, 3);
  std::normal_distribution<double> noise(50, 10);
  int covered = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<std::vector<double>> groups(8);
    for (auto& group : groups) {
      const double own = bias(random);
      for (int i = 0; i < 10; ++i) group.push_back(noise(random) + own);
    }
    const Estimate estimate = MeanOfGroups(groups);
    covered += std::abs(estimate.mean - 50) <= 1.96 * estimate.standard_error ? 1 : 0;
  }
  EXPECT_GE(covered, kTrials * 0.92);
  EXPECT_LE(covered, kTrials * 0.99);
}

PairedBlocks Blocks(std::vector<double> on, std::vector<double> off) {
  PairedBlocks blocks;
  blocks.on_ns = std::move(on);
  blocks.off_ns = std::move(off);
  return blocks;
}

TEST(CostOf, IsTheDifferenceOfPairs) {
  // The machine became slower between the pairs; the difference stayed.
  const PairedBlocks blocks = Blocks({30, 130, 230}, {10, 110, 210});
  const Cost cost = CostOf({blocks, blocks});
  EXPECT_DOUBLE_EQ(cost.total_ns(), 20);
  EXPECT_DOUBLE_EQ(cost.standard_error_ns, 0);
  EXPECT_EQ(cost.samples, 6u);
}

// One process is slower than the other by itself, which is seen once its recording has ended.
TEST(CostOf, LeavesOutWhatTheProcessesDifferByAnyway) {
  PairedBlocks slow = Blocks({90, 91, 92}, {10, 11, 12});
  slow.ended_on_ns = {70, 72, 71};
  slow.ended_off_ns = {10, 12, 11};
  PairedBlocks fast = Blocks({30, 31, 32}, {40, 41, 42});
  fast.ended_on_ns = {10, 11};
  fast.ended_off_ns = {40, 41};
  const Cost cost = CostOf({slow, fast});
  EXPECT_DOUBLE_EQ(cost.total_ns(), 20);
  EXPECT_DOUBLE_EQ(cost.standard_error_ns, 0);
}

TEST(CostOf, IsInsideAsFarAsTheRecordedDurationExceedsTheBareOne) {
  PairedBlocks blocks = Blocks({30, 30}, {10, 10});
  blocks.recorded_ns = 18;
  blocks.bare_ns = 10;
  const Cost cost = CostOf({blocks});
  EXPECT_DOUBLE_EQ(cost.inside_ns, 8);
  EXPECT_DOUBLE_EQ(cost.outside_ns, 12);
}

TEST(CostOf, IsAllOutsideWithOneTimeStamp) {
  const Cost cost = CostOf({Blocks({30, 30}, {10, 10})});
  EXPECT_DOUBLE_EQ(cost.inside_ns, 0);
  EXPECT_DOUBLE_EQ(cost.outside_ns, 20);
}

TEST(CostOf, NeverHasMoreInsideThanThereIs) {
  PairedBlocks blocks = Blocks({12, 12}, {10, 10});
  blocks.recorded_ns = 100;
  EXPECT_DOUBLE_EQ(CostOf({blocks}).inside_ns, 2);
}

TEST(CostOf, OfOneOccurrenceVariesMoreThanTheMeanOfABlock) {
  PairedBlocks blocks = Blocks({9, 10, 11}, {0, 0, 0});
  blocks.count = 100;
  EXPECT_DOUBLE_EQ(CostOf({blocks}).variance_ns2, 100);
}

// What a block of it varies by is the other work's.
TEST(CostOf, OfAnOccurrenceAmidOtherWorkVariesAsItsDurationDoes) {
  PairedBlocks blocks = Blocks({9, 10, 11}, {0, 0, 0});
  blocks.count = 100;
  blocks.variation = 0.5;
  EXPECT_DOUBLE_EQ(CostOf({blocks}).variance_ns2, 25);
}

TEST(CostOf, NothingHasNoSamples) {
  EXPECT_EQ(CostOf({}).samples, 0u);
  EXPECT_EQ(CostOf({Blocks({1}, {})}).samples, 0u);
}

TEST(CostOfLives, IsTheDifferenceOfTheShortest) {
  const Cost cost = CostOfLives({30, 200, 33}, {14, 90, 10});
  EXPECT_DOUBLE_EQ(cost.total_ns(), 20);
  EXPECT_DOUBLE_EQ(cost.inside_ns, 0);
  EXPECT_DOUBLE_EQ(cost.standard_error_ns, std::hypot(170, 80));
  EXPECT_EQ(cost.samples, 3u);
}

TEST(CostOfLives, OfLessThanThreePairsIsAsUncertainAsTheyAreLong) {
  EXPECT_DOUBLE_EQ(CostOfLives({4}, {3}).standard_error_ns, 5);
  EXPECT_DOUBLE_EQ(CostOfLives({4, 4}, {3, 3}).standard_error_ns, 5);
}

TEST(CostOfLives, HasAnErrorThatHoldsWhatRepetitionsDifferBy) {
  std::mt19937_64 random(5);
  std::exponential_distribution<double> disturbed(1.0 / 10);
  int covered = 0;
  constexpr int kTrials = 1000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> on;
    std::vector<double> off;
    for (int i = 0; i < 10; ++i) {
      on.push_back(100 + disturbed(random));
      off.push_back(60 + disturbed(random));
    }
    const Cost cost = CostOfLives(on, off);
    covered += std::abs(cost.total_ns() - 40) <= 1.96 * cost.standard_error_ns ? 1 : 0;
  }
  EXPECT_GE(covered, kTrials * 0.94);
}

TEST(CostOfLives, IsNeverBelowZero) { EXPECT_DOUBLE_EQ(CostOfLives({3, 4}, {5, 6}).total_ns(), 0); }

TEST(CostOfLives, OfNoneHasNoSamples) { EXPECT_EQ(CostOfLives({}, {1}).samples, 0u); }

std::vector<MeasuredPair> Pairs(size_t count) {
  std::vector<MeasuredPair> pairs;
  for (size_t i = 0; i < count; ++i) {
    pairs.push_back({100.0 + static_cast<double>((i * 37) % 11), 100.0});
  }
  return pairs;
}

TEST(MedianRatio, IsTheMedianOfTheRatiosOfPairs) {
  EXPECT_DOUBLE_EQ(MedianRatioOf({{11, 10}, {24, 20}, {39, 30}}).ratio, 1.2);
}

TEST(MedianRatio, HasNoIntervalBelowSixPairs) {
  EXPECT_FALSE(MedianRatioOf(Pairs(1)).interval);
  EXPECT_FALSE(MedianRatioOf(Pairs(5)).interval);
  EXPECT_TRUE(MedianRatioOf(Pairs(6)).interval);
}

TEST(MedianRatio, WithoutAPairIsZero) { EXPECT_EQ(MedianRatioOf({}).ratio, 0); }

// As tables of the sign test have it.
TEST(MedianRatio, LeavesOutAsManyPairsOnEitherSideAsTheIntervalAllows) {
  for (const auto& [count, left_out] : {std::pair<size_t, size_t>{6, 0},
                                        {8, 0},
                                        {9, 1},
                                        {11, 1},
                                        {12, 2},
                                        {20, 5},
                                        {50, 17},
                                        {100, 39},
                                        {2000, 955}}) {
    std::vector<MeasuredPair> pairs;
    for (size_t i = count; i-- > 0;) pairs.push_back({static_cast<double>(i), 1});
    const MedianRatio ratio = MedianRatioOf(pairs);
    EXPECT_DOUBLE_EQ(ratio.interval->low, static_cast<double>(left_out)) << count;
    EXPECT_DOUBLE_EQ(ratio.interval->high, static_cast<double>(count - 1 - left_out)) << count;
  }
}

TEST(MedianRatio, CoversTheTruthAsOftenAsItSays) {
  constexpr double kMedian = 1.05;
  constexpr int kTrials = 20'000;
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> noise(std::log(kMedian), 0.3);
  for (const size_t count : {6, 7, 10, 20}) {
    int covered = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<MeasuredPair> pairs;
      for (size_t i = 0; i < count; ++i) pairs.push_back({noise(random), 1});
      const MedianRatio ratio = MedianRatioOf(pairs);
      covered += ratio.interval->low <= kMedian && kMedian <= ratio.interval->high ? 1 : 0;
    }
    EXPECT_GE(covered, 0.945 * kTrials) << count;
    EXPECT_LE(covered, 0.99 * kTrials) << count;
  }
}

}  // namespace
}  // namespace gpubound
