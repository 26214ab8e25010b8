// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/text/process_list.h"

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

// As in containers, where the first process of each has the same pid.
TEST(ProcessListTest, ProcessesOfSeveralHostsAreToldApart) {
  Report report;
  report.processes.resize(2);
  for (ReportProcess& process : report.processes) {
    process.pid = 41;
    process.process_tree = TreePeaks{1, 6'000'000'000, 3 << 20, 0};
    process.host = "node0";
  }
  EXPECT_THAT(ProcessList(report, {}, false), Not(HasSubstr("node"))) << "of one host";
  report.processes[1].host = "node1";
  const auto both = AllOf(ContainsRegex(" 41 on node0 "), ContainsRegex(" 41 on node1 "));
  EXPECT_THAT(ProcessList(report, {}, false), both);
  EXPECT_THAT(ProcessTrees(report, {}), both);
  TextOptions options;
  options.by = {"process"};
  EXPECT_THAT(RenderText(report, options),
              AllOf(HasSubstr("(pid 41 on node0), span"), HasSubstr("(pid 41 on node1), span")));
}

TEST(ProcessListTest, RanksOfSeveralHostsAreToldApart) {
  Report report;
  report.processes.resize(2);
  report.processes[0].host = "node0";
  report.processes[1].host = "node1";
  ReportRank rank;
  rank.pid = 41;
  rank.host = "node1";
  rank.collectives = rank.late = 3;
  rank.peer_wait_ns = rank.waited_for_ns = 5;
  report.ranks.push_back(rank);
  TextOptions options;
  options.full = true;
  const std::string text = RenderText(report, options);
  EXPECT_THAT(text, HasSubstr("\npid 41 on node1, device 0 "));
  EXPECT_THAT(text, HasSubstr("\npid 41 on node1, device 0 entered 3 of its 3 collectives"));
}

TEST(ProcessListTest, AProcessThatWasKilledIsMarked) {
  Report report;
  report.run.devices_used = 1;
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
  report.run.devices_used = 1;
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
