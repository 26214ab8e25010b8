// SPDX-License-Identifier: Apache-2.0
//
// What replays make of a run whose root was not recorded, as of `sh -c 'program; true'`: its time
// is the launcher's, and what is said of the run is not that of one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/attribution/build_report.h"
#include "analysis/correction/corrected_report.h"
#include "analysis/output/text/report_text.h"
#include "analysis/processes/run_frame.h"
#include "analysis/replay/replay.h"
#include "analysis/replay/what_if.h"
#include "tests/golden/scenario.h"

namespace gpubound {
namespace {

using ::testing::HasSubstr;

// 5 ms of device work that the thread waits for, in a span of 10 ms.
constexpr char kTrainer[] = R"(
span 1000000 11000000
thread main
@1000000 main begin operation train
call main 2000000 2010000 cudaLaunchKernel #1
call main 2020000 7110000 cudaDeviceSynchronize #2
kernel 2100000 7100000 gemm #1
@10000000 main end operation train
)";
// Another program of the wrapper, without device work, that ends 9 ms later.
constexpr char kLogger[] = R"(
process 200 99
span 2000000 20000000
thread main
@3000000 main begin operation log
@19000000 main end operation log
)";

class WrappedRunTest : public testing::Test {
 protected:
  static gpubound::Run RunWith(const std::string& text) {
    golden::Scenario scenario = golden::ParseScenario(text);
    EXPECT_TRUE(scenario.mistakes.empty());
    RunInfo& info = scenario.run.info.emplace();
    info.host = "host";
    info.root_pid = 99;
    info.start_monotonic_ns = 500'000;
    info.end_monotonic_ns = LastEnd(scenario.run) + 2'000'000;
    return std::move(scenario.run);
  }
  static int64_t LastEnd(const gpubound::Run& run) {
    int64_t end_ns = 0;
    for (const ProcessTrace& process : run.processes) {
      end_ns = std::max(end_ns, process.span_end_ns);
    }
    return end_ns;
  }
  static gpubound::Run Replayed(const gpubound::Run& run, const std::string& change) {
    const Result<Scaling> scaling = ParseScaling(change);
    EXPECT_TRUE(scaling.ok());
    ReplayOptions options;
    options.changes.scalings = {*scaling};
    Result<ReplayedRun> replayed = ReplayRun(run, options);
    EXPECT_TRUE(replayed.ok());
    return std::move((*replayed).run);
  }
  static int64_t SpanOf(const gpubound::Run& run) { return FrameOf(run).span.length(); }
  static Report ReportOf(const gpubound::Run& run) {
    Result<Report> report = BuildReport(run);
    EXPECT_TRUE(report.ok());
    EXPECT_TRUE(AddReplays(run, {}, &*report).ok());
    return std::move(*report);
  }
};

TEST_F(WrappedRunTest, BecomesShorterByWhatItsProcessSaves) {
  const gpubound::Run run = RunWith(kTrainer);
  EXPECT_EQ(SpanOf(run), 12'500'000);
  EXPECT_EQ(SpanOf(Replayed(run, "device:0")), 7'500'000);
  EXPECT_EQ(SpanOf(Replayed(run, "device:0.5")), 10'000'000);
}

TEST_F(WrappedRunTest, IsItselfWhereNothingChanges) {
  for (const std::string& text : {std::string(kTrainer), std::string(kTrainer) + kLogger}) {
    const gpubound::Run run = RunWith(text);
    const gpubound::Run replayed = Replayed(run, "device:1");
    EXPECT_EQ(FrameOf(replayed).span.begin_ns, FrameOf(run).span.begin_ns);
    EXPECT_EQ(FrameOf(replayed).span.end_ns, FrameOf(run).span.end_ns);
    EXPECT_EQ(replayed.info->end_monotonic_ns, run.info->end_monotonic_ns);
  }
}

TEST_F(WrappedRunTest, LastsUntilTheProcessThatThenEndsLast) {
  const gpubound::Run run = RunWith(std::string(kTrainer) + kLogger);
  EXPECT_EQ(SpanOf(Replayed(run, "device:0")), SpanOf(run));
  // The logger would end at 4 ms, the trainer still ends at 11 ms.
  EXPECT_EQ(SpanOf(Replayed(run, "operation-cpu=log:0")), SpanOf(run) - 9'000'000);
}

TEST_F(WrappedRunTest, OneThatALastingProcessOutlivesEndsWithThat) {
  gpubound::Run run = RunWith(std::string(kTrainer) + kLogger);
  run.info->end_monotonic_ns = 12'000'000;
  EXPECT_EQ(SpanOf(run), 19'500'000);
  EXPECT_EQ(SpanOf(Replayed(run, "operation-cpu=log:0.5")), 19'500'000 - 8'000'000);
}

TEST_F(WrappedRunTest, IsGpuLimitedByWhatTheRunWouldSave) {
  EXPECT_NEAR(*ReportOf(RunWith(kTrainer)).run.gpu_limited_share, 5.0 / 12.5, 1e-6);
  EXPECT_EQ(*ReportOf(RunWith(std::string(kTrainer) + kLogger)).run.gpu_limited_share, 0);
}

TEST_F(WrappedRunTest, OfAnOperationSaysWhatTheRunWouldTake) {
  const Report report = ReportOf(RunWith(std::string(kTrainer) + kLogger));
  ASSERT_FALSE(report.run.savings.empty());
  for (const ReportSaving& saving : report.run.savings) {
    if (saving.part != "operation_cpu") continue;
    EXPECT_EQ(saving.saves, 0) << saving.name;
  }
}

TEST_F(WrappedRunTest, NamesTheProcessOfTheCriticalPath) {
  gpubound::Run run = RunWith(std::string(kTrainer) + kLogger);
  TextOptions options;
  options.width = 100;
  options.full = true;
  EXPECT_THAT(RenderText(ReportOf(run), options),
              HasSubstr("Critical path of program (pid 100), 10.0 ms\n"));
  run.info->root_pid = 100;  // its path is the run's
  EXPECT_THAT(RenderText(ReportOf(run), options), HasSubstr("Critical path, 10.0 ms\n"));
}

}  // namespace
}  // namespace gpubound
