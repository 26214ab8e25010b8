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
#include <string>
#include <vector>

#include "analysis/replay.h"
#include "analysis/what_if.h"
#include "tests/sim/history_trace.h"
#include "tests/sim/virtual_program.h"
#include "tests/sim/workloads.h"

namespace gpubound::sim {
namespace {

constexpr double kWithin = 0.03;
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

void ScaleKernels(const std::string& part, double factor, VirtualProgram* program) {
  ForEachStatement(program, [&](Statement* statement, const std::vector<ScopeName>&) {
    if (statement->name.find(part) == std::string::npos) return;
    statement->device_ns = std::llround(static_cast<double>(statement->device_ns) * factor);
    for (TimeNs& node : statement->nodes) {
      node = std::llround(static_cast<double>(node) * factor);
    }
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
      "operation=simulation:0.5", {{{ScaledPart::kOperation, "simulation", 0.5}}, {}},
      [](VirtualProgram* program) { ScaleOperation("simulation", 0.5, program); }, kEvery);
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

}  // namespace
}  // namespace gpubound::sim
