// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/interval.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace gpubound
