// SPDX-License-Identifier: Apache-2.0
//
// Whose operations are told where there is room for those of one process.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analysis/report/main_process.h"
#include "analysis/report/report.h"

namespace gpubound {
namespace {

// A launcher, and ranks that it starts.
class ToldProcessTest : public testing::Test {
 protected:
  ToldProcessTest() {
    report_.run.root = 1;
    for (int64_t pid = 1; pid <= 3; ++pid) {
      ReportProcess& process = report_.processes.emplace_back();
      process.pid = pid;
      process.span_ns = 100 - pid;
      process.operations.emplace_back().operation = "(no operation)";
      process.operations.back().wall_ns = process.span_ns;
    }
  }

  static void Add(ReportProcess* process, int64_t wall_ns) {
    ReportOperation& row = process->operations.emplace_back();
    row.operation = "update";
    row.wall_ns = wall_ns;
    row.count = 1;
  }
  int64_t ToldPid() const { return ToldProcess(report_)->pid; }

  ReportProcess& launcher() { return report_.processes[0]; }
  ReportProcess& first() { return report_.processes[1]; }
  ReportProcess& second() { return report_.processes[2]; }

  Report report_;
};

TEST_F(ToldProcessTest, IsTheMainOneWhereNobodyTellsMore) {
  EXPECT_EQ(ToldPid(), 1);
  report_.processes.clear();
  EXPECT_EQ(ToldProcess(report_), nullptr);
}

TEST_F(ToldProcessTest, IsTheMainOneIfThatTellsAnything) {
  Add(&second(), 50);
  second().iterations.emplace().count = 9;
  Add(&launcher(), 1);
  EXPECT_EQ(ToldPid(), 1);
  launcher().operations.pop_back();
  launcher().gpu_busy_ns = 1;
  EXPECT_EQ(ToldPid(), 1);
}

TEST_F(ToldProcessTest, IsTheRankWithTheMostIterationsElseTimeInOperationsElseGpuWork) {
  second().gpu_busy_ns = 5;
  EXPECT_EQ(ToldPid(), 3);
  Add(&first(), 10);
  EXPECT_EQ(ToldPid(), 2);
  second().iterations.emplace().count = 1;
  EXPECT_EQ(ToldPid(), 3);
  first().iterations.emplace().count = 1;
  Add(&second(), 90);
  EXPECT_EQ(ToldPid(), 2) << "the first of those with as many";
}

TEST_F(ToldProcessTest, OfEqualsTheFirst) {
  Add(&first(), 10);
  Add(&second(), 10);
  EXPECT_EQ(ToldPid(), 2);
}

TEST_F(ToldProcessTest, WhatAProcessInheritedIsNotItsOwn) {
  Add(&first(), 10);
  first().operations.back().inherited = true;
  EXPECT_EQ(ToldPid(), 1);
}

}  // namespace
}  // namespace gpubound
