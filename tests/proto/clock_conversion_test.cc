// SPDX-License-Identifier: Apache-2.0
#include "proto/clock_conversion.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/proto/chunk_samples.h"

namespace gpubound {
namespace {

ClockConversion Through(const std::vector<ClockKnot>& knots) { return ClockConversion(knots); }

std::vector<ClockKnot> RandomKnots(Dice* dice) {
  std::vector<ClockKnot> knots;
  ClockKnot knot{1 + dice->AnyMagnitude(62), static_cast<int64_t>(dice->AnyMagnitude(60))};
  for (uint64_t i = 0; i <= dice->Below(20); ++i) {
    knots.push_back(knot);
    knot.clock += 1 + dice->AnyMagnitude(40);
    knot.monotonic_ns += static_cast<int64_t>(dice->AnyMagnitude(40));
  }
  return knots;
}

TEST(ClockConversion, WithoutKnotsIsTheIdentity) {
  EXPECT_EQ(ClockConversion().ToMonotonic(0), 0);
  EXPECT_EQ(ClockConversion().ToMonotonic(123456789), 123456789);
  EXPECT_TRUE(ClockConversion().knots().empty());
  EXPECT_EQ(Through({}).ToMonotonic(42), 42);
}

TEST(ClockConversion, WithOneKnotKeepsItsDistance) {
  const ClockConversion conversion = Through({{1000, 50}});
  EXPECT_EQ(conversion.ToMonotonic(1000), 50);
  EXPECT_EQ(conversion.ToMonotonic(1010), 60);
  EXPECT_EQ(conversion.ToMonotonic(900), -50);
}

TEST(ClockConversion, InterpolatesBetweenKnotsRoundingDown) {
  const ClockConversion conversion = Through({{100, 1000}, {103, 1002}});
  EXPECT_EQ(conversion.ToMonotonic(100), 1000);
  EXPECT_EQ(conversion.ToMonotonic(101), 1000);
  EXPECT_EQ(conversion.ToMonotonic(102), 1001);
  EXPECT_EQ(conversion.ToMonotonic(103), 1002);
}

TEST(ClockConversion, GoesOnWithTheNearestSlopeBeyondTheEnds) {
  const ClockConversion conversion = Through({{100, 1000}, {200, 1050}, {300, 1250}});
  EXPECT_EQ(conversion.ToMonotonic(50), 975);
  EXPECT_EQ(conversion.ToMonotonic(400), 1450);
  EXPECT_EQ(conversion.ToMonotonic(0), 950);
}

TEST(ClockConversion, IsExactForRealisticClocks) {
  // 2.3 GHz ticks over a second: the exact quotient, rounded down, at any tick.
  const ClockConversion conversion =
      Through({{7'000'000'000, 100}, {9'300'000'000, 1'000'000'100}});
  for (uint64_t tick = 0; tick < 2'300'000'000; tick += 1'234'567) {
    EXPECT_EQ(conversion.ToMonotonic(7'000'000'000 + tick),
              static_cast<int64_t>(100 + tick * 1'000'000'000 / 2'300'000'000));
  }
}

TEST(ClockConversion, PassesThroughEveryKnot) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    const std::vector<ClockKnot> knots = RandomKnots(&dice);
    const ClockConversion conversion(knots);
    for (const ClockKnot& knot : knots) {
      EXPECT_EQ(conversion.ToMonotonic(knot.clock), knot.monotonic_ns);
    }
  }
}

TEST(ClockConversion, NeverRunsBackwardsAndNeverJumps) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Dice dice(seed);
    const std::vector<ClockKnot> knots = RandomKnots(&dice);
    const ClockConversion conversion(knots);
    for (const ClockKnot& knot : knots) {
      const int64_t before = conversion.ToMonotonic(knot.clock - 1);
      const int64_t after = conversion.ToMonotonic(knot.clock + 1);
      EXPECT_LE(before, knot.monotonic_ns);
      EXPECT_GE(after, knot.monotonic_ns);
      const ClockSegment& left = conversion.SegmentFor(knot.clock - 1);
      const ClockSegment& right = conversion.SegmentFor(knot.clock);
      EXPECT_LE(knot.monotonic_ns - before, static_cast<int64_t>(left.slope_whole + 1));
      EXPECT_LE(after - knot.monotonic_ns, static_cast<int64_t>(right.slope_whole + 1));
    }
  }
}

TEST(ClockConversion, IgnoresAKnotWhoseClockDoesNotAdvance) {
  const ClockConversion conversion = Through({{100, 0}, {100, 7}, {90, 8}, {200, 100}});
  EXPECT_EQ(conversion.knots().size(), 2u);
  EXPECT_EQ(conversion.ToMonotonic(150), 50);
}

TEST(ClockConversion, RaisesATimeThatRunsBackwards) {
  const ClockConversion conversion = Through({{100, 500}, {200, 400}, {300, 600}});
  EXPECT_EQ(conversion.ToMonotonic(150), 500);
  EXPECT_EQ(conversion.ToMonotonic(250), 550);
}

TEST(ClockConversion, KeepsTheNewestKnotsWhenThereAreTooMany) {
  std::vector<ClockKnot> knots;
  for (uint64_t i = 0; i < ClockConversion::kMaxKnots + 10; ++i) {
    knots.push_back({100 * i, static_cast<int64_t>(100 * i)});
  }
  const ClockConversion conversion(knots);
  EXPECT_EQ(conversion.knots().size(), ClockConversion::kMaxKnots);
  EXPECT_EQ(conversion.knots().back(), knots.back());
  EXPECT_EQ(conversion.ToMonotonic(55), 55);
}

TEST(ClockConversion, NamesTheKnotsThatARangeRestsOn) {
  const ClockConversion conversion = Through({{0, 0}, {10, 1}, {20, 2}, {30, 3}});
  EXPECT_EQ(conversion.KnotsFor(12, 15).size(), 2u);
  EXPECT_EQ(conversion.KnotsFor(12, 15).front().clock, 10u);
  EXPECT_EQ(conversion.KnotsFor(12, 20).size(), 3u);
  EXPECT_EQ(conversion.KnotsFor(1000, 2000).front().clock, 20u);
  EXPECT_EQ(ClockConversion().KnotsFor(1, 2).size(), 0u);
}

TEST(ClockConversion, OfSealedKnotsIsTheSameInTheirRange) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    Dice dice(seed);
    const std::vector<ClockKnot> knots = RandomKnots(&dice);
    const ClockConversion whole(knots);
    const uint64_t from = knots.front().clock + dice.AnyMagnitude(44);
    const uint64_t to = from + dice.AnyMagnitude(41);
    const ClockConversion sealed(whole.KnotsFor(from, to));
    for (uint64_t clock : {from, to, from + (to - from) / 3}) {
      EXPECT_EQ(sealed.ToMonotonic(clock), whole.ToMonotonic(clock)) << seed;
    }
  }
}

TEST(ClockCursor, ConvertsLikeTheConversionInAnyOrder) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    Dice dice(seed);
    const std::vector<ClockKnot> knots = RandomKnots(&dice);
    const ClockConversion conversion(knots);
    ClockCursor cursor(conversion);
    for (int i = 0; i < 200; ++i) {
      const uint64_t clock = knots[dice.Below(knots.size())].clock + dice.AnyMagnitude(41) -
                             std::min(knots.front().clock, dice.AnyMagnitude(20));
      EXPECT_EQ(cursor.ToMonotonic(clock), conversion.ToMonotonic(clock));
    }
  }
}

}  // namespace
}  // namespace gpubound
