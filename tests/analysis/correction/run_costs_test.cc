// SPDX-License-Identifier: Apache-2.0
//
// Which costs are taken out of which process of a run, and what the report says of the others.
#include "analysis/correction/run_costs.h"
#include "analysis/calibration/cost_model.h"
#include "analysis/correction/report_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/calibration/calibration_file.h"
#include "analysis/correction/in_run_costs.h"
#include "analysis/correction/lost_costs.h"
#include "analysis/correction/run_report.h"
#include "analysis/output/text/in_run_text.h"
#include "analysis/replay/replay_costs.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

Calibration OnCpu(const std::string& cpu) {
  Calibration calibration;
  calibration.machine = {cpu, "real", "580", "130001", "", "0.1.0"};
  calibration.costs = {{CostKind::kNativeScope, "", "", {10, 9, 4, 0.5, 80}}};
  return calibration;
}

// A run of two processes on two hosts with different processors.
class TwoHostsTest : public testing::Test {
 protected:
  void SetUp() override {
    Write({.host = "host"}, "Xeon");
    Write({.host = "far", .pid = 200}, "Epyc");
  }
  Report Corrected() {
    ReportOptions options;
    options.replays = true;
    const Result<Report> report = ReportOfRun(run_.path(), options);
    EXPECT_TRUE(report.ok());
    return report.ok() ? *report : Report{};
  }
  static const ReportProcess& On(const Report& report, const std::string& host) {
    for (const ReportProcess& process : report.processes) {
      if (process.host == host) return process;
    }
    ADD_FAILURE() << "no process on " << host;
    return report.processes.front();
  }
  void Calibrate(const std::string& cpu) {
    ASSERT_TRUE(WriteCalibration(run_.File(kCalibrationFile), OnCpu(cpu)).ok());
  }

  TemporaryRun run_;

 private:
  void Write(const WriterIdentity& identity, const std::string& cpu) {
    SegmentWriter writer(run_, identity);
    writer.PutUsualRows();
    writer.Sql(
        "DELETE FROM meta WHERE key IN "
        "('cpu_model', 'driver_version', 'cupti_version', 'version')");
    writer.Meta("cpu_model", cpu);
    writer.Meta("driver_version", "580");
    writer.Meta("cupti_version", "130001");
    writer.Meta("version", "0.1.0");
    writer.Scopes({.thread = 1}, {Begin(kTrain, 100), End(kTrain, 900)});
  }
};

TEST_F(TwoHostsTest, EachProcessIsCorrectedOnlyByTheCostsOfItsMachine) {
  for (const auto& [cpu, here, there] :
       {std::tuple{"Xeon", "host", "far"}, std::tuple{"Epyc", "far", "host"}}) {
    Calibrate(cpu);
    const Report report = Corrected();
    ASSERT_NE(On(report, here).corrected, nullptr) << On(report, here).corrected_why_not;
    EXPECT_GT(On(report, here).corrected->removed_ns, 0);
    EXPECT_EQ(On(report, there).corrected, nullptr);
    EXPECT_THAT(On(report, there).corrected_why_not, HasSubstr(std::string("on the CPU ") + cpu));
    EXPECT_THAT(report.notes, Contains(HasSubstr(std::string("on ") + there + ": not corrected")));
    EXPECT_THAT(report.notes, Not(Contains(HasSubstr(std::string("on ") + here + ": not"))));
  }
}

TEST_F(TwoHostsTest, NothingIsCorrectedByTheCostsOfAThirdMachine) {
  Calibrate("486");
  const Report report = Corrected();
  for (const char* host : {"host", "far"}) {
    EXPECT_EQ(On(report, host).corrected, nullptr);
    EXPECT_THAT(On(report, host).corrected_why_not, HasSubstr("measured on the CPU 486"));
  }
}

