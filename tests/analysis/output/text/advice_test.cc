// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/text/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A run about which there is nothing to say.
class AdviceTest : public testing::Test {
 protected:
  AdviceTest() {
    report_.run.wall_ns = report_.run.headline_ns = 1000;
    report_.run.devices_used = 1;
    report_.run.gpu_busy_share = report_.run.smi_model = 0.8;
    ReportProcess& process = report_.processes.emplace_back();
    process.span_ns = 1000;
    process.gpu_busy_ns = 800;
    row().sm_filled_ns = 320;
    row().device_idle = {{"launch", 200}};
    Launch(kLaunches);
  }
  void Launch(uint64_t count) {
    ReportOperationKernel row;
    row.kernel.count = count;
    report_.processes[0].operation_kernels = {row};
  }
  void AddGap(int64_t ns, const std::string& call, int64_t call_ns) {
    ReportGap& gap = report_.processes[0].gaps.emplace_back();
    gap.cause = "launch";
    gap.ns = ns;
    gap.call = call;
    gap.call_ns = call_ns;
  }
  ReportOperation& row() {
    auto& rows = report_.processes[0].operations;
    return rows.empty() ? rows.emplace_back() : rows.front();
  }
  void MakeIdle(const std::string& cause, double share) {
    report_.run.gpu_busy_share = report_.run.smi_model = 1 - share;
    row().device_idle = {{cause, 100}};
  }
  std::vector<std::string> Advice() const { return AdviceFor(report_); }

  static constexpr uint64_t kLaunches = 1000;
  Report report_;
};

TEST_F(AdviceTest, ThereIsNoneWhereNothingStandsOut) { EXPECT_THAT(Advice(), IsEmpty()); }

TEST_F(AdviceTest, IdleTimeOfOneCauseIsWorthASentenceFromAQuarterOn) {
  MakeIdle("simulation", 0.24);
  EXPECT_THAT(Advice(), IsEmpty());
  MakeIdle("simulation", 0.61);
  EXPECT_THAT(Advice(), ElementsAre(HasSubstr("Simulation holds the GPU idle 61 % of the time:")));
}

TEST_F(AdviceTest, EveryCauseThatOneCanActOnHasItsOwnSentence) {
  for (const char* cause :
       {"simulation", "launch", "sync", "copy", "waiting", "compile", "checkpoint"}) {
    MakeIdle(cause, 0.5);
    EXPECT_THAT(Advice(), ElementsAre(HasSubstr("the GPU idle 50 %"))) << cause;
  }
  MakeIdle("start-up", 0.5);
  EXPECT_THAT(Advice(), IsEmpty());
  MakeIdle("unknown", 0.5);
  EXPECT_THAT(Advice(), IsEmpty());
}

TEST_F(AdviceTest, FewLaunchesAreNoReasonForFewer) {
  MakeIdle("launch", 0.5);
  EXPECT_THAT(Advice(), ElementsAre(HasSubstr("launch less often")));
  Launch(kLaunches - 1);
  EXPECT_THAT(Advice(), IsEmpty());
}

TEST_F(AdviceTest, FewLongGapsAreNotWhatLaunchesTake) {
  MakeIdle("launch", 0.5);
  AddGap(49, "", 0);
  EXPECT_THAT(Advice(), ElementsAre(HasSubstr("launch less often")));
  AddGap(1, "", 0);
  EXPECT_THAT(Advice(), IsEmpty());
}

