// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/text/report_waits.h"

#include "analysis/diagnosis/awaited.h"
#include "analysis/trace/row_names.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

class ReportWaitsTest : public testing::Test {
 protected:
  ReportWaitsTest() {
    process_.span_ns = 1'000'000'000;
    options_.width = 200;
  }

  // |pid| was waited for |ms| under |operation|, and did |activity| in |layer| meanwhile.
  void Wait(int64_t pid, const std::string& operation, int64_t ms, const std::string& activity,
            const std::string& layer, bool worker = true) {
    const int64_t ns = ms * 1'000'000;
    process_.waits.push_back({{pid}, operation, ns});
    process_.awaited.push_back({pid, operation, worker, ns, {{activity, layer, ns}}});
  }
  std::string Sentence() { return WaitSentence(process_, options_); }

  ReportProcess process_;
  TextOptions options_;
};

TEST_F(ReportWaitsTest, WhoWaitsForNobodyHasNoSentence) { EXPECT_EQ(Sentence(), ""); }

TEST_F(ReportWaitsTest, WorkersThatSimulateAreCountedTogether) {
  Wait(101, "rollout", 100, "simulation", "python");
  Wait(102, "rollout", 150, kNoOperation, "simulator");
  EXPECT_EQ(Sentence(), "Waiting for simulation in 2 workers: 250 ms (25 %).\n");
}

TEST_F(ReportWaitsTest, WhatAWorkerDoesNotNameHasTheNameItIsAwaitedUnder) {
  Wait(101, "env.step", 100, kNoOperation, "wait");
  Wait(101, "load batch", 50, kNoOperation, "python");
  EXPECT_EQ(Sentence(),
            "Waiting for simulation in 1 worker: 100 ms (10 %), "
            "for load batch in 1 worker: 50.0 ms (5.0 %).\n");
}

TEST_F(ReportWaitsTest, WithoutAnyNameTheWaitWasOutsideOperations) {
  Wait(101, kNoOperation, 100, kNoOperation, "python", /*worker=*/false);
  Wait(102, kNoOperation, 100, kNoOperation, "python");
  EXPECT_EQ(Sentence(), "Waiting for 2 processes outside operations: 200 ms (20 %).\n");
}

TEST_F(ReportWaitsTest, OfWhomNothingIsKnownTheNameOfTheWaitIsTold) {
  process_.waits.push_back({{101}, "load batch", 100'000'000});
  EXPECT_EQ(Sentence(), "Waiting for load batch in 1 process: 100 ms (10 %).\n");
}

TEST_F(ReportWaitsTest, AWaitForAnyOfSeveralIsForWhatTheyDidMost) {
  Wait(101, "act", 10, "simulation", "python");
  Wait(102, "act", 30, "render", "python");
  process_.waits.clear();
  process_.waits.push_back({{101, 102}, "act", 30'000'000});
  EXPECT_EQ(Sentence(), "Waiting for render in 2 workers: 30.0 ms (3.0 %).\n");
}

TEST_F(ReportWaitsTest, AWaitExplainsTheCauseOfIdleTimeThatTheAwaitedStandFor) {
  Wait(101, "act", 10, kNoOperation, "simulator");
  Wait(102, "env.step", 10, "physics", "python");
  Wait(103, "log", 10, "logging", "python");
  EXPECT_EQ(WaitsThatExplain(process_, "simulation"),
            (std::vector<const ReportWait*>{&process_.waits[0], &process_.waits[1]}));
  EXPECT_EQ(WaitsThatExplain(process_, "waiting"),
            (std::vector<const ReportWait*>{&process_.waits[2]}));
  EXPECT_TRUE(WaitsThatExplain(process_, "launch").empty());
}

TEST_F(ReportWaitsTest, NamesAreEscaped) {
  Wait(101, "a\x1b", 100, kNoOperation, "python");
  EXPECT_EQ(Sentence().find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace gpubound
