// SPDX-License-Identifier: Apache-2.0
//
// Looks at stacks, counted in the operation that their thread was in.
#include "analysis/sweep/stack_book.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpubound {
namespace {

constexpr OperationIndex kA{1};
constexpr OperationIndex kB{2};
constexpr FrameId kF{5};
constexpr FrameId kG{6};

class StackBookTest : public testing::Test {
 protected:
  static ThreadChange At(int64_t time_ns, OperationIndex operation, Layer layer = Layer::kNative) {
    return {time_ns, Doing(operation, layer, IdleCause::kUnknown, kNotOne)};
  }
  void Saw(int64_t begin_ns, int64_t end_ns, FrameId frame, uint32_t looks, uint32_t runnable = 0) {
    book_.Add({begin_ns, end_ns, 7, frame, looks, runnable});
  }
  void Follow(OperationIndex at_begin, const std::vector<ThreadChange>& changes, int64_t end_ns,
              int64_t begin_ns = INT64_MIN) {
    book_.Follow(At(begin_ns, at_begin).doing, begin_ns, changes, end_ns);
  }
  StackCounts Take() { return book_.Take(); }

  static constexpr int64_t kStartedNs = 100;
  StackBook book_{{0, 1000}, kStartedNs};
};

TEST_F(StackBookTest, ALookCountsForTheOperationAtItsInstant) {
  Saw(200, 200, kF, 1);
  Saw(210, 210, kG, 1);
  Saw(220, 220, kF, 1);
  Follow(kA, {At(205, kB), At(215, kA)}, 300);
  EXPECT_EQ(Take(), (StackCounts{{{kA, true, kF}, {2, 0}}, {{kB, true, kG}, {1, 0}}}));
}

TEST_F(StackBookTest, LooksOfOneRecordLieEvenlyInIt) {
  Saw(200, 290, kF, 10, 10);  // at 200, 210, ..., 290
  Follow(kA, {At(225, kB), At(260, kA)}, 300);
  EXPECT_EQ(Take(), (StackCounts{{{kA, true, kF}, {7, 7}}, {{kB, true, kF}, {3, 3}}}));
}

TEST_F(StackBookTest, AnOperationThatBeginsAtTheInstantOfALookHasIt) {
  Saw(200, 200, kF, 1);
  Follow(kA, {At(200, kB)}, 300);
  EXPECT_EQ(Take(), (StackCounts{{{kB, true, kF}, {1, 0}}}));
}

TEST_F(StackBookTest, LooksInACallThatWaitsForTheGpuStandApart) {
  Saw(200, 290, kF, 10, 10);  // at 200, 210, ..., 290
  Follow(kA, {At(225, kA, Layer::kCudaSync), At(255, kA, Layer::kCudaApi)}, 300);
  EXPECT_EQ(Take(), (StackCounts{{{kA, true, kF, false}, {7, 7}}, {{kA, true, kF, true}, {3, 3}}}));
}

TEST_F(StackBookTest, ARecordMayGoOnThroughSeveralWindows) {
  Saw(200, 380, kF, 10, 5);
  Follow(kA, {}, 250);
  Follow(kB, {At(300, kA)}, 310);
  Follow(kA, {}, 400);
  const StackCounts counts = Take();
  EXPECT_EQ(counts.at({kB, true, kF}).looks, 2u);  // 260, 280
  EXPECT_EQ(counts.at({kA, true, kF}).looks, 8u);
  EXPECT_EQ(counts.at({kA, true, kF}).runnable + counts.at({kB, true, kF}).runnable, 5u);
}

TEST_F(StackBookTest, BetweenTwoWindowsTheOperationOfTheFirstGoesOn) {
  Saw(200, 240, kF, 2);
  Follow(kA, {}, 210);
  Follow(kB, {}, 300, 250);
  EXPECT_EQ(Take(), (StackCounts{{{kA, true, kF}, {2, 0}}}));
}

TEST_F(StackBookTest, WhatTheProcessDidAsItStartedUpStandsApart) {
  Saw(50, 150, kF, 2);
  Follow(kNoOperationIndex, {}, 200);
  EXPECT_EQ(Take(), (StackCounts{{{kNoOperationIndex, false, kF}, {1, 0}},
                                 {{kNoOperationIndex, true, kF}, {1, 0}}}));
}

TEST_F(StackBookTest, LooksOutsideTheSpanDoNotCount) {
  Saw(-100, -100, kF, 1);
  Saw(900, 1100, kG, 3);  // at 900, 1000, 1100
  Follow(kA, {}, 2000);
  EXPECT_EQ(Take(), (StackCounts{{{kA, true, kG}, {1, 0}}}));
}

TEST_F(StackBookTest, AnyNumberOfLooksIsCountedAtOnce) {
  Saw(200, 399, kF, UINT32_MAX, UINT32_MAX);
  Follow(kA, {At(300, kB)}, 400);
  const StackCounts counts = Take();
  EXPECT_EQ(counts.at({kA, true, kF}).looks + counts.at({kB, true, kF}).looks, UINT32_MAX);
  EXPECT_NEAR(static_cast<double>(counts.at({kA, true, kF}).looks), UINT32_MAX * 100.0 / 199, 1e3);
}

TEST_F(StackBookTest, ItsStateCanBeWrittenDownAndReadAgain) {
  Saw(200, 380, kF, 10, 5);
  Saw(390, 390, kG, 1, 1);
  Follow(kA, {}, 250);
  StateArchive written;
  written.SetLimits(3, 1);
  book_.Visit(written);
  const std::string state = written.Take();

  StackBook other{{0, 1000}, kStartedNs};
  StateArchive read(state);
  read.SetLimits(3, 1);
  other.Visit(read);
  ASSERT_TRUE(read.done());
  other.Follow(At(250, kB).doing, 250, {}, 400);
  Follow(kB, {}, 400, 250);
  EXPECT_EQ(other.Take(), Take());
}

}  // namespace
}  // namespace gpubound
