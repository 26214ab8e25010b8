// SPDX-License-Identifier: Apache-2.0
//
// What imported traces mean where tools leave something out, lose it or call it otherwise: the
// report says what the program did, or that it does not know.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/import/import.h"
#include "analysis/reader/reader.h"
#include "tests/analysis/trace_writer.h"
#include "tests/ledger_of.h"

namespace gpubound {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using testing_support::TemporaryRun;

// An event of Chrome JSON, with a comma before it. Times are in microseconds.
std::string Event(const std::string& category, const std::string& name, int64_t tid,
                  const std::string& ts, const std::string& dur, const std::string& args = "") {
  return ",\n{\"ph\": \"X\", \"cat\": \"" + category + "\", \"name\": \"" + name +
         "\", \"pid\": 11, \"tid\": " + std::to_string(tid) + ", \"ts\": " + ts +
         (dur.empty() ? "" : ", \"dur\": " + dur) + ", \"args\": {" + args + "}}";
}

std::string Correlation(int id) { return "\"correlation\": " + std::to_string(id); }

class ImportMeaning : public testing::Test {
 protected:
  // Adds a launch at |us| of 20 us, and its kernel from 30 us later on, of 100 us.
  void AddLaunch(int id, int64_t us, const char* launch = "cuda_runtime",
                 const char* name = "cudaLaunchKernel", int64_t tid = 11) {
    events_ += Event(launch, name, tid, std::to_string(us), "20", Correlation(id));
  }
  void AddKernel(int id, int64_t us, const std::string& dur = "100",
                 const char* category = "kernel") {
    events_ += Event(category, "gemm", 7, std::to_string(us + 30), dur,
                     Correlation(id) + ", \"device\": 0, \"stream\": 7");
  }
  void AddWork(int id, int64_t us) {
    AddLaunch(id, us);
    AddKernel(id, us);
  }
  // Eight launches with their kernels, 200 us apart, under an operation of 2 ms from 5 s on.
  void AddUsual() {
    events_ += Event("user_annotation", "learn", 11, "5000000", "2000");
    for (int i = 0; i < 8; ++i) AddWork(i + 1, 5'000'030 + 200 * i);
  }

  void Import(ReportWindow window = ReportWindow::kStep) {
    const std::string path = input_.Write("trace.json", "[{}" + events_ + "]");
    const TemporaryRun output;
    const auto summary = ImportTrace(path, output.path());
    ASSERT_TRUE(summary.ok()) << summary.error().ToString();
    Result<gpubound::Run> run = LoadRun(output.path());
    ASSERT_TRUE(run.ok()) << run.error().ToString();
    BreakdownOptions options;
    options.window = window;
    Result<Report> report = BuildReport(*run, options);
    ASSERT_TRUE(report.ok()) << report.error().ToString();
    report_ = std::move(*report);
  }

  uint64_t Counted(LedgerCounter counter) const { return LedgerOf(report_, counter); }
  const ReportProcess& Process() const { return report_.processes.at(0); }
  ReportOperation Row(const std::string& name) const {
    for (const ReportOperation& row : Process().operations) {
      if (row.operation == name) return row;
    }
    return {};
  }
  std::map<std::string, int64_t> Layers() const {
    std::map<std::string, int64_t> layers;
    for (const ReportCell& cell : Process().cells) layers[cell.layer] += cell.ns;
    return layers;
  }

