// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/strong_components.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace gpubound {
namespace {

using Graph = std::vector<std::vector<size_t>>;

TEST(StrongComponentsTest, NodesThatReachEachOtherAreOne) {
  const std::vector<size_t> found = StrongComponents(Graph{{1}, {2}, {0, 3}, {4}, {3}, {}});
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
  EXPECT_EQ(found[3], found[4]);
  EXPECT_NE(found[0], found[3]);
  EXPECT_NE(found[5], found[0]);
  EXPECT_NE(found[5], found[3]);
}

TEST(StrongComponentsTest, WhatLeadsSomewhereLiesAboveIt) {
  const std::vector<size_t> found = StrongComponents(Graph{{2}, {0}, {}, {1, 2}});
  EXPECT_GT(found[3], found[1]);
  EXPECT_GT(found[1], found[0]);
  EXPECT_GT(found[0], found[2]);
}

TEST(StrongComponentsTest, AnEdgeToItselfMakesNoCircle) {
  EXPECT_EQ(StrongComponents(Graph{{0}, {1}}), (std::vector<size_t>{0, 1}));
}

TEST(StrongComponentsTest, ALongPathNeedsNoDeepStack) {
  constexpr size_t kNodes = 1'000'000;
  Graph path(kNodes);
  for (size_t node = 0; node + 1 < kNodes; ++node) path[node] = {node + 1};
  const std::vector<size_t> found = StrongComponents(path);
  EXPECT_EQ(*std::max_element(found.begin(), found.end()), kNodes - 1);
}

}  // namespace
}  // namespace gpubound
