// SPDX-License-Identifier: Apache-2.0
#include "analysis/import/import_times.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kSecond = 1000 * kMs;
constexpr int64_t kHour = 3600 * kSecond;

class ForeignTimesTest : public testing::Test {
 protected:
  // |count| events of |length_ns|, one after the other.
  void Row(int64_t from_ns, int count, int64_t length_ns) {
    for (int i = 0; i < count; ++i) {
      times_.See(from_ns + i * length_ns, from_ns + (i + 1) * length_ns);
    }
  }
  ForeignTimes times_;
};

TEST_F(ForeignTimesTest, NoEventsLastForNoTime) { EXPECT_TRUE(times_.Decide().empty()); }

TEST_F(ForeignTimesTest, EventsThatFollowEachOtherAreAllInside) {
  Row(5 * kSecond, 30, kMs);
  const ForeignTimes::Extent extent = times_.Decide();
  EXPECT_EQ(extent.first_ns, 5 * kSecond);
  EXPECT_EQ(extent.last_ns, 5 * kSecond + 30 * kMs);
  EXPECT_EQ(extent.distance_ns, 0);
}

TEST_F(ForeignTimesTest, OneEventAThousandTimesTheRestAwayIsOutside) {
  times_.See(100'000, 103'000);
  Row(5 * kSecond, 28, kMs / 10);
  const ForeignTimes::Extent extent = times_.Decide();
  EXPECT_EQ(extent.first_ns, 5 * kSecond);
  EXPECT_EQ(extent.distance_ns, 5 * kSecond - 103'000);
}

TEST_F(ForeignTimesTest, TheOrderOfEventsDecidesNothing) {
  Row(5 * kSecond, 28, kMs / 10);
  times_.See(kHour, kHour + 1);
  Row(5 * kSecond, 28, kMs / 10);
  EXPECT_EQ(times_.Decide().last_ns, 5 * kSecond + 28 * kMs / 10);
}

TEST_F(ForeignTimesTest, ALongSleepBetweenTwoPartsOfAProgramLeavesBothInside) {
  Row(0, 20, kMs);
  Row(kHour, 20, kMs);
  EXPECT_EQ(times_.Decide().last_ns, kHour + 20 * kMs);
}

TEST_F(ForeignTimesTest, HalfOfAllEventsAtTheEpochLieOutside) {
  const int64_t today = 490'000 * kHour;
  for (int i = 0; i < 20; ++i) times_.See(0, 3);
  Row(today, 20, kMs);
  const ForeignTimes::Extent extent = times_.Decide();
  EXPECT_EQ(extent.first_ns, today);
  EXPECT_EQ(extent.last_ns, today + 20 * kMs);
}

TEST_F(ForeignTimesTest, AnEventThatBeginsAtTheEpochAndEndsTodayBringsNothingTogether) {
  const int64_t today = 490'000 * kHour;
  times_.See(0, today + kMs);
  Row(today, 20, kMs);
  EXPECT_EQ(times_.Decide().first_ns, today);
}

TEST_F(ForeignTimesTest, AScopeOfAWeekAmongEventsOfAWeekIsInside) {
  times_.See(0, 168 * kHour);
  for (int i = 0; i < 1680; ++i) times_.See(i * kHour / 10, i * kHour / 10 + kSecond);
  const ForeignTimes::Extent extent = times_.Decide();
  EXPECT_EQ(extent.first_ns, 0);
  EXPECT_EQ(extent.last_ns, 168 * kHour);
}

TEST_F(ForeignTimesTest, OfVeryManyTimesTheWidestGapsAreKept) {
  for (int i = 0; i < 20'000; ++i) times_.See(i * 10 * kMs, i * 10 * kMs + 1);
  times_.See(1000 * kHour, 1000 * kHour + 1);
  EXPECT_EQ(times_.Decide().last_ns, 19'999 * 10 * kMs + 1);
}

TEST_F(ForeignTimesTest, OfAFewEventsNoneIsAnException) {
  times_.See(0, 1);
  times_.See(1000 * kHour, 1000 * kHour + 1);
  EXPECT_EQ(times_.Decide().first_ns, 0);
}

}  // namespace
}  // namespace gpubound
