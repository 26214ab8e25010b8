// SPDX-License-Identifier: Apache-2.0
//
// Which CUDA call a long stretch without device work is blamed on.
#include <gtest/gtest.h>

#include <string>

#include "analysis/attribution/build_report.h"
#include "analysis/report/report.h"
#include "tests/golden/scenario.h"

namespace gpubound {
namespace {

// Of the longest gap of |text|; empty where none is named.
std::string CallOfLongestGap(const std::string& text) {
  const golden::Scenario scenario = golden::ParseScenario(text);
  EXPECT_TRUE(scenario.mistakes.empty()) << scenario.mistakes.front();
  const Result<Report> report = BuildReport(scenario.run);
  EXPECT_TRUE(report.ok());
  const std::vector<ReportGap>& gaps = (*report).processes.at(0).gaps;
  return gaps.empty() ? "no gap" : gaps.front().call;
}

TEST(LongCallsTest, OneThatTakesMostOfTheGapIsNamed) {
  EXPECT_EQ(CallOfLongestGap("span 0 10000\nthread main\n"
                             "@0 main begin operation train\n"
                             "call main 100 6000 cudaMalloc\n"
                             "call main 6100 6200 cudaLaunchKernel #1\n"
                             "kernel 6300 9000 k #1\n"
                             "@9990 main end operation train\n"),
            "cudaMalloc");
}

// It was waited for, and returns some instants after the work has ended.
TEST(LongCallsTest, OneThatMerelyReachesIntoTheGapIsNot) {
  EXPECT_EQ(CallOfLongestGap("span 0 10000\nthread main\n"
                             "@0 main begin operation train\n"
                             "call main 10 20 cudaLaunchKernel #1\n"
                             "kernel 30 5000 k #1\n"
                             "call main 30 5010 cudaDeviceSynchronize #2\n"
                             "@9990 main end operation train\n"),
            "");
}

}  // namespace
}  // namespace gpubound