TEST_F(AdviceTest, OfMillisecondsBetweenLaunchesTheLaunchIsTheLeast) {
  MakeIdle("launch", 0.5);
  row().device_idle = {{"launch", 1'000'000'000}};
  EXPECT_THAT(Advice(), ElementsAre(HasSubstr("launch less often")));
  row().device_idle = {{"launch", 1'001'000'000}};
  EXPECT_THAT(Advice(), IsEmpty());
}

TEST_F(AdviceTest, ACallThatTakesLongIsNamed) {
  MakeIdle("launch", 0.8);
  AddGap(60, "cudaDeviceGetStreamPriorityRange", 59);
  AddGap(20, "cudaFree", 20);
  AddGap(10, "cudaMalloc", 4);  // less than half of it
  EXPECT_THAT(Advice(),
              ElementsAre("Start-up inside CUDA holds the GPU idle 63 % of the time: "
                          "cudaDeviceGetStreamPriorityRange took 59 ns once, cudaFree took 20 ns "
                          "once."));
}

TEST_F(AdviceTest, PythonIsNamedWhereItRan) {
  MakeIdle("launch", 0.5);
  EXPECT_THAT(Advice(), ElementsAre(testing::StartsWith("The launch path holds the GPU idle")));
  report_.processes[0].cells.push_back({"", "", "python", "idle", 1});
  EXPECT_THAT(Advice(), ElementsAre(testing::StartsWith("Python and the launch path hold")));
}

TEST_F(AdviceTest, PythonIsNotNamedWhereTheRunWouldTakeAsLongWithoutIt) {
  MakeIdle("launch", 0.5);
  report_.processes[0].cells.push_back({"", "", "python", "idle", 1});
  report_.run.critical_path = ReportCriticalPath{1000, {}, {{"layer python", 980}}};
  EXPECT_THAT(Advice(), ElementsAre(testing::StartsWith("The launch path holds the GPU idle")));
  report_.run.critical_path->speedups[0].wall_ns = 900;
  EXPECT_THAT(Advice(), ElementsAre(testing::StartsWith("Python and the launch path hold")));
}

TEST_F(AdviceTest, BetweenQueuedKernelsOnlyFewerOfThemHelp) {
  MakeIdle("queued", 0.5);
  EXPECT_THAT(
      Advice(),
      ElementsAre("The time between queued kernels holds the GPU idle 50 % of the time: run "
                  "fewer or fused kernels, or capture them as CUDA graphs; the CPU had "
                  "launched this work already."));
}

TEST_F(AdviceTest, StreamsThatWaitForEachOtherAreNamed) {
  MakeIdle("event-wait", 0.5);
  EXPECT_THAT(Advice(),
              ElementsAre("Waiting for events of other streams holds the GPU idle 50 % of "
                          "the time: let streams wait for each other less often."));
}

TEST_F(AdviceTest, OnlyItsOwnPartOfTheIdleTimeIsSaidOfACause) {
  MakeIdle("sync", 0.6);
  row().device_idle = {{"sync", 60}, {"copy", 40}};
  EXPECT_THAT(Advice(), ElementsAre(HasSubstr("idle 36 %")));
}

TEST_F(AdviceTest, AnEmptyGpuThatIsBusyWantsLargerBatches) {
  row().sm_filled_ns = 199;
  EXPECT_THAT(Advice(), ElementsAre(HasSubstr("fill about 25 % of the busy GPU")));
  report_.processes[0].sm_fill_is_upper_bound = true;
  EXPECT_THAT(Advice(), IsEmpty());
}

TEST_F(AdviceTest, AFullGpuIsTheLimit) {
  report_.run.gpu_busy_share = report_.run.smi_model = 0.9;
  row().sm_filled_ns = 400;
  EXPECT_THAT(Advice(), ElementsAre(HasSubstr("The GPU is the limit")));
}

TEST_F(AdviceTest, AGpuThatNobodyWaitsForIsNotTheLimit) {
  report_.run.gpu_busy_share = report_.run.smi_model = report_.run.whole_gpu_busy_share = 0.9;
  row().sm_filled_ns = 400;
  report_.run.gpu_limited_share = 0.44;
  EXPECT_THAT(Advice(), IsEmpty());
  report_.run.gpu_limited_share = 0.46;
  EXPECT_THAT(Advice(), ElementsAre(HasSubstr("The GPU is the limit")));
}

TEST_F(AdviceTest, EverySentenceSaysWhatItIsAboutWhereIterationsAreAPartOfTheRun) {
  MakeIdle("simulation", 0.61);
  report_.run.headline = "iterations";
  report_.run.what_if_free =
      ReportWhatIf{"simulation", std::numeric_limits<double>::infinity(), 0.86, 0.85, 0.87};
  ReportIterations& iterations = report_.processes[0].iterations.emplace();
  iterations.series.idle_ns = {{"simulation", {100}}};
  EXPECT_THAT(Advice(), ElementsAre(HasSubstr("the GPU idle 61 % of the time:"),
                                    HasSubstr("simulation the run would take 0.86 x")));
  report_.run.headline_ns = 500;
  EXPECT_THAT(Advice(), ElementsAre(HasSubstr("the GPU idle 61 % of the iterations' time:"),
                                    HasSubstr("simulation the whole run would take 0.86 x")));
  iterations.series.idle_ns.clear();
  report_.run.what_if_free.reset();
  report_.run.comm_share = 0.3;
  report_.run.nvml_utilization = 1;
  EXPECT_THAT(Advice(), ElementsAre(HasSubstr("30 % of the GPU's time in the iterations:"),
                                    HasSubstr("the GPU's work in the iterations by")));
}

TEST_F(AdviceTest, CollectivesCountFromAQuarterOn) {
  report_.run.comm_share = 0.24;
  EXPECT_THAT(Advice(), IsEmpty());
  report_.run.comm_share = 0.25;
  EXPECT_THAT(Advice(), ElementsAre(HasSubstr("Collectives take 25 %")));
}

TEST_F(AdviceTest, SlowIterationsNeedTwentyToBeJudged) {
  ReportIterations& iterations = report_.processes[0].iterations.emplace();
  iterations.count = 20;
  iterations.median_ns = 100;
  iterations.p95_ns = 199;
  EXPECT_THAT(Advice(), IsEmpty());
  iterations.p95_ns = 300;
  EXPECT_THAT(Advice(), ElementsAre(HasSubstr("takes 3 x the median")));
  iterations.count = 19;
  EXPECT_THAT(Advice(), IsEmpty());
}

TEST_F(AdviceTest, NvidiaSmiIsNotToBeBelievedWhereItOverstates) {
  report_.run.gpu_busy_share = 0.6;
  report_.run.smi_model = 0.96;
  row().device_idle = {{"start-up", 1}};
  EXPECT_THAT(Advice(), IsEmpty()) << "the model is an upper bound";
  report_.run.nvml_utilization = 0.89;
  EXPECT_THAT(Advice(), IsEmpty());
  report_.run.nvml_utilization = 0.96;
  EXPECT_THAT(Advice(), ElementsAre(HasSubstr("overstates the GPU's work by 1.6 x")));
}

TEST_F(AdviceTest, TheReplaySaysWhatInfinitelyFastWouldBring) {
  report_.run.what_if_free =
      ReportWhatIf{"simulation", std::numeric_limits<double>::infinity(), 0.41, 0.39, 0.43};
  EXPECT_THAT(Advice(), ElementsAre("With infinitely fast simulation the run would take 0.41 x as "
                                    "long."));
  report_.run.what_if_free->part_high = 0.96;
  EXPECT_THAT(Advice(), IsEmpty());
}

TEST_F(AdviceTest, TwoSentencesAreEnough) {
  MakeIdle("simulation", 0.5);
  row().sm_filled_ns = 1;
  report_.run.comm_share = 0.5;
  report_.run.smi_model = 1;
  EXPECT_EQ(Advice().size(), kMostAdvice);
}

TEST_F(AdviceTest, DoubtfulDataGivesNone) {
  MakeIdle("simulation", 0.5);
  report_.run.unknown.share = 0.051;
  EXPECT_THAT(Advice(), IsEmpty());
  report_.run.unknown.share = 0;
  report_.ledger.push_back({"cupti_records_dropped", 1, Severity::kDataLoss, "Lost."});
  EXPECT_THAT(Advice(), IsEmpty());
  report_.ledger[0].severity = Severity::kNotice;
  EXPECT_EQ(Advice().size(), 1u);
}

}  // namespace
}  // namespace gpubound
