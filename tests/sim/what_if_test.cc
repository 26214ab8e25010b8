// SPDX-License-Identifier: Apache-2.0
//
// Predictions of a replay against the same program with the change really made, on the simulated
// device. The recording is made under a profiler, whose costs the replay takes out at the same
// time.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/correction/corrected_report.h"
#include "analysis/correction/report_options.h"
#include "analysis/replay/replay.h"
#include "analysis/replay/what_if.h"
#include "analysis/report/report.h"
#include "tests/sim/corrected_error.h"
#include "tests/sim/history_trace.h"
#include "tests/sim/virtual_program.h"
#include "tests/sim/wanted.h"
#include "tests/sim/workloads.h"

namespace gpubound::sim {
namespace {

constexpr double kWithin = 0.03;
constexpr double kCoveredShare = 0.90;
// That a prediction is off by, of the half width. What the iterations of another run would differ
// by, which the interval holds as well, is nothing here.
constexpr double kTypicalOfHalf = 0.02;
constexpr uint64_t kCalibrationSamples = 100'000;

using Change = std::function<void(VirtualProgram*)>;

// The names of the scopes that are open at each statement of a thread, innermost last.
template <typename Visit>
void ForEachStatement(VirtualProgram* program, Visit visit) {
  for (VirtualThread& thread : program->threads) {
    std::vector<ScopeName> open;
    for (Statement& statement : thread.statements) {
      if (statement.action == Action::kClose) open.pop_back();
      visit(&statement, open);
      if (statement.action == Action::kOpen) open.push_back(statement.scope);
    }
  }
}

bool InOperation(const std::vector<ScopeName>& open, const std::string& name) {
  for (size_t i = open.size(); i-- > 0;) {
    if (open[i].kind == LabelKind::kOperation) return open[i].text == name;
  }
  return false;
}

void ScaleOperation(const std::string& name, double factor, VirtualProgram* program) {
  ForEachStatement(program, [&](Statement* statement, const std::vector<ScopeName>& open) {
    if (InOperation(open, name)) {
      statement->cost_ns = std::llround(static_cast<double>(statement->cost_ns) * factor);
    }
  });
}

void ScaleSimulator(double factor, VirtualProgram* program) {
  ForEachStatement(program, [&](Statement* statement, const std::vector<ScopeName>& open) {
    if (!open.empty() && open.back().layer == Layer::kSimulator) {
      statement->cost_ns = std::llround(static_cast<double>(statement->cost_ns) * factor);
    }
  });
}

void ScaleDevice(Statement* statement, double factor) {
  statement->device_ns = std::llround(static_cast<double>(statement->device_ns) * factor);
  for (TimeNs& node : statement->nodes) {
    node = std::llround(static_cast<double>(node) * factor);
  }
}

void ScaleKernels(const std::string& part, double factor, VirtualProgram* program) {
  ForEachStatement(program, [&](Statement* statement, const std::vector<ScopeName>&) {
    if (statement->name.find(part) == std::string::npos) return;
    ScaleDevice(statement, factor);
  });
}

void ScaleDevice(double factor, VirtualProgram* program) { ScaleKernels("", factor, program); }

// Device work that is launched in it.
void ScaleLaunched(const std::string& name, double factor, VirtualProgram* program) {
  ForEachStatement(program, [&](Statement* statement, const std::vector<ScopeName>& open) {
    if (InOperation(open, name)) ScaleDevice(statement, factor);
  });
}

void ScaleKernel(const std::string& name, double factor, VirtualProgram* program) {
  ForEachStatement(program, [&](Statement* statement, const std::vector<ScopeName>&) {
    if (statement->name == name) ScaleDevice(statement, factor);
  });
}

// The first launch of each occurrence launches a graph of all of them.
void CaptureOperation(const std::string& name, VirtualProgram* program) {
  Statement* graph = nullptr;
  ForEachStatement(program, [&](Statement* statement, const std::vector<ScopeName>& open) {
    if (!InOperation(open, name)) {
      graph = nullptr;
      return;
    }
    if (statement->action != Action::kLaunch) return;
    if (graph == nullptr) {
      graph = statement;
      graph->action = Action::kGraph;
      graph->nodes = {graph->device_ns};
      return;
    }
    graph->nodes.push_back(statement->device_ns);
    statement->action = Action::kCompute;
    statement->cost_ns = 0;
  });
}

double SpanOf(const VirtualProgram& program) {
  return static_cast<double>(Execute(program, nullptr).ends.front());
}

class WhatIfTest : public ::testing::Test {
 protected:
  // The relative error of the prediction for |program|.
  static double ErrorOf(const VirtualProgram& program, const WhatIf& what_if,
                        const Change& change) {
    ReplayOptions options;
    options.changes = what_if;
    options.keep_events = false;
    options.costs = CalibratedCosts(program, kCalibrationSamples);
    const gpubound::Run recorded = RunOf(Execute(program, nullptr));
    const Result<ReplayedRun> replayed = ReplayRun(recorded, options);
    EXPECT_TRUE(replayed.ok());
    const ReplayFacts& facts = (*replayed).facts.front();
    VirtualProgram changed = Uninstrumented(program);
    change(&changed);
    const double truth = SpanOf(changed);
    return (static_cast<double>(facts.span_end_ns - facts.span_begin_ns) - truth) / truth;
  }

