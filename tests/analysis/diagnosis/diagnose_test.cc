// SPDX-License-Identifier: Apache-2.0
#include "analysis/diagnosis/diagnose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/diagnosis/diagnosis_kinds.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// A run whose GPU is busy 80 % of the time and filled to 40 %.
class DiagnoseTest : public testing::Test {
 protected:
  DiagnoseTest() {
    report_.run.root = 100;
    report_.run.root_host = "host";
    report_.run.wall_ns = report_.run.headline_ns = 1000;
    report_.run.devices_used = 1;
    report_.run.gpu_busy_share = report_.run.whole_gpu_busy_share = 0.8;
    ReportProcess& process = report_.processes.emplace_back();
    process.host = "host";
    process.pid = 100;
    process.span_ns = 1000;
    process.gpu_busy_ns = 800;
    row().operation = "update";
    row().wall_ns = 1000;
    row().sm_filled_ns = 320;
    row().device_idle = {{"launch", 200}};
    AddKernel("gemm", "update", 600, 240);
  }
  ReportProcess& process() { return report_.processes[0]; }
  ReportOperation& row() {
    auto& rows = process().operations;
    return rows.empty() ? rows.emplace_back() : rows.front();
  }
  void AddKernel(const std::string& name, const std::string& operation, int64_t ns,
                 int64_t filled_ns) {
    ReportKernel kernel;
    kernel.name = name;
    kernel.work_class = "compute";
    kernel.count = 10;
    kernel.sum_ns = ns;
    kernel.sm_filled_ns = filled_ns;
    process().kernels.push_back(kernel);
    process().operation_kernels.push_back({operation, kernel});
  }
  void MakeIdle(const std::string& cause, double share) {
    report_.run.gpu_busy_share = report_.run.whole_gpu_busy_share = 1 - share;
    row().device_idle = {{cause, 100}};
  }
  void AddGap(int64_t ns, const std::string& call, int64_t call_ns) {
    ReportGap& gap = process().gaps.emplace_back();
    gap.cause = "launch";
    gap.ns = ns;
    gap.call = call;
    gap.call_ns = call_ns;
  }
  void Starve(double share) {
    TreePeaks& tree = process().process_tree.emplace();
    tree.processes = 4;
    tree.cpu_ns = static_cast<int64_t>((1 - share) * 1000);
    tree.run_delay_ns = static_cast<int64_t>(share * 1000);
  }
  void Share(int64_t peers_ns) {
    ReportDevice& device = report_.devices.emplace_back();
    device.used = true;
    device.processes = {{"host", 100, "ppo", 400, 0}, {"host", 101, "ppo", peers_ns, 0}};
    process().device_shares.push_back({"GPU-1", 0, "update", 1000, 400, 600, 0, {}});
  }
  std::vector<ReportDiagnosis> All() const { return Diagnose(report_); }
  ReportDiagnosis First() const { return All().front(); }
  std::vector<std::string> Kinds() const {
    std::vector<std::string> kinds;
    for (const ReportDiagnosis& finding : All()) kinds.push_back(finding.kind);
    return kinds;
  }

  Report report_;
};

TEST_F(DiagnoseTest, ABusyGpuThatKernelsFillIsTheLimit) {
  EXPECT_EQ(First().kind, kGpuBound);
  EXPECT_EQ(First().finding,
            "GPU-bound: the GPU is busy 80 % of the time, and its kernels fill 40 % of it.");
  EXPECT_THAT(First().action, HasSubstr("gemm takes 100 % of GPU time, in update."));
  EXPECT_EQ(First().severity, "high");
  EXPECT_EQ(First().operation, "update");
}

