// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/run_keeper.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(RunKeeperTest, RestsHalfAMinuteAtLeast) {
  EXPECT_EQ(PauseAfter(milliseconds(0)), seconds(30));
  EXPECT_EQ(PauseAfter(milliseconds(1500)), seconds(30));
}

TEST(RunKeeperTest, RestsTwentyTimesAsLongAsItWorked) {
  EXPECT_EQ(PauseAfter(milliseconds(1501)), milliseconds(30020));
  EXPECT_EQ(PauseAfter(seconds(4)), seconds(80));
}

TEST(RunKeeperTest, DoesNotRestSoLongThatTheRunGrowsOutOfHand) {
  EXPECT_EQ(PauseAfter(seconds(30)), minutes(10));
  EXPECT_EQ(PauseAfter(minutes(5)), minutes(10));
}

TEST(RunKeeperTest, SealsSegmentsAtASixteenthOfTheSizeWithinReason) {
  constexpr uint64_t kMegabyte = uint64_t{1} << 20;
  EXPECT_EQ(SegmentBytesFor(kMegabyte), kMegabyte);
  EXPECT_EQ(SegmentBytesFor(320 * kMegabyte), 20 * kMegabyte);
  EXPECT_EQ(SegmentBytesFor(uint64_t{1} << 40), 64 * kMegabyte);
}

}  // namespace
}  // namespace gpubound
