// SPDX-License-Identifier: Apache-2.0
//
// The critical path of replayed programs: that it divides the span, whose it is, and what a report
// says of it.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "analysis/attribution/build_report.h"
#include "analysis/calibration/cost_model.h"
#include "analysis/correction/corrected_report.h"
#include "analysis/correction/report_options.h"
#include "analysis/replay/replay.h"
#include "analysis/report/report.h"
#include "tests/sim/history_trace.h"
#include "tests/sim/random_program.h"
#include "tests/sim/virtual_program.h"
#include "tests/sim/workloads.h"

namespace gpubound::sim {
namespace {

constexpr uint64_t kCalibrationSamples = 100'000;

ReplayedRun Replayed(const gpubound::Run& run, const CostModel& costs) {
  ReplayOptions options;
  options.costs = costs;
  options.keep_events = false;
  options.critical_path_of = 0;
  Result<ReplayedRun> replayed = ReplayRun(run, options);
  EXPECT_TRUE(replayed.ok());
  return std::move(*replayed);
}

int64_t SpanOf(const ReplayedRun& replayed) {
  return replayed.facts[0].span_end_ns - replayed.facts[0].span_begin_ns;
}

int64_t SumOf(const ReplayedRun& replayed) {
  int64_t sum_ns = 0;
  for (const CriticalPart& part : replayed.parts) sum_ns += part.ns;
  return sum_ns;
}

int64_t LoopSumOf(const ReplayedRun& replayed) {
  int64_t sum_ns = 0;
  for (const CriticalPart& part : replayed.parts) {
    EXPECT_GE(part.loop_ns, 0);
    EXPECT_LE(part.loop_ns, part.ns);
    sum_ns += part.loop_ns;
  }
  return sum_ns;
}

// The share of the path that lies in |process|, in columns that begin with |column|.
double ShareOf(const ReplayedRun& replayed, size_t process, const std::string& column) {
  int64_t ns = 0;
  for (const CriticalPart& part : replayed.parts) {
    if (part.process == process && part.column.starts_with(column)) ns += part.ns;
  }
  return static_cast<double>(ns) / static_cast<double>(SpanOf(replayed));
}

ReplayedRun Workloads(Workload workload) {
  const VirtualProgram program = MakeWorkload(workload, 7);
  return Replayed(RunOf(Execute(program, nullptr)), CalibratedCosts(program, kCalibrationSamples));
}

TEST(CriticalPathTest, PartsSumToTheSpanOfRandomPrograms) {
  CostModel costs;
  Cost cost;
  cost.inside_ns = 70.3;
  cost.outside_ns = 31.9;
  cost.variance_ns2 = 400;
  cost.samples = 1;
  costs.kinds.fill(cost);
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    const gpubound::Run run = RunOf(Execute(RandomProgram(seed), nullptr));
    for (const CostModel& removed : {CostModel{}, costs}) {
      const ReplayedRun replayed = Replayed(run, removed);
      ASSERT_EQ(SumOf(replayed), SpanOf(replayed)) << "seed " << seed;
      ASSERT_EQ(LoopSumOf(replayed), replayed.path_loop_ns) << "seed " << seed;
    }
  }
}

TEST(CriticalPathTest, PartsSumToTheSpanOfEveryKindOfWorkload) {
  for (int i = 0; i < kWorkloads; ++i) {
    const ReplayedRun replayed = Workloads(static_cast<Workload>(i));
    EXPECT_EQ(SumOf(replayed), SpanOf(replayed)) << WorkloadName(static_cast<Workload>(i));
    EXPECT_EQ(LoopSumOf(replayed), replayed.path_loop_ns) << WorkloadName(static_cast<Workload>(i));
  }
}

TEST(CriticalPathTest, OfARunThatTheGpuLimitsItIsDeviceWork) {
  EXPECT_GT(ShareOf(Workloads(Workload::kGpuBound), 0, "gpu compute"), 0.5);
}

TEST(CriticalPathTest, OfARunThatTheCpuLimitsItIsHardlyDeviceWork) {
  EXPECT_LT(ShareOf(Workloads(Workload::kCpuBound), 0, "gpu"), 0.1);
}

TEST(CriticalPathTest, LeadsIntoTheProcessThatIsWaitedFor) {
  const ReplayedRun replayed = Workloads(Workload::kTwoProcesses);
  EXPECT_GT(ShareOf(replayed, 1, "simulator"), 0.2);
  EXPECT_GT(ShareOf(replayed, 0, "backend"), 0.02);
}

class ReplayedReportTest : public ::testing::Test {
 protected:
  Report ReportWith(const ReportOptions& options) {
    const gpubound::Run run = RunOf(Execute(program_, nullptr));
    Result<Report> report = BuildReport(run, options);
    EXPECT_TRUE(report.ok());
    EXPECT_TRUE(AddReplays(run, options, &*report).ok());
    return std::move(*report);
  }
  ReportOptions Calibrated() const {
    ReportOptions options;
    options.costs = CalibratedCosts(program_, kCalibrationSamples);
    return options;
  }

  const VirtualProgram program_ = MakeWorkload(Workload::kCpuBound, 7);
};

TEST_F(ReplayedReportTest, TheLargestSavingIsThatOfTheOperationOnTheCriticalPath) {
  const Report report = ReportWith(Calibrated());
  ASSERT_FALSE(report.run.savings.empty());
  const ReportSaving& first = report.run.savings.front();
  EXPECT_TRUE(first.name == "simulation" || first.name == "simulator") << first.part << first.name;
  EXPECT_GT(first.saves, 0.05);
  EXPECT_LE(first.saves_low, first.saves);
  EXPECT_GE(first.saves_high, first.saves);
  ASSERT_TRUE(report.diagnosis.front().saving);
  EXPECT_EQ(report.diagnosis.front().saving->saves, first.saves);
}

TEST_F(ReplayedReportTest, ThePathIsAsLongAsTheCorrectedProcess) {
  const Report report = ReportWith(Calibrated());
  ASSERT_TRUE(report.run.critical_path);
  EXPECT_EQ(report.run.critical_path->wall_ns, report.processes[0].corrected->process.span_ns);
}

TEST_F(ReplayedReportTest, AsksAboutGpuOperationsKernelsAndLayers) {
  const Report report = ReportWith(Calibrated());
  std::set<std::string> parts;
  for (const ReportSaving& saving : report.run.savings) {
    parts.insert(saving.part);
    EXPECT_EQ(saving.factor, 0.5);
    EXPECT_TRUE(saving.of_iteration);
    EXPECT_LE(saving.wall_ns, report.processes.front().iterations->mean_ns);
  }
  EXPECT_TRUE(parts.contains("gpu") && parts.contains("operation_cpu") && parts.contains("layer"));
  EXPECT_TRUE(report.run.gpu_limited_share);
}

TEST_F(ReplayedReportTest, WithoutCostsThePathIsThatOfTheRecording) {
  const Report report = ReportWith({});
  ASSERT_TRUE(report.run.critical_path);
  EXPECT_EQ(report.run.critical_path->wall_ns, report.processes[0].span_ns);
  EXPECT_EQ(report.processes[0].corrected, nullptr);
}

TEST_F(ReplayedReportTest, AsksNothingWhereSavingsAreNotWanted) {
  ReportOptions options = Calibrated();
  options.savings = false;
  const Report report = ReportWith(options);
  EXPECT_NE(report.processes[0].corrected, nullptr);
  EXPECT_TRUE(report.run.savings.empty());
}

}  // namespace
}  // namespace gpubound::sim