TEST_F(DiagnoseTest, OfSmallKernelsTheCostliestAndItsOperationAreNamed) {
  row().sm_filled_ns = 80;
  process().operation_kernels.clear();
  process().kernels.clear();
  AddKernel("gemm", "update", 600, 60);
  AddKernel("relu", "act", 200, 20);
  EXPECT_EQ(First().kind, kGpuBoundSmallKernels);
  EXPECT_THAT(First().finding, HasSubstr("but its kernels fill only 10 % of it"));
  EXPECT_EQ(First().action,
            "Use larger minibatches (batch_size) in update: gemm takes 75 % of GPU time and fills "
            "10 % of the GPU, so that more rows cost little.");
  process().operation_kernels[0].operation = "inference";
  EXPECT_THAT(First().action, HasSubstr("Step more environments at once (n_envs, num_envs) in"));
  process().operation_kernels[0].operation = "x";
  EXPECT_THAT(First().action, HasSubstr("Give each launch more rows in x: "));
}

TEST_F(DiagnoseTest, OfSmallKernelsTheOneThatLeavesMostOfTheGpuUnusedIsNamed) {
  row().sm_filled_ns = 190;
  process().operation_kernels.clear();
  AddKernel("full", "update", 190, 190);
  AddKernel("tiny", "act", 180, 2);
  EXPECT_EQ(First().kind, kGpuBoundSmallKernels);
  EXPECT_THAT(First().action, HasSubstr(" in act: tiny takes"));
}

TEST_F(DiagnoseTest, ElementwiseKernelsThatTakeAQuarterOfGpuTimeAreToBeFused) {
  AddKernel("void at::native::elementwise_kernel<128, 4, f>(int, f)", "update", 300, 300);
  process().kernels.back().category = "elementwise";
  const std::vector<ReportDiagnosis> all = All();
  const auto found = std::find_if(all.begin(), all.end(), [](const ReportDiagnosis& one) {
    return one.kind == kElementwiseKernels;
  });
  ASSERT_NE(found, all.end());
  EXPECT_EQ(found->finding, "Elementwise kernels are 33 % of GPU time.");
  EXPECT_THAT(found->action, HasSubstr("torch.compile"));
  EXPECT_NEAR(found->share, 0.8 / 3, 1e-9) << "of the time, in which the GPU is busy 80 %";
  process().kernels.back().name = "_ZN2at6native18elementwise_kernelILi128ELi4EiEEvv";
  EXPECT_THAT(Kinds(), testing::Contains(kElementwiseKernels)) << "as CUPTI names it";
}

TEST_F(DiagnoseTest, ElementwiseKernelsAreNoFindingWhereTheyAreFewOrFusedOrTheGpuIsIdle) {
  AddKernel("triton_poi_fused_add_0", "update", 300, 300);
  process().kernels.back().category = "elementwise";
  EXPECT_THAT(Kinds(), Not(testing::Contains(kElementwiseKernels))) << "a compiler fused them";
  process().kernels.back().name = "at::native::elementwise_kernel";
  process().kernels.back().sum_ns = 100;
  EXPECT_THAT(Kinds(), Not(testing::Contains(kElementwiseKernels)));
  process().kernels.back().sum_ns = 300;
  EXPECT_THAT(Kinds(), testing::Contains(kElementwiseKernels));
  MakeIdle("launch", 0.9);
  EXPECT_THAT(Kinds(), Not(testing::Contains(kElementwiseKernels)));
}

TEST_F(DiagnoseTest, AGpuThatMostlyCopiesIsNotBlamedOnItsKernels) {
  report_.run.compute_share = 0.2;
  report_.run.copy_share = 0.6;
  row().sm_filled_ns = 190;  // of 200 ns of kernels
  row().gpu_copy_ns = 600;
  EXPECT_EQ(First().kind, kCopyBound);
  EXPECT_THAT(First().finding, HasSubstr("copies data and computes nothing for 60 %"));
  EXPECT_EQ(First().operation, "update");
  EXPECT_THAT(Kinds(), Not(testing::Contains(kSmallKernels))) << "those that there are fill it";
  report_.run.critical_path.emplace().wall_ns = 1000;
  report_.run.savings = {{"gpu", "", 0.5, 600, 0.4, 0.39, 0.41},
                         {"operation_gpu", "update", 0.5, 700, 0.3, 0.29, 0.31}};
  EXPECT_THAT(First().gain, HasSubstr("Twice as fast, the GPU work of update would save 30 %"));
  report_.run.compute_share = 0.7;
  EXPECT_EQ(First().kind, kGpuBound) << "copies beside kernels cost nothing";
}

