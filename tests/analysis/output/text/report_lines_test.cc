// SPDX-License-Identifier: Apache-2.0
//
// Sentences of the text report on how the run went, and the sections behind its tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "analysis/diagnosis/diagnose.h"
#include "analysis/output/text/report_text.h"
#include "analysis/trace/row_names.h"
#include "tests/analysis/report_rows.h"

namespace gpubound {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class ReportLinesTest : public testing::Test {
 protected:
  ReportLinesTest() {
    report_.run.root = 100;
    report_.run.wall_ns = 1'000'000'000;
    ReportProcess& process = report_.processes.emplace_back();
    process.pid = 100;
    process.span_ns = 1'000'000'000;
    process.gpu_busy_ns = 410'000'000;
    process.operations.emplace_back().operation = "inference";
    options_.width = 120;
    options_.full = true;
  }
  ReportProcess& process() { return report_.processes[0]; }
  std::string Text() {
    report_.diagnosis = Diagnose(report_);
    return RenderText(report_, options_);
  }

  Report report_;
  TextOptions options_;
};

TEST_F(ReportLinesTest, TheCriticalPathNamesProcessesWhereItRunsThroughSeveral) {
  ReportCriticalPath& path = report_.run.critical_path.emplace();
  path.wall_ns = 100;
  path.parts = {{"", 100, "act", "python", 60}, {"", 100, "act", "wait", 40}};
  EXPECT_THAT(Text(), HasSubstr("\nOperation   layer   time  share\n"));
  path.parts[1] = {"", 101, "act", "python", 40};
  EXPECT_THAT(Text(), ContainsRegex("\nOperation +pid +layer +time +share\n"
                                    "act +100 +python +60 ns +60 %\n"
                                    "act +101 +python +40 ns +40 %\n"));
}

TEST_F(ReportLinesTest, SaysHowLongAllOfTheWorkTakesWhereTheProgramToldHowFarItIs) {
  EXPECT_THAT(Text(), Not(HasSubstr("all of it")));
  process().progress = ReportProgress{25, 100, 500'000'000};
  EXPECT_THAT(Text(),
              HasSubstr("25 % of the work was done at 500 ms, all of it takes about 2.00 s."));
}

TEST_F(ReportLinesTest, WorkOfAProcessThatBeganLaterTakesFromTheBeginOfTheRun) {
  process().progress = ReportProgress{25, 100, 500'000'000};
  process().after_run_began_ns = 3'000'000'000;
  EXPECT_THAT(Text(),
              HasSubstr("25 % of the work was done at 3.50 s, all of it takes about 5.00 s."));
}

TEST_F(ReportLinesTest, OfSomeIterationsItSaysWhatIsLeft) {
  process().progress = ReportProgress{25, 100, 500'000'000, 15, 100'000'000};
  report_.run.steps = "15:25";
  EXPECT_THAT(Text(), HasSubstr("; 25 % of the work was done then, the rest takes about 3.00 s."));
  process().progress = ReportProgress{25, 100, 500'000'000, 25, 500'000'000};
  EXPECT_THAT(Text(), HasSubstr("; 25 % of the work was done then.")) << "told once";
  process().progress = ReportProgress{100, 100, 500'000'000, 90, 100'000'000};
  EXPECT_THAT(Text(), HasSubstr("; 100 % of the work was done then."));
}

TEST_F(ReportLinesTest, WorkWithoutAnEndIsNotExtrapolated) {
  process().progress = ReportProgress{1, 1e300, 500'000'000};
  EXPECT_THAT(Text(), HasSubstr(" of the work was done at 500 ms."));
}

TEST_F(ReportLinesTest, StartUpIsNotExtrapolated) {
  process().progress = ReportProgress{25, 100, 500'000'000, 25, 500'000'000};
  process().iterations.emplace().start_up_ns = 100'000'000;
  EXPECT_THAT(Text(), HasSubstr("all of it takes about 1.70 s."));
}

TEST_F(ReportLinesTest, ATrainingThatGoesOnFromACheckpointDoesNotBeginAtZero) {
  process().progress = ReportProgress{60, 100, 1'000'000'000, 50, 0};
  EXPECT_THAT(Text(),
              HasSubstr("60 % of the work was done at 1.00 s, all of it takes about 5.00 s."));
}

TEST_F(ReportLinesTest, WhatTakesLongerThanItsProgressSaysIsNotExtrapolated) {
  process().progress = ReportProgress{60, 100, 100'000'000, 60, 100'000'000};
  EXPECT_THAT(Text(), HasSubstr("60 % of the work was done at 100 ms."));
}

TEST_F(ReportLinesTest, SaysWhatTheRunWouldSaveWithPartsTwiceAsFast) {
  report_.run.critical_path.emplace().wall_ns = 100;
  report_.run.savings = {{"gpu", "", 0.5, 50, 0.5, 0.449, 0.551},
                         {"operation_cpu", "act", 0.5, 60, 0.4, 0.39, 0.41},
                         {"layer", "python", 0.5, 70, 0.3, 0.2, 0.31}};
  EXPECT_THAT(Text(), ContainsRegex("\nall GPU work +50 ns +50 % .44 to 56."));
  EXPECT_THAT(Text(), ContainsRegex("\nCPU code of act +60 ns +40 % .39 to 41."));
  EXPECT_THAT(Text(), ContainsRegex("\nall Python code +70 ns +30 % .20 to 31."));
  EXPECT_THAT(Text(), HasSubstr("run takes"));
  for (ReportSaving& saving : report_.run.savings) saving.of_iteration = true;
  EXPECT_THAT(Text(), ContainsRegex("twice as fast +iteration +saves"));
  // Of device work nobody knows all that would be saved, of Python it is as before.
  report_.run.whole_unknown.share = 0.1;
  EXPECT_THAT(Text(), ContainsRegex("\nall GPU work +50 ns +>= 50 %"));
  EXPECT_THAT(Text(), ContainsRegex("\nall Python code +70 ns +30 %"));
}

TEST_F(ReportLinesTest, AFailureOfTheProgramIsSaidBeforeAnythingElse) {
  process().gpu_busy_ns = 0;
  report_.run.exit_code = 0;
  EXPECT_TRUE(Text().starts_with("No GPU work")) << Text();
  report_.run.exit_code = 3;
  EXPECT_TRUE(
      Text().starts_with("The program failed with exit status 3: all figures are of a "
                         "failed program.\nNo GPU work"))
      << Text();
  report_.run.exit_code.reset();
  report_.run.signal = 9;
  EXPECT_TRUE(
      Text().starts_with("Signal 9 ended the program: all figures are of what it did "
                         "until then.\nNo GPU work"))
      << Text();
}

TEST_F(ReportLinesTest, StartUpLoopAndShutdownStandOnALineOfTheirOwn) {
  EXPECT_THAT(Text(), Not(HasSubstr("Start-up")));
  ReportIterations& all = process().iterations.emplace();
  all.count = 20;
  all.slowest.emplace_back();
  all.start_up_ns = 320'000'000;
  all.warm_up_ns = 50'000'000;
  all.total_ns = 550'000'000;
  all.shutdown_ns = 80'000'000;
  EXPECT_THAT(Text(), HasSubstr("\nWall time 1.00 s.\nStart-up 320 ms, loop 600 ms, shutdown "
                                "80.0 ms.\n"));
  all.total_ns -= 150'000'000;  // as between the cells of a notebook
  EXPECT_THAT(Text(), HasSubstr("loop 450 ms, between its iterations 150 ms, shutdown 80.0 ms.\n"));
  all.total_ns += 150'000'000;
  process().pid = 101;  // the root was not recorded
  report_.processes.insert(report_.processes.begin(), ReportProcess())->pid = 100;
  EXPECT_THAT(Text(), HasSubstr("\nPid 101: start-up 320 ms, loop 600 ms"));
}

TEST_F(ReportLinesTest, TheLongReportSaysHowMuchOfTheLoopNamesExplain) {
  options_.width = 200;
  ReportNaming& naming = process().iterations.emplace().naming;
  options_.full = true;
  EXPECT_THAT(Text(), Not(HasSubstr("Names explain")));
  naming = {.program_ns = 100, .rules_ns = 500, .stage_ns = 300, .none_ns = 100};
  EXPECT_THAT(Text(), HasSubstr("\nNames explain 60 % of the iterations: the program's own 10 %, "
                                "those that gpubound gives 50 %. Nothing explains the rest: "
                                "rollout or update alone 30 %, no operation 10 %.\n"));
  naming.waiting_ns = 1000;
  EXPECT_THAT(Text(), HasSubstr("gives 25 %, waiting outside of both 50 %. Nothing"));
  options_.full = false;
  EXPECT_THAT(Text(), Not(HasSubstr("Names explain")));
}

TEST_F(ReportLinesTest, ARunWithoutAGpuShowsNoFiguresOfGpus) {
  process().gpu_busy_ns = 0;
  ReportOperation& row = process().operations[0];
  row.wall_ns = row.cpu_only_ns = 1'000'000'000;
  report_.processes.push_back(process());
  EXPECT_THAT(Text(), Not(ContainsRegex("GPU (busy|wait)|cpu only|unknown|CPU works  ")));
  EXPECT_THAT(Text(), ContainsRegex("\nOperation +wall\ninference +1.00 s"));
  EXPECT_THAT(Text(), ContainsRegex("\nProcess +pid +span\n"));
  process().operations[0].cpu_only_ns = 600'000'000;
  process().operations[0].idle_ns = 400'000'000;
  EXPECT_THAT(Text(), ContainsRegex("\nOperation +wall +CPU works +idle\n"));
  options_.raw = true;
  EXPECT_THAT(Text(), HasSubstr("GPU busy")) << "readers of raw figures count columns";
}

TEST_F(ReportLinesTest, SmFillIsOfKernelsWhoseGeometryIsKnown) {
  EXPECT_THAT(Text(), Not(HasSubstr("SM fill")));
  process().operations[0].sm_filled_ns = 41'000'000;
  EXPECT_THAT(Text(), HasSubstr("SM fill about 10 % of that"));
}

TEST_F(ReportLinesTest, CopiesFillNoMultiprocessors) {
  options_.kernels = true;
  ReportKernel copy;
  copy.name = "Memcpy HtoD";
  copy.work_class = "copy";
  copy.count = 1;
  copy.sum_ns = 1000;
  process().operation_kernels.push_back({"copying", copy});
  EXPECT_THAT(Text(), ContainsRegex("\ncopying .* -\n  Memcpy HtoD .* -\n"));
}

TEST_F(ReportLinesTest, WhatTheRunCouldNotCheckIsOneClause) {
  auto corrected = std::make_shared<CorrectedProcess>();
  corrected->in_run.unchecked = {{"scopes", "it is short"}, {"CUDA calls", "of graphs"}};
  process().corrected = corrected;
  options_.width = 500;
  const std::string unchecked = "scopes (it is short), CUDA calls (of graphs";
  EXPECT_THAT(Text(), HasSubstr(unchecked + ").\n"))
      << "nothing can be compared without iterations";
  process().iterations.emplace();
  const std::string how = "gpubound run --steps A:B would, with as many after them";
  EXPECT_THAT(Text(), HasSubstr(unchecked + "; " + how + ").\n"));
  corrected->in_run.later.why_none = "it is switched off";
  EXPECT_THAT(Text(), Not(HasSubstr(how)));
  corrected->in_run.later = {.iterations = 50,
                             .why_none = "",
                             .recorded_ns = 3'000'000,
                             .later_ns = 2'500'000,
                             .calibrated_ns = 2'600'000,
                             .residual_error_ns = 25'510,
                             .of = kCudaCalls};
  EXPECT_THAT(Text(),
              HasSubstr(". An iteration took 2.50 ms after the recording, 20 % longer in it and "
                        "4.0 % longer (+/- 2.0 %) without what calibration says (50 of each). Not "
                        "checked in this run: "));
  options_.raw = true;
  EXPECT_THAT(Text(), HasSubstr(". An iteration took 2500000 after the recording, 20 % longer"));
  options_.raw = false;
  corrected->in_run.later.recorded_ns = 2'400'000;
  EXPECT_THAT(Text(), HasSubstr("after the recording, 4.0 % shorter in it and"));
  corrected->in_run.later.used = true;
  corrected->in_run.later.factor = 1.2;
  corrected->in_run.later.standard_error = 0.05;
  corrected->in_run.unchecked.pop_back();
  EXPECT_THAT(Text(), HasSubstr("(50 of each), so CUDA calls cost 120 % (+/- 9.8 %) of their "
                                "calibration in this run. Not checked"));
}

TEST_F(ReportLinesTest, GapsNameTheirDeviceOnlyAmongSeveral) {
  options_.by = {"gap"};
  process().gaps.push_back(
      {"GPU-1", 0, 5, 90, "launch", "act", "python", "update", "backend", "", "", "", 0});
  EXPECT_THAT(Text(), HasSubstr("90 ns at 5 ns, mostly CPU preparing launches"));
  report_.devices.resize(2);
  for (ReportDevice& device : report_.devices) device.used = true;
  EXPECT_THAT(Text(), HasSubstr("90 ns at 5 ns on GPU-1, mostly CPU preparing launches"));
}

TEST_F(ReportLinesTest, MarksInheritedOperations) {
  process().operations[0].inherited = true;
  EXPECT_THAT(Text(), HasSubstr("(inherit"));
}

TEST_F(ReportLinesTest, SaysWhereNoGpuWorkWasSeen) {
  process().gpu_busy_ns = 0;
  EXPECT_THAT(Text(), HasSubstr("No GPU work was recorded."));
  report_ = Report();
  EXPECT_TRUE(Text().starts_with("No process was recorded.\n")) << Text();
}

TEST_F(ReportLinesTest, WhatUnknownTimeMayAddToIsALowerBound) {
  report_.run.devices_used = 1;
  report_.run.gpu_busy_share = report_.run.compute_share = 0.41;
  process().unknown_ns = 100'000'000;
  report_.run.unknown.share = 0.1;
  process().gpu_wait_ns = 200'000'000;
  report_.run.headline_ns = 1'000'000'000;
  EXPECT_THAT(Text(), HasSubstr("\nGPU: compute >= 41 %.\n"));
  EXPECT_THAT(Text(), HasSubstr("GPU busy >= 41 %, unknown 10 %, GPU wait >= 20 %."));
  process().gpu_busy_is_upper_bound = true;
  EXPECT_THAT(Text(), HasSubstr("GPU busy about 41 %, unknown 10 %, GPU wait about 20 %."));
}

TEST_F(ReportLinesTest, TheWholeSpanHasABoundOfItsOwn) {
  report_.run.headline = "iterations";
  report_.run.headline_ns = 500'000'000;
  process().iterations.emplace().warm_up = 1;
  report_.run.whole_unknown.share = 0.25;
  EXPECT_THAT(Text(), HasSubstr("\nGPU: in the iterations after warm-up, 500 ms; in the whole span "
                                "unknown 25 %.\n"));
  report_.run.devices_used = 1;
  report_.run.gpu_busy_share = report_.run.compute_share = 0.41;
  report_.run.whole_gpu_busy_share = 0.2;
  EXPECT_THAT(Text(), HasSubstr("\nGPU: compute 41 %, in the iterations after warm-up, 500 ms; "
                                "in the whole span busy >= 20 %, unknown 25 %.\n"));
}

// As of several trainings that a shell starts.
TEST_F(ReportLinesTest, IterationsThatAreNotOfTheMainProcessSayWhoseTheyAre) {
  report_.run.headline = "iterations";
  report_.run.headline_ns = 500'000'000;
  report_.run.devices_used = 1;
  ReportProcess other = process();
  other.pid = 77;
  other.iterations.emplace().count = 3;
  other.iterations->warm_up = 1;
  report_.processes.push_back(std::move(other));
  EXPECT_THAT(Text(), HasSubstr("in the iterations of pid 77 after warm-up, 500 ms; "));
}

// As of ranks that torchrun starts.
TEST_F(ReportLinesTest, ALauncherLeavesTheFirstScreenToARank) {
  ReportProcess rank = process();
  rank.pid = 77;
  report_.processes.push_back(std::move(rank));
  options_.full = false;
  EXPECT_THAT(Text(), HasSubstr("\nprocess (pid 100), one of 2 processes: "));
  process().gpu_busy_ns = 0;
  EXPECT_THAT(Text(), HasSubstr("\nprocess (pid 77), one of 2 processes: "));
  options_.full = true;
  EXPECT_THAT(Text(), Not(HasSubstr("process (pid 100), span")));
}

TEST_F(ReportLinesTest, ADeviceThatMayHaveBeenUsedIsNotCalledUnused) {
  report_.devices.emplace_back().name = "NVIDIA L4";
  EXPECT_THAT(Text(), HasSubstr("1 process; visible but unused: NVIDIA L4."));
  report_.devices[0].has_unknown_time = true;
  EXPECT_THAT(Text(), HasSubstr("1 process; visible, use unknown: NVIDIA L4."));
  options_.by = {"device"};
  EXPECT_THAT(Text(), ContainsRegex("\nNVIDIA L4 +>= 0 +0 +>= 0 %"));
}

TEST_F(ReportLinesTest, TheSlowestIterationsAreBoundsWhereIterationsHaveUnknownTime) {
  options_.by = {"iteration"};
  ReportIterations& iterations = process().iterations.emplace();
  iterations.count = 1;
  iterations.slowest.push_back({7, 0, 40'000'000, 5});
  iterations.operations.push_back({"inference", 40'000'000, 5, 0});
  EXPECT_THAT(Text(), ContainsRegex("\n7 +0 +40.0 ms +5 ns\n"));
  iterations.operations[0].unknown_ns = 1;
  EXPECT_THAT(Text(), ContainsRegex("\n7 +0 +40.0 ms +>= 5 ns\n"));
}

TEST_F(ReportLinesTest, GpuTimeBesideUnknownTimeIsALowerBoundInEveryTable) {
  options_.by = {"operation", "layer", "iteration", "device", "thread"};
  process().unknown_ns = 7;
  ReportOperation inference = Row("inference", 40'000'000, 5);
  inference.gpu_caused_ns = 6;
  inference.unknown_ns = 7;
  process().operations = {inference, Row("simulation", 10'000'000, 3)};
  for (ReportOperation& row : process().operations) row.gpu_caused_is_lower_bound = true;
  process().cells = {{kNoPhase, "inference", "native", "compute", 4},
                     {kNoPhase, "inference", "native", "unknown", 7}};
  process().lanes.push_back({"actor", 7, {}, {inference}});
  ReportIterations& iterations = process().iterations.emplace();
  iterations.count = 1;
  iterations.slowest.push_back({7, 0, 40'000'000, 5});
  iterations.operations.push_back({"in a mean iteration", 40'000'000, 9, 7});
  report_.operation_devices.push_back({"inference", "1", 50'000'000, 8, 2, 7, false});
  EXPECT_THAT(Text(), ContainsRegex("\ninference +40.0 ms +>= 5 ns +>= 6 ns "));
  EXPECT_THAT(Text(), ContainsRegex("\nsimulation +10.0 ms +3 ns +>= 0 ")) << "unknown elsewhere";
  EXPECT_THAT(Text(), ContainsRegex("\nnative +11 ns +>= 4 ns "));
  EXPECT_THAT(Text(), ContainsRegex("\nin a mean iteration +40.0 ms +>= 9 ns "));
  EXPECT_THAT(Text(), ContainsRegex("\ninference on 1 +50.0 ms +>= 8 ns "));
  EXPECT_THAT(Text(), ContainsRegex("\nThread actor 7[^\n]*\ninference +40.0 ms +>= 5 ns "));
  inference.gpu_busy_is_upper_bound = true;
  process().operations = {inference};
  EXPECT_THAT(Text(), ContainsRegex("\ninference +40.0 ms +about 5 ns +"));
}

TEST_F(ReportLinesTest, GpuLimitedIsOfTheWholeRun) {
  report_.run.devices_used = 1;
  report_.run.compute_share = 0.41;
  report_.run.gpu_limited_share = 0.2;
  report_.run.headline_ns = 500'000'000;
  EXPECT_THAT(Text(),
              HasSubstr("\nGPU: compute 41 %; GPU-limited 20 %: what an infinitely fast GPU "
                        "would save.\n"));
  report_.run.headline = "iterations";
  report_.run.whole_gpu_busy_share = 0.3;
  EXPECT_THAT(Text(), HasSubstr("in the whole span busy 30 %, GPU-limited 20 %: what"));
}

TEST_F(ReportLinesTest, GpuLimitedIsABoundWhereGpuTimeIsUnknownOrAGraphsOwn) {
  report_.run.devices_used = 1;
  report_.run.gpu_limited_share = 0.2;
  report_.run.whole_gpu_busy_is_upper_bound = true;
  EXPECT_THAT(Text(), HasSubstr("GPU-limited <= 20 %: what"));
  report_.run.whole_unknown.share = 0.1;
  EXPECT_THAT(Text(), HasSubstr("GPU-limited about 20 %: what"));
  report_.run.whole_gpu_busy_is_upper_bound = false;
  EXPECT_THAT(Text(), HasSubstr("GPU-limited >= 20 %: what"));
}

TEST_F(ReportLinesTest, TheSecondLineSaysWhatTheRunWouldHaveTaken) {
  auto corrected = std::make_shared<CorrectedProcess>();
  corrected->process.span_ns = 800'000'000;
  corrected->span = {790'000'000, 810'000'000};
  process().corrected = corrected;
  EXPECT_THAT(Text(),
              HasSubstr("\nWall time 1.00 s, without the profiler 800 ms (790 ms to 810 ms): "
                        "25 % slower.\n"));
  report_.run.wall_ns = 2'000'000'000;
  EXPECT_THAT(Text(),
              HasSubstr("\nWall time 2.00 s, of pid 100 1.00 s, without the profiler 800 ms"));
}

TEST_F(ReportLinesTest, WhatAnotherToolRecordedIsNotCorrectedForThisOne) {
  report_.device_kind = "imported";
  process().corrected_why_not = "looking for a calibration x: found this, expected that";
  EXPECT_THAT(Text(), HasSubstr(", not corrected for profiling (another tool recorded it).\n"));
}

}  // namespace
}  // namespace gpubound
