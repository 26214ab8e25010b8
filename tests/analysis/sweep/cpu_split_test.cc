// SPDX-License-Identifier: Apache-2.0
//
// Sums between looks at a thread, shared out over its operations.
#include "analysis/sweep/cpu_split.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpubound {
namespace {

constexpr OperationIndex kA{1};
constexpr OperationIndex kB{2};
constexpr uint32_t kThread = 3;

class CpuSplitTest : public testing::Test {
 protected:
  static ThreadChange At(int64_t time_ns, OperationIndex operation) {
    return {time_ns, Doing(operation, Layer::kNative, IdleCause::kUnknown, kNotOne)};
  }
  void Look(int64_t begin_ns, int64_t end_ns, int64_t on_cpu_ns, std::optional<int64_t> ready_ns) {
    splitter_.Add(kThread, {begin_ns, end_ns, on_cpu_ns, ready_ns, 7});
  }
  void Follow(OperationIndex at_begin, int64_t begin_ns, const std::vector<ThreadChange>& changes,
              int64_t end_ns) {
    splitter_.Follow(kThread, at_begin, begin_ns, changes, end_ns,
                     [](const Doing& doing) { return doing.operation(); });
    splitter_.CloseShared();
  }
  CpuSplits Take() { return splitter_.Take(kThread); }

  CpuSplitter splitter_{{0, 1000}};
};

TEST_F(CpuSplitTest, AnOperationThatFillsALookHasAllOfItExactly) {
  Look(0, 20, 12, 4);
  Follow(kA, 0, {}, 20);
  EXPECT_EQ(Take(), (CpuSplits{{kA, {20, 12, 4, 0}}}));
}

TEST_F(CpuSplitTest, OperationsWithinALookShareItByTheirTime) {
  Look(0, 20, 12, 4);
  Follow(kA, 0, {At(10, kB), At(15, kA)}, 20);
  const CpuSplits splits = Take();
  EXPECT_EQ(splits.at(kA), (CpuSplit{15, 9, 3, 3}));
  EXPECT_EQ(splits.at(kB), (CpuSplit{5, 3, 1, 3}));  // all or nothing of the 4 that were ready
}

TEST_F(CpuSplitTest, NoOperationIsWrongByAnythingWhereTheThreadNeverLeftItsCpu) {
  Look(0, 20, 20, 0);
  Follow(kA, 0, {At(10, kB)}, 20);
  for (const auto& [operation, split] : Take()) EXPECT_EQ(split.error_ns, 0);
}

TEST_F(CpuSplitTest, WhatIsSharedOutSumsToWhatWasCounted) {
  Look(0, 7, 5, 1);
  Follow(kA, 0, {At(1, kB), At(2, kA), At(4, kB)}, 7);
  CpuSplit all;
  for (const auto& [operation, split] : Take()) all += split;
  EXPECT_EQ(all.on_cpu_ns, 5);
  EXPECT_EQ(all.ready_ns, 1);
  EXPECT_EQ(all.told_ns, 7);
}

TEST_F(CpuSplitTest, ALookMayGoOnThroughSeveralWindows) {
  Look(0, 30, 10, 5);
  Follow(kA, 0, {At(5, kB)}, 10);
  Follow(kB, 12, {At(20, kA)}, 25);
  Follow(kA, 25, {}, 40);
  const CpuSplits splits = Take();
  EXPECT_EQ(splits.at(kA).told_ns, 15);
  EXPECT_EQ(splits.at(kB).told_ns, 15);
}

TEST_F(CpuSplitTest, ABlockedStretchHasNothingOfTheSumsThatItReachesInto) {
  Look(0, 20, 12, 0);
  Follow(kA, 0, {}, 10);
  Look(12, 47, 0, 0);
  Follow(kA, 10, {}, 30);
  Look(40, 60, 10, 3);
  Follow(kA, 30, {At(50, kB)}, 70);
  const CpuSplits splits = Take();
  EXPECT_EQ(splits.at(kA), (CpuSplit{50, 17, 1, 5}));
  EXPECT_EQ(splits.at(kB), (CpuSplit{10, 5, 2, 5}));
}

TEST_F(CpuSplitTest, WithoutReadinessOnlyTheTimeOnACpuIsTold) {
  Look(0, 20, 12, std::nullopt);
  Follow(kA, 0, {}, 20);
  EXPECT_EQ(Take(), (CpuSplits{{kA, {12, 12, 0, 0}}}));
}

TEST_F(CpuSplitTest, TimeBetweenLooksThatDoNotMeetIsNotTold) {
  Look(0, 10, 10, 0);
  Look(30, 40, 10, 0);
  Follow(kA, 0, {}, 50);
  EXPECT_EQ(Take().at(kA).told_ns, 20);
}

TEST_F(CpuSplitTest, ALookThatOverlapsWithTheOneBeforeIsLeftOut) {
  Look(0, 10, 10, 0);
  Look(5, 20, 10, 0);
  Follow(kA, 0, {}, 20);
  EXPECT_EQ(Take().at(kA).told_ns, 10);
}

TEST_F(CpuSplitTest, OfALookThatGoesOnBeyondTheSpanThePartWithinItIsTold) {
  Look(990, 1010, 20, 0);
  Follow(kA, 990, {}, 1010);
  EXPECT_EQ(Take(), (CpuSplits{{kA, {10, 10, 0, 0}}}));
}

}  // namespace
}  // namespace gpubound
