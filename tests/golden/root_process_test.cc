// SPDX-License-Identifier: Apache-2.0
//
// Which process tells the story of a run whose root became another program by exec, or shares its
// pid with a process of another host, and how a replay goes on behind an exec.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/attribution/build_report.h"
#include "analysis/correction/corrected_report.h"
#include "analysis/output/text/path_text.h"
#include "analysis/processes/run_frame.h"
#include "analysis/replay/replay.h"
#include "analysis/replay/what_if.h"
#include "analysis/report/main_process.h"
#include "analysis/report/report.h"
#include "tests/golden/scenario.h"
#include "tests/golden/scenario_lines.h"

namespace gpubound {
namespace {

class RootProcessTest : public testing::Test {
 protected:
  static gpubound::Run Parsed(const std::string& text, const std::string& root_host) {
    golden::Scenario scenario = golden::ParseScenario(text);
    EXPECT_TRUE(scenario.mistakes.empty()) << scenario.mistakes.front();
    RunInfo& info = scenario.run.info.emplace();
    info.host = root_host;
    info.root_pid = 100;
    return std::move(scenario.run);
  }
  // A program that works for 10 ms until it executes another one, which works for |us|.
  static gpubound::Run WithExec(int64_t us, const std::string& steps = "") {
    const std::string prepares = golden::EventLine(0, "begin operation prepare") + steps +
                                 golden::EventLine(10'000, "end operation prepare");
    gpubound::Run run = Parsed(golden::ProcessLines("", 0, 10'000) + prepares +
                                   golden::ProcessLines("process 100 99", 10'000, 10'000 + us) +
                                   golden::ScopeLines(10'000, 10'000 + us, "operation train"),
                               "host");
    run.processes[0].span_end = SpanEnd::kReplaced;
    return run;
  }
  // A worker of 100 ms and the root, of 50 ms, whose containers give both the same pid.
  static gpubound::Run OnTwoHosts() {
    gpubound::Run run = Parsed(golden::ProcessLines("", 0, 100'000) +
                                   golden::ScopeLines(0, 100'000, "operation work") +
                                   golden::ProcessLines("process 100 99", 0, 50'000) +
                                   golden::ScopeLines(0, 50'000, "operation lead"),
                               "second");
    run.processes[0].identity.host = "first";
    run.processes[1].identity.host = "second";
    return run;
  }
  static int64_t SpanWith(const gpubound::Run& run, const std::string& change) {
    const Result<Scaling> scaling = ParseScaling(change);
    EXPECT_TRUE(scaling.ok());
    ReplayOptions options;
    options.changes.scalings = {*scaling};
    const Result<ReplayedRun> replayed = ReplayRun(run, options);
    EXPECT_TRUE(replayed.ok());
    return FrameOf((*replayed).run).span.length();
  }
  static Report ReportOf(const gpubound::Run& run) {
    Result<Report> report = BuildReport(run);
    EXPECT_TRUE(report.ok());
    EXPECT_TRUE(AddReplays(run, {}, &*report).ok());
    return std::move(*report);
  }
};

TEST_F(RootProcessTest, WhatIsSavedBeforeAnExecIsSavedBehindIt) {
  const gpubound::Run run = WithExec(30'000);
  EXPECT_EQ(SpanWith(run, "operation-cpu=prepare:1"), 40'000'000);
  EXPECT_EQ(SpanWith(run, "operation-cpu=prepare:0.5"), 35'000'000);
  EXPECT_EQ(SpanWith(run, "operation-cpu=train:0.5"), 25'000'000);
}

TEST_F(RootProcessTest, APidThatIsUsedAgainMovesNothing) {
  gpubound::Run run = WithExec(30'000);
  run.processes[0].span_end = SpanEnd::kClosed;
  EXPECT_EQ(SpanWith(run, "operation-cpu=prepare:0.5"), 40'000'000);
}

TEST_F(RootProcessTest, OfTwoProgramsThatItExecutedTheLongerOneIsTheMainOne) {
  const Report launcher = ReportOf(WithExec(30'000));
  EXPECT_EQ(MainProcess(launcher), &launcher.processes[1]);
  ASSERT_TRUE(launcher.run.critical_path && !launcher.run.savings.empty());
  EXPECT_EQ(launcher.run.critical_path->wall_ns, 30'000'000);
  const auto train =
      std::find_if(launcher.run.savings.begin(), launcher.run.savings.end(),
                   [](const ReportSaving& saving) { return saving.part == "operation_cpu"; });
  ASSERT_NE(train, launcher.run.savings.end());
  EXPECT_EQ(train->name, "train");
  EXPECT_DOUBLE_EQ(train->saves, 15.0 / 40);
  const Report trainer = ReportOf(WithExec(5'000));
  EXPECT_EQ(MainProcess(trainer), &trainer.processes[0]);
}

TEST_F(RootProcessTest, TheProgramThatStepsIsTheMainOneHoweverShortItIs) {
  std::string steps;
  for (int64_t i = 1; i <= 9; ++i) {
    steps += golden::EventLine(1000 * i, "step " + std::to_string(i));
  }
  const Report report = ReportOf(WithExec(30'000, steps));
  EXPECT_EQ(MainProcess(report), &report.processes[0]);
}

TEST_F(RootProcessTest, WhatAShellRanBeforeItExecutedTheRootIsPartOfTheRun) {
  gpubound::Run run = Parsed(golden::ProcessLines("", 20'000, 50'000) +
                                 golden::ProcessLines("process 200 100", 4000, 10'000) +
                                 "call main 5000000 5010000 cudaLaunchKernel #1\n"
                                 "kernel 5020000 8020000 gemm #1\n",
                             "host");
  run.info->start_monotonic_ns = 3'000'000;
  Report report = ReportOf(run);
  EXPECT_EQ(report.run.wall_ns, 47'000'000);
  ASSERT_EQ(report.devices.size(), 1);
  EXPECT_EQ(report.devices[0].busy_ns, 3'000'000);
  EXPECT_EQ(SpanWith(run, "device:1"), 47'000'000);
  // Nothing recorded tells what it was until then.
  run.processes.pop_back();
  EXPECT_EQ(ReportOf(run).run.wall_ns, 30'000'000);
}

// Of one of which nothing but its name is there a run has no time, replayed or not.
TEST_F(RootProcessTest, AProcessThatCannotBeReadBeginsNoRun) {
  gpubound::Run run = Parsed(golden::ProcessLines("", 20'000, 20'000) +
                                 golden::ProcessLines("process 100 99", 30'000, 60'000) +
                                 golden::ScopeLines(30'000, 60'000, "operation train"),
                             "host");
  run.processes[0].begin_is_known = false;
  run.lost = {run.processes[0].identity};
  run.Count(LedgerCounter::files_unreadable) = 1;
  EXPECT_EQ(ReportOf(run).run.wall_ns, 30'000'000);
  EXPECT_EQ(SpanWith(run, "operation-cpu=train:0.5"), 15'000'000);
  const Result<ReplayedRun> replayed = ReplayRun(run, {});
  ASSERT_TRUE(replayed.ok());
  const Result<Report> report = BuildReport((*replayed).run);
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE((*report).run.gpu_busy_is_lower_bound);
  EXPECT_EQ((*report).run.verdict, ReportOf(run).run.verdict);
}

// Each host's own time begins elsewhere: that of "far" at 1,000,000 ns of the day, of "further" at
// 900,000, of the launcher's before.
gpubound::Run RanksOnOtherHosts() {
  golden::Scenario scenario = golden::ParseScenario(
      "host far 1000000\nspan 0 100000\nthread main\n"
      "@0 main begin operation work\n@60000 main end operation work\n"
      "call main 70000 70010 cudaLaunchKernel #1\nkernel 71000 91000 gemm #1\n"
      "process 200 1\nhost further 900000\nspan 100000 180000\nthread main\n"
      "@100000 main begin operation other\n@180000 main end operation other\n");
  EXPECT_TRUE(scenario.mistakes.empty()) << scenario.mistakes.front();
  RunInfo& launcher = scenario.run.info.emplace();
  launcher.host = "near";
  launcher.root_pid = 7;
  launcher.start_realtime_ns = 990'000;
  launcher.start_monotonic_ns = 7'000'000;
  launcher.end_monotonic_ns = 7'120'000;
  return std::move(scenario.run);
}

TEST_F(RootProcessTest, OfRanksOnOtherHostsTheLauncherSeesTheLastOneEnd) {
  const gpubound::Run run = RanksOnOtherHosts();
  EXPECT_EQ(SpanWith(run, "operation-cpu=work:1"), 120'000);
  EXPECT_EQ(SpanWith(run, "operation-cpu=work:0.9"), 114'000);
  EXPECT_EQ(SpanWith(run, "operation-cpu=work:0.5"), 100'000) << "the other one is last by then";
}

TEST_F(RootProcessTest, AReplayedRunOnOtherHostsIsInTheLaunchersTimeToo) {
  const gpubound::Run run = RanksOnOtherHosts();
  ReplayOptions options;
  options.keep_events = true;
  const Result<ReplayedRun> replayed = ReplayRun(run, options);
  ASSERT_TRUE(replayed.ok());
  const Result<Report> report = BuildReport((*replayed).run);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ((*report).run.wall_ns, 120'000);
  ASSERT_EQ((*report).devices.size(), 2) << "each host has its own";
  EXPECT_EQ((*report).devices[0].busy_ns, 20'000);
}

TEST_F(RootProcessTest, OfOnePidOnTwoHostsThatOfTheLauncherIsMeant) {
  const Report report = ReportOf(OnTwoHosts());
  EXPECT_EQ(report.run.root, 100);
  EXPECT_EQ(report.run.root_host, "second");
  EXPECT_EQ(MainProcess(report), &report.processes[1]);
  ASSERT_TRUE(report.run.critical_path);
  EXPECT_EQ(report.run.critical_path->wall_ns, 50'000'000);
  EXPECT_EQ(report.run.critical_path->parts.at(0).host, "second");
  EXPECT_EQ(CriticalPathSection(report, {}).find("pid"), std::string::npos);
}

TEST_F(RootProcessTest, APathThatIsAnotherHostsSaysWhose) {
  gpubound::Run run = OnTwoHosts();
  run.info->host = "third";
  const Report report = ReportOf(run);
  EXPECT_EQ(MainProcess(report), &report.processes[0]);
  EXPECT_NE(CriticalPathSection(report, {}).find("(pid 100 on first)"), std::string::npos);
}

}  // namespace
}  // namespace gpubound
