// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/text/headline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/analysis/report_rows.h"

namespace gpubound {
namespace {

class HeadlineTest : public testing::Test {
 protected:
  HeadlineTest() {
    report_.run.root = 100;
    report_.run.root_host = "host";
    report_.run.wall_ns = report_.run.headline_ns = 1000;
    report_.run.devices_used = 1;
    report_.run.gpu_busy_share = 0.65;
    report_.run.smi_model = 0.97;
    ReportDevice& device = report_.devices.emplace_back();
    device.used = true;
    device.processes.push_back({"host", 100, "python3", 410, 0});
    ReportProcess& process = report_.processes.emplace_back();
    process.host = "host";
    process.pid = 100;
    process.span_ns = 1000;
    process.gpu_busy_ns = 410;
    process.device_shares.push_back({"GPU-1", 0, "act", 1000, 410, 590, 0, {}});
    ReportOperation& row = process.operations.emplace_back();
    row.operation = "act";
    row.device_idle = {{"simulation", 330}, {"launch", 20}};
  }
  ReportProcess& process() { return report_.processes[0]; }
  void AddOperation(const std::string& name, int64_t wall_ns) {
    ReportOperation& row = process().operations.emplace_back();
    row.operation = name;
    row.wall_ns = wall_ns;
    row.device_idle = {{"waiting", wall_ns}};
  }
  // |pids| were waited for under |operation| while the GPU was idle, and did |activity| meanwhile.
  void Wait(const std::vector<int64_t>& pids, const std::string& operation, int64_t ns,
            const std::string& activity) {
    process().waits.push_back({pids, operation, ns});
    for (const int64_t pid : pids) {
      process().awaited.push_back({pid, operation, true, ns, {{activity, "python", ns}}});
    }
    for (ReportOperation& row : process().operations) {
      if (row.operation == operation) row.waiting_ns += ns;
    }
  }
  std::string Text() const { return HeadlineText(report_); }

