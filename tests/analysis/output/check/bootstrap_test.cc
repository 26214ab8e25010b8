// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/check/bootstrap.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "analysis/base/estimate.h"
#include "analysis/base/random.h"

namespace gpubound {
namespace {

using Group = std::vector<RunSeries>;

// Normal values of mean 0 and variance 1, the same on every machine.
class Noise {
 public:
  explicit Noise(uint64_t seed) : random_(seed) {}
  double Next() {
    const double radius = std::sqrt(-2 * std::log(Uniform()));
    return radius * std::cos(2 * std::numbers::pi * Uniform());
  }

 private:
  double Uniform() { return (static_cast<double>(random_.Next() >> 11) + 0.5) * 0x1p-53; }
  Random random_;
};

RunSeries Iterations(Noise* noise, size_t count, double mean) {
  RunSeries run;
  for (size_t i = 0; i < count; ++i) run.values.push_back(mean + noise->Next());
  return run;
}

Group Runs(Noise* noise, size_t count, double mean) {
  Group group;
  for (size_t i = 0; i < count; ++i) group.push_back({{mean + noise->Next()}, {}});
  return group;
}

TEST(Bootstrap, TheMedianOfAnEvenNumberIsBetweenTheMiddleTwo) {
  EXPECT_EQ(Median({}), 0);
  EXPECT_EQ(Median({4, 1, 9}), 4);
  EXPECT_EQ(Median({9, 1, 4, 2}), 3);
}

TEST(Bootstrap, AShareIsARatioOfSums) {
  EXPECT_DOUBLE_EQ(StatisticOf(RunSeries{{1, 3}, {2, 6}}, Statistic::kMean), 0.5);
  EXPECT_DOUBLE_EQ(StatisticOf(RunSeries{{1, 3}, {}}, Statistic::kMean), 2);
  EXPECT_DOUBLE_EQ(StatisticOf(RunSeries{{0}, {0}}, Statistic::kMean), 0);
}

TEST(Bootstrap, AGroupIsTheMeanOfItsRunsHoweverLongEachIs) {
  const Group group{{{1, 1, 1}, {}}, {{5}, {}}};
  EXPECT_DOUBLE_EQ(StatisticOf(group, Statistic::kMean), 3);
}

// Where each draw copied every iteration, this would go on for minutes.
TEST(Bootstrap, MillionsOfIterationsAreDrawnFromBlockByBlock) {
  Random random(1);
  RunSeries run;
  for (size_t i = 0; i < 4'000'000; ++i) {
    run.values.push_back(static_cast<double>(random.Below(2)));
  }
  const Group group{std::move(run)};
  const auto interval = DifferenceInterval(group, group, Statistic::kMean, 1);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->high - interval->low, 2 * 1.96 * std::sqrt(2 * 0.25 / 4e6), 1e-4);
}

TEST(Bootstrap, ADrawThatGoesRoundTheEndHasWhatIsThere) {
  // Of two values in turns a block has as many of either, wherever it begins: none differs.
  RunSeries run;
  for (size_t i = 0; i < 64; ++i) run.values.push_back(i % 2 == 0 ? 1 : 3);
  run.wholes.assign(64, 2);
  const Group group{std::move(run)};
  const auto interval = DifferenceInterval(group, group, Statistic::kMean, 1);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low, 0);
  EXPECT_EQ(interval->high, 0);
}

TEST(Bootstrap, ResamplesRunsWhereBothGroupsHaveSeveral) {
  const Group one{{std::vector<double>(kFewestToResample, 1), {}}};
  const Group few{{std::vector<double>(kFewestToResample - 1, 1), {}}};
  const Group two{{{1}, {}}, {{2}, {}}};
  EXPECT_EQ(ResamplingOf(two, two), Resampling::kRuns);
  EXPECT_EQ(ResamplingOf(one, one), Resampling::kIterations);
  EXPECT_EQ(ResamplingOf(one, few), Resampling::kNothing);
  EXPECT_EQ(ResamplingOf(one, two), Resampling::kNothing);
  EXPECT_EQ(ResamplingOf({}, one), Resampling::kNothing);
  EXPECT_FALSE(DifferenceInterval(one, few, Statistic::kMean, 1));
}

