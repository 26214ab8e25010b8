// SPDX-License-Identifier: Apache-2.0
//
// What of a real run's report fits a screen of 24 lines, and how long it is in all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <sstream>

#include "analysis/base/text_table.h"
#include "analysis/output/text/report_text.h"
#include "analysis/trace/row_names.h"
#include "tests/analysis/report_rows.h"

namespace gpubound {
namespace {

using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int64_t kMs = 1'000'000;

// A training run on one device with all that a report can say of it: iterations, a correction,
// progress, causes of idle time, a critical path, a ledger.
class ReportScreenTest : public testing::Test {
 protected:
  ReportScreenTest() {
    report_.device_kind = "simulated";
    ReportRun& run = report_.run;
    run.root = 15317;
    run.wall_ns = 9940 * kMs;
    run.devices_used = 1;
    run.gpu_busy_share = run.compute_share = 0.41;
    run.copy_share = 0.0004;
    run.gpu_limited_share = 0.4;
    run.whole_gpu_busy_share = 0.38;
    run.smi_model = 1;
    run.headline = "iterations";
    run.headline_ns = 9200 * kMs;
    run.verdict = "complete: nothing was lost.";
    const double infinite = std::numeric_limits<double>::infinity();
    run.what_if = {"inference", 2, 0.91, 0.9, 0.92};
    run.what_if_free = {"inference", infinite, 0.82, 0.8, 0.84};
    ReportCriticalPath& path = run.critical_path.emplace();
    path.wall_ns = 9920 * kMs;
    for (int i = 0; i < 20; ++i) {
      path.parts.push_back({"", 15317, "backpropagation", "gpu compute", 496 * kMs});
    }
    path.speedups = {{"device", 1780 * kMs}, {"operation inference", 9820 * kMs}};
    report_.devices.emplace_back().name = "gpubound simulated device 0";
    report_.devices.front().used = true;
    AddMain();
    report_.ledger = {{"simulated_device", 1, Severity::kNotice, "The GPU is a simulated device."}};
  }

  void AddMain() {
    ReportProcess& main = report_.processes.emplace_back();
    main.pid = 15317;
    main.name = "cartpole_ppo";
    main.span_ns = 9940 * kMs;
    main.gpu_busy_ns = 3800 * kMs;
    for (const char* name : {"backpropagation", "inference", "simulation", "(no operation)",
                             "optimizer", "evaluation"}) {
      ReportOperation& row = main.operations.emplace_back(Row(name, 1650 * kMs, 630 * kMs));
      row.gpu_caused_ns = row.gpu_only_ns = row.idle_ns = 31'200'000;
      row.sm_filled_ns = 90 * kMs;
      row.device_idle = {{"sync", 700 * kMs},    {"launch", 170 * kMs}, {"simulation", 56 * kMs},
                         {"start-up", 50 * kMs}, {"copy", 11 * kMs},    {"unknown", 11 * kMs}};
    }
    main.cells = {{kNoPhase, "inference", "cuda_sync", "compute", 9240 * kMs},
                  {kNoPhase, "inference", "cuda_api", "compute", 407 * kMs},
                  {kNoPhase, "inference", "native", "idle", 235 * kMs},
                  {kNoPhase, "simulation", "wait", "idle", 57 * kMs},
                  {kNoPhase, "simulation", "simulator", "idle", 1 * kMs}};
    ReportIterations& iterations = main.iterations.emplace();
    iterations.warm_up = 1;
    iterations.count = 23;
    iterations.mean_ns = iterations.median_ns = 400 * kMs;
    iterations.p95_ns = 510 * kMs;
    iterations.slowest.push_back({13, 0, 571 * kMs, 5});
    iterations.series.idle_ns = {{"sync", {100}}};
    main.progress = ReportProgress{25, 100, 6840 * kMs};
    auto corrected = std::make_shared<CorrectedProcess>();
    corrected->process.span_ns = 9920 * kMs;
    corrected->span = {9890 * kMs, 9940 * kMs};
    corrected->in_run.unchecked = {{"scopes", "it is short"}, {"CUDA calls", "of graphs"}};
    main.corrected = corrected;
  }