  Report report_;
};

TEST_F(HeadlineTest, SaysWhatWasClaimedWhatIsTrueAndWhyTheRestIsIdle) {
  EXPECT_EQ(Text(), "nvidia-smi model 97 %, GPU really 65 %, idle 35 %: simulation");
}

TEST_F(HeadlineTest, TellsWhatNvmlSaidWhereItWasAskedBesideTheModel) {
  report_.run.nvml_utilization = 0.98;
  EXPECT_TRUE(Text().starts_with("nvidia-smi 98 % (model 97 %), GPU really 65 %"));
}

TEST_F(HeadlineTest, WhereOthersUseTheDeviceTooItIsBusyForAtLeastThat) {
  report_.run.gpu_busy_is_lower_bound = true;
  EXPECT_EQ(Text(),
            "nvidia-smi model 97 %, GPU really at least 65 %, idle at most 35 %: simulation");
  report_.run.gpu_busy_is_upper_bound = true;
  EXPECT_EQ(Text(), "nvidia-smi model 97 %, GPU really about 65 %, idle about 35 %: simulation");
}

TEST_F(HeadlineTest, ACauseThatIsNotNearlyAllOfItIsMostlyIt) {
  process().operations[0].device_idle = {{"launch", 200}, {"simulation", 150}};
  EXPECT_TRUE(Text().ends_with("idle 35 %: mostly launch path")) << Text();
}

TEST_F(HeadlineTest, IdleTimeBetweenQueuedWorkIsNobodysElse) {
  process().operations[0].device_idle = {{"queued", 214}, {"launch", 136}};
  EXPECT_TRUE(Text().ends_with("idle 35 %: mostly between queued work")) << Text();
}

TEST_F(HeadlineTest, PythonIsNotNamedWhereTheRunWouldTakeAsLongWithoutIt) {
  process().operations[0].device_idle = {{"launch", 350}};
  process().cells.push_back({"", "act", "python", "idle", 1});
  EXPECT_TRUE(Text().ends_with(": Python and launch path")) << Text();
  report_.run.critical_path = ReportCriticalPath{1000, {}, {{"layer python", 980}}};
  EXPECT_TRUE(Text().ends_with(": launch path")) << Text();
  EXPECT_FALSE(Text().ends_with("Python and launch path")) << Text();
}

TEST_F(HeadlineTest, CountsTheWorkersThatItWaitsFor) {
  Wait({101}, "act", 100, "simulation");
  Wait({101, 102}, "act", 220, "simulation");
  Wait({103}, "act", 10, "logging");
  EXPECT_TRUE(Text().ends_with("idle 35 %: waiting for 2 env workers")) << Text();
}

TEST_F(HeadlineTest, CountsTheProcessesThatItWaitsForWhateverTheyDo) {
  Wait({101}, "act", 330, "logging");
  process().operations[0].device_idle = {{"waiting", 330}, {"simulation", 20}};
  EXPECT_TRUE(Text().ends_with(": waiting for 1 process")) << Text();
}

TEST_F(HeadlineTest, AWorkerThatIsWaitedForElsewhereDoesNotExplainItsOwnSimulation) {
  AddOperation("log", 100);
  Wait({101}, "log", 100, "logging");
  EXPECT_TRUE(Text().ends_with(": mostly simulation")) << Text();
}

TEST_F(HeadlineTest, WaitsThatAreNotMostOfTheCauseDoNotStandForIt) {
  Wait({101}, "act", 160, "simulation");
  EXPECT_TRUE(Text().ends_with(": simulation")) << Text();
  Wait({102}, "act", 10, "simulation");
  EXPECT_TRUE(Text().ends_with(": first of all waiting for 2 env workers (49 % of it)")) << Text();
}

TEST_F(HeadlineTest, MostlyIsSaidOfMoreThanHalf) {
  const auto idle = [this](int64_t first_ns, int64_t second_ns) {
    process().operations[0].device_idle = {{"launch", first_ns}, {"simulation", second_ns}};
    return Text();
  };
  EXPECT_TRUE(idle(90, 10).ends_with(": launch path")) << Text();
  EXPECT_TRUE(idle(89, 11).ends_with(": mostly launch path")) << Text();
  EXPECT_TRUE(idle(51, 49).ends_with(": mostly launch path")) << Text();
  EXPECT_TRUE(idle(50, 50).ends_with(": first of all launch path (50 % of it)")) << Text();
}

TEST_F(HeadlineTest, WaitsThatAreShorterThanAnotherCauseDoNotStandForTheirs) {
  Wait({101}, "act", 180, "simulation");
  process().operations[0].device_idle = {{"simulation", 330}, {"launch", 170}};
  EXPECT_TRUE(Text().ends_with(": first of all waiting for 1 env worker (36 % of it)")) << Text();
  process().operations[0].device_idle[1].ns = 190;
  EXPECT_TRUE(Text().ends_with(": mostly simulation")) << Text();
}

TEST_F(HeadlineTest, WaitsWhileTheGpuWorksDoNotExplainItsIdleTime) {
  Wait({101}, "act", 330, "simulation");
  process().operations[0].waiting_ns = 100;
  EXPECT_TRUE(Text().ends_with(": simulation")) << Text();
}

TEST_F(HeadlineTest, WaitsOutsideTheIterationsDoNotExplainTheirIdleTime) {
  process().operations[0].wall_ns = 500;
  AddOperation("shutdown", 2000);
  process().operations[1].device_idle = {{"simulation", 2000}};
  Wait({101}, "shutdown", 2000, "simulation");
  report_.run.headline = "iterations";
  ReportIterations& iterations = process().iterations.emplace();
  iterations.operations.push_back({"act", 400, 0, 0});
  iterations.series.idle_ns = {{"simulation", {100}}};
  EXPECT_TRUE(Text().ends_with(": simulation")) << Text();
}

TEST_F(HeadlineTest, OwnWorkIsToldFromThatOfPeersOnTheDevice) {
  EXPECT_FALSE(OwnShare(report_));
  report_.devices[0].processes.push_back({"host", 101, "other", 240, 0});
  process().operations[0].device_idle = {{"simulation", 570}, {"launch", 20}};
  EXPECT_EQ(Text(), "nvidia-smi model 97 %, GPU really 41 % (peers 24 %), idle 35 %: simulation");
}

TEST_F(HeadlineTest, WhileOthersWorkOnItTheDeviceIsNotIdleForAnyCause) {
  report_.devices[0].processes.push_back({"host", 101, "other", 240, 0});
  const auto idle = [this](int64_t first_ns, int64_t second_ns) {
    process().operations[0].device_idle = {{"sync", first_ns}, {"launch", second_ns}};
    return Text();
  };
  // Of 590 ns without its own work others' took 240.
  EXPECT_TRUE(idle(590, 0).ends_with("idle 35 %: sync round trip")) << Text();
  EXPECT_TRUE(idle(450, 140).ends_with("idle 35 %: mostly sync round trip")) << Text();
  EXPECT_TRUE(idle(410, 180).ends_with("idle 35 %")) << Text();
  const IdleExplained explained = HeadlineIdle(report_);
  EXPECT_EQ(explained.idle_ns, 350);
  ASSERT_EQ(explained.causes.size(), 1u);
  EXPECT_EQ(explained.causes[0].ns, 170);
  EXPECT_EQ(explained.others_ns, 240);
}

TEST_F(HeadlineTest, WorkersThatItWaitsForAreNamedWhereTheyExplainWhatOthersLeaveIdle) {
  report_.devices[0].processes.push_back({"host", 101, "other", 240, 0});
  process().operations[0].device_idle = {{"simulation", 590}};
  process().operations[0].waiting_ns = 590;
  Wait({101}, "act", 580, "simulation");
  EXPECT_TRUE(Text().ends_with(": waiting for 1 env worker")) << Text();
  process().waits.clear();
  Wait({101}, "act", 400, "simulation");
  EXPECT_TRUE(Text().ends_with(": simulation")) << Text();
}

TEST_F(HeadlineTest, OwnWorkWithinIterationsIsKnownOnOneDeviceOnly) {
  report_.devices[0].processes.push_back({"host", 101, "other", 240, 0});
  report_.run.headline = "iterations";
  report_.run.headline_ns = 500;
  process().iterations.emplace().gpu_busy_ns = 200;
  EXPECT_DOUBLE_EQ(OwnShare(report_).value_or(0), 0.4);
  report_.run.devices_used = 2;
  EXPECT_FALSE(OwnShare(report_));
}

TEST_F(HeadlineTest, OwnWorkOfIterationsThatGoOnBehindTheRunIsNoShareOfIt) {
  report_.devices[0].processes.push_back({"host", 101, "other", 240, 0});
  report_.run.headline = "iterations";
  report_.run.headline_ns = 500;
  ReportIterations& iterations = process().iterations.emplace();
  iterations.gpu_busy_ns = 2000;
  iterations.total_ns = 5000;
  EXPECT_FALSE(OwnShare(report_));
  EXPECT_EQ(Text(), "nvidia-smi model 97 %, GPU really 65 %, idle 35 %");
}

TEST_F(HeadlineTest, WhatIterationsWereIdleForIsTheirOwn) {
  report_.run.headline = "iterations";
  ReportIterations& iterations = process().iterations.emplace();
  iterations.series.idle_ns = {{"launch", {10, 20}}, {"sync", {40, 0}}};
  const std::vector<CauseTime> causes = HeadlineIdle(report_).causes;
  ASSERT_EQ(causes.size(), 2u);
  EXPECT_EQ(causes[0].cause, "sync");
  EXPECT_EQ(causes[1].ns, 30);
}

TEST_F(HeadlineTest, UnknownTimeMakesABoundAndIsNotIdle) {
  report_.run.unknown.share = 0.1;
  EXPECT_EQ(Text(),
            "nvidia-smi model 97 %, GPU really at least 65 %, unknown 10 %, idle 25 %: simulation");
}

TEST_F(HeadlineTest, UnknownTimesOfSeveralProcessesMayBeTheSame) {
  report_.run.unknown = {0.2, true};
  EXPECT_THAT(Text(), testing::HasSubstr(", unknown <= 20 %, idle >= 15 %"));
}

TEST_F(HeadlineTest, WholeGraphsMakeAnUpperBoundAndWithUnknownTimeNone) {
  report_.run.gpu_busy_is_upper_bound = true;
  EXPECT_EQ(Text(), "nvidia-smi model 97 %, GPU really <= 65 %, idle >= 35 %: simulation");
  report_.run.unknown.share = 0.1;
  EXPECT_THAT(Text(), testing::HasSubstr("GPU really about 65 %"));
}

TEST_F(HeadlineTest, TheReplayAddsWhatWouldHelp) {
  report_.run.what_if = ReportWhatIf{"simulation", 2, 0.7, 0.66, 0.75};
  EXPECT_TRUE(
      Text().ends_with("; twice as fast simulation would take 0.70 x [0.66, 0.75] the time"));
  report_.run.what_if->speedup = std::numeric_limits<double>::infinity();
  EXPECT_NE(Text().find("; infinitely fast simulation"), std::string::npos);
}

TEST_F(HeadlineTest, WhatTheReplayTellsIsOfTheWholeRun) {
  report_.run.what_if = ReportWhatIf{"simulation", 2, 0.7, 0.66, 0.75};
  report_.run.headline = "iterations";
  process().iterations.emplace();
  report_.run.headline_ns = 950;
  EXPECT_TRUE(Text().ends_with("0.70 x [0.66, 0.75] the time")) << Text();
  report_.run.headline_ns = 949;
  EXPECT_TRUE(Text().ends_with("0.70 x [0.66, 0.75] the whole run's time")) << Text();
}

TEST_F(HeadlineTest, ARunWithoutGpuWorkSaysSo) {
  EXPECT_EQ(HeadlineText(Report{}), "No GPU work was recorded.");
}

TEST_F(HeadlineTest, ARunWithoutGpuWorkNamesTheLargestPartOfItsLoop) {
  Report report;
  ReportProcess& process = report.processes.emplace_back();
  process.span_ns = 100;
  process.operations = {Row("(no operation)", 70, 0), Row("inference", 30, 0)};
  EXPECT_EQ(
      HeadlineText(report),
      "No GPU work was recorded; time in no operation takes the largest part of the run, 70 %.");
  ReportIterations& loop = process.iterations.emplace();
  loop.count = 4;
  loop.total_ns = 40;
  loop.operations = {{"inference", 30, 0, 0}, {"(no operation)", 10, 0, 0}};
  EXPECT_EQ(HeadlineText(report),
            "No GPU work was recorded; inference takes the largest part of the loop, 75 %.");
}

TEST_F(HeadlineTest, UnknownTimeIsNoLackOfGpuWork) {
  report_.run.devices_used = 0;
  report_.run.gpu_busy_share = 0;
  report_.run.unknown.share = 1;
  EXPECT_EQ(Text(), "GPU unknown 100 %: no work was recorded, but some could have run.");
  report_.run.unknown.share = 0.25;
  EXPECT_EQ(Text(), "GPU unknown 25 %, idle 75 %: no work was recorded, but some could have run.");
}

}  // namespace
}  // namespace gpubound
