// SPDX-License-Identifier: Apache-2.0
//
// The critical path through processes that wait for each other, on traces written down as text.
#include <gtest/gtest.h>

#include <string>

#include "analysis/replay/replay.h"
#include "tests/golden/scenario.h"
#include "tests/golden/scenario_lines.h"

namespace gpubound {
namespace {

constexpr int64_t kTurns = 10;
constexpr int64_t kTurnUs = 1000;
constexpr int64_t kSpanUs = kTurns * kTurnUs;

class PeerPathTest : public testing::Test {
 protected:
  static std::string Process(const std::string& line, int64_t begin_us = 0) {
    return golden::ProcessLines(line, begin_us, kSpanUs);
  }

  void Replay(const std::string& text) {
    golden::Scenario scenario = golden::ParseScenario(text);
    ASSERT_TRUE(scenario.mistakes.empty()) << scenario.mistakes.front();
    ReplayOptions options;
    options.critical_path_of = 0;
    Result<ReplayedRun> replayed = ReplayRun(scenario.run, options);
    ASSERT_TRUE(replayed.ok());
    replayed_ = std::move(*replayed);
  }
  double MillisecondsOf(size_t process, const std::string& operation, const std::string& column) {
    int64_t ns = 0;
    for (const CriticalPart& part : replayed_.parts) {
      EXPECT_GE(part.ns, 0);
      if (part.process == process && part.operation == operation && part.column == column) {
        ns += part.ns;
      }
    }
    return static_cast<double>(ns) / 1e6;
  }

 private:
  ReplayedRun replayed_;
};

// It lets the other one go on from inside its operation, which no event of its own tells.
TEST_F(PeerPathTest, WhoIsWaitedForIsOnThePathWithWhatItDoesThen) {
  std::string learner = Process("");
  std::string worker = Process("process 101 100");
  for (int64_t us = 0; us < kSpanUs; us += kTurnUs) {
    learner += golden::ScopeLines(us, us + 900, "operation learn") +
               golden::ScopeLines(us + 905, us + 990, "wait 101");
    worker += golden::ScopeLines(us, us + 880, "wait 100") +
              golden::ScopeLines(us + 880, us + 980, "operation simulation");
  }
  Replay(learner + worker);
  EXPECT_NEAR(MillisecondsOf(0, "learn", "python"), 8.8, 0.1);
  EXPECT_NEAR(MillisecondsOf(1, "simulation", "python"), 1.0, 0.05);
  EXPECT_LT(
      MillisecondsOf(0, "(no operation)", "wait") + MillisecondsOf(1, "(no operation)", "wait"),
      0.15);
}

TEST_F(PeerPathTest, AWaitForWhatWasReadyTakesItsOwnTimeAndNoMore) {
  std::string learner = Process("");
  std::string worker = Process("process 101 100");
  for (int64_t us = 0; us < kSpanUs; us += kTurnUs) {
    learner += golden::ScopeLines(us, us + 100, "operation ask") +
               golden::ScopeLines(us + 100, us + 990, "wait 101");
    // What was asked comes in two messages; it does something between them.
    worker += golden::ScopeLines(us, us + 105, "wait 100") +
              golden::ScopeLines(us + 500, us + 510, "wait 100");
    worker += golden::ScopeLines(us + 515, us + 980, "operation simulation");
  }
  Replay(learner + worker);
  EXPECT_NEAR(MillisecondsOf(0, "ask", "python"), 1.0, 0.05);
  EXPECT_NEAR(MillisecondsOf(1, "(no operation)", "python"), 4.0, 0.15);
  EXPECT_NEAR(MillisecondsOf(1, "simulation", "python"), 4.65, 0.05);
  EXPECT_NEAR(MillisecondsOf(1, "(no operation)", "wait"), 0.1, 0.05);
}

TEST_F(PeerPathTest, BeforeAProcessOfWhichTheParentIsNotKnownLiesWhatTheLeadingOneDid) {
  Replay(Process("") + golden::ScopeLines(0, 5000, "operation prepare") +
         golden::ScopeLines(5000, 9900, "wait 101") + Process("process 101 77", 4000) +
         golden::ScopeLines(9500, 9890, "operation simulation"));
  EXPECT_NEAR(MillisecondsOf(0, "prepare", "python"), 4.0, 0.01);
  EXPECT_NEAR(MillisecondsOf(1, "(no operation)", "python"), 5.5, 0.02);
  EXPECT_NEAR(MillisecondsOf(1, "simulation", "python"), 0.39, 0.01);
}

}  // namespace
}  // namespace gpubound