TEST(Bootstrap, TheSameSeedGivesTheSameInterval) {
  Noise noise(1);
  const Group before{Iterations(&noise, 50, 10)};
  const Group after{Iterations(&noise, 50, 11)};
  const auto first = DifferenceInterval(before, after, Statistic::kMean, 7);
  const auto again = DifferenceInterval(before, after, Statistic::kMean, 7);
  const auto other = DifferenceInterval(before, after, Statistic::kMean, 8);
  EXPECT_EQ(first->low, again->low);
  EXPECT_EQ(first->high, again->high);
  EXPECT_NE(first->low, other->low);
}

TEST(Bootstrap, ConstantsDifferForSure) {
  const Group before{{std::vector<double>(20, 3), {}}};
  const Group after{{std::vector<double>(20, 5), {}}};
  for (const Statistic statistic : {Statistic::kMean, Statistic::kMedian}) {
    const auto interval = DifferenceInterval(before, after, statistic, 1);
    EXPECT_DOUBLE_EQ(interval->low, 2);
    EXPECT_DOUBLE_EQ(interval->high, 2);
  }
}

TEST(Bootstrap, ARatioIsNeverBelowZero) {
  const Group before{{{100}, {}}, {{190}, {}}};
  const Group after{{{1}, {}}, {{90}, {}}};
  EXPECT_LT(DifferenceInterval(before, after, Statistic::kMean, 1)->low, -145);
  const auto ratio = RatioInterval(before, after, Statistic::kMean, 1);
  EXPECT_GT(ratio->low, 0);
  EXPECT_GT(ratio->high, 1);
}

TEST(Bootstrap, ConstantsHaveTheirRatio) {
  const Group before{{std::vector<double>(20, 4), {}}};
  const Group after{{std::vector<double>(20, 5), {}}};
  const auto ratio = RatioInterval(before, after, Statistic::kMean, 1);
  EXPECT_DOUBLE_EQ(ratio->low, 1.25);
  EXPECT_DOUBLE_EQ(ratio->high, 1.25);
}

TEST(Bootstrap, NothingHasNoRatio) {
  const Group none{{std::vector<double>(20, 0), {}}};
  const Group some{{std::vector<double>(20, 5), {}}};
  EXPECT_FALSE(RatioInterval(none, some, Statistic::kMean, 1));
  EXPECT_FALSE(RatioInterval(some, none, Statistic::kMean, 1));
  EXPECT_TRUE(DifferenceInterval(none, some, Statistic::kMean, 1));
}

TEST(Bootstrap, SlowChangesWidenTheInterval) {
  RunSeries smooth;
  RunSeries shuffled;
  for (int i = 0; i < 512; ++i) {
    smooth.values.push_back(i / 64);          // long stretches of equal values
    shuffled.values.push_back((i * 37) % 8);  // the same values, mixed
  }
  const Group steady{{std::vector<double>(512, 0), {}}};
  const auto width = [&](const RunSeries& run) {
    const auto interval = DifferenceInterval(steady, Group{run}, Statistic::kMean, 1);
    return interval->high - interval->low;
  };
  EXPECT_GT(width(smooth), 2 * width(shuffled));
}

// How many of 400 intervals hold the true difference, |truth|. The count of a 95 % interval is 380
// with a standard deviation of 4.4.
template <typename Draw>
int Covered(Draw draw, double truth = 0.5) {
  int covered = 0;
  for (uint64_t round = 0; round < 400; ++round) {
    Noise noise(round);
    const auto interval = draw(&noise);
    covered += interval->low <= truth && truth <= interval->high ? 1 : 0;
  }
  return covered;
}

TEST(Bootstrap, NineteenOfTwentyIntervalsOverIterationsHoldTheTruth) {
  const int covered = Covered([](Noise* noise) {
    const Group before{Iterations(noise, 60, 10)};
    const Group after{Iterations(noise, 60, 10.5)};
    return DifferenceInterval(before, after, Statistic::kMean, 1);
  });
  EXPECT_GE(covered, 360);
  EXPECT_LE(covered, 393);
}