TEST_F(DiagnoseTest, AFillThatIsOnlyKnownAtMostIsNotSaid) {
  row().sm_filled_ns = 80;
  process().sm_fill_is_upper_bound = true;
  EXPECT_EQ(First().finding, "GPU-bound: the GPU is busy 80 % of the time.");
}

TEST_F(DiagnoseTest, ABusyGpuForWhichNobodyWaitsIsNotTheLimit) {
  report_.run.gpu_limited_share = 0.1;
  ReportCriticalPath& path = report_.run.critical_path.emplace();
  path.wall_ns = 1000;
  path.parts = {{"host", 100, "act", "python", 700, 0},
                {"host", 100, "update", "gpu compute", 300, 0}};
  EXPECT_EQ(First().kind, kCpuBound);
  EXPECT_THAT(First().finding, HasSubstr("waits for CPU code, in act for 70 % of its time"));
  path.parts[0].layer = "wait";
  EXPECT_EQ(First().kind, kSeveralCauses);
  EXPECT_THAT(First().finding, HasSubstr("an infinitely fast one would save 10 %"));
}

// Of a short run imports are much, and are no part of what goes on.
TEST_F(DiagnoseTest, OfALoopTheCpuCodeOutsideItIsNoLimit) {
  report_.run.gpu_limited_share = 0.1;
  report_.run.headline = "iterations";
  report_.run.headline_ns = report_.run.wall_ns / 2;
  ReportCriticalPath& path = report_.run.critical_path.emplace();
  path.wall_ns = 1000;
  path.loop_ns = 400;
  path.parts = {{"host", 100, kNoOperation, "python", 600, 20},
                {"host", 100, "act", "python", 280, 280},
                {"host", 100, "update", "gpu compute", 120, 100}};
  EXPECT_EQ(First().kind, kCpuBound);
  EXPECT_THAT(First().finding,
              HasSubstr("the loop waits for CPU code, in act for 70 % of its time"));
  path.loop_ns = 0;
  EXPECT_THAT(First().finding,
              HasSubstr("the run waits for CPU code, outside named operations for 60 %"));
}

TEST_F(DiagnoseTest, CollectivesThatAreMostOfTheBusyTimeAreTheLimit) {
  report_.run.comm_share = 0.5;
  EXPECT_THAT(Kinds(), ElementsAre(kCommunicationBound));
  report_.run.comm_share = 0.3;
  EXPECT_THAT(Kinds(), ElementsAre(kGpuBound, kCollectives));
}

TEST_F(DiagnoseTest, EveryCauseOfIdleTimeHasAKindAndAnAction) {
  const std::map<std::string, std::string> kinds = {
      {"launch", kLaunchBound},     {"simulation", kEnvironmentBound},
      {"sync", kSyncBound},         {"copy", kCopyBound},
      {"waiting", kWaiting},        {"queued", kQueueGaps},
      {"event-wait", kQueueGaps},   {"compile", kCompilation},
      {"checkpoint", kCheckpoints}, {"start-up", kStartUp},
      {"unknown", kUnattributed}};
  for (const auto& [cause, kind] : kinds) {
    MakeIdle(cause, 0.7);
    EXPECT_EQ(First().kind, kind) << cause;
    EXPECT_THAT(First().finding, HasSubstr("the GPU is idle 70 % of the time")) << cause;
    EXPECT_THAT(First().finding, HasSubstr("busy 30 %")) << cause;
    EXPECT_FALSE(First().action.empty()) << cause;
  }
}

TEST_F(DiagnoseTest, WhatKeepsTheGpuIdleInWeightSyncIsThat) {
  for (const char* cause : {"launch", "waiting"}) {
    MakeIdle(cause, 0.7);
    row().operation = "weight_sync";
    EXPECT_EQ(First().kind, kWeightSync);
    EXPECT_THAT(First().finding, HasSubstr("while weights are synchronised in weight_sync"));
    EXPECT_THAT(First().action, HasSubstr("less often"));
  }
  MakeIdle("copy", 0.7);
  EXPECT_EQ(First().kind, kCopyBound) << "copies have a remedy of their own";
}

