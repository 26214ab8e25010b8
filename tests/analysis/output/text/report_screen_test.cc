// SPDX-License-Identifier: Apache-2.0
//
// What the first screen of a real run's report says, in which order, and how long it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "analysis/base/text_table.h"
#include "analysis/diagnosis/diagnose.h"
#include "analysis/output/text/report_screen.h"
#include "analysis/output/text/report_text.h"
#include "analysis/report/report_training.h"
#include "analysis/trace/row_names.h"
#include "tests/analysis/report_rows.h"

namespace gpubound {
namespace {

using ::testing::ContainsRegex;
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
    run.savings = {{"gpu", "", 0.5, 5860 * kMs, 0.41, 0.4, 0.42},
                   {"operation_cpu", "inference", 0.5, 9820 * kMs, 0.01, 0.009, 0.012},
                   {"layer", "python", 0.5, 9900 * kMs, 0.002, 0.001, 0.003}};
    ReportCriticalPath& path = run.critical_path.emplace();
    path.wall_ns = 9920 * kMs;
    for (int i = 0; i < 20; ++i) {
      path.parts.push_back({"", 15317, "backpropagation", "gpu compute", 496 * kMs});
    }
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
    iterations.total_ns = 9200 * kMs;
    iterations.gpu_busy_ns = 3772 * kMs;
    iterations.start_up_ns = 497 * kMs;
    iterations.shutdown_ns = 243 * kMs;
    for (const ReportOperation& row : main.operations) {
      iterations.operations.push_back({row.operation, 1530 * kMs, 620 * kMs, 0});
    }
    iterations.series.idle_ns = {{"sync", {100}}};
    main.throughput = {{"env_steps", 100'000, 11'168, 9000 * kMs}};
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

  std::string Text() {
    report_.diagnosis = Diagnose(report_);
    return RenderText(report_, options_);
  }
  static int64_t LinesOf(const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  }