// Iterations of which each resembles the one before it: autoregressive, of variance 1.
RunSeries Neighbours(Noise* noise, size_t count, double correlation) {
  RunSeries run;
  double value = noise->Next();
  for (size_t i = 0; i < count; ++i) {
    run.values.push_back(10 + value);
    value = correlation * value + std::sqrt(1 - correlation * correlation) * noise->Next();
  }
  return run;
}

TEST(Bootstrap, NineteenOfTwentyIntervalsOverFewIterationsHoldTheTruth) {
  for (const size_t count : {kFewestToResample, size_t{30}}) {
    for (const Statistic statistic : {Statistic::kMean, Statistic::kMedian}) {
      const int covered = Covered([&](Noise* noise) {
        const Group before{Iterations(noise, count, 10)};
        const Group after{Iterations(noise, count, 10.5)};
        return DifferenceInterval(before, after, statistic, 1);
      });
      EXPECT_GE(covered, 367) << count;
      EXPECT_LE(covered, 396) << count;
    }
  }
}

TEST(Bootstrap, IntervalsOverIterationsThatResembleTheirNeighboursHoldTheTruth) {
  struct Case {
    double correlation;
    size_t count;
    int at_least;
  };
  for (const Case& one : {Case{0.6, 30, 350}, Case{0.6, 300, 365}, Case{0.9, 300, 360}}) {
    const int covered = Covered(
        [&](Noise* noise) {
          const Group before{Neighbours(noise, one.count, one.correlation)};
          const Group after{Neighbours(noise, one.count, one.correlation)};
          return DifferenceInterval(before, after, Statistic::kMean, 1);
        },
        0);
    EXPECT_GE(covered, one.at_least) << one.correlation << " of " << one.count;
    EXPECT_LE(covered, 393) << one.correlation << " of " << one.count;
  }
}

TEST(Bootstrap, IntervalsOverGroupsOfRunsThatVaryDifferentlyHoldTheTruth) {
  const auto runs_of = [](Noise* noise, size_t count, double deviation) {
    Group group;
    for (size_t i = 0; i < count; ++i) group.push_back({{10 + deviation * noise->Next()}, {}});
    return group;
  };
  for (const size_t few : {2, 3}) {
    const int covered = Covered(
        [&](Noise* noise) {
          const Group before = runs_of(noise, few, 0.5);
          const Group after = runs_of(noise, 10, 0.05);
          return DifferenceInterval(before, after, Statistic::kMean, 1);
        },
        0);
    EXPECT_GE(covered, 360) << few;
    EXPECT_LE(covered, 396) << few;
  }
}

TEST(Bootstrap, NineteenOfTwentyRatiosOverFewRunsHoldTheTruth) {
  const auto runs_of = [](Noise* noise, double scale) {
    Group group;
    for (int i = 0; i < 4; ++i) group.push_back({{scale * std::exp(0.3 * noise->Next())}, {}});
    return group;
  };
  const auto draw = [&](Noise* noise) {
    const Group before = runs_of(noise, 10);
    const Group after = runs_of(noise, 5);
    return RatioInterval(before, after, Statistic::kMean, 1);
  };
  const int covered = Covered(draw, 0.5);
  EXPECT_GE(covered, 360);
  EXPECT_LE(covered, 396);
}

TEST(Bootstrap, NineteenOfTwentyIntervalsOverFewRunsHoldTheTruth) {
  for (const size_t runs : {2, 3, 5}) {
    const int covered = Covered([runs](Noise* noise) {
      const Group before = Runs(noise, runs, 10);
      const Group after = Runs(noise, runs, 10.5);
      return DifferenceInterval(before, after, Statistic::kMean, 1);
    });
    EXPECT_GE(covered, 367) << runs;
    EXPECT_LE(covered, 396) << runs;
  }
}

}  // namespace
}  // namespace gpubound
