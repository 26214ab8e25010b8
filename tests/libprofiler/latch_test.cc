// SPDX-License-Identifier: Apache-2.0
//
// A latch lets everybody go, however many wait and whenever they come.
#include "libprofiler/latch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace gpubound {
namespace {

// Longer than a test may take.
constexpr int64_t kForeverNs = int64_t{3'600'000'000'000};

void AwaitOpen(Latch* latch) {
  while (!latch->is_open()) latch->Wait(kForeverNs);
}

TEST(LatchTest, EveryOneThatWaitsIsLetGo) {
  for (int round = 0; round < 200; ++round) {
    Latch latch;
    std::atomic<int> gone = 0;
    std::vector<std::thread> waiting;
    for (int i = 0; i < 4; ++i) {
      waiting.emplace_back([&] {
        AwaitOpen(&latch);
        ++gone;
      });
    }
    latch.Open();
    for (std::thread& thread : waiting) thread.join();
    EXPECT_EQ(gone, 4);
  }
}

TEST(LatchTest, OneThatComesLaterDoesNotWait) {
  Latch latch;
  EXPECT_FALSE(latch.is_open());
  latch.Open();
  for (int i = 0; i < 2; ++i) latch.Wait(kForeverNs);
  EXPECT_TRUE(latch.is_open());
}

TEST(LatchTest, WaitingHasAnEndWithoutIt) {
  Latch latch;
  latch.Wait(1'000'000);
  latch.Wait(0);
  latch.Wait(-1);
  EXPECT_FALSE(latch.is_open());
}

}  // namespace
}  // namespace gpubound
