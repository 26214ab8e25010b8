// SPDX-License-Identifier: Apache-2.0
//
// Which work without a time is a loss, and which one belongs to the time behind the recording.
#include "cupti_hooks/cupti/untimed_work.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

using Place = UntimedWork::Place;

constexpr uint64_t kEndNs = 1000;

class UntimedWorkTest : public ::testing::Test {
 protected:
  // How many of |untimed| are lost, where |timed| ended at the times beside it.
  uint64_t Lost(const std::vector<std::pair<Place, uint64_t>>& timed,
                const std::vector<Place>& untimed) {
    UntimedWork work;
    work.EndAt(kEndNs);
    for (const Place& place : untimed) work.OnUntimed(place);
    for (const auto& [place, end_ns] : timed) work.OnTimed(place, end_ns);
    EXPECT_EQ(work.IsOpen(), !untimed.empty());
    EXPECT_EQ(work.TakeLost(), 0u) << "not before everything has come";
    work.Settle();
    EXPECT_FALSE(work.IsOpen());
    const uint64_t lost = work.TakeLost();
    EXPECT_EQ(work.TakeLost(), 0u);
    return lost;
  }
};

TEST_F(UntimedWorkTest, DuringTheRecordingAllOfItIsLost) {
  UntimedWork work;
  work.OnTimed({1, 7, 1}, kEndNs);
  work.OnUntimed({1, 7, 2});
  work.OnUntimed({1, 7, 3});
  EXPECT_FALSE(work.IsOpen());
  EXPECT_EQ(work.TakeLost(), 2u);
  EXPECT_EQ(work.TakeLost(), 0u);
}

TEST_F(UntimedWorkTest, BehindWorkThatEndedLaterInItsStreamNothingIsLost) {
  EXPECT_EQ(Lost({{{1, 7, 4}, kEndNs}}, {{1, 7, 5}, {1, 7, 6}}), 0u);
}

TEST_F(UntimedWorkTest, TheFirstSuchWorkCounts) {
  EXPECT_EQ(Lost({{{1, 7, 9}, kEndNs + 9}, {{1, 7, 4}, kEndNs}, {{1, 7, 8}, kEndNs + 8}},
                 {{1, 7, 5}, {1, 7, 10}}),
            0u);
}

TEST_F(UntimedWorkTest, BehindWorkThatEndedBeforeItIsNotKnown) {
  EXPECT_EQ(Lost({{{1, 7, 4}, kEndNs - 1}}, {{1, 7, 5}}), 1u);
}

TEST_F(UntimedWorkTest, BeforeSuchWorkItIsLost) {
  EXPECT_EQ(Lost({{{1, 7, 4}, kEndNs}}, {{1, 7, 3}, {1, 7, 5}}), 1u);
}

TEST_F(UntimedWorkTest, NodesOfTheSameLaunchMayRunBesideEachOther) {
  EXPECT_EQ(Lost({{{1, 7, 4}, kEndNs}}, {{1, 7, 4}, {1, 7, 4}}), 2u);
}

TEST_F(UntimedWorkTest, AnotherStreamSaysNothing) {
  EXPECT_EQ(Lost({{{1, 8, 4}, kEndNs}, {{2, 7, 4}, kEndNs}}, {{1, 7, 5}}), 1u);
}

TEST_F(UntimedWorkTest, NumbersOfLaunchesWrapAround) {
  EXPECT_EQ(Lost({{{1, 7, 0xfffffffe}, kEndNs}}, {{1, 7, 0xffffffff}, {1, 7, 1}}), 0u);
  EXPECT_EQ(Lost({{{1, 7, 1}, kEndNs}}, {{1, 7, 0xffffffff}}), 1u);
}

TEST_F(UntimedWorkTest, WithoutTheClockNothingIsShown) {
  UntimedWork work;
  work.EndAt(UntimedWork::kNoTime);
  work.OnTimed({1, 7, 4}, kEndNs);
  work.OnUntimed({1, 7, 5});
  work.Settle();
  EXPECT_EQ(work.TakeLost(), 1u);
}

TEST_F(UntimedWorkTest, WhatIsForgottenIsNotLost) {
  UntimedWork work;
  work.EndAt(kEndNs);
  work.OnUntimed({1, 7, 5});
  work.Forget();
  work.Settle();
  EXPECT_EQ(work.TakeLost(), 0u);
}

}  // namespace
}  // namespace gpubound
