// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/text/report_text.h"

#include "analysis/diagnosis/diagnose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "analysis/base/text_table.h"
#include "analysis/output/text/ledger_text.h"
#include "tests/analysis/report_rows.h"

namespace gpubound {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class ReportTextTest : public testing::Test {
 protected:
  ReportTextTest() {
    report_.device_kind = "real";
    report_.run.root = 100;
    report_.run.wall_ns = 1'000'000'000;
    report_.run.devices_used = 1;
    report_.run.gpu_busy_share = 0.41;
    report_.run.compute_share = 0.38;
    report_.run.copy_share = 0.04;
    report_.run.smi_model = 0.97;
    report_.run.verdict = "complete: nothing was lost.";
    ReportDevice device;
    device.uuid = "GPU-1";
    device.name = "NVIDIA H100";
    device.busy_ns = 410'000'000;
    device.span_ns = 1'000'000'000;
    device.used = true;
    report_.devices.push_back(device);
    ReportProcess process;
    process.pid = 100;
    process.name = "python3";
    process.span_ns = 1'000'000'000;
    process.gpu_busy_ns = 410'000'000;
    process.operations.push_back(Row("inference", 700'000'000, 400'000'000));
    process.operations.push_back(Row("simulation", 300'000'000, 10'000'000));
    process.operations[0].transitions = {{"python->backend", 12'345}};
    process.cells.push_back({"(no phase)", "inference", "python", "idle", 300'000'000});
    process.cells.push_back({"(no phase)", "inference", "cuda_api", "compute", 400'000'000});
    process.cells.push_back({"warmup", "simulation", "simulator", "idle", 300'000'000});
    AddKernel("inference", "_ZN2at6native4gemmEv", 100, 380'000'000, &process);
    report_.processes.push_back(process);
    options_.full = true;
  }

  // Each a tenth longer than the median, and a quarter of the device full.
  static void AddKernel(const std::string& operation, const std::string& name, uint64_t count,
                        int64_t sum_ns, ReportProcess* process) {
    ReportKernel kernel;
    kernel.name = name;
    kernel.work_class = "compute";
    kernel.count = count;
    kernel.sum_ns = sum_ns;
    kernel.mean_ns = sum_ns / static_cast<int64_t>(count);
    kernel.median_ns = kernel.mean_ns * 9 / 10;
    kernel.p95_ns = kernel.mean_ns * 2;
    kernel.sm_filled_ns = sum_ns / 4;
    process->operation_kernels.push_back({operation, kernel});
  }

  std::string Text() {
    report_.diagnosis = Diagnose(report_);
    return RenderText(report_, options_);
  }
  std::string FirstLine() { return Text().substr(0, Text().find('\n')); }

  Report report_;
  TextOptions options_;
};

TEST_F(ReportTextTest, WhatTheProgramSaidOfItselfIsThereAtLength) {
  EXPECT_THAT(Text(), Not(HasSubstr("etadata")));
  report_.run.metadata = {{"algorithm", "PPO"},
                          {"layers", std::string(39, 'x') + "\u00e9 and more"}};
  EXPECT_THAT(Text(), HasSubstr("metadata: algorithm PPO\n"));
  EXPECT_THAT(Text(), ContainsRegex("x{39}\u00e9[ \n]+and more"));
}

TEST_F(ReportTextTest, TheRankThatTheOthersWaitForIsNamedWithWhatItDid) {
  ReportRank rank;
  rank.pid = 100;
  rank.collectives = 4;
  rank.comm_sum_ns = 10'000'000;
  rank.peer_wait_ns = 6'000'000;
  rank.moving_ns = 4'000'000;
  ReportRank late = rank;
  late.pid = 200;
  late.peer_wait_ns = 0;
  late.late = 3;
  late.waited_for_ns = 6'000'000;
  late.while_late = {{"collect", "simulator", 3'000'000}, {"update", "python", 1'000'000}};
  report_.ranks = {rank, late};
  EXPECT_THAT(
      Text(),
      HasSubstr("pid 200 on device 0 entered 3 of its 4 collectives last, and 100 % of all\n"
                "  waiting was for it; meanwhile it was in collect (simulator) for 75 % of the"));
  EXPECT_THAT(Text(), ContainsRegex("\npid 100 on device 0 +4 +10.0 ms +6.00 ms +60 % "));
  report_.ranks[0].peer_wait_is_upper_bound = true;
  EXPECT_THAT(Text(), ContainsRegex("\npid 100 on device 0 +4 +10.0 ms +<= 6.00 ms +<= 60 % "));
  report_.ranks[0].peer_wait_is_lower_bound = true;
  EXPECT_THAT(Text(), ContainsRegex("\npid 100 on device 0 +4 +10.0 ms +about 6.00 ms +about 60"));
  report_.ranks[1].late_is_doubtful = true;
  EXPECT_THAT(Text(),
              HasSubstr("\nIf the clocks of the hosts agree, pid 200 on device 0 entered 3"));
}

TEST_F(ReportTextTest, OfManyRanksThoseThatOthersWaitedForAreShownByTheirNumbers) {
  for (int64_t number = 0; number < 1024; ++number) {
    ReportRank& rank = report_.ranks.emplace_back();
    rank.rank = number;
    rank.host = "node" + std::to_string(number / 8);
    rank.pid = 1000 + number % 8;
    rank.collectives = 80;
    rank.comm_sum_ns = 10'000'000;
    rank.peer_wait_ns = 5'000'000;
    rank.waited_for_ns = number == 700 ? 9'000'000 : number % 7 * 1000;
  }
  const std::string text = Text();
  EXPECT_THAT(text, ContainsRegex("\nrank 700 +80 "));
  EXPECT_THAT(text, HasSubstr("These are the 16 of 1024 ranks that the others waited for most."));
  EXPECT_THAT(text, HasSubstr("\nrank 700 entered 0 of its 80"));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 80);
  report_.ranks[700].lacks_ranks = true;
  EXPECT_THAT(Text(), HasSubstr("\nOf the ranks that are here, rank 700"));
}

TEST_F(ReportTextTest, SaysWhatNvidiaSmiWouldShowAgainstTheTruth) {
  EXPECT_THAT(Text(), HasSubstr("\nGPU busy 41 %, idle 59 %; nvidia-smi would show up to 97 %.\n"));
  EXPECT_THAT(Text(), HasSubstr("\nGPU: compute 38 %, copy 4.0 %.\n"));
}

TEST_F(ReportTextTest, SaysLoudlyThatADeviceWasSimulated) {
  EXPECT_THAT(Text(), Not(HasSubstr("SIMULATED")));
  report_.device_kind = "simulated";
  EXPECT_THAT(Text(), HasSubstr("SIMULATED DEVICE"));
  EXPECT_THAT(RenderLedger(report_), HasSubstr("SIMULATED DEVICE"));
  options_.color = true;
  EXPECT_THAT(Text(), HasSubstr("\033[1;33mSIMULATED DEVICE\033[0m: GPU times"));
}

TEST_F(ReportTextTest, ShowsEachOperationWithItsColumns) {
  report_.processes[0].operations[0].gpu_caused_ns = 1;
  EXPECT_THAT(Text(), HasSubstr("inference"));
  EXPECT_THAT(Text(), HasSubstr("400 ms"));
  EXPECT_THAT(Text(), HasSubstr("simulation"));
  options_.width = 90;
  EXPECT_THAT(Text(), HasSubstr("caused"));
}

TEST_F(ReportTextTest, ListsTransitionsOnRequest) {
  EXPECT_THAT(Text(), Not(HasSubstr("python->backend")));
  options_.by = {"operation", "transition"};
  EXPECT_THAT(Text(), HasSubstr("python->backend 12.3k"));
}

TEST_F(ReportTextTest, SaysHowLongTheRunTookAndWhyThatIsNotCorrected) {
  report_.processes[0].corrected_why_not = "not calibrated";
  EXPECT_THAT(Text(),
              HasSubstr("\nWall time 1.00 s, not corrected for profiling (not calibrated).\n"));
  report_.processes[0].corrected_why_not = "nothing was measured. Measure it.";
  options_.width = 120;
  EXPECT_THAT(Text(), HasSubstr("not corrected for profiling (nothing was measured. Measure it)."));
}

TEST_F(ReportTextTest, FurtherFindingsStandAtLength) {
  report_.run.nvml_utilization = 0.97;
  EXPECT_THAT(Text(),
              HasSubstr("\n> nvidia-smi shows 97 % where the GPU is busy 41 % of the time."));
}

TEST_F(ReportTextTest, EqualDevicesAreCounted) {
  report_.devices.push_back(report_.devices[0]);
  report_.devices.emplace_back().name = "NVIDIA L4";
  EXPECT_THAT(Text(), HasSubstr("1 process, 2 x NVIDIA H100; visible but unused: NVIDIA L4."));
}

TEST_F(ReportTextTest, ManyWorkersAreOneLineUnlessEachIsAskedFor) {
  for (int64_t pid = 101; pid < 165; ++pid) {
    ReportProcess& worker = report_.processes.emplace_back(report_.processes[0]);
    worker.pid = pid;
    worker.name = "worker";
  }
  const std::string text = Text();
  EXPECT_THAT(text, HasSubstr("64 x worker"));
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 30);
  options_.by = {"process"};
  EXPECT_THAT(Text(), Not(HasSubstr("64 x worker")));
  EXPECT_THAT(Text(), HasSubstr("164"));
}

TEST_F(ReportTextTest, UsesNoColourAndNoSymbolsUnlessAllowed) {
  options_.unicode = false;
  const std::string text = Text();
  EXPECT_TRUE(std::all_of(text.begin(), text.end(),
                          [](char c) { return c == '\n' || (c >= 32 && c < 127); }));
  options_.color = true;
  EXPECT_THAT(Text(), HasSubstr("\033["));
}

TEST_F(ReportTextTest, GroupsByWhatIsAsked) {
  options_.by = {"phase"};
  EXPECT_THAT(Text(), HasSubstr("warmup"));
  EXPECT_THAT(Text(), Not(HasSubstr("Operation")));
  options_.by = {"device"};
  EXPECT_THAT(Text(), HasSubstr("GPU-1"));
}

TEST_F(ReportTextTest, PrintsWhatNvidiaSmiSaidBesideTheTruth) {
  options_.by = {"device"};
  EXPECT_THAT(Text(), HasSubstr("nvidia-smi"));
  EXPECT_THAT(Text(), Not(HasSubstr("93"))) << "nobody asked NVML";
  report_.devices[0].nvml_utilization = 0.93;
  EXPECT_THAT(Text(), HasSubstr("93"));
}

TEST_F(ReportTextTest, ShowsTheAttributionThatIsAsked) {
  options_.attribution = {"caused"};
  EXPECT_THAT(Text(), HasSubstr("caused"));
  EXPECT_THAT(Text(), Not(HasSubstr("  GPU busy")));
  options_.attribution = {"timeline"};
  EXPECT_THAT(Text(), Not(HasSubstr("caused")));
}

TEST_F(ReportTextTest, NamesKernelsDemangled) {
  EXPECT_THAT(Text(), Not(HasSubstr("gemm")));
  options_.kernels = true;
  EXPECT_THAT(Text(), HasSubstr("at::native::gemm()"));
}

TEST_F(ReportTextTest, ListsDeviceWorkUnderTheOperationThatCausedIt) {
  AddKernel("simulation", "render", 10, 50'000, &report_.processes[0]);
  options_.kernels = true;
  EXPECT_THAT(Text(), ContainsRegex("\ninference +100  +380 ms +25 %\n"
                                    "  at::native::gemm\\(\\) +100 +380 ms +3.80 ms +3.42 ms "
                                    "+7.60 ms +25 %\n"
                                    "simulation +10 +50.0 us +25 %\n  render "));
}

TEST_F(ReportTextTest, AddsUpTheKernelsThatItDoesNotList) {
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
    AddKernel("inference", name, 3, 3'000, &report_.processes[0]);
  }
  options_.kernels = true;
  EXPECT_THAT(Text(), ContainsRegex("\n  and 2 more +6 +6.00 us +25 %\n"));
}

TEST_F(ReportTextTest, SaysWhichSmFillIsABound) {
  options_.kernels = true;
  EXPECT_THAT(Text(), Not(HasSubstr("<= ")));
  report_.processes[0].operation_kernels[0].kernel.sm_fill_is_upper_bound = true;
  EXPECT_THAT(Text(), ContainsRegex("gemm.*<= 25 %(.*\n)+<= work of unknown geometry"));
}

TEST_F(ReportTextTest, ListsTheNodesOfAGraph) {
  options_.kernels = true;
  ReportKernel& graph = report_.processes[0].operation_kernels[0].kernel;
  graph.nodes = {{"_ZN2at6native4gemmEv", "compute", 2, "warm"},
                 {"relu", "compute", 1, "later"},
                 {"Memset", "copy", 1, "warm"}};
  EXPECT_THAT(Text(), ContainsRegex("\n    captured in warm *\n      2 x at::native::gemm\\(\\) *\n"
                                    "      1 x Memset *\n"));
  graph.nodes.resize(7, {"k", "compute", 1, "later"});
  EXPECT_THAT(Text(),
              ContainsRegex(
                  "\n    captured in later *\n      1 x relu *\n      1 x k *\n      and 3 more"));
}

TEST_F(ReportTextTest, MarksWhatWholeGraphsBoundFromAbove) {
  options_.by = {"operation", "layer", "process", "device"};
  EXPECT_THAT(Text(), Not(HasSubstr("<=")));
  report_.run.gpu_busy_is_upper_bound = report_.devices[0].busy_is_upper_bound = true;
  ReportProcess& process = report_.processes[0];
  process.gpu_busy_is_upper_bound = process.cells[1].gpu_busy_is_upper_bound = true;
  process.operations[0].gpu_busy_is_upper_bound = true;
  report_.operation_devices.push_back({"inference", "GPU-1", 700, 400, 300, 0, true});
  const std::string text = Text();
  for (const char* line :
       {"The GPU is busy <= 41 %", "GPU busy <= 41 %, GPU wait", "\ninference +700 ms +<= 400 ms ",
        "\nsimulation +300 ms +10.0 ms ", "\ncuda_api +400 ms +<= 400 ms ",
        "\nNVIDIA H100 GPU-1 +<= 410 ms +1.00 s +<= 41 %",
        "\ninference on GPU-1 +700 ns +<= 400 ns"}) {
    EXPECT_THAT(text, ContainsRegex(line));
  }
}

TEST_F(ReportTextTest, SaysThatLengthsWereRounded) {
  options_.kernels = true;
  EXPECT_THAT(Text(), Not(HasSubstr("rounded down")));
  report_.processes[0].operation_kernels[0].kernel.lengths_rounded = true;
  EXPECT_THAT(Text(), HasSubstr("rounded down"));
}

TEST_F(ReportTextTest, TheListOfDeviceWorkFitsThreeWidths) {
  options_.kernels = true;
  for (const int width : {60, 80, 120}) {
    options_.width = width;
    std::istringstream lines(Text());
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(DisplayWidth(line), width) << line;
    }
  }
}

TEST_F(ReportTextTest, PrintsRawNanosecondsAndSaysSo) {
  EXPECT_THAT(Text(), Not(HasSubstr("Times are in ns.")));
  options_.raw = true;
  EXPECT_THAT(Text(), HasSubstr("400000000"));
  EXPECT_THAT(Text(), HasSubstr("\nTimes are in ns.\n"));
}

TEST_F(ReportTextTest, EscapesNamesFromTheTrace) {
  report_.processes[0].operations[0].operation = "\033]0;evil\007";
  report_.processes[0].name = "\033[2J";
  EXPECT_THAT(Text(), Not(HasSubstr("\033")));
}

TEST_F(ReportTextTest, ListsLedgerEntriesFromNoticeOn) {
  report_.ledger.push_back({"chunks_corrupt", 1, Severity::kError, "Chunks are missing."});
  report_.ledger.push_back({"backpressure_waits", 9, Severity::kInfo, "Threads waited."});
  EXPECT_THAT(Text(), HasSubstr("error: chunks_corrupt 1. Chunks are missing."));
  EXPECT_THAT(Text(), Not(HasSubstr("backpressure_waits")));
  EXPECT_THAT(RenderLedger(report_), HasSubstr("backpressure_waits = 9"));
}

TEST_F(ReportTextTest, ListsManyProcessesAndDetailsTheRoot) {
  ReportProcess worker = report_.processes[0];
  worker.pid = 101;
  worker.name = "worker";
  worker.operations[0].operation = "rollout";
  report_.processes.push_back(worker);
  EXPECT_THAT(Text(), HasSubstr("worker"));
  EXPECT_THAT(Text(), Not(HasSubstr("rollout")));
  options_.by = {"process", "operation"};
  EXPECT_THAT(Text(), HasSubstr("rollout"));
}

TEST_F(ReportTextTest, SaysWhyTheGpuWasIdle) {
  constexpr int64_t kMs = 1'000'000;
  report_.processes[0].operations[0].device_idle = {{"launch", 100 * kMs}, {"sync", 50 * kMs}};
  report_.processes[0].operations[1].device_idle = {{"simulation", 250 * kMs}};
  options_.width = 200;
  EXPECT_THAT(Text(),
              HasSubstr("\nGPU idle 400 ms, 40 % of the whole span: simulation 25 %, Python "
                        "preparing launches 10 %, CPU notices late that the GPU is done "
                        "5.0 %."));
}

TEST_F(ReportTextTest, CountsGapsBetweenQueuedWork) {
  ReportProcess& process = report_.processes[0];
  process.operations[0].device_idle = {
      {"queued", 300'000'000}, {"event-wait", 60'000'000}, {"launch", 40'000'000}};
  process.device_shares = {{"GPU-1", 0, "op", 0, 0, 400, 0, {}}};
  process.queued_gaps = {30, 300, 10};
  process.event_wait_gaps = {1, 60, 60};
  options_.width = 400;
  EXPECT_THAT(Text(), HasSubstr("between queued work 30 %, waiting for another stream 6.0 %"));
  EXPECT_THAT(Text(), HasSubstr(". 30 gaps between queued work take 10 ns each on average. 1 gap "
                                "before work that waits for another stream takes 60 ns.\n"));
}

TEST_F(ReportTextTest, SaysAtLengthHowFarLaunchesRunAhead) {
  ReportProcess& process = report_.processes[0];
  process.operations[0].device_idle = {{"launch", 100}};
  process.launches = {40, 1'300'000, 1'200'000, 2'000'000, 47.8, 48, 60, 0.25};
  options_.width = 400;
  EXPECT_THAT(Text(), HasSubstr("The GPU begins work 1.20 ms after its launch (median), with 48 "
                                "launches queued before it (mean); 25 % of the kernels are shorter "
                                "than their launch call.\n"));
}

TEST_F(ReportTextTest, SaysWhatTheHeadlineIsAbout) {
  EXPECT_THAT(Text(), Not(HasSubstr("whole span")));
  report_.run.headline = "iterations";
  report_.run.headline_ns = 500'000'000;
  report_.run.whole_gpu_busy_share = 0.25;
  EXPECT_THAT(
      Text(),
      HasSubstr("in the iterations after warm-up, 500 ms; in the\n  whole span busy 25 %."));
}

TEST_F(ReportTextTest, SumsUpIterations) {
  ReportIterations& iterations = report_.processes[0].iterations.emplace();
  iterations.warm_up = 1;
  iterations.count = 2;
  iterations.mean_ns = iterations.median_ns = 30'000'000;
  iterations.slowest.push_back({7, 0, 40'000'000, 5});
  iterations.operations.push_back({"inference", 50'000'000, 10'000'000, 0});
  EXPECT_THAT(Text(), HasSubstr("Iterations: 2 after 1 of warm-up; mean 30.0 ms"));
  options_.by = {"iteration"};
  EXPECT_THAT(Text(), HasSubstr("25.0 ms"));
  EXPECT_THAT(Text(), HasSubstr("Slowest iteration"));
}

TEST_F(ReportTextTest, ListsGapsAndThreadsOnRequest) {
  report_.processes[0].gaps.push_back(
      {"GPU-1", 0, 5, 90, "launch", "act", "python", "update", "backend", "gemm", "", "", 0});
  report_.processes[0].lanes.push_back({"actor", 7, {}, {Row("act", 100, 10)}});
  EXPECT_THAT(Text(), Not(HasSubstr("actor")));
  options_.by = {"gap", "thread"};
  EXPECT_THAT(Text(), HasSubstr("from act in python (gemm)"));
  EXPECT_THAT(Text(), HasSubstr("Thread actor 7"));
}

TEST_F(ReportTextTest, ShowsBandsOfADeviceThatSeveralProcessesUsed) {
  options_.by = {"device"};
  report_.devices[0].processes = {{"host", 100, "python3", 5, 7}};
  EXPECT_THAT(Text(), Not(HasSubstr("contended")));
  report_.devices[0].processes.push_back({"host", 101, "other", 6, 7});
  EXPECT_THAT(Text(), HasSubstr("contended"));
}

}  // namespace
}  // namespace gpubound