TEST_F(DiagnoseTest, TheActionNamesTheOperationWhereTheCauseHasMostTime) {
  MakeIdle("sync", 0.7);
  EXPECT_THAT(First().action, HasSubstr("less often in update: each .item()"));
  ReportOperation& other = process().operations.emplace_back();
  other.operation = "act";
  other.device_idle = {{"sync", 200}};
  EXPECT_THAT(First().action, HasSubstr("less often in act: each .item()"));
  other.operation = kNoOperation;
  EXPECT_THAT(First().action, HasSubstr("less often: each .item()"));
}

TEST_F(DiagnoseTest, SharesAreOfTheTimeAndNotOfTheIdleTime) {
  MakeIdle("sync", 0.6);
  row().device_idle = {{"sync", 60}, {"launch", 40}};
  EXPECT_THAT(First().finding, HasSubstr("the GPU is idle 36 % of the time since"));
}

TEST_F(DiagnoseTest, WhereNoCauseIsLargeNoneIsBlamed) {
  MakeIdle("sync", 0.6);
  row().device_idle = {
      {"sync", 24}, {"launch", 20}, {"copy", 20}, {"simulation", 18}, {"queued", 18}};
  EXPECT_EQ(First().kind, kSeveralCauses);
  EXPECT_EQ(First().action, "");
}

TEST_F(DiagnoseTest, CudaCallsThatTakeLongAreStartUpAndNamed) {
  MakeIdle("launch", 0.8);
  row().device_idle = {{"launch", 100}};
  AddGap(60, "cudaDeviceGetStreamPriorityRange", 59);
  AddGap(20, "cudaFree", 20);
  AddGap(10, "cudaMalloc", 4);  // less than half of it
  EXPECT_EQ(First().kind, kStartUp);
  EXPECT_THAT(First().finding,
              HasSubstr("while CUDA starts (59 ns of cudaDeviceGetStreamPriorityRange, 20 ns of "
                        "cudaFree)"));
}

TEST_F(DiagnoseTest, PythonIsNamedWhereItRanAndMatters) {
  MakeIdle("launch", 0.7);
  EXPECT_THAT(First().finding, HasSubstr("while the CPU prepares launches"));
  process().cells.push_back({"", "", "python", "idle", 1});
  EXPECT_THAT(First().finding, HasSubstr("while Python prepares launches"));
  ReportCriticalPath& path = report_.run.critical_path.emplace();
  path.wall_ns = 1000;
  path.parts = {{"host", 100, "act", "python", 40}};
  EXPECT_THAT(First().finding, HasSubstr("while the CPU prepares launches"));
  path.parts[0].ns = 400;
  EXPECT_THAT(First().finding, HasSubstr("while Python prepares launches"));
  report_.run.savings = {{"layer", "python", 0.5, 980, 0.02, 0.01, 0.03}};
  EXPECT_THAT(First().finding, HasSubstr("while the CPU prepares launches"));
}

TEST_F(DiagnoseTest, EnvironmentWorkersThatAreWaitedForAreCounted) {
  MakeIdle("simulation", 0.7);
  row().waiting_ns = 100;
  process().waits = {{{101, 102}, "update", 100}};
  for (const int64_t pid : {101, 102}) {
    process().awaited.push_back({pid, "update", true, 100, {{"simulation", "python", 100}}});
  }
  EXPECT_EQ(First().kind, kEnvironmentWorkers);
  EXPECT_THAT(First().finding, HasSubstr("while it waits for 2 workers to step environments"));
}

TEST_F(DiagnoseTest, WaitingForBatchesIsInput) {
  MakeIdle("waiting", 0.7);
  row().operation = "sample";
  EXPECT_EQ(First().kind, kInputBound);
}

TEST_F(DiagnoseTest, ThreadsWithoutACoreAreTheLimitWhereTheCpuIsWaitedFor) {
  MakeIdle("simulation", 0.7);
  Starve(0.5);
  EXPECT_THAT(Kinds(), ElementsAre(kCpuStarvation, kEnvironmentBound));
  EXPECT_THAT(First().action, HasSubstr("OMP_NUM_THREADS"));
  MakeIdle("sync", 0.7);
  EXPECT_THAT(Kinds(), ElementsAre(kSyncBound, kCpuStarvation));
  Starve(0.09);
  EXPECT_THAT(Kinds(), ElementsAre(kSyncBound));
}

