// SPDX-License-Identifier: Apache-2.0
#include "analysis/process_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubound {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class ProcessTreesTest : public testing::Test {
 protected:
  ProcessTreesTest() {
    ReportProcess& process = report_.processes.emplace_back();
    process.pid = 100;
    process.name = "python3";
  }

  Report report_;
  TextOptions options_;
};

TEST_F(ProcessTreesTest, WhatWasNotSampledIsNotShown) {
  EXPECT_EQ(ProcessTrees(report_, options_), "");
}

TEST_F(ProcessTreesTest, RunDelayIsTheShareOfTheTimeThatThreadsCouldHaveRun) {
  report_.processes[0].process_tree = TreePeaks{9, 6'000'000'000, 3 << 20, 2'000'000'000};
  EXPECT_THAT(ProcessTrees(report_, options_),
              ContainsRegex("\npython3 +100 +9 +6.00 s +3 MiB +25 %\n"));
}

TEST_F(ProcessTreesTest, TheReportHasThemWhereProcessesAreAskedFor) {
  report_.processes[0].process_tree = TreePeaks{1, 6'000'000'000, 3 << 20, 0};
  EXPECT_THAT(RenderText(report_, options_), Not(HasSubstr("Process tree")));
  options_.by = {"process"};
  EXPECT_THAT(RenderText(report_, options_), HasSubstr("Process tree"));
}

TEST(ProcessListTest, GpuTimeBesideUnknownTimeIsALowerBound) {
  Report report;
  report.processes.resize(2);
  report.processes[1].gpu_busy_ns = report.processes[1].gpu_wait_ns = 5;
  report.processes[1].unknown_ns = 7;
  EXPECT_THAT(ProcessList(report, {}, false), ContainsRegex(" >= 5 ns +>= 5 ns +7 ns\n"));
}

TEST(ProcessListTest, AProcessThatWasKilledIsMarked) {
  Report report;
  report.processes.resize(2);
  EXPECT_THAT(ProcessList(report, {}, false), Not(HasSubstr("span end")));
  report.processes[1].pid = 7;
  report.processes[1].span_end = SpanEnd::kLastEvent;
  EXPECT_THAT(ProcessList(report, {}, false),
              AllOf(ContainsRegex("unknown +span end\n"), ContainsRegex(" 7 .* last event\n"),
                    HasSubstr("last event: not closed (killed, or crashed)")));
}

TEST(ProcessListTest, AFoldedLineSaysHowManyWereKilled) {
  Report report;
  report.processes.resize(9);
  report.processes[4].span_end = report.processes[5].span_end = SpanEnd::kLastEvent;
  EXPECT_THAT(ProcessList(report, {}, false), ContainsRegex(" 2 x last event\n"));
}

TEST(ProcessListTest, WhatAFoldedListMeansFitsTheWidth) {
  Report report;
  report.processes.resize(9);
  TextOptions options;
  options.width = 60;
  EXPECT_THAT(ProcessList(report, options, false),
              HasSubstr("Spans are the longest of a line, GPU times sums; --by\n  process"));
}

TEST(TreePeaksTest, AreTheMostThatAnySampleSaysGoneOnesToo) {
  ProcessTrace process;
  process.process_tree = {{100, 4, 10, 3000, 9}, {200, 2, 30, 2000, 5}};
  const TreePeaks peaks = PeaksOf(process, {1, 5, 8000, 2});
  EXPECT_EQ(peaks.processes, 4u);
  EXPECT_EQ(peaks.cpu_ns, 30);
  EXPECT_EQ(peaks.resident_bytes, 8000);
  EXPECT_EQ(peaks.run_delay_ns, 9);
}

}  // namespace
}  // namespace gpubound