  static void ExpectPredicted(const char* name, const WhatIf& what_if, const Change& change,
                              const std::vector<Workload>& workloads) {
    double worst = 0;
    for (const Workload workload : workloads) {
      const VirtualProgram program = MakeWorkload(workload, 100 + static_cast<uint64_t>(workload));
      const double error = ErrorOf(program, what_if, change);
      worst = std::max(worst, std::abs(error));
      EXPECT_LE(std::abs(error), kWithin) << WorkloadName(workload);
    }
    std::printf("%s: largest error %.3f %%\n", name, 100 * worst);
  }
};

const std::vector<Workload> kEvery = {Workload::kCpuBound,    Workload::kLaunchBound,
                                      Workload::kGpuBound,    Workload::kSynchronising,
                                      Workload::kMultiStream, Workload::kGraph,
                                      Workload::kTwoProcesses};

TEST_F(WhatIfTest, AFasterOperationIsPredicted) {
  ExpectPredicted(
      "operation-cpu=simulation:0.5", {{{ScaledPart::kOperationCpu, "simulation", 0.5}}, {}},
      [](VirtualProgram* program) { ScaleOperation("simulation", 0.5, program); }, kEvery);
}

TEST_F(WhatIfTest, FasterGpuWorkOfAnOperationIsPredicted) {
  for (const char* const name : {"backpropagation", "inference"}) {
    ExpectPredicted(
        "operation-gpu:0.5", {{{ScaledPart::kOperationGpu, name, 0.5}}, {}},
        [name](VirtualProgram* program) { ScaleLaunched(name, 0.5, program); }, kEvery);
  }
}

TEST_F(WhatIfTest, AnOperationThatIsFasterOnCpuAndGpuIsPredicted) {
  ExpectPredicted(
      "operation=backpropagation:0.5", {{{ScaledPart::kOperation, "backpropagation", 0.5}}, {}},
      [](VirtualProgram* program) {
        ScaleOperation("backpropagation", 0.5, program);
        ScaleLaunched("backpropagation", 0.5, program);
      },
      kEvery);
}

TEST_F(WhatIfTest, AFasterSimulatorIsPredicted) {
  ExpectPredicted(
      "layer=simulator:0", {{{ScaledPart::kLayer, "simulator", 0}}, {}},
      [](VirtualProgram* program) { ScaleSimulator(0, program); }, kEvery);
}

TEST_F(WhatIfTest, FasterKernelsArePredicted) {
  ExpectPredicted(
      "kernel=gemm:0.5", {{{ScaledPart::kKernel, "gemm", 0.5}}, {}},
      [](VirtualProgram* program) { ScaleKernels("gemm", 0.5, program); }, kEvery);
}

TEST_F(WhatIfTest, SlowerKernelsArePredicted) {
  ExpectPredicted(
      "kernel=gemm:2", {{{ScaledPart::kKernel, "gemm", 2}}, {}},
      [](VirtualProgram* program) { ScaleKernels("gemm", 2, program); }, kEvery);
}

TEST_F(WhatIfTest, AGraphInPlaceOfLaunchesIsPredicted) {
  ExpectPredicted("graph-capture backpropagation", {{}, {"backpropagation"}},
                  [](VirtualProgram* program) { CaptureOperation("backpropagation", program); },
                  {Workload::kCpuBound, Workload::kLaunchBound, Workload::kGpuBound});
}

// What makes calls show how long they take by themselves, which those that waited each time never
// did. Some of these loops have a profiler that costs more than their calls do.
TEST_F(WhatIfTest, WhatShortensWaitsIsPredicted) {
  struct Case {
    const char* name;
    WhatIf what_if;
    Change change;
  };
  const auto operation = [](const char* name, double factor) {
    return Case{name,
                {{{ScaledPart::kOperationCpu, name, factor}}, {}},
                [=](VirtualProgram* program) { ScaleOperation(name, factor, program); }};
  };
  const std::vector<Case> cases = {{"device:0",
                                    {{{ScaledPart::kDevice, "", 0}}, {}},
                                    [](VirtualProgram* program) { ScaleDevice(0, program); }},
                                   {"device:0.5",
                                    {{{ScaledPart::kDevice, "", 0.5}}, {}},
                                    [](VirtualProgram* program) { ScaleDevice(0.5, program); }},
                                   operation("backpropagation", 2),
                                   operation("backpropagation", 4),
                                   operation("inference", 4)};
  const uint64_t workloads = Wanted("GPUBOUND_WHAT_IF_SYNCHRONISING", 10);
  uint64_t predicted = 0;
  for (const Case& one : cases) {
    double worst = 0;
    uint64_t within = 0;
    for (uint64_t seed = 1; seed <= workloads; ++seed) {
      const VirtualProgram program = MakeWorkload(Workload::kSynchronising, 500 + seed);
      const double error = std::abs(ErrorOf(program, one.what_if, one.change));
      worst = std::max(worst, error);
      within += error <= kWithin ? 1 : 0;
      EXPECT_LE(error, 2 * kWithin) << one.name << ", seed " << seed;
    }
    std::printf("%s: %llu of %llu within %.0f %%, largest error %.2f %%\n", one.name,
                static_cast<unsigned long long>(within), static_cast<unsigned long long>(workloads),
                100 * kWithin, 100 * worst);
    predicted += within;
  }
  EXPECT_GE(static_cast<double>(predicted), 0.95 * static_cast<double>(workloads * cases.size()));
}

// A loop of one thread that computes, launches and waits. The first |late| waits return
// milliseconds after the work, as the first call of a kind does, the others some 60 us.
VirtualProgram WaitingLoop(size_t iterations, size_t late) {
  std::mt19937_64 random(3);  // NOLINT(cert-msc51-cpp): the same each time
  const auto between = [&random](TimeNs least, TimeNs most) {
    return std::uniform_int_distribution<TimeNs>(least, most)(random);
  };
  std::vector<Statement> statements;
  const ScopeName inference{LabelKind::kOperation, Layer::kUnset, "inference"};
  for (size_t i = 0; i < iterations; ++i) {
    statements.push_back({.cost_ns = between(190'000, 220'000)});
    statements.push_back({.action = Action::kOpen, .scope = inference});
    for (int launch = 0; launch < 2; ++launch) {
      statements.push_back({.action = Action::kLaunch,
                            .cost_ns = between(5'000, 15'000),
                            .device_ns = 300'000,
                            .name = "kernel"});
    }
    statements.push_back(
        {.action = Action::kSyncDevice,
         .cost_ns = between(5'000, 15'000),
         .wake_up_ns = i < late ? between(700'000, 3'300'000) : between(40'000, 100'000)});
    statements.push_back({.action = Action::kClose});
  }
  VirtualProgram program;
  program.threads.push_back({.tid = 1, .statements = std::move(statements)});
  return program;
}

TEST_F(WhatIfTest, AFasterDeviceIsPredictedWhereTheFirstWaitsReturnLate) {
  for (const size_t late : {0, 1, 2, 5, 12, 40}) {
    const double error = ErrorOf(WaitingLoop(400, late), {{{ScaledPart::kDevice, "", 0}}, {}},
                                 [](VirtualProgram* program) { ScaleDevice(0, program); });
    EXPECT_LE(std::abs(error), kWithin) << late << " late ones";
    std::printf("device:0, %zu late waits: error %.2f %%\n", late, 100 * error);
  }
}

// What launches waited for room in the queue is not what a call takes by itself.
TEST_F(WhatIfTest, AFreeDeviceIsPredictedWhereTheLaunchQueueWasFull) {
  for (const uint64_t seed : {2, 9, 16}) {
    VirtualProgram program = MakeWorkload(Workload::kGpuBound, seed);
    program.device.queue_depth = 8;
    const double error = ErrorOf(program, {{{ScaledPart::kDevice, "", 0}}, {}},
                                 [](VirtualProgram* changed) { ScaleDevice(0, changed); });
    EXPECT_LE(std::abs(error), kWithin) << "seed " << seed;
    std::printf("device:0, full queue: error %.2f %%\n", 100 * error);
  }
}

// What a report states of a part, against both programs run without a profiler.
struct Stated {
  double truth = 0;
  bool covered = false;
  double of_half = 0;  // by how much it is off, as a part of half of the interval
};

// Of the iterations between the end of the first and that of the last, or of the run.
double LengthOf(const VirtualProgram& program, bool of_iterations) {
  if (of_iterations) {
    const std::vector<StepFact> steps = Execute(program, nullptr).steps;
    return static_cast<double>(steps.back().time_ns - steps.front().time_ns);
  }
  const Result<Report> report = BuildReport(RunOf(Execute(program, nullptr)));
  EXPECT_TRUE(report.ok());
  return static_cast<double>((*report).run.wall_ns);
}

// Python is no layer that these programs tell from others.
bool Apply(const ReportSaving& saving, VirtualProgram* program) {
  if (saving.part == "gpu") {
    ScaleDevice(saving.factor, program);
  } else if (saving.part == "kernel") {
    ScaleKernel(saving.name, saving.factor, program);
  } else if (saving.part == "operation_cpu") {
    ScaleOperation(saving.name, saving.factor, program);
  } else if (saving.part == "operation_gpu") {
    ScaleLaunched(saving.name, saving.factor, program);
  } else if (saving.name == "simulator") {
    ScaleSimulator(saving.factor, program);
  } else {
    return false;
  }
  return true;
}

Stated Compare(const ReportSaving& stated, const VirtualProgram& changed,
               const VirtualProgram& bare) {
  const double truth =
      1 - LengthOf(changed, stated.of_iteration) / LengthOf(bare, stated.of_iteration);
  const double half = (stated.saves_high - stated.saves_low) / 2;
  return {truth, stated.saves_low <= truth && truth <= stated.saves_high,
          std::abs(stated.saves - truth) / half};
}

// Iterations of 90 us on the CPU, and of 100 us on the GPU, for which nobody waits: it falls behind.
TEST_F(WhatIfTest, OfIterationsThatRunAheadOfTheGpuAFasterCpuSavesNothing) {
  VirtualProgram program;
  program.threads.push_back({.tid = 1, .start_ns = 0, .statements = {}});
  const auto add = [&program](Action action, TimeNs cost_ns) -> Statement& {
    Statement& statement = program.threads[0].statements.emplace_back();
    statement.action = action;
    statement.cost_ns = cost_ns;
    return statement;
  };
  for (uint32_t i = 0; i < 50; ++i) {
    add(Action::kOpen, 0).scope = {
        .kind = LabelKind::kOperation, .layer = Layer::kUnset, .text = "train"};
    add(Action::kCompute, 85'000);
    Statement& launch = add(Action::kLaunch, 5'000);
    launch.name = "gemm";
    launch.device_ns = 100'000;
    add(Action::kClose, 0);
    add(Action::kStep, 0).slot = i;
  }
  const gpubound::Run recorded = RunOf(Execute(program, nullptr));
  Result<Report> report = BuildReport(recorded);
  ASSERT_TRUE(report.ok() && AddReplays(recorded, {}, &*report).ok());
  std::map<std::string, double> saves;
  for (const ReportSaving& saving : report->run.savings) {
    EXPECT_TRUE(saving.of_iteration);
    saves[saving.part] = saving.saves;
  }
  ASSERT_TRUE(saves.contains("operation_cpu"));
  EXPECT_NEAR(saves["operation_cpu"], 0, 0.02);
}

// The intervals of the table of savings.
TEST_F(WhatIfTest, StatedIntervalsHoldTheTruth) {
  const uint64_t workloads = Wanted("GPUBOUND_WHAT_IF_WORKLOADS", 42);
  uint64_t stated = 0;
  uint64_t covered = 0;
  std::vector<double> of_half;
  std::map<std::string, uint64_t> by_part;
  for (uint64_t seed = 1; seed <= workloads; ++seed) {
    const auto workload = static_cast<Workload>(seed % kWorkloads);
    const VirtualProgram program = MakeWorkload(workload, 1000 + seed);
    const gpubound::Run recorded = RunOf(Execute(program, nullptr));
    ReportOptions options;
    options.costs = CalibratedCosts(program, kCalibrationSamples);
    Result<Report> report = BuildReport(recorded);
    ASSERT_TRUE(report.ok() && AddReplays(recorded, options, &*report).ok());
    const VirtualProgram bare = Uninstrumented(program);
    EXPECT_TRUE(report->run.savings.empty() || report->run.savings.front().of_iteration);
    for (const ReportSaving& saving : report->run.savings) {
      VirtualProgram changed = bare;
      if (!Apply(saving, &changed)) continue;
      const Stated outcome = Compare(saving, changed, bare);
      ++stated;
      ++by_part[saving.part];
      covered += outcome.covered ? 1 : 0;
      of_half.push_back(outcome.of_half);
      if (outcome.covered) continue;
      std::printf("seed %llu, %s: %s %s saves %.4f [%.4f, %.4f], truth %.4f\n",
                  static_cast<unsigned long long>(seed), WorkloadName(workload),
                  saving.part.c_str(), saving.name.c_str(), saving.saves, saving.saves_low,
                  saving.saves_high, outcome.truth);
    }
  }
  for (const char* const part : {"gpu", "kernel", "operation_cpu", "operation_gpu", "layer"}) {
    EXPECT_GT(by_part[part], 0u) << part;
  }
  std::printf("%llu intervals, %.1f %% hold the truth\n", static_cast<unsigned long long>(stated),
              100 * static_cast<double>(covered) / static_cast<double>(stated));
  EXPECT_GE(static_cast<double>(covered), kCoveredShare * static_cast<double>(stated));
  EXPECT_TRUE(AreTelling(of_half, kTypicalOfHalf));
}

}  // namespace
}  // namespace gpubound::sim