  void AddWorkers(int count) {
    for (int i = 0; i < count; ++i) {
      ReportProcess& worker = report_.processes.emplace_back(report_.processes.front());
      worker.pid += i + 1;
      worker.name = "worker";
    }
  }

  void ExpectToFit(bool full, bool raw) {
    options_.full = full;
    options_.raw = raw;
    for (const int width : {60, 80, 120}) {
      options_.width = width;
      std::istringstream lines(Text());
      for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(DisplayWidth(line), width) << line;
      }
    }
  }

  std::string Text() const { return RenderText(report_, options_); }
  static int64_t LinesOf(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  }
  // Up to the empty line behind the table's: the screen, without the prompt's line.
  static std::string ScreenOf(const std::string& text) {
    return text.substr(0, text.find("\n\n", text.find("\n\n") + 2) + 1);
  }

  Report report_;
  TextOptions options_;
};

// Of what is less than a column the larger one gets it.
TEST_F(ReportScreenTest, ABarEndsInTheLargerOfSmallParts) {
  ReportOperation& row = report_.processes.front().operations.front();
  const int64_t wall_ns = row.wall_ns;
  const auto with_idle = [&](int64_t idle_ns, int64_t cpu_only_ns) {
    row = Row(row.operation, wall_ns, 0);
    row.idle_ns = idle_ns;
    row.cpu_only_ns = cpu_only_ns;
    row.gpu_only_ns = row.gpu_busy_ns = wall_ns - idle_ns - cpu_only_ns;
    options_.unicode = false;
    return Text();
  };
  const int64_t little = wall_ns / 100;  // two columns are |wall_ns|
  EXPECT_THAT(with_idle(22 * little, 16 * little), HasSubstr(" #.\n"));
  EXPECT_THAT(with_idle(16 * little, 22 * little),
              ContainsRegex("\nbackpropagation [^\n]*ms #-\n"));
}

TEST_F(ReportScreenTest, OneScreenSaysItAll) {
  const std::string screen = ScreenOf(Text());
  EXPECT_LE(LinesOf(screen), 25) << screen;
  size_t at = 0;
  for (const char* part :
       {"GPU really", "Wall time 9.94 s, without the profiler 9.92 s", "slower", "all of it takes",
        "Trust:", "GPU-limited", "SIMULATED DEVICE", "Operation ", "█", "Layers: ", "GPU idle ",
        "Iterations: 23", "> Waiting for results", "> With infinitely fast"}) {
    const size_t found = screen.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << " is missing or too early in\n" << screen;
    at = found;
  }
}

TEST_F(ReportScreenTest, WhatLiesOutsideOfTheLoopIsSaidAtTheTop) {
  ReportProcess& main = report_.processes.front();
  main.iterations->start_up_ns = main.span_ns / 20;
  main.iterations->shutdown_ns = main.span_ns / 10;
  EXPECT_THAT(Text(), HasSubstr("\nStart-up 497 ms, loop 8.45 s, shutdown 994 ms.\nTrust"));
}

TEST_F(ReportScreenTest, TheDetailsAreShortAndTheLastLineSaysWhatHasMore) {
  EXPECT_LE(LinesOf(Text()), 40) << Text();
  EXPECT_THAT(Text(), HasSubstr("Critical path, 9.92 s: "));
  EXPECT_THAT(Text(), Not(HasSubstr("simulated_device 1"))) << "it is said above";
  EXPECT_THAT(Text(), EndsWith("\n\nMore: --full, --kernels, --by layer,phase,process,device,"
                               "thread,iteration,gap\n"));
}

TEST_F(ReportScreenTest, NineProcessesAreNoLonger) {
  AddWorkers(8);
  EXPECT_THAT(ScreenOf(Text()), HasSubstr("\ncartpole_ppo (pid 15317), one of 9 processes:\n"));
  EXPECT_LE(LinesOf(Text()), 41) << Text();
}

TEST_F(ReportScreenTest, NothingIsWiderThanTheTerminal) {
  const std::string name =
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)";
  report_.run.what_if->operation = report_.run.what_if_free->operation = name;
  report_.run.critical_path->parts.front().operation = name;
  report_.run.critical_path->speedups.push_back({"operation " + name, 1});
  report_.processes.front().gaps = {
      {"GPU-1", 0, 5, 90, "launch", name, "python", name, "backend", name, name, "", 0}};
  report_.devices.front().uuid = "GPU-c2a8d8a3-5f0e-4c47-9b0a-0a1b2c3d4e5f";
  for (const char* by : {"", "gap", "device"}) {
    if (*by != '\0') options_.by = {by};
    for (const bool full : {false, true}) ExpectToFit(full, false);
  }
  options_.by = {"operation", "phase"};
  ExpectToFit(true, true);
}