  TemporaryRun input_;
  std::string events_;
  Report report_;
};

TEST_F(ImportMeaning, AWholeTraceIsComplete) {
  AddUsual();
  Import();
  EXPECT_THAT(report_.run.verdict, StartsWith("complete"));
  EXPECT_EQ(Process().gpu_busy_ns, 800'000);
  EXPECT_EQ(report_.run.work_ns, 1'500'000);
}

TEST_F(ImportMeaning, CpuEventsAtZeroCountForNothingAndAreCounted) {
  AddUsual();
  events_ += Event("cpu_op", "aten::mm", 11, "0.0", "0.0");
  events_ += Event("cuda_runtime", "cudaLaunchKernel", 11, "0.0", "0.0", Correlation(90));
  Import();
  EXPECT_EQ(Process().span_ns, 2'000'000);
  EXPECT_EQ(Counted(LedgerCounter::import_times_outlying), 2u);
  EXPECT_THAT(report_.run.verdict, Not(StartsWith("complete")));
}

TEST_F(ImportMeaning, AnEventAtZeroWhereOthersAreHasATime) {
  events_ += Event("cpu_op", "aten::mm", 11, "-5", "10");
  events_ += Event("cpu_op", "aten::mm", 11, "0.0", "0.0");
  Import();
  EXPECT_EQ(Counted(LedgerCounter::import_times_outlying), 0u);
}

TEST_F(ImportMeaning, AnEventFarFromAllOthersCountsForNothing) {
  AddUsual();
  events_ += Event("cpu_op", "aten::zeros", 11, "100", "3");
  Import();
  EXPECT_EQ(Process().span_ns, 2'000'000);
  EXPECT_EQ(Counted(LedgerCounter::import_times_outlying), 1u);
  EXPECT_THAT(report_.notes, testing::Contains(HasSubstr("5.00 s from all others")));
}

TEST_F(ImportMeaning, AKernelFarFromAllOthersIsUnknownFromItsLaunchOn) {
  AddUsual();
  AddLaunch(90, 5'001'800);
  AddKernel(90, 9'000'000'000);
  Import();
  EXPECT_EQ(Process().span_ns, 2'000'000);
  EXPECT_EQ(Process().unknown_ns, 200'000);
  EXPECT_EQ(Counted(LedgerCounter::import_times_outlying), 1u);
  EXPECT_EQ(Counted(LedgerCounter::import_launches_without_work), 0u);
}

TEST_F(ImportMeaning, LaunchesWithoutAnyKernelMakeGpuTimeUnknown) {
  events_ += Event("user_annotation", "learn", 11, "5000000", "2000");
  for (int i = 0; i < 8; ++i) AddLaunch(i + 1, 5'000'030 + 200 * i);
  Import();
  EXPECT_EQ(Process().unknown_ns, 2'000'000);
  EXPECT_EQ(Counted(LedgerCounter::import_launches_without_work), 8u);
}

TEST_F(ImportMeaning, LaunchesWhoseKernelsWereLostMakeGpuTimeUnknownFromThereOn) {
  events_ += Event("user_annotation", "learn", 11, "5000000", "2000");
  for (int i = 0; i < 2; ++i) AddWork(i + 1, 5'000'030 + 200 * i);
  for (int i = 2; i < 8; ++i) AddLaunch(i + 1, 5'000'030 + 200 * i);
  Import();
  EXPECT_EQ(Counted(LedgerCounter::import_launches_without_work), 6u);
  EXPECT_EQ(Process().unknown_ns, 2'000'000 - 430'000);
  EXPECT_THAT(report_.notes, testing::Contains(HasSubstr("6 launches of pid 11 have no kernel")));
}

TEST_F(ImportMeaning, AKernelThatWasLostEndsBeforeItsThreadHasWaitedForTheDevice) {
  AddUsual();
  AddLaunch(50, 5'000'160);
  events_ += Event("cuda_runtime", "cudaDeviceSynchronize", 11, "5000190", "20");
  Import();
  EXPECT_EQ(Counted(LedgerCounter::import_launches_without_work), 1u);
  EXPECT_EQ(Process().unknown_ns, 50'000);
}

TEST_F(ImportMeaning, LaunchesIntoACaptureHaveNoKernelToLose) {
  AddUsual();
  events_ += Event("cuda_runtime", "cudaStreamBeginCapture", 11, "5001700", "1");
  AddLaunch(50, 5'001'710);
  events_ += Event("cuda_runtime", "cudaStreamEndCapture", 11, "5001740", "1");
  Import();
  EXPECT_EQ(Counted(LedgerCounter::import_launches_without_work), 0u);
}

TEST_F(ImportMeaning, CallsThatSetMemoryMayDoNothing) {
  AddUsual();
  events_ += Event("cuda_runtime", "cudaMemsetAsync", 11, "5001800", "5", Correlation(60));
  Import();
  EXPECT_THAT(report_.run.verdict, StartsWith("complete"));
}

TEST_F(ImportMeaning, CategoriesOfOldVersionsAreThoseOfToday) {
  events_ += Event("Operator", "ProfilerStep#3", 11, "5000000", "1000");
  events_ += Event("Operator", "aten::mm", 11, "5000020", "60");
  AddLaunch(1, 5'000'030, "Runtime");
  AddKernel(1, 5'000'030, "100", "Kernel");
  Import();
  EXPECT_EQ(Process().gpu_busy_ns, 100'000);
  EXPECT_EQ(Layers()["cuda_api"], 20'000);
  EXPECT_EQ(Counted(LedgerCounter::kernels_without_launch), 0u);
  ASSERT_TRUE(Process().iterations);
  EXPECT_EQ(Process().iterations->count, 1u);
}

TEST_F(ImportMeaning, AProfileOfOneStepIsOneIterationAndNoWarmUp) {
  events_ += Event("user_annotation", "ProfilerStep#6", 11, "5000000", "1000");
  AddWork(1, 5'000'030);
  Import();
  ASSERT_TRUE(Process().iterations);
  EXPECT_EQ(Process().iterations->count, 1u);
  EXPECT_EQ(Process().iterations->warm_up, 0u);
  EXPECT_EQ(report_.run.headline, "iterations");
  EXPECT_EQ(report_.run.headline_ns, 1'000'000);
}

TEST_F(ImportMeaning, TheHeadlineIsAboutTheWindowThatIsAskedForAndTheOthersStandBesideIt) {
  events_ += Event("user_annotation", "ProfilerStep#6", 11, "5000000", "1000");
  AddWork(1, 5'000'030);
  AddWork(2, 5'000'230);
  events_ += Event("cpu_op", "aten::mm", 11, "5001000", "1000");
  const std::pair<ReportWindow, std::pair<const char*, double>> windows[] = {
      {ReportWindow::kStep, {"iterations", 0.2}},
      {ReportWindow::kWork, {"work", 2.0 / 3}},
      {ReportWindow::kWhole, {"span", 0.1}}};
  for (const auto& [window, headline] : windows) {
    Import(window);
    EXPECT_EQ(report_.run.headline, headline.first);
    EXPECT_DOUBLE_EQ(report_.run.gpu_busy_share, headline.second);
    EXPECT_DOUBLE_EQ(report_.run.work_gpu_busy_share, 2.0 / 3);
    EXPECT_DOUBLE_EQ(report_.run.whole_gpu_busy_share, 0.1);
  }
}

TEST_F(ImportMeaning, CallsOfEveryAcceleratorLaunchItsKernels) {
  events_ += Event("user_annotation", "learn", 11, "5000000", "2000");
  const std::pair<const char*, const char*> calls[] = {
      {"xpu_runtime", "urEnqueueKernelLaunch"},
      {"xpu_driver", "zeCommandListAppendLaunchKernel"},
      {"musa_runtime", "musaLaunchKernel"},
      {"privateuse1_runtime", "launchKernel"},
      {"mtia_runtime", "runtimeLaunch"}};
  int id = 0;
  for (const auto& [category, name] : calls) {
    ++id;
    AddLaunch(id, 5'000'000 + 200 * id, category, name);
    AddKernel(id, 5'000'000 + 200 * id);
  }
  Import();
  EXPECT_EQ(Counted(LedgerCounter::kernels_without_launch), 0u);
  EXPECT_EQ(Row("learn").gpu_caused_ns, 500'000);
}

TEST_F(ImportMeaning, WorkOfADeviceThatIsNotUnderstoodIsUnknownAndNotIdle) {
  const std::string usual = Event("cpu_op", "aten::mm", 11, "5000000", "1000");
  const std::string unlike[] = {
      Event("mtia_ccp_events", "k", 7, "5000100", "10"), Event("hpu_op", "k", 7, "5000100", "10"),
      ",{\"ph\": \"X\", \"name\": \"k\", \"pid\": 3, \"tid\": 7, \"ts\": 5000100, \"dur\": 10, "
      "\"args\": {\"stream\": 7}}",
      ",{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 3, \"args\": {\"name\": \"Ascend "
      "Hardware\"}}, {\"ph\": \"X\", \"name\": \"k\", \"pid\": 3, \"tid\": 7, \"ts\": 5000100, "
      "\"dur\": 10}"};
  for (const std::string& work : unlike) {
    events_ = usual + work;
    Import();
    EXPECT_EQ(Process().unknown_ns, 1'000'000) << work;
    EXPECT_EQ(Counted(LedgerCounter::import_work_not_understood), 1u) << work;
  }
}

TEST_F(ImportMeaning, AKernelThatEndsBeforeItBeginsRanForAnUnknownTime) {
  for (const char* length : {"-3.5", "null", ""}) {
    events_.clear();
    events_ += Event("user_annotation", "learn", 11, "5000000", "2000");
    AddWork(1, 5'000'030);
    AddLaunch(2, 5'001'000);
    AddKernel(2, 5'001'000, length);
    Import();
    EXPECT_EQ(Process().unknown_ns, 2'000'000 - 1'030'000) << length;
  }
}

TEST_F(ImportMeaning, AnOperationThatEndsBeforeItBeginsLastsToTheEnd) {
  events_ += Event("user_annotation", "learn", 11, "5000000", "-1");
  AddWork(1, 5'000'030);
  Import();
  EXPECT_EQ(Row("learn").count, 1u);
  EXPECT_EQ(Row("learn").wall_ns, 160'000);
  EXPECT_EQ(Counted(LedgerCounter::scopes_open_at_end), 1u);
  EXPECT_EQ(Counted(LedgerCounter::import_events_malformed), 1u);
}

TEST_F(ImportMeaning, AProcessThatIsCalledByAWordHasItForAName) {
  events_ += Event("cpu_op", "aten::mm", 11, "5000000", "10");
  for (const char* pid : {"rank A", "rank B", "9223372036854775813", "011"}) {
    events_ += ",{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"pid\": \"" +
               std::string(pid) + "\", \"tid\": 1, \"ts\": 5000000, \"dur\": 10}";
  }
  Import();
  std::vector<std::string> names;
  for (const ReportProcess& process : report_.processes) names.push_back(process.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("trace.json", "rank A", "rank B",
                                                   "9223372036854775813", "011"));
}

TEST_F(ImportMeaning, WorkThatSaysWhoseItIsNeedsNoLaunch) {
  for (const char* pid : {"501", "502"}) {
    events_ +=
        ",{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"a\", \"pid\": " + std::string(pid) +
        ", \"tid\": 1, \"ts\": 1000, \"dur\": 1000},{\"ph\": \"X\", \"cat\": \"kernel\", "
        "\"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": 1100, \"dur\": 100, \"args\": "
        "{\"device\": 0, \"stream\": 7, \"owner pid\": " +
        pid + "}}";
  }
  Import();
  ASSERT_EQ(report_.processes.size(), 2u);
  for (const ReportProcess& process : report_.processes) {
    EXPECT_EQ(process.gpu_busy_ns, 100'000);
    EXPECT_EQ(process.unknown_ns, 0);
  }
}

// The main thread waits in native code, of which no event tells, for a thread of autograd.
class WaitingThread : public ImportMeaning, public testing::WithParamInterface<const char*> {
 protected:
  void AddBackward() {
    for (int i = 0; i < 6; ++i) {
      const int64_t us = 5'000'410 + 90 * i;
      events_ += Event("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 12,
                       std::to_string(us), "60");
      AddLaunch(20 + i, us + 10, "cuda_runtime", "cudaLaunchKernel", 12);
      AddKernel(20 + i, us + 10, "40");
    }
  }
};

TEST_P(WaitingThread, IsInNativeCodeAndItsOperationLaunchesTheWork) {
  events_ += Event("user_annotation", "backpropagation", 11, "5000400", "600");
  events_ += GetParam();
  AddBackward();
  Import();
  EXPECT_EQ(Row("backpropagation").gpu_caused_ns, 240'000);
  EXPECT_EQ(Row("(no operation)").gpu_caused_ns, 0);
  EXPECT_EQ(Layers()["backend"] + Layers()["cuda_api"], 360'000);
  EXPECT_EQ(Layers()["python"], 240'000);
}

const std::string kBuiltIn =
    Event("python_function", "torch/_tensor.py(592): backward", 11, "5000400", "600") +
    Event("python_function", "<built-in method run_backward>", 11, "5000401", "598");

INSTANTIATE_TEST_SUITE_P(ImportMeaning, WaitingThread, testing::Values("", kBuiltIn.c_str()));

TEST_F(ImportMeaning, PythonThatRunsMeanwhileStaysPython) {
  events_ += Event("user_annotation", "collect", 11, "5000000", "1000");
  events_ += Event("python_function", "env.py(3): step", 11, "5000000", "1000");
  events_ += Event("cpu_op", "aten::pin_memory", 12, "5000100", "100");
  Import();
  EXPECT_EQ(Layers()["python"], 1'000'000);
}

TEST_F(ImportMeaning, AProfileWithoutAnnotationsHasOperationsAfterWhatPyTorchCallsItsOwn) {
  events_ += Event("python_function", "nn.Module: ActorCritic_0", 11, "5000000", "300");
  events_ += Event("python_function", "nn.Module: Linear_1", 11, "5000010", "100");
  AddWork(1, 5'000'030);
  events_ += Event("python_function", "<built-in method run_backward>", 11, "5000400", "560");
  for (int i = 0; i < 6; ++i) {
    const int64_t us = 5'000'410 + 90 * i;
    events_ += Event("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 12,
                     std::to_string(us), "60");
    AddLaunch(20 + i, us + 10, "cuda_runtime", "cudaLaunchKernel", 12);
    AddKernel(20 + i, us + 10, "40");
  }
  events_ += Event("user_annotation", "Optimizer.step#Adam.step", 11, "5001000", "200");
  AddWork(40, 5'001'010);
  Import();
  EXPECT_EQ(Row("ActorCritic").wall_ns, 300'000);
  EXPECT_EQ(Row("ActorCritic").gpu_caused_ns, 100'000);
  EXPECT_EQ(Row("backpropagation").wall_ns, 510'000);
  EXPECT_EQ(Row("backpropagation").count, 1u);
  EXPECT_EQ(Row("backpropagation").gpu_caused_ns, 240'000);
  EXPECT_EQ(Row("optimizer").wall_ns, 200'000);
  EXPECT_EQ(Row("Linear").count, 0u);
  EXPECT_THAT(report_.notes, testing::Contains(HasSubstr("has no annotations")));
}

TEST_F(ImportMeaning, AnAnnotatedProfileKeepsItsOwnOperations) {
  events_ += Event("user_annotation", "learn", 11, "5000000", "1000");
  events_ += Event("python_function", "nn.Module: ActorCritic_0", 11, "5000000", "300");
  events_ += Event("user_annotation", "Optimizer.step#Adam.step", 11, "5000400", "200");
  Import();
  EXPECT_EQ(Row("ActorCritic").count, 0u);
  EXPECT_EQ(Row("Optimizer.step#Adam.step").count, 1u);
}

TEST_F(ImportMeaning, OperationsThatAreNumberedAreOne) {
  for (int i = 0; i < 100; ++i) {
    events_ += Event("user_annotation", "step " + std::to_string(i), 11,
                     std::to_string(5'000'000 + 10 * i), "5");
  }
  events_ += Event("user_annotation", "conv2d", 11, "5002000", "5");
  Import();
  EXPECT_EQ(Row("step #").count, 100u);
  EXPECT_EQ(Row("conv2d").count, 1u);
}

TEST_F(ImportMeaning, BeyondAThousandOperationsTheShortestAreOne) {
  for (int i = 0; i < 1500; ++i) {
    const std::string name{static_cast<char>('a' + i / 676 % 26),
                           static_cast<char>('a' + i / 26 % 26), static_cast<char>('a' + i % 26)};
    events_ += Event("user_annotation", name, 11, std::to_string(5'000'000 + 10'000 * i),
                     std::to_string(i + 1));
  }
  Import();
  EXPECT_EQ(Row("(other names)").count, 500u);
  EXPECT_EQ(Process().operations.size(), 1002u);
}

}  // namespace
}  // namespace gpubound