TEST_F(DiagnoseTest, ThreadsThatTheProcessItselfCountedWithoutACoreAreSaid) {
  MakeIdle("sync", 0.7);
  process().threads_cpu = {600, 399};
  EXPECT_THAT(Kinds(), ElementsAre(kSyncBound, kCpuStarvation));
  EXPECT_THAT(All().back().finding, HasSubstr("no core 40 % of the time"));
  process().threads_cpu = {20, 20};  // a hundredth of the run's time
  EXPECT_THAT(Kinds(), ElementsAre(kSyncBound));
  process().threads_cpu = {600, std::nullopt};
  EXPECT_THAT(Kinds(), ElementsAre(kSyncBound));
}

TEST_F(DiagnoseTest, MissingCoresAreTheLimitOnlyWhereOperationsLackedThem) {
  MakeIdle("simulation", 0.7);
  process().threads_cpu = {100, 900};
  row().cpu.emplace().ready_ns = row().wall_ns / 2;
  EXPECT_THAT(Kinds(), ElementsAre(kCpuStarvation, kEnvironmentBound));
  row().cpu->ready_ns = row().wall_ns / 10;  // it was imports that lacked them
  EXPECT_THAT(Kinds(), ElementsAre(kEnvironmentBound, kCpuStarvation));
}

TEST_F(DiagnoseTest, ProcessesThatShareABusyGpuWaitForEachOther) {
  Share(400);
  EXPECT_EQ(First().kind, kSharedGpu);
  EXPECT_THAT(First().finding, HasSubstr("2 processes keep it 80 % busy"));
  report_.run.gpu_busy_share = 0.7;
  EXPECT_NE(First().kind, kSharedGpu) << "there is time left";
}

TEST_F(DiagnoseTest, MuchUnknownTimeMakesNoVerdict) {
  report_.run.unknown.share = 0.3;
  EXPECT_EQ(First().kind, kInconclusive);
  EXPECT_THAT(First().action, HasSubstr("gpubound doctor"));
  report_.run.unknown.share = 0.2;
  EXPECT_EQ(First().kind, kGpuBound);
  EXPECT_THAT(First().finding, HasSubstr("busy >= 80 %"));
}

TEST_F(DiagnoseTest, ARunWithoutAGpuNamesTheLargestPartOfItsLoop) {
  Report report;
  ReportProcess& process = report.processes.emplace_back();
  process.span_ns = 100;
  process.operations.emplace_back().operation = kNoOperation;
  process.operations.back().wall_ns = 70;
  process.operations.emplace_back().operation = "inference";
  process.operations.back().wall_ns = 30;
  EXPECT_THAT(Diagnose(report).front().finding,
              HasSubstr("No GPU work: 70 % of the run lies outside named operations."));
  ReportIterations& loop = process.iterations.emplace();
  loop.count = 4;
  loop.total_ns = 40;
  loop.operations = {{"simulation", 30, 0, 0}, {kNoOperation, 10, 0, 0}};
  const ReportDiagnosis made = Diagnose(report).front();
  EXPECT_EQ(made.kind, kCpuOnly);
  EXPECT_EQ(made.finding, "No GPU work: simulation takes 75 % of the loop.");
  EXPECT_THAT(made.action, HasSubstr("worker processes"));
  ReportProcess worker;
  worker.operations.emplace_back().operation = "simulation";
  worker.operations.back().wall_ns = 90;
  report.processes.push_back(worker);
  EXPECT_EQ(Diagnose(report).front().action,
            "Use more environment workers, or make step() faster.");
}

