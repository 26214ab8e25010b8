// SPDX-License-Identifier: Apache-2.0
//
// What a comparison says beside its figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/output/check/compare.h"
#include "tests/analysis/compared_runs.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CompareNotes, SaysHowManyDifferencesChanceWouldMark) {
  Report before = RunOf(20, 50);
  Report after = RunOf(30, 50);
  for (Report* report : {&before, &after}) {
    ReportIterations& iterations = *report->processes[0].iterations;
    for (int i = 0; i < 20; ++i) {
      iterations.operations.push_back({"part " + std::to_string(i), 1, 0, 0});
      iterations.series.operation_wall_ns.push_back(iterations.series.operation_wall_ns[0]);
      iterations.series.operation_busy_ns.push_back(iterations.series.operation_busy_ns[0]);
    }
  }
  const auto chance = testing::Contains(HasSubstr("would be marked by chance"));
  EXPECT_THAT(CompareGroups({Group("A", {before}), Group("B", {after})}, 1).notes, chance);
  EXPECT_THAT(CompareGroups({Group("A", {before}), Group("B", {before})}, 1).notes, Not(chance))
      << "nothing is marked";
}

TEST(CompareNotes, SaysWhereRunsHaveDifferentNumbersOfIterations) {
  const auto differ = testing::Contains(HasSubstr("from 50 to 300 iterations"));
  EXPECT_THAT(CompareGroups({Group("A", {RunOf(20, 50)}), Group("B", {RunOf(20, 300)})}, 1).notes,
              differ);
  EXPECT_THAT(CompareGroups({Group("A", {RunOf(20, 50)}), Group("B", {RunOf(20, 52)})}, 1).notes,
              Not(testing::Contains(HasSubstr("course of training"))));
}

// |ready_ms| of 100 ms in which its thread could run, beside 10 ms in which it waited.
Report WithoutCoreFor(int64_t ready_ms) {
  Report report = RunOf(20, 50);
  ReportCpu& cpu = report.processes[0].cpu.emplace();
  cpu.ready_ns = ready_ms * kMs;
  cpu.on_cpu_ns = (100 - ready_ms) * kMs;
  cpu.blocked_ns = 10 * kMs;
  return report;
}

TEST(CompareNotes, SaysWhichShareOfTheTimeRunsHadNoCore) {
  const auto notes_of = [](int64_t before_ms, int64_t after_ms) {
    return CompareGroups(
               {Group("A", {WithoutCoreFor(before_ms)}), Group("B", {WithoutCoreFor(after_ms)})}, 1)
        .notes;
  };
  EXPECT_THAT(notes_of(90, 50), testing::Contains(HasSubstr("2 of 2 runs had no core for 50 % to "
                                                            "90 % of the time in which")));
  EXPECT_THAT(
      notes_of(50, 0),
      testing::Contains(HasSubstr("1 of 2 runs had no core for 50 % of the time in which")));
  EXPECT_THAT(notes_of(9, 0), Not(testing::Contains(HasSubstr("no core"))));
}

TEST(CompareNotes, UnknownGpuTimeAndSampledIterationsAreNamed) {
  Report report = RunOf(20, 50);
  report.processes[0].unknown_ns = 5 * kMs;
  report.processes[0].iterations->count = 5000;
  const std::vector<RunGroup> groups{Group("A", {report}), Group("B", {RunOf(20, 50)})};
  const std::string text = RenderComparison(CompareGroups(groups, 1), groups, {});
  EXPECT_THAT(text, HasSubstr("\n! A0: GPU time is unknown for 5.00 ms")) << "it changes figures";
  EXPECT_THAT(text, Not(HasSubstr("A0: a random 50 of its 5000 iterations")));
  TextOptions full;
  full.full = true;
  EXPECT_THAT(RenderComparison(CompareGroups(groups, 1), groups, full),
              HasSubstr("A0: a random 50 of its 5000 iterations"));
}

}  // namespace
}  // namespace gpubound