  Report report_;
  TextOptions options_;
};

TEST_F(ReportScreenTest, OneScreenSaysItAllTheVerdictFirst) {
  const std::string screen = Text();
  EXPECT_LE(LinesOf(screen), 27) << screen;
  size_t at = 0;
  for (const char* part :
       {"Sync-bound: the GPU is idle 59 % of the loop's time",
        "\nTry: Ask for results less often in ",
        "\nGain: Without that idle time an iteration would take at most 59 % less time.",
        "\n\ncartpole_ppo: 9.94 s", "11.2k env steps/s", "all of it takes",
        "Start-up 497 ms; 23 iterations, median 400 ms", "Data quality: complete",
        "profiling cost 0.2 % of the time", "SIMULATED DEVICE", "\n\nMean iteration ", "█",
        "\nall ", "\n\nIf this were twice as fast", "\nall GPU work", "41 % (40 to 42)",
        "\n\nGPU idle 59 % of the time: CPU notices late", "nvidia-smi would show", "\n\nMore: "}) {
    const size_t found = screen.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << " is missing or too early in\n" << screen;
    at = found;
  }
  EXPECT_THAT(screen, Not(HasSubstr("Python"))) << "it would save less than 1 %";
}

TEST_F(ReportScreenTest, TheShareOfTheWindowThatTheHeadlineIsNotAboutStandsBesideIt) {
  ReportRun& run = report_.run;
  run.headline = "span";
  run.gpu_busy_share = run.whole_gpu_busy_share = 0.56;
  run.work_ns = 5000 * kMs;
  run.work_gpu_busy_share = 0.998;
  EXPECT_THAT(Text(), HasSubstr("\nFrom the first to the last GPU work, 5.00 s, busy 99.8 %.\n"));
  run.headline = "work";
  run.gpu_busy_share = 0.998;
  EXPECT_THAT(Text(), HasSubstr("\nIn the whole run the GPU is busy 56 %.\n"));
  run.work_gpu_busy_share = run.whole_gpu_busy_share = 0.99;
  EXPECT_THAT(Text(), Not(HasSubstr("In the whole run")));
}

TEST_F(ReportScreenTest, TheRowThatLimitsTheRunIsMarked) {
  EXPECT_THAT(Text(), ContainsRegex("\n> backpropagation +66.5 ms"));
}

TEST_F(ReportScreenTest, OfManyOperationsTheLongestHaveRows) {
  ReportIterations& iterations = *report_.processes.front().iterations;
  for (int i = 0; i < 20; ++i) {
    iterations.operations.push_back({"op" + std::to_string(i), 23 * kMs, 0, 0});
  }
  EXPECT_LE(LinesOf(Text()), 27) << Text();
  EXPECT_THAT(Text(), ContainsRegex("\n2[12] others +"));
}

TEST_F(ReportScreenTest, WithoutIterationsTheTableIsAboutTheWholeRun) {
  report_.processes.front().iterations.reset();
  report_.run.headline = "span";
  EXPECT_THAT(Text(), ContainsRegex("\nWhole run +time +share +GPU busy +GPU idle +filled\n"));
}

TEST_F(ReportScreenTest, OfARunWithoutAGpuItSaysNothingOfGpus) {
  report_.device_kind = "none";
  report_.devices.clear();
  report_.ledger.clear();
  report_.run.devices_used = 0;
  report_.run.gpu_busy_share = report_.run.compute_share = report_.run.copy_share = 0;
  report_.run.savings.clear();
  ReportProcess& process = report_.processes.front();
  process.gpu_busy_ns = process.iterations->gpu_busy_ns = 0;
  for (ReportOperation& row : process.operations) row.sm_filled_ns = 0;
  options_.names_more = true;
  EXPECT_THAT(Text(), HasSubstr("\nMore: --full, --by layer,phase,process,thread,iteration\n"));
  EXPECT_THAT(Text(), Not(ContainsRegex("GPU (busy|idle)|kernel|launch|device|filled")));
}

TEST_F(ReportScreenTest, UnknownTimeIsNeitherBusyNorIdle) {
  report_.run.unknown.share = 0.1;
  report_.processes.front().iterations->operations[0].unknown_ns = 306 * kMs;
  EXPECT_THAT(Text(), ContainsRegex("backpropagation[^\n]* >= 41 % +26.3 ms"));
  EXPECT_THAT(Text(), HasSubstr("? unknown"));
}

TEST_F(ReportScreenTest, WhereNoSingleChangeSavesMuchItIsSaid) {
  report_.run.gpu_busy_share = report_.run.gpu_limited_share.emplace(0.9);
  report_.run.savings = {{"gpu", "", 0.5, 9860 * kMs, 0.04, 0.03, 0.05}};
  EXPECT_THAT(Text(),
              HasSubstr("\nGain: No single part that is made twice as fast would save 5 %"));
  EXPECT_THAT(Text(), HasSubstr("\nIf this were twice as fast"));
  report_.run.savings.clear();
  EXPECT_THAT(Text(), Not(HasSubstr("If this were twice as fast")));
}

TEST_F(ReportScreenTest, TheSimulatorIsNoRowBesideTheOperationThatItIsAllOf) {
  report_.run.savings = {{"operation_cpu", "simulation", 0.5, 5860 * kMs, 0.41, 0.4, 0.42},
                         {"layer", "simulator", 0.5, 5870 * kMs, 0.409, 0.4, 0.42},
                         {"layer", "python", 0.5, 9000 * kMs, 0.1, 0.09, 0.11}};
  report_.processes.front().progress.reset();
  report_.processes.front().iterations->operations.resize(3);
  EXPECT_THAT(Text(), Not(HasSubstr("\nthe simulator ")));
  EXPECT_THAT(Text(), HasSubstr("\nall Python code "));
  report_.run.savings[1].saves = 0.2;
  EXPECT_THAT(Text(), HasSubstr("\nthe simulator "));
}

TEST_F(ReportScreenTest, SavingsOfLongNamesShowWhereTheyDiffer) {
  const std::string front = "actor_critic/encoder/transformer/encoder_layer_block_number_";
  report_.run.savings.clear();
  report_.processes.front().progress.reset();
  report_.processes.front().iterations->operations.resize(3);
  for (const char* number : {"7", "8"}) {
    report_.run.savings.push_back(
        {"operation_cpu", front + number + "/attention_output", 0.5, 5860 * kMs, 0.41, 0.4, 0.42});
  }
  for (const char* number : {"7", "8"}) {
    EXPECT_THAT(Text(), ContainsRegex("\nCPU code of[^\n]*" + std::string(number) + "/attent"));
  }
}

TEST_F(ReportScreenTest, WhatOthersDoOnASharedGpuIsNotCalledIdle) {
  EXPECT_THAT(Text(), HasSubstr(" GPU busy GPU idle "));
  AddWorkers(1);
  ReportDevice& device = report_.devices.front();
  device.processes = {{"", 15317, "cartpole_ppo", 10, 0}, {"", 15318, "worker", 10, 0}};
  ReportProcess& main = report_.processes.front();
  main.device_shares.push_back({device.uuid, 0, "backpropagation", 1000, 400, 600, 0, {}});
  EXPECT_THAT(Text(), HasSubstr(" own GPU others, idle "));
  EXPECT_THAT(Text(), HasSubstr("█ own ░ others, idle"));
}

TEST_F(ReportScreenTest, MarkdownSaysWhatTheScreenSays) {
  report_.processes.front().iterations->operations[0].operation = "a|b @me";
  Text();
  const std::string markdown = RenderMarkdown(report_);
  EXPECT_TRUE(markdown.starts_with("**Sync-bound: the GPU is idle 59 % of the loop's time since "))
      << markdown;
  for (const char* part :
       {"\n- **Try:** Ask for results less often in backpropagation: each .item\\(\\), ",
        "\n- **Gain:** Without that idle time", "\n- Data quality: complete: nothing was lost",
        "\n- SIMULATED DEVICE: ", "\n\n| Mean iteration | time | share | GPU busy | GPU idle | ",
        "|\n|:--|--:|--:|--:|--:|--:|\n| ", "\n| a\\|b @\u200bme | 66.5 ms | 17 % | 41 % | ",
        "\n\n| If this were twice as fast | run takes | saves \\(95 %\\) |\n"}) {
    EXPECT_THAT(markdown, HasSubstr(part));
  }
  EXPECT_THAT(markdown, Not(HasSubstr("█")));
}

TEST_F(ReportScreenTest, ThreadsWithoutACoreAreAWarning) {
  EXPECT_THAT(Text(), Not(HasSubstr("CPU starvation")));
  TreePeaks& tree = report_.processes.front().process_tree.emplace();
  tree.processes = 1;
  tree.cpu_ns = 61;
  tree.run_delay_ns = 39;
  EXPECT_THAT(Text(),
              HasSubstr("\n! CPU starvation: threads that could run had no core 39 % of the "
                        "time.\n"));
}

TEST_F(ReportScreenTest, WhatIsLostStandsBeforeFiguresAndNoticesAreLeftToFull) {
  report_.run.verdict = "doubtful: Chunks whose checksum is wrong; their events are missing.";
  report_.ledger = {{"chunks_corrupt", 1, Severity::kError, "Chunks whose checksum is wrong."},
                    {"host_outside_run_ns", 3 * kMs, Severity::kError, "Time outside: by far."},
                    {"graph_launches_lost", 1234, Severity::kDataLoss, "Launches lost: no more."},
                    {"segments_missing", 2, Severity::kDataLoss, "Files that are not there."},
                    {"scopes_open_at_end", 7, Severity::kNotice, "Scopes still open."}};
  report_.notes = {"a note"};
  EXPECT_THAT(Text(), HasSubstr("\n! Time outside: 3.00 ms.\n! Launches lost: 1234.\n"
                                "! 1 more kind of loss: gpubound doctor RUN names them.\n\nMean"));
  EXPECT_THAT(Text(), Not(HasSubstr("Scopes still open")));
  EXPECT_THAT(Text(), Not(HasSubstr("a note")));
  EXPECT_THAT(Text(), HasSubstr("(1 note)"));
  options_.full = true;
  EXPECT_THAT(Text(), HasSubstr("notice: scopes_open_at_end 7. Scopes still open."));
  EXPECT_THAT(Text(), HasSubstr("note: a note"));
}

TEST_F(ReportScreenTest, WhateverThereIsToSayItIsOneScreenWithItsLosses) {
  std::string help = "Processes that had something to record and could not";
  for (int i = 0; i < 8; ++i) help += ", since one thing or another was in the way";
  for (int i = 0; i < 9; ++i) {
    report_.ledger.push_back({"processes_unrecorded", 9, Severity::kDataLoss, help + ". It is."});
  }
  report_.run.steps = "5:28";
  report_.run.exit_code = 3;
  TreePeaks& tree = report_.processes.front().process_tree.emplace();
  tree.cpu_ns = 61;
  tree.run_delay_ns = 39;
  for (const std::string& verdict :
       {std::string("complete: nothing was lost."), "incomplete: " + help + ". It is."}) {
    report_.run.verdict = verdict;
    EXPECT_LE(LinesOf(Text()), 27) << Text();
    EXPECT_THAT(Text(), HasSubstr("kinds of loss: gpubound doctor RUN names them."));
    EXPECT_THAT(Text(), HasSubstr("CPU starvation"));
    EXPECT_THAT(Text(), HasSubstr("backpropagation"));
  }
}

TEST_F(ReportScreenTest, SavingsStandBeforeTheRolesOfOneProcess) {
  auto training = std::make_shared<RunTraining>();
  ReportRoles& roles = training->roles.emplace();
  roles.ns = 9200 * kMs;
  for (const char* name : {"rollout", "train"}) {
    ReportRole& role = roles.roles.emplace_back();
    role.role = name;
    role.held_ns = 9200 * kMs;
    role.idle_ns = 900 * kMs;
    role.bubbles = {{"other", 900 * kMs}};
  }
  report_.run.training = training;
  for (int i = 0; i < 2; ++i) {
    report_.ledger.push_back({"chunks_corrupt", 1, Severity::kError, "Chunks: one."});
  }
  report_.run.steps = "5:28";
  TreePeaks& tree = report_.processes.front().process_tree.emplace();
  tree.cpu_ns = 61;
  tree.run_delay_ns = 39;
  EXPECT_LE(LinesOf(Text()), 27) << Text();
  EXPECT_THAT(Text(), HasSubstr("If this were twice as fast"));
  EXPECT_THAT(Text(), Not(HasSubstr("by role")));
  AddWorkers(2);
  EXPECT_LE(LinesOf(Text()), 27) << Text();
  EXPECT_THAT(Text(), HasSubstr("by role"));
}

TEST_F(ReportScreenTest, NineProcessesAreNoLonger) {
  AddWorkers(8);
  EXPECT_THAT(Text(), HasSubstr("\ncartpole_ppo (pid 15317), one of 9 processes: 9.94 s"));
  EXPECT_LE(LinesOf(Text()), 27) << Text();
}

TEST_F(ReportScreenTest, WhatIsAskedForComesBehindOneSentence) {
  options_.by = {"layer"};
  EXPECT_TRUE(Text().starts_with("Sync-bound")) << Text();
  EXPECT_THAT(Text(), ContainsRegex("hardware.\n\nLayer +wall"));
  options_.by = {"thread"};
  EXPECT_THAT(Text(), HasSubstr("No thread but the primary one has operations"));
}

TEST_F(ReportScreenTest, NothingIsWiderThanTheTerminal) {
  const std::string name =
      "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)";
  report_.run.savings.push_back({"operation_cpu", name, 0.5, 1, 0.5, 0.4, 0.6});
  report_.run.critical_path->parts.front().operation = name;
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

TEST_F(ReportScreenTest, NotesAreCountedAndShownAtLength) {
  report_.notes = {"one", "two"};
  EXPECT_THAT(Text(), HasSubstr("\nMore: --full (2 notes), "));
  options_.full = true;
  EXPECT_THAT(Text(), HasSubstr("\nnote: one\nnote: two\n"));
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