TEST_F(ReportScreenTest, DevicesWithoutAUuidAreToldApart) {
  report_.devices.front().name = "NVIDIA A100-PG509-200";
  report_.devices.push_back(report_.devices.front());
  options_.by = {"device"};
  EXPECT_THAT(Text(), HasSubstr("\nGPU 0: NVIDIA A100-PG509-200\nGPU 1: NVIDIA A100-PG509-200\n"));
}

TEST_F(ReportScreenTest, ADeviceIsANumberInTablesAndNamedInFullBeneath) {
  const std::string uuid = "GPU-c2a8d8a3-5f0e-4c47-9b0a-0a1b2c3d4e5f";
  report_.devices.front().uuid = uuid;
  report_.operation_devices = {{"inference", uuid, 9, 5, 4, 0, false}};
  options_.by = {"device"};
  EXPECT_THAT(Text(), HasSubstr("\nGPU 0 "));
  EXPECT_THAT(Text(), HasSubstr("\nGPU 0: gpubound simulated device 0 " + uuid + "\n"));
  EXPECT_THAT(Text(), HasSubstr("\ninference on GPU 0 "));
}

TEST_F(ReportScreenTest, TablesOfDevicesAndKernelsFitSixtyColumns) {
  options_.width = 60;
  options_.by = {"device"};
  options_.kernels = true;
  report_.devices.front().busy_ns = report_.devices.front().span_ns = 1'110 * kMs;
  report_.devices.front().has_unknown_time = true;
  report_.devices.front().inflation = 10.5;
  ReportOperationKernel& row = report_.processes[0].operation_kernels.emplace_back();
  row.kernel.sm_filled_ns = row.kernel.sum_ns = 5;
  row.kernel.sm_fill_is_upper_bound = row.kernel.lengths_rounded = true;
  std::istringstream lines(Text());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), 60) << line;
  EXPECT_THAT(Text(), HasSubstr("\nDevice  inflation\n"));
}

TEST_F(ReportScreenTest, OfALongLedgerTheWorstIsExplainedAndTheRestIsNamed) {
  report_.ledger = {{"a", 1, Severity::kError, "A."},
                    {"b", 1, Severity::kNotice, "B."},
                    {"c", 1, Severity::kNotice, "C."},
                    {"d", 7, Severity::kNotice, "D."}};
  report_.notes = {"one", "two", "three", "four", "five"};
  options_.run = "'my run.gpubound'";
  EXPECT_THAT(Text(), HasSubstr("\nnotice: c 1. C.\n"
                                "and d 7: gpubound doctor 'my run.gpubound' says what they are.\n"
                                "note: one\nnote: two\nnote: three\nand 2 more notes\n"));
  options_.full = true;
  EXPECT_THAT(Text(), HasSubstr("\nnotice: d 7. D.\n"));
  EXPECT_THAT(Text(), HasSubstr("\nnote: five\n"));
}

TEST_F(ReportScreenTest, OneMoreNoteIsOneNote) {
  report_.notes = {"one", "two", "three", "four"};
  EXPECT_THAT(Text(), HasSubstr("\nnote: three\nand 1 more note\n"));
}

TEST_F(ReportScreenTest, AtLengthEverySectionIsATable) {
  options_.full = true;
  for (const char* part : {"\nLayer ", "\nCritical path, 9.92 s\n", "slowest number 13",
                           "95 %), GPU busy", "notice: simulated_device 1."}) {
    EXPECT_THAT(Text(), HasSubstr(part));
  }
  EXPECT_THAT(Text(), Not(HasSubstr("More: ")));
}

}  // namespace
}  // namespace gpubound