// One process costs 100 to 300 ns to start and end; the span is 1000 ns long.
TEST(StartAndEndTest, TheSpanWithoutTheProfilerMayBeShorterByThem) {
  const TemporaryRun run;
  SegmentWriter writer(run, {});
  writer.PutUsualRows();
  writer.Scopes({.thread = 1}, {Begin(kTrain, 100), End(kTrain, 900)});
  ReportOptions options;
  options.replays = true;
  options.costs.emplace().Of(CostKind::kNativeScope) = {10, 0, 0, 0, 80};
  const auto span_with = [&](std::vector<ProcessCost> costs) {
    options.process_costs = std::move(costs);
    const Result<Report> report = ReportOfRun(run.path(), options);
    EXPECT_TRUE(report.ok());
    return report->processes.front().corrected->span;
  };
  const Bounds without = span_with({});
  const Bounds known = span_with({{"", {0, 200, 0, 50, 10}}, {"CUDA", {0, 200, 0, 50, 10}}});
  EXPECT_EQ(known.high, without.high);
  EXPECT_NEAR(static_cast<double>(without.low - known.low), 200 + 1.96 * 50, 1);
  const Bounds badly = span_with({{"", {0, 0, 0, 100, 10}}, {"CUDA", {0, 0, 0, 100, 10}}});
  EXPECT_NEAR(static_cast<double>(without.low - badly.low), 1.96 * 100, 1) << "anything up to it";
}

// A span of 1000 ns; of its events some were dropped.
class LostEventsTest : public testing::Test {
 protected:
  static ReportProcess With(int dropped, double scope_ns) {
    const TemporaryRun run;
    SegmentWriter writer(run, {});
    writer.PutUsualRows();
    writer.Scopes({.thread = 1}, {Begin(kTrain, 100), End(kTrain, 900)});
    if (dropped != 0) {
      writer.Sql("INSERT INTO ledger VALUES('scope_events_dropped', " + std::to_string(dropped) +
                 ")");
    }
    ReportOptions options;
    options.replays = true;
    options.costs.emplace().Of(CostKind::kNativeScope) = {scope_ns, 0, 4, 0.5, 80};
    const Result<Report> report = ReportOfRun(run.path(), options);
    EXPECT_TRUE(report.ok());
    return report->processes.front();
  }
};

TEST_F(LostEventsTest, WhoseCostCouldMatterAreNotCorrectedFor) {
  const ReportProcess process = With(1, 19);
  EXPECT_EQ(process.corrected, nullptr);
  EXPECT_EQ(process.corrected_why_not,
            "up to 1 of its events are lost, and recording them may have taken up to 1.9 % of its "
            "time");
}

TEST_F(LostEventsTest, WidenTheIntervalByWhatTheyMayHaveCost) {
  const ReportProcess whole = With(0, 5);
  const ReportProcess process = With(2, 5);
  ASSERT_NE(whole.corrected, nullptr);
  ASSERT_NE(process.corrected, nullptr) << process.corrected_why_not;
  EXPECT_EQ(process.corrected->span.low, whole.corrected->span.low - 10);
  EXPECT_EQ(process.corrected->span.high, whole.corrected->span.high + 10);
  EXPECT_EQ(process.corrected->rows[0].wall.low, whole.corrected->rows[0].wall.low - 10);
}

TEST(LostCostsTest, AreThoseOfTheDearestEventAndOfNoCallWhereNoneWasMade) {
  ProcessTrace process;
  process.Count(LedgerCounter::chunk_events_lost) = 3;
  process.Count(LedgerCounter::cupti_records_dropped) = 2;
  CostModel costs;
  costs.Of(CostKind::kNativeScope) = {10, 9, 4, 0.5, 80};
  costs.api_after_other_work["cudaLaunchKernel"] = {1000, 1000, 4, 0.5, 80};
  EXPECT_DOUBLE_EQ(MostCostOfLost(process, costs), 5 * 19);
  process.labels = {{}, {LabelKind::kApi, Layer::kUnset, "", "cudaLaunchKernel"}};
  EXPECT_DOUBLE_EQ(MostCostOfLost(process, costs), 5 * 2000);
}

TEST(InRunCosts, WithoutACallTheCostOfCallsIsNothingToCheck) {
  gpubound::Run run;
  ProcessTrace& process = run.processes.emplace_back();
  process.labels = {{},
                    {LabelKind::kOperation, Layer::kUnset, "", "train"},
                    {LabelKind::kApi, Layer::kUnset, "", "(other names)"}};
  const auto unchecked = [&run] {
    CostModel costs;
    costs.of_other_programs = true;
    const Result<InRunCosts> checked = CheckCosts(run, costs, {});
    return checked.ok() ? CheckText(checked->checks[0]) : checked.error().ToString();
  };
  EXPECT_THAT(unchecked(), Not(HasSubstr("CUDA calls")));
  process.labels.push_back({LabelKind::kApi, Layer::kUnset, "", "cudaLaunchKernel"});
  EXPECT_THAT(unchecked(), HasSubstr("CUDA calls"));
}