TEST_F(DiagnoseTest, AProgramWithoutAGpuThatWaitsForItsWorkersSaysSo) {
  Report report;
  ReportProcess& process = report.processes.emplace_back();
  process.span_ns = 100;
  process.operations.emplace_back().operation = "collect";
  process.operations.back().wall_ns = 90;
  process.waits = {{{101, 102, 103}, "collect", 80}};
  EXPECT_EQ(Diagnose(report).front().finding,
            "No GPU work: the program waits 80 % of the run for 3 processes in collect.");
  process.waits[0].ns = 20;
  EXPECT_EQ(Diagnose(report).front().kind, kCpuOnly);
}

// As where a network is slow, or workers of which nothing is known.
TEST_F(DiagnoseTest, AnOperationWithoutAGpuThatMostlyWaitsIsNotToldToBeFaster) {
  Report report;
  ReportProcess& process = report.processes.emplace_back();
  process.span_ns = 100;
  process.operations.emplace_back().operation = "average";
  process.operations.back().wall_ns = 90;
  process.cells = {{"", "average", "wait", "idle", 70}, {"", "average", "python", "idle", 20}};
  const ReportDiagnosis made = Diagnose(report).front();
  EXPECT_EQ(made.kind, kWaiting);
  EXPECT_EQ(made.operation, "average");
  EXPECT_EQ(made.finding,
            "No GPU work: average takes 90 % of the run, and waits 78 % of that time.");
  EXPECT_THAT(made.action, HasSubstr("what it waits for"));
  process.cells[0].ns = 40;
  process.cells[1].ns = 50;
  EXPECT_EQ(Diagnose(report).front().kind, kCpuOnly);
}

TEST_F(DiagnoseTest, ARunWithoutProcessesSaysWhatMayExplainThat) {
  const std::vector<ReportDiagnosis> findings = Diagnose(Report{});
  EXPECT_EQ(findings.front().finding, "No process was recorded.");
  EXPECT_GE(findings.size(), 7u) << "what may explain it";
  for (const ReportDiagnosis& finding : findings) EXPECT_EQ(finding.kind, kNothingRecorded);
}

TEST_F(DiagnoseTest, TheLargestSavingGoesWithTheFirstFindingWhereItIsWorthAnAction) {
  EXPECT_FALSE(First().saving);
  report_.run.savings = {{"kernel", "gemm", 0.5, 960, 0.04, 0.03, 0.05}};
  EXPECT_FALSE(First().saving) << "nobody acts on 4 %";
  report_.run.savings.insert(report_.run.savings.begin(), {"gpu", "", 0.5, 700, 0.3, 0.2, 0.4});
  report_.run.comm_share = 0.3;
  ASSERT_TRUE(First().saving);
  EXPECT_EQ(First().saving->part, "gpu");
  EXPECT_FALSE(All()[1].saving);
  EXPECT_EQ(All()[1].gain, "") << "what else is worth knowing asks for no change of its own";
}

TEST_F(DiagnoseTest, WhereIterationsAreLittleOfTheRunTheGainSaysSo) {
  report_.run.critical_path.emplace().wall_ns = report_.run.wall_ns = 1000;
  ReportIterations& iterations = report_.processes.front().iterations.emplace();
  iterations.count = 10;
  iterations.total_ns = 600;
  EXPECT_THAT(First().gain, Not(HasSubstr("iteration")));
  iterations.total_ns = 110;
  EXPECT_THAT(First().gain, HasSubstr("would save 5 % of the run's time, of which iterations are "
                                      "11 %; gpubound whatif says what an iteration would save."));
}

TEST_F(DiagnoseTest, WhereTheHeadlineIsAboutIterationsSoIsTheGain) {
  report_.run.headline = "iterations";
  report_.run.critical_path.emplace().wall_ns = 1000;
  EXPECT_THAT(First().gain, HasSubstr("would save 5 % of the run's time."))
      << "nothing was replayed of them";
  report_.run.critical_path->loop_ns = 100;
  EXPECT_EQ(First().gain,
            "No single part that is made twice as fast would save 5 % of an iteration's time.");
  report_.run.savings = {{"gpu", "", 0.5, 7, 0.3, 0.295, 0.305, true}};
  EXPECT_EQ(First().gain,
            "Twice as fast, all GPU work would save 30 % (29 to 31) of an iteration's time.");
}

