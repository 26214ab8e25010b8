// SPDX-License-Identifier: Apache-2.0
#include "analysis/interval.h"

#include <gtest/gtest.h>

#include <numeric>

namespace gpubound {
namespace {

using Intervals = std::vector<Interval>;

TEST(IntervalTest, UnionJoinsWhatOverlapsAndWhatTouches) {
  EXPECT_EQ(Union({{5, 8}, {1, 3}, {3, 4}, {6, 7}}), (Intervals{{1, 4}, {5, 8}}));
}

TEST(IntervalTest, UnionDropsEmptyIntervals) {
  EXPECT_EQ(Union({{5, 5}, {9, 2}}), Intervals{});
  EXPECT_EQ(UnionLength({{5, 5}, {1, 3}, {2, 4}}), 3);
}

TEST(IntervalTest, OverlapOfSetsPartitionsTheFrame) {
  const OverlapByMask overlap = OverlapOfSets({{{0, 6}, {4, 8}}, {{5, 20}}}, {2, 12});
  EXPECT_EQ(overlap[0], 0);
  EXPECT_EQ(overlap[1], 3);
  EXPECT_EQ(overlap[3], 3);
  EXPECT_EQ(overlap[2], 4);
  EXPECT_EQ(std::accumulate(overlap.begin(), overlap.end(), int64_t{0}), 10);
}

TEST(IntervalTest, OverlapOfNothingIsTheFrame) {
  EXPECT_EQ(OverlapOfSets({}, {5, 9})[0], 4);
  EXPECT_EQ(OverlapOfSets({{}}, {9, 5})[0], 0);
}

}  // namespace
}  // namespace gpubound
