// SPDX-License-Identifier: Apache-2.0
#include "analysis/timeline/thread_roster.h"

#include <gtest/gtest.h>

#include <vector>

namespace gpubound {
namespace {

constexpr ThreadRoster::Rest kQuiet = {Doing(kNotOne, Layer::kNative, IdleCause::kUnknown, kNotOne),
                                       false};
constexpr ThreadRoster::Rest kCalling = {Doing(1, Layer::kCudaApi, IdleCause::kLaunch, kNotOne),
                                         false};

class ThreadRosterTest : public testing::Test {
 protected:
  void Sleeps(uint32_t thread, int64_t next_ns, const ThreadRoster::Rest& rest = kQuiet) {
    roster_.AddAsleep(thread, {rest, next_ns});
  }
  std::vector<uint32_t> AwakeBefore(int64_t end_ns) {
    while (roster_.WakeBefore(end_ns)) continue;
    roster_.Order();
    return roster_.awake();
  }
  size_t Rests() const {
    size_t rests = 0;
    roster_.ForEachRest([&rests](const ThreadRoster::Rest&) { ++rests; });
    return rests;
  }

  ThreadRoster roster_;
};

TEST_F(ThreadRosterTest, WakesThoseToWhichSomethingHappensBeforeTheEnd) {
  Sleeps(0, 30);
  Sleeps(1, 10);
  Sleeps(2, 20);
  EXPECT_EQ(roster_.NextTime(), 10);
  EXPECT_EQ(AwakeBefore(21), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(roster_.NextTime(), 30);
}

TEST_F(ThreadRosterTest, AThreadToWhichNothingHappensNeverWakes) {
  Sleeps(0, kOpenEnded);
  EXPECT_EQ(roster_.NextTime(), kOpenEnded);
  EXPECT_TRUE(AwakeBefore(kOpenEnded).empty());
}

TEST_F(ThreadRosterTest, ThoseThatAreAwakeAreInOrderWheneverTheyWoke) {
  Sleeps(0, 20);
  Sleeps(3, 20);
  roster_.AddAwake(1);
  Sleeps(2, 10);
  EXPECT_EQ(AwakeBefore(11), (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(AwakeBefore(21), (std::vector<uint32_t>{0, 1, 2, 3}));
}

TEST_F(ThreadRosterTest, WhatComesUpSoonerWakesSooner) {
  Sleeps(0, 30);
  roster_.Expect(0, 40);
  EXPECT_EQ(roster_.NextTime(), 30);
  roster_.Expect(0, 10);
  EXPECT_EQ(AwakeBefore(11), std::vector<uint32_t>{0});
  EXPECT_EQ(roster_.NextTime(), kOpenEnded);
}

TEST_F(ThreadRosterTest, AThreadThatFellAsleepAgainWakesOnce) {
  Sleeps(0, 30);
  roster_.Expect(0, 10);
  AwakeBefore(11);
  roster_.SleepWhere([](uint32_t) { return ThreadRoster::Sleeper{kQuiet, 30}; });
  EXPECT_TRUE(roster_.awake().empty());
  EXPECT_EQ(AwakeBefore(31), std::vector<uint32_t>{0});
}

TEST_F(ThreadRosterTest, SleepersThatDoTheSameAreOne) {
  for (uint32_t thread = 0; thread < 1000; ++thread) Sleeps(thread, thread);
  Sleeps(1000, kOpenEnded, kCalling);
  EXPECT_EQ(Rests(), 2U);
  AwakeBefore(999);
  EXPECT_EQ(Rests(), 2U);
  AwakeBefore(1000);
  EXPECT_EQ(Rests(), 1U);
}

}  // namespace
}  // namespace gpubound