TEST_F(DiagnoseTest, TheGainIsWhatTheActionAsksFor) {
  const auto gain = [this] { return First().gain; };
  EXPECT_EQ(gain(), "") << "nothing was replayed";
  report_.run.critical_path.emplace().wall_ns = 1000;
  EXPECT_THAT(gain(), HasSubstr("No single part that is made twice as fast would save 5 %"));
  report_.run.savings = {{"gpu", "", 0.5, 700, 0.3, 0.295, 0.305},
                         {"operation_cpu", "update", 0.5, 900, 0.1, 0.09, 0.11}};
  EXPECT_EQ(gain(), "Twice as fast, all GPU work would save 30 % (29 to 31) of the run's time.");
  MakeIdle("launch", 0.7);
  EXPECT_THAT(gain(), HasSubstr("Twice as fast, the CPU code of update would save 10 %"));
  MakeIdle("sync", 0.7);
  EXPECT_EQ(gain(), "Without that idle time the run would take at most 70 % less time.");
  MakeIdle("simulation", 0.7);
  Starve(0.5);
  EXPECT_THAT(gain(), HasSubstr("CPU code of update")) << "that is what is short of cores";
  report_.run.unknown.share = 0.3;
  EXPECT_EQ(gain(), "");
}

TEST_F(DiagnoseTest, WhoSharesAGpuGainsWhatOthersUse) {
  Share(400);
  EXPECT_THAT(First().gain, HasSubstr("On a GPU of its own each process would take at most"));
}

TEST_F(DiagnoseTest, SlowIterationsAreSaidFromTwentyOn) {
  report_.run.headline = "iterations";
  ReportIterations& all = process().iterations.emplace();
  all.series.idle_ns = {{"launch", {200}}};
  all.count = 19;
  all.median_ns = 10;
  all.p95_ns = 25;
  EXPECT_THAT(Kinds(), ElementsAre(kGpuBound));
  all.count = 20;
  EXPECT_THAT(Kinds(), ElementsAre(kGpuBound, kSlowIterations));
  EXPECT_THAT(All()[1].finding, HasSubstr("2.5 times the median"));
}

TEST_F(DiagnoseTest, IterationsThatBecomeFasterAndOnesThatTakeLongAreSaid) {
  report_.run.headline = "iterations";
  ReportIterations& all = process().iterations.emplace();
  all.series.idle_ns = {{"launch", {200}}};
  all.count = 24;
  all.median_ns = 400;
  all.p95_ns = 430;
  for (int64_t i = 0; i < 24; ++i) {
    all.every.push_back({i + 2, 0, (i < 13 ? 420 : 280) + i * 7919 % 11, 0, false});
  }
  EXPECT_THAT(Kinds(), ElementsAre(kGpuBound, kStepChange));
  EXPECT_EQ(All()[1].finding,
            "Iterations from number 15 on take 285 ns instead of 425 ns, in the mean.");
  for (ReportIteration& iteration : all.every) iteration.ns = 400 + iteration.number * 7919 % 50;
  EXPECT_THAT(Kinds(), ElementsAre(kGpuBound)) << "they only vary";
  all.every[5].ns = 2120;
  all.slowest = {all.every[5]};
  all.total_ns = 12'000;
  EXPECT_THAT(Kinds(), ElementsAre(kGpuBound, kSlowIterations));
  EXPECT_EQ(All()[1].finding, "Iteration 7 takes 2.12 us, 5.3 times the median.");
}

TEST_F(DiagnoseTest, WhatNvidiaSmiOverstatesIsSaidOfWhatItMeasuredAlone) {
  report_.run.gpu_busy_share = 0.5;
  report_.run.smi_model = 1;
  EXPECT_THAT(Kinds(), Not(testing::Contains(kInflatedUtilization)));
  report_.run.nvml_utilization = 0.9;
  EXPECT_THAT(Kinds(), testing::Contains(kInflatedUtilization));
}

TEST_F(DiagnoseTest, ControlCharactersOfNamesReachNoTerminal) {
  AddKernel("evil\033[2J", "update", 900, 9);
  EXPECT_THAT(First().action, Not(HasSubstr("\033")));
}

}  // namespace
}  // namespace gpubound
