// SPDX-License-Identifier: Apache-2.0
//
// What a what-if makes of a process that waits for several others at once, as a trainer does for
// its vector environment, on traces written down as text.
#include <gtest/gtest.h>

#include <string>

#include "tests/golden/replayed_span.h"
#include "tests/golden/scenario_lines.h"

namespace gpubound {
namespace {

constexpr int64_t kTurns = 10;
constexpr int64_t kTurnUs = 1000;

class SeveralPeersTest : public testing::Test {
 protected:
  static std::string Process(const std::string& line) {
    return golden::ProcessLines(line, 0, kTurns * kTurnUs);
  }
  // Waits for |pids| in all of each turn but its last 10 us.
  static std::string Trainer(const std::string& pids) {
    std::string text = Process("");
    for (int64_t turn = 0; turn < kTurns; ++turn) {
      text += golden::ScopeLines(turn * kTurnUs, turn * kTurnUs + 990, "wait " + pids);
    }
    return text;
  }
  // Simulates until |done_us| of each turn, then waits for the trainer until the turn is over.
  static std::string Worker(int64_t pid, int64_t done_us) {
    std::string text = Process("process " + std::to_string(pid) + " 100");
    for (int64_t turn = 0; turn < kTurns; ++turn) {
      const int64_t at_us = turn * kTurnUs;
      text += golden::ScopeLines(at_us, at_us + done_us, "operation simulation");
      text += golden::ScopeLines(at_us + done_us + 5, at_us + kTurnUs, "wait 100");
    }
    return text;
  }
  // The same, without saying what it does.
  static std::string SilentWorker(int64_t pid, int64_t done_us) {
    std::string text = Process("process " + std::to_string(pid) + " 100");
    for (int64_t turn = 0; turn < kTurns; ++turn) {
      text += golden::ScopeLines(turn * kTurnUs + done_us + 5, (turn + 1) * kTurnUs, "wait 100");
    }
    return text;
  }
  // Waits in |operation|, in each turn for 101 until |first_us| and then, but for its last 10 us,
  // for 102.
  static std::string TrainerInTurn(const std::string& operation, int64_t first_us) {
    std::string text = Process("");
    for (int64_t turn = 0; turn < kTurns; ++turn) {
      const int64_t at_us = turn * kTurnUs;
      text += golden::EventLine(at_us + 5, "begin operation " + operation);
      text += golden::ScopeLines(at_us + 5, at_us + first_us, "wait 101");
      if (first_us < 990) text += golden::ScopeLines(at_us + first_us, at_us + 990, "wait 102");
      text += golden::EventLine(at_us + 990, "end operation " + operation);
    }
    return text;
  }
  // Simulates throughout, one environment after the other, without answering anybody.
  static std::string Busy(int64_t pid, const std::string& operation) {
    std::string text = Process("process " + std::to_string(pid) + " 100");
    text += golden::EventLine(0, "begin operation " + operation);
    for (int64_t us = 0; us < kTurns * kTurnUs; us += 10) {
      text += golden::ScopeLines(us, us + 9, "layer simulator");
    }
    return text + golden::EventLine(kTurns * kTurnUs, "end operation " + operation);
  }
};

constexpr char kHalf[] = "operation-cpu=simulation:0.5";

TEST_F(SeveralPeersTest, AWaitForAllEndsWithTheSlowest) {
  const double one = golden::MillisecondsWith(Trainer("101") + Worker(101, 980), kHalf);
  EXPECT_NEAR(one, 5.1, 0.01);
  for (const int64_t other_us : {980, 500, 100}) {
    EXPECT_DOUBLE_EQ(golden::MillisecondsWith(
                         Trainer("101 102") + Worker(101, 980) + Worker(102, other_us), kHalf),
                     one);
  }
}

// As the result of a Pool: a thread of the trainer gets the answer, and lets the main thread go on
// that waits for the worker.
TEST_F(SeveralPeersTest, WhatAnotherThreadBringsInAWaitForAWorkerDoesNotEndIt) {
  const std::string alone = Trainer("101") + Worker(101, 900);
  std::string brought = Process("") + "thread results\n";
  for (int64_t turn = 0; turn < kTurns; ++turn) {
    const int64_t at_us = turn * kTurnUs;
    brought += golden::EventLine(at_us, "begin wait 101");
    brought += golden::EventLine(at_us + 5, "begin wait 101", "results");
    brought += golden::EventLine(at_us + 960, "end wait 101", "results");
    brought += golden::EventLine(at_us + 965, "wake 7", "results");
    brought += golden::EventLine(at_us + 980, "found 7");
    brought += golden::EventLine(at_us + 990, "end wait 101");
  }
  brought += Worker(101, 900);
  EXPECT_LT(golden::MillisecondsWith(brought, kHalf), 6);
  EXPECT_NEAR(golden::MillisecondsWith(brought, kHalf), golden::MillisecondsWith(alone, kHalf),
              0.05);
}

// As the manager of a process pool, which reads from a pipe of its own before it hands on a result.
TEST_F(SeveralPeersTest, WhatAThreadWaitsForWhileTheMainThreadWaitsIsNotThatOne) {
  std::string text = Process("") + "thread manager\n";
  for (int64_t turn = 0; turn < kTurns; ++turn) {
    const int64_t at_us = turn * kTurnUs;
    text += golden::EventLine(at_us, "begin layer wait:result");
    text += golden::EventLine(at_us + 5, "begin wait 101", "manager");
    text += golden::EventLine(at_us + 930, "end wait 101", "manager");
    text += golden::EventLine(at_us + 932, "begin layer wait:pipe", "manager");
    text += golden::EventLine(at_us + 962, "end layer wait:pipe", "manager");
    text += golden::EventLine(at_us + 965, "wake 7", "manager");
    text += golden::EventLine(at_us + 985, "woken 7");
    text += golden::EventLine(at_us + 990, "end layer wait:result");
  }
  EXPECT_NEAR(golden::MillisecondsWith(text + Worker(101, 900), kHalf), 5.5, 0.05);
}

TEST_F(SeveralPeersTest, AnotherOneMayBeTheSlowestThen) {
  // 101 needs 980 us less nothing, 102 becomes twice as slow: 1200 us.
  std::string slower = Worker(102, 600);
  for (size_t at = 0; (at = slower.find("simulation", at)) != std::string::npos;) {
    slower.replace(at, std::string("simulation").size(), "evaluation");
  }
  EXPECT_NEAR(golden::MillisecondsWith(Trainer("101 102") + Worker(101, 980) + slower,
                                       "operation-cpu=evaluation:2"),
              10 * 1.2 + 10 * 0.02, 0.02);
}

TEST_F(SeveralPeersTest, AWaitForAnyEndsWithTheOneThatAnswered) {
  const double one = golden::MillisecondsWith(Trainer("101") + Worker(101, 980), kHalf);
  EXPECT_DOUBLE_EQ(
      golden::MillisecondsWith(Trainer("101 102") + Worker(101, 980) + Busy(102, "rollout"), kHalf),
      one);
  EXPECT_DOUBLE_EQ(
      golden::MillisecondsWith(Trainer("101 102") + Busy(101, "rollout") + Worker(102, 980), kHalf),
      one);
}

TEST_F(SeveralPeersTest, WhereNobodyRestsTheOneThatActedLastEndedIt) {
  const std::string text = Trainer("101 102") + Busy(101, "simulation") + Busy(102, "simulation");
  EXPECT_NEAR(golden::MillisecondsWith(text, kHalf), 5.0, 0.02);
}

TEST_F(SeveralPeersTest, AWorkerThatSaysNothingWorksForTheOperationThatWaitsForIt) {
  const std::string text = TrainerInTurn("simulation", 990) + SilentWorker(101, 980);
  EXPECT_NEAR(golden::MillisecondsWith(text, kHalf), 5.1, 0.05);
  EXPECT_DOUBLE_EQ(golden::MillisecondsWith(text, "operation-cpu=learning:0.5"), 10.0);
  EXPECT_NEAR(golden::MillisecondsWith(text, "operation-cpu=simulation:2"), 10 * (1.97 + 0.02),
              0.05);
}

TEST_F(SeveralPeersTest, SoDoesAWorkerWhileAnotherOneIsWaitedFor) {
  const std::string text =
      TrainerInTurn("simulation", 495) + SilentWorker(101, 490) + SilentWorker(102, 980);
  EXPECT_NEAR(golden::MillisecondsWith(text, kHalf), 5.1, 0.06);
}

TEST_F(SeveralPeersTest, AWorkerThatNamesItsWorkIsTakenAtItsWord) {
  std::string rollout = Worker(101, 980);
  for (size_t at = 0; (at = rollout.find("simulation", at)) != std::string::npos;) {
    rollout.replace(at, std::string("simulation").size(), "rollout");
  }
  const std::string text = TrainerInTurn("simulation", 990) + rollout;
  EXPECT_DOUBLE_EQ(golden::MillisecondsWith(text, kHalf), 10.0);
}

TEST_F(SeveralPeersTest, AWaitForProcessesThatHaveNotBegunStaysAsItIs) {
  std::string later = Trainer("101 102") + Worker(101, 980) + Worker(102, 980);
  for (size_t at = 0; (at = later.find("100\nspan 0", at)) != std::string::npos;) {
    later.replace(at, std::string("100\nspan 0").size(), "1\nspan 9999999");
  }
  EXPECT_DOUBLE_EQ(golden::MillisecondsWith(later, kHalf), 10.0);
}

}  // namespace
}  // namespace gpubound
