// SPDX-License-Identifier: Apache-2.0
//
// What the interval of a what-if makes of waits of which nobody says for which process they are,
// and of waits for work that nobody recorded, on traces written down as text.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analysis/correction/span_ratio.h"
#include "tests/golden/replayed_span.h"
#include "tests/golden/scenario_lines.h"

namespace gpubound {
namespace {

constexpr int64_t kTurns = 10;
constexpr int64_t kTurnUs = 1000;

class UnknownPeersTest : public testing::Test {
 protected:
  // Trains for 100 us of each turn and then does |waits| until the turn is over.
  static std::string Trainer(const std::string& waits) {
    std::string text = golden::ProcessLines("", 0, kTurns * kTurnUs);
    for (int64_t turn = 0; turn < kTurns; ++turn) {
      const int64_t us = turn * kTurnUs;
      text += golden::ScopeLines(us, us + 100, "operation training");
      text += golden::ScopeLines(us + 110, us + 990, waits);
    }
    return text;
  }
  // Simulates for |done_us| of each turn, from 120 us on, and does |waits| else.
  static std::string Worker(int64_t pid, int64_t done_us, const std::string& waits) {
    std::string text =
        golden::ProcessLines("process " + std::to_string(pid) + " 100", 0, kTurns * kTurnUs);
    for (int64_t turn = 0; turn < kTurns; ++turn) {
      const int64_t us = turn * kTurnUs;
      text += golden::ScopeLines(us, us + 120, waits);
      text += golden::ScopeLines(us + 120, us + 120 + done_us, "operation simulation");
      text += golden::ScopeLines(us + 120 + done_us, us + 1000, waits);
    }
    return text;
  }
};

constexpr char kBarrier[] = "layer wait:Barrier.wait";

TEST_F(UnknownPeersTest, AWaitMayBeForAnotherProcess) {
  const std::string text = Trainer(kBarrier) + Worker(101, 850, kBarrier);
  const SpanRatio faster = golden::RatioWith(text, "operation-cpu=simulation:0");
  EXPECT_NEAR(faster.part, 1, 0.01);
  EXPECT_NEAR(faster.low, 0.15, 0.02);
  EXPECT_LE(faster.high, 1.01);
  const SpanRatio slower = golden::RatioWith(text, "operation-cpu=simulation:2");
  EXPECT_NEAR(slower.part, 1, 0.01);
  EXPECT_GE(slower.low, 0.99);
  EXPECT_NEAR(slower.high, 1.85, 0.02);
}

TEST_F(UnknownPeersTest, ItIsNoWaitForOneThatDoesNothingMeanwhile) {
  std::string idle = golden::ProcessLines("process 101 100", 0, kTurns * kTurnUs);
  for (int64_t turn = 0; turn < kTurns; ++turn) {
    const int64_t us = turn * kTurnUs;
    idle += golden::ScopeLines(us + 10, us + 90, "operation simulation");
  }
  const SpanRatio ratio = golden::RatioWith(Trainer(kBarrier) + idle, "operation-cpu=simulation:0");
  EXPECT_GE(ratio.low, 0.99);
  EXPECT_LE(ratio.high, 1.01);
}

// What one gains because another one lets it go on sooner is that one's.
TEST_F(UnknownPeersTest, WhatAProcessGainsByAnotherIsNotItsOwn) {
  const std::string text =
      Trainer(kBarrier) + Worker(101, 850, "wait 102") + Worker(102, 0, "wait 100");
  const SpanRatio ratio = golden::RatioWith(text, "operation-cpu=training:0.5");
  EXPECT_GE(ratio.low, ratio.part - 0.02);
  EXPECT_LE(ratio.high, ratio.part + 0.02);
}

// 101 waits for nobody knows what, which may be 102; and 100 waits for 101.
TEST_F(UnknownPeersTest, WhoWaitsForAnotherWaitsForWhatThatOneWaitsFor) {
  std::string between = golden::ProcessLines("process 101 100", 0, kTurns * kTurnUs);
  for (int64_t turn = 0; turn < kTurns; ++turn) {
    const int64_t us = turn * kTurnUs;
    between += golden::ScopeLines(us, us + 110, "wait 100");
    between += golden::ScopeLines(us + 110, us + 975, kBarrier);
    between += golden::ScopeLines(us + 975, us + 980, "operation answer");
    between += golden::ScopeLines(us + 980, us + 1000, "wait 100");
  }
  const std::string text = Trainer("wait 101") + between + Worker(102, 850, kBarrier);
  const SpanRatio ratio = golden::RatioWith(text, "operation-cpu=simulation:0");
  EXPECT_LE(ratio.low, 0.17);
  EXPECT_LE(ratio.high, 1.01);
}

// The thread waits for work of which nothing was recorded.
TEST_F(UnknownPeersTest, AWaitForUnrecordedWorkMayEndAsItDid) {
  std::string text = golden::ProcessLines("", 0, kTurns * kTurnUs);
  for (int64_t turn = 0; turn < kTurns; ++turn) {
    const int64_t us = turn * kTurnUs;
    text += golden::ScopeLines(us, us + 500, "operation inference");
    text += "call main " + std::to_string(1000 * (us + 510)) + " " +
            std::to_string(1000 * (us + 990)) + " cudaStreamSynchronize #" +
            std::to_string(turn + 1) + "\n";
  }
  const SpanRatio known = golden::RatioWith(text, "operation-cpu=inference:0");
  EXPECT_NEAR(known.part, 0.5, 0.02);
  EXPECT_LE(known.high, 0.53);
  text += "unknown 0 " + std::to_string(1000 * kTurns * kTurnUs) + "\n";
  const SpanRatio faster = golden::RatioWith(text, "operation-cpu=inference:0");
  EXPECT_NEAR(faster.part, 0.5, 0.02);
  EXPECT_NEAR(faster.high, 1, 0.05);
  EXPECT_GE(faster.low, 0.47);
  const SpanRatio slower = golden::RatioWith(text, "operation-cpu=inference:3");
  EXPECT_NEAR(slower.part, 2, 0.02);
  EXPECT_NEAR(slower.low, 1.52, 0.05);
  text += "kernel 0 10 k\n";
  EXPECT_NEAR(golden::RatioWith(text, "device:0").low, 0.52, 0.02);
  EXPECT_NEAR(golden::RatioWith(text, "device:2").high, 1.48, 0.02);
}

// In each turn a kernel of 480 us, for which the thread waits in the operation that launched it;
// recorded in the turns from |recorded_from| on.
std::string Inference(int64_t recorded_from) {
  std::string text = golden::ProcessLines("", 0, kTurns * kTurnUs);
  for (int64_t turn = 0; turn < kTurns; ++turn) {
    const auto ns = [turn](int64_t us) { return std::to_string(1000 * (turn * kTurnUs + us)); };
    const std::string launch = " #" + std::to_string(2 * turn + 1) + "\n";
    const std::string wait = " #" + std::to_string(2 * turn + 2) + "\n";
    text += "@" + ns(400) + " main begin operation inference\n";
    text += "call main " + ns(500) + " " + ns(505) + " cudaLaunchKernel" + launch;
    text += "call main " + ns(510) + " " + ns(1000) + " cudaStreamSynchronize" + wait;
    if (turn >= recorded_from) text += "kernel " + ns(508) + " " + ns(988) + " k" + launch;
    text += "@" + ns(1000) + " main end operation inference\n";
  }
  const std::string end = std::to_string(1000 * recorded_from * kTurnUs);
  return recorded_from == 0 ? text : text + "unknown 0 " + end + "\n";
}

TEST_F(UnknownPeersTest, AWaitForUnrecordedWorkKeepsItsLengthInAFasterOperation) {
  EXPECT_NEAR(golden::RatioWith(Inference(kTurns), "operation-cpu=inference:0").part, 0.9, 0.02);
}

TEST_F(UnknownPeersTest, AWaitForUnrecordedWorkDoesNotTellHowLongACallTakesByItself) {
  EXPECT_NEAR(golden::RatioWith(Inference(0), "device:0").part, 0.52, 0.03);
  EXPECT_NEAR(golden::RatioWith(Inference(5), "device:0").part, 0.76, 0.03);
}

}  // namespace
}  // namespace gpubound
