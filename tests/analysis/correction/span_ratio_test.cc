// SPDX-License-Identifier: Apache-2.0
#include "analysis/correction/span_ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "analysis/output/text/savings_text.h"
#include "analysis/replay/step_times.h"

namespace gpubound {
namespace {

// Iterations of which a share that differs from one to the next gets twice as fast.
struct Sample {
  std::vector<double> as_is{0};
  std::vector<double> changed{0};

  void Add(double own_ns, double faster_ns) {
    as_is.push_back(as_is.back() + own_ns + faster_ns);
    changed.push_back(changed.back() + own_ns + faster_ns / 2);
  }
  double ratio() const { return changed.back() / as_is.back(); }
};

Sample Draw(int iterations, std::mt19937_64* random) {
  std::exponential_distribution<double> own(1e-6);
  std::exponential_distribution<double> faster(1e-6);
  Sample sample;
  for (int i = 0; i < iterations; ++i) sample.Add(own(*random), faster(*random));
  return sample;
}

TEST(SpanRatioTest, TheSamplingErrorIsWhatRatiosOfManySamplesDifferBy) {
  std::mt19937_64 random(7);
  constexpr int kSamples = 2000;
  double sum = 0;
  double squares = 0;
  double errors = 0;
  for (int i = 0; i < kSamples; ++i) {
    const Sample sample = Draw(50, &random);
    sum += sample.ratio();
    squares += sample.ratio() * sample.ratio();
    uint64_t degrees = 0;
    const double error = SamplingError(sample.changed, sample.as_is, &degrees);
    errors += error * error;
    EXPECT_EQ(degrees, 49u);
  }
  const double mean = sum / kSamples;
  const double deviation = std::sqrt(squares / kSamples - mean * mean);
  EXPECT_NEAR(mean, 0.75, 0.001);
  EXPECT_NEAR(std::sqrt(errors / kSamples) / deviation, 1, 0.1);
}

TEST(SpanRatioTest, IntervalsHoldTheRatioOfAllIterations) {
  std::mt19937_64 random(11);
  constexpr int kSamples = 1000;
  int covered = 0;
  for (int i = 0; i < kSamples; ++i) {
    const Sample sample = Draw(20, &random);
    ReplayedSpan as_is;
    ReplayedSpan changed;
    as_is.run_ns = std::llround(sample.as_is.back());
    changed.run_ns = std::llround(sample.changed.back());
    as_is.steps_ns = sample.as_is;
    changed.steps_ns = sample.changed;
    const SpanRatio ratio = RatioOf(changed, as_is);
    covered += ratio.low <= 0.75 && 0.75 <= ratio.high;
  }
  EXPECT_GT(covered, kSamples * 91 / 100);
  EXPECT_LT(covered, kSamples * 98 / 100);
}

TEST(SpanRatioTest, IterationsThatGainAlikeAddNothing) {
  Sample sample;
  for (int i = 0; i < 10; ++i) sample.Add(1000 * (i + 1), 1000 * (i + 1));
  uint64_t degrees = 0;
  EXPECT_NEAR(SamplingError(sample.changed, sample.as_is, &degrees), 0, 1e-12);
}

TEST(SpanRatioTest, FewIterationsOrDifferentOnesAreNoSample) {
  Sample sample;
  for (size_t i = 0; i + 1 < kFewIterations; ++i) sample.Add(1000, 500.0 * static_cast<double>(i));
  uint64_t degrees = 9;
  EXPECT_EQ(SamplingError(sample.changed, sample.as_is, &degrees), 0);
  EXPECT_EQ(degrees, 0u);
  sample.Add(1000, 10);
  EXPECT_GT(SamplingError(sample.changed, sample.as_is, &degrees), 0);
  sample.changed.push_back(1e9);
  EXPECT_EQ(SamplingError(sample.changed, sample.as_is, &degrees), 0);
}

TEST(SpanRatioTest, WithoutIterationsCostsAndTheReplayAreLeft) {
  ReplayedSpan as_is;
  ReplayedSpan changed;
  as_is.run_ns = 1'000'000;
  changed.run_ns = 500'000;
  SpanRatio ratio = RatioOf(changed, as_is);
  EXPECT_NEAR(ratio.high - ratio.part, 1.96 * std::hypot(0.005 * 0.5, 0.0001), 1e-9);
  changed.noise.error = 10'000;
  ratio = RatioOf(changed, as_is);
  EXPECT_NEAR(ratio.part - ratio.low, 1.96 * std::hypot(0.01, 0.005 * 0.5, 0.0001), 1e-9);
}

TEST(SpanRatioTest, WhatIterationsDifferByIsOfTheirShareOfTheRun) {
  std::mt19937_64 random(3);
  const Sample sample = Draw(20, &random);
  ReplayedSpan as_is;
  ReplayedSpan changed;
  as_is.steps_ns = sample.as_is;
  changed.steps_ns = sample.changed;
  const double saved_ns = sample.as_is.back() - sample.changed.back();
  const auto width = [&](double others_ns) {
    as_is.run_ns = std::llround(sample.as_is.back() + others_ns);
    changed.run_ns = as_is.run_ns - std::llround(saved_ns);
    const SpanRatio ratio = RatioOf(changed, as_is);
    return ratio.high - ratio.low;
  };
  const SpanRatio iteration = IterationRatioOf(changed, as_is);
  EXPECT_NEAR(iteration.part, sample.ratio(), 1e-9);
  EXPECT_NEAR(width(0), iteration.high - iteration.low, 1e-6);
  EXPECT_GT(width(0), 0.05);
  EXPECT_NEAR(width(9 * sample.as_is.back()) / width(0), 0.1, 0.01) << "a long start-up";
}

TEST(SpanRatioTest, WithoutIterationsThereIsNoRatioOfOne) {
  EXPECT_EQ(IterationRatioOf({}, {}).part, 0);
  EXPECT_EQ(MeanIterationOf({}), 0);
}

TEST(SpanRatioTest, AnIntervalIsPrintedRoundedOutwards) {
  const auto text = [](double saves, double low, double high) {
    return SavesText({"gpu", "", 0.5, 0, saves, low, high});
  };
  EXPECT_EQ(text(0.30, 0.251, 0.339), "30 % (25 to 34)");
  EXPECT_EQ(text(0.0316, 0.0313, 0.0319), "3.2 % (3 to 4)");
  EXPECT_EQ(text(0, -0.0001, 0.0001), "0 % (-1 to 1)");
}

TEST(StepTimesTest, TimeBetweenIterationsIsPartOfNone) {
  StepTimes steps;
  steps.Add(100, /*begins=*/true);
  steps.Add(110);
  steps.Add(120);
  steps.Add(5'000, /*begins=*/true);
  steps.Add(5'010);
  EXPECT_EQ(steps.times(), (std::vector<double>{100, 110, 120, 130}));
}

TEST(StepTimesTest, KeepsEveryOneOfFewAndEndsOfLongerOnesOfMany) {
  StepTimes few;
  for (int i = 0; i < 3; ++i) few.Add(i);
  EXPECT_EQ(few.times(), (std::vector<double>{0, 1, 2}));

  StepTimes many;
  const uint64_t steps = 5 * StepTimes::kMost;
  for (uint64_t i = 0; i < steps; ++i) many.Add(static_cast<double>(i));
  ASSERT_LE(many.times().size(), StepTimes::kMost);
  ASSERT_GT(many.times().size(), StepTimes::kMost / 2);
  for (size_t i = 0; i < many.times().size(); ++i) {
    ASSERT_EQ(many.times()[i], 8.0 * static_cast<double>(i));
  }
}

}  // namespace
}  // namespace gpubound
