// SPDX-License-Identifier: Apache-2.0
#include "analysis/timeline/merge_runs.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpubound {
namespace {

using Keys = std::vector<uint64_t>;

Keys Merged(const std::vector<Keys>& runs) {
  Keys keys;
  std::vector<size_t> ends;
  for (const Keys& run : runs) {
    keys.insert(keys.end(), run.begin(), run.end());
    ends.push_back(keys.size());
  }
  std::vector<uint64_t> scratch;
  MergeRuns(&keys, &ends, &scratch);
  return keys;
}

TEST(MergeRunsTest, NothingStaysNothing) { EXPECT_EQ(Merged({}), Keys()); }

TEST(MergeRunsTest, OneRunStaysAsItIs) { EXPECT_EQ(Merged({{1, 4, 9}}), Keys({1, 4, 9})); }

TEST(MergeRunsTest, TwoRunsInterleave) {
  EXPECT_EQ(Merged({{1, 4, 9}, {2, 3, 10}}), Keys({1, 2, 3, 4, 9, 10}));
}

TEST(MergeRunsTest, TheOddRunOfARoundIsKept) {
  EXPECT_EQ(Merged({{7}, {3}, {5}, {9}, {1}}), Keys({1, 3, 5, 7, 9}));
}

TEST(MergeRunsTest, EmptyRunsAddNothing) { EXPECT_EQ(Merged({{}, {2}, {}}), Keys({2})); }

TEST(MergeRunsTest, EqualKeysAllStay) {
  EXPECT_EQ(Merged({{2, 2}, {2}, {1, 2}}), Keys({1, 2, 2, 2, 2}));
}

TEST(MergeRunsTest, TheLargestKeyIsAKeyLikeOthers) {
  EXPECT_EQ(Merged({{~uint64_t{0}}, {0}}), Keys({0, ~uint64_t{0}}));
}

}  // namespace
}  // namespace gpubound