TEST(InRunCosts, WhatTheRunDoesNotTellIsAsUncertainAsACalibrationOfOtherPrograms) {
  gpubound::Run run;
  run.processes.resize(1);
  CostModel costs;
  costs.Of(CostKind::kNativeScope) = {10, 9, 4, 0.5, 80};
  costs.of_other_programs = true;
  const Result<InRunCosts> checked = CheckCosts(run, costs, {});
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  EXPECT_DOUBLE_EQ(checked->costs[0].Of(CostKind::kNativeScope).standard_error_ns,
                   std::hypot(0.5, kTransferError * 19));
  ASSERT_THAT(checked->checks[0].unchecked, SizeIs(1));
  EXPECT_EQ(checked->checks[0].unchecked[0].what, "scopes");
  EXPECT_EQ(checked->checks[0].unchecked[0].why, "calibration measured it in other programs");
}

TEST(InRunCosts, ARecordingThatEndedEarlyWithTooFewIterationsAfterItSaysSo) {
  gpubound::Run run;
  run.processes.emplace_back().span_end = SpanEnd::kAsked;
  CostModel costs;
  costs.of_other_programs = true;
  const Result<InRunCosts> checked = CheckCosts(run, costs, {});
  ASSERT_TRUE(checked.ok()) << checked.error().ToString();
  EXPECT_THAT(checked->checks[0].unchecked[0].why,
              HasSubstr("0 iterations are known after the recording"));
}

TEST(ReplayCostsTest, CallsBehindOtherWorkCostWhatTheyDoThereAndNoLess) {
  constexpr auto kCall = static_cast<LabelId>(1);
  constexpr int64_t kWarmNs = kOtherWorkBeforeCallNs - 1;
  constexpr int64_t kColdNs = kOtherWorkBeforeCallNs;
  ProcessTrace process;
  process.python = true;
  process.labels = {{}, {LabelKind::kApi, Layer::kUnset, "", "cudaLaunchKernel_v7000"}};
  CostModel model;
  model.api["cudaLaunchKernel"] = {900, 1'000, 1, 1, 80};
  EXPECT_DOUBLE_EQ(ReplayCosts(process, model).AfterBegin(kCall, kColdNs).ns, 900);  // not measured
  model.api_after_other_work["cudaLaunchKernel"] = {2'100, 1'800, 1, 1, 80};
  const ReplayCosts costs(process, model);
  EXPECT_DOUBLE_EQ(costs.AfterBegin(kCall, kWarmNs).ns, 900);
  EXPECT_DOUBLE_EQ(costs.AfterEnd(kCall, kWarmNs).ns, 1'000);
  EXPECT_DOUBLE_EQ(costs.AfterBegin(kCall, kColdNs).ns, 2'100);
  EXPECT_DOUBLE_EQ(costs.AfterEnd(kCall, kColdNs).ns, 1'800);
  process.python = false;
  EXPECT_DOUBLE_EQ(ReplayCosts(process, model).AfterBegin(kCall, kColdNs).ns, 900);
  process.python = true;
  model.api_after_other_work["cudaLaunchKernel"] = {900, 900, 1, 1, 80};
  EXPECT_DOUBLE_EQ(ReplayCosts(process, model).AfterEnd(kCall, kColdNs).ns, 1'000);  // noise
}

TEST(ReplayCostsTest, InstantsOfAPythonProcessCostWhatTheyDoFromPython) {
  CostModel model;
  model.Of(CostKind::kInstant) = {0, 20, 1, 1, 80};
  ProcessTrace native;
  ProcessTrace python;
  python.python = true;
  EXPECT_DOUBLE_EQ(ReplayCosts(python, model).AfterInstant().ns, 20);  // not measured
  model.python_instant = {0, 97, 1, 1, 80};
  EXPECT_DOUBLE_EQ(ReplayCosts(python, model).AfterInstant().ns, 97);
  EXPECT_DOUBLE_EQ(ReplayCosts(native, model).AfterInstant().ns, 20);
}

}  // namespace
}  // namespace gpubound
