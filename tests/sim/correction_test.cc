// SPDX-License-Identifier: Apache-2.0
//
// The proof of the correction: random training loops run twice on the simulated device, once with a
// profiler whose cost is injected and noisy, once without. The report corrected by replay is
// compared with the report of the second run. GPUBOUND_CORRECTION_WORKLOADS says how many loops,
// GPUBOUND_CORRECTION_FIRST_SEED of which seed the first is, GPUBOUND_CORRECTION_STATEMENTS how
// long each is: in long ones what occurrences cost more or less than the mean averages out, as it
// does in real runs, and what the model misses is left.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/calibration/cost_model.h"
#include "analysis/report/report.h"
#include "tests/sim/corrected_error.h"
#include "tests/sim/history_trace.h"
#include "tests/sim/virtual_program.h"
#include "tests/sim/wanted.h"
#include "tests/sim/workloads.h"

namespace gpubound::sim {
namespace {

constexpr double kTotalWithin = 0.01;
constexpr double kRowWithin = 0.02;
constexpr double kGoodShare = 0.95;         // of workloads within all bounds
constexpr double kCoveredShare = 0.90;      // ... whose interval holds the truth
constexpr double kBusyCoveredShare = 0.85;  // of the rows of each kind of workload
constexpr double kTypicalOfHalf = 0.1;      // that a total is off by, of the half width
constexpr double kTooWideShare = 0.99;  // more were covered by chance or by an interval too wide
constexpr uint64_t kFew = 100;          // workloads, of which all may be covered
constexpr uint64_t kCalibrationSamples = 100'000;

// Of rows, whose interval holds the truth.
struct Share {
  uint64_t of = 0;
  uint64_t held = 0;
  double value() const { return of == 0 ? 1 : static_cast<double>(held) / static_cast<double>(of); }
};

struct Outcome : CorrectedError {
  double slowdown = 0;
};

Outcome Judge(const Report& report, const Report& truth) {
  const ReportProcess& real = truth.processes.front();
  Outcome outcome{ErrorOf(*report.processes.front().corrected, real)};
  outcome.slowdown =
      static_cast<double>(report.processes.front().span_ns) / static_cast<double>(real.span_ns);
  return outcome;
}

// |entries|: what its trace says of them.
Outcome CorrectAndCompare(const VirtualProgram& program, const CostModel& costs,
                          const std::vector<CallEntries>& entries = {}) {
  gpubound::Run recorded = RunOf(Execute(program, nullptr));
  for (ProcessTrace& process : recorded.processes) process.call_entries = entries;
  const gpubound::Run bare = RunOf(Execute(Uninstrumented(program), nullptr));
  const Result<Report> report = CorrectedReport(recorded, costs);
  const Result<Report> truth = BuildReport(bare);
  EXPECT_TRUE(report.ok() && truth.ok());
  return Judge(*report, *truth);
}

Outcome CorrectAndCompare(const VirtualProgram& program) {
  return CorrectAndCompare(program, CalibratedCosts(program, kCalibrationSamples));
}

// A checkpoint, an evaluation: one backpropagation in 200 takes 50 ms more.
VirtualProgram WithRarePauses(VirtualProgram program) {
  uint64_t backpropagations = 0;
  for (Statement& statement : program.threads.front().statements) {
    if (statement.action != Action::kOpen || statement.scope.text != "backpropagation") continue;
    if (++backpropagations % 200 == 0) statement.cost_ns += 50'000'000;
  }
  return program;
}

TEST(CorrectionTest, CorrectedTotalsAndRowsAreThoseOfTheRunWithoutAProfiler) {
  const uint64_t workloads = Wanted("GPUBOUND_CORRECTION_WORKLOADS", 42);
  const uint64_t statements = Wanted("GPUBOUND_CORRECTION_STATEMENTS", kShortLoop);
  const uint64_t first = Wanted("GPUBOUND_CORRECTION_FIRST_SEED", 1);
  uint64_t good = 0;
  uint64_t covered = 0;
  double slowdown = 0;
  std::vector<double> worst(kWorkloads, 0.0);
  std::vector<double> of_half;
  std::vector<Share> busy(kWorkloads);
  for (uint64_t seed = first; seed < first + workloads; ++seed) {
    const auto workload = static_cast<Workload>(seed % kWorkloads);
    const Outcome outcome = CorrectAndCompare(MakeWorkload(workload, seed, statements));
    const bool within = outcome.total_error <= kTotalWithin && outcome.row_error <= kRowWithin;
    good += within ? 1 : 0;
    covered += outcome.covered ? 1 : 0;
    slowdown += outcome.slowdown / static_cast<double>(workloads);
    double& largest = worst[static_cast<size_t>(workload)];
    largest = std::max(largest, outcome.total_error);
    of_half.push_back(outcome.of_half);
    busy[static_cast<size_t>(workload)].of += outcome.rows;
    busy[static_cast<size_t>(workload)].held += outcome.busy_covered;
    if (within && outcome.covered) continue;
    std::printf("seed %llu, %s: slowdown %.2f, total off by %.3f %%, row %s by %.3f %%%s\n",
                static_cast<unsigned long long>(seed), WorkloadName(workload), outcome.slowdown,
                100 * outcome.total_error, outcome.worst_row.c_str(), 100 * outcome.row_error,
                outcome.covered ? "" : ", outside the interval");
  }
  for (int i = 0; i < kWorkloads; ++i) {
    const char* const name = WorkloadName(static_cast<Workload>(i));
    const Share& rows = busy[static_cast<size_t>(i)];
    std::printf("%-14s largest error of the total %.3f %%, GPU time of rows covered %.1f %%\n",
                name, 100 * worst[static_cast<size_t>(i)], 100 * rows.value());
    EXPECT_GE(rows.value(), kBusyCoveredShare) << name;
  }
  const double count = static_cast<double>(workloads);
  std::printf("%llu workloads, mean slowdown %.2f: within bounds %.1f %%, covered %.1f %%\n",
              static_cast<unsigned long long>(workloads), slowdown,
              100 * static_cast<double>(good) / count, 100 * static_cast<double>(covered) / count);
  EXPECT_GE(static_cast<double>(good), kGoodShare * count);
  EXPECT_GE(static_cast<double>(covered), kCoveredShare * count);
  EXPECT_TRUE(AreTelling(of_half, kTypicalOfHalf));
  if (workloads > kFew) {
    EXPECT_LE(static_cast<double>(covered), kTooWideShare * count);
  }
}

// A cost is noisy, a program does what it does: the time of what is rare and long is not noise.
TEST(CorrectionTest, WhatTheProgramDoesRarelyIsNotTakenForNoise) {
  for (const Workload workload :
       {Workload::kCpuBound, Workload::kLaunchBound, Workload::kSynchronising}) {
    for (const uint64_t seed : {7, 14, 21}) {
      VirtualProgram program = WithRarePauses(
          MakeWorkload(workload, seed + static_cast<uint64_t>(workload), kShortLoop));
      program.cost.scope_ns = 2'000;
      program.cost.deviation = 1.0;
      const Outcome outcome = CorrectAndCompare(program);
      EXPECT_LE(outcome.total_error, kTotalWithin) << WorkloadName(workload) << ", seed " << seed;
      EXPECT_TRUE(outcome.covered) << WorkloadName(workload) << ", seed " << seed;
    }
  }
}

// As CUPTI's do on a GPU, whose code a framework drives out of the caches between two calls.
TEST(CorrectionTest, CallsBehindOtherWorkAreChargedWithWhatTheyCostThere) {
  for (const Workload workload :
       {Workload::kCpuBound, Workload::kLaunchBound, Workload::kGraph, Workload::kTwoProcesses}) {
    for (const uint64_t seed : {7, 14, 56}) {
      SCOPED_TRACE(std::string(WorkloadName(workload)) + ", seed " + std::to_string(seed));
      VirtualProgram program =
          MakeWorkload(workload, seed + static_cast<uint64_t>(workload), kShortLoop);
      program.cost.scope_ns = 100;
      program.cost.api_ns = 2'000;
      program.cost.cold_api_ns = 3'000;
      program.cost.deviation = 0.5;
      const Outcome outcome = CorrectAndCompare(program);
      EXPECT_LE(outcome.total_error, kTotalWithin);
      EXPECT_LE(outcome.row_error, kRowWithin) << outcome.worst_row;
      EXPECT_TRUE(outcome.covered);
      CostModel warm = CalibratedCosts(program, kCalibrationSamples);
      warm.AfterOtherWork(CostKind::kApiCall) = {};
      EXPECT_GT(CorrectAndCompare(program, warm).total_error, outcome.total_error);
    }
  }
}

// A copy that waits for itself says what its own part took, and no more because it waits.
TEST(CorrectionTest, CopiesThatAlwaysWaitAreNotTakenForShorterThanTheyAre) {
  for (const uint64_t seed : {329, 336, 371}) {
    const Outcome outcome = CorrectAndCompare(MakeWorkload(Workload::kCpuBound, seed, 400'000));
    EXPECT_LE(outcome.total_error, 0.005) << "seed " << seed;
    EXPECT_LE(outcome.row_error, 0.015) << "seed " << seed << ", " << outcome.worst_row;
  }
}

// The costs of a program in which CUPTI is nearer to the processor: half of what calls cost here.
CostModel CostsOfANearerProgram(const VirtualProgram& program) {
  CostModel costs = CalibratedCosts(program, kCalibrationSamples);
  Cost& usual = costs.Of(CostKind::kApiCall);
  Cost& late = costs.AfterOtherWork(CostKind::kApiCall);
  usual = usual.Times(0.5);
  late = late.Times(0.5);
  costs.api = {{"cudaLaunchKernel", usual}};
  costs.api_after_other_work = {{"cudaLaunchKernel", late}};
  costs.api["cudaLaunchKernel"].entry_ns = 100;
  costs.api_after_other_work["cudaLaunchKernel"].entry_ns = 250;
  return costs;
}

TEST(CorrectionTest, CallsThatCuptiTakesTwiceAsLongToEnterAreChargedWithTwiceAsMuch) {
  for (const Workload workload : {Workload::kCpuBound, Workload::kLaunchBound,
                                  Workload::kSynchronising, Workload::kTwoProcesses}) {
    SCOPED_TRACE(WorkloadName(workload));
    VirtualProgram program =
        MakeWorkload(workload, 7 + static_cast<uint64_t>(workload), kShortLoop);
    program.cost.scope_ns = 100;
    program.cost.api_ns = 2'000;
    program.cost.cold_api_ns = 3'000;
    program.cost.deviation = 0.5;
    const CostModel costs = CostsOfANearerProgram(program);
    const Outcome told =
        CorrectAndCompare(program, costs, {{"cudaLaunchKernel", {100, 200}, {100, 500}}});
    EXPECT_LE(told.total_error, kTotalWithin);
    EXPECT_LE(told.row_error, kRowWithin) << told.worst_row;
    EXPECT_TRUE(told.covered);
    EXPECT_GT(CorrectAndCompare(program, costs).total_error, 3 * told.total_error);
  }
}

// A loop whose launches cost so much that most waits find the work done; every eighth kernel is
// long, and tells how long a thread that waited takes to wake up.
VirtualProgram HardlyWaitingLoop(TimeNs wake_up_ns, bool copies = false) {
  std::mt19937_64 random(5);  // NOLINT(cert-msc51-cpp): the same each time
  const auto about = [&random](TimeNs ns) {
    return std::uniform_int_distribution<TimeNs>(ns * 7 / 10, ns * 13 / 10)(random);
  };
  std::vector<Statement> statements;
  const ScopeName inference{LabelKind::kOperation, Layer::kUnset, "inference"};
  for (int i = 0; i < 4'000; ++i) {
    statements.push_back({.action = Action::kOpen, .cost_ns = 20, .scope = inference});
    statements.push_back({.action = Action::kLaunch,
                          .cost_ns = about(3'000),
                          .device_ns = i % 8 == 0 ? 120'000 : about(5'000),
                          .name = "kernel"});
    statements.push_back({.cost_ns = about(2'000)});
    statements.push_back(
        {.action = Action::kSyncDevice, .cost_ns = about(2'000), .wake_up_ns = about(wake_up_ns)});
    statements.push_back({.action = Action::kClose, .cost_ns = 20});
    statements.push_back({.cost_ns = about(4'000)});
    if (!copies || i % 4 != 0) continue;
    statements.push_back({.action = Action::kCopy,
                          .cost_ns = about(2'000),
                          .device_ns = 30'000,
                          .wake_up_ns = about(300'000)});
  }
  VirtualProgram program;
  program.threads.push_back({.tid = 1, .statements = std::move(statements)});
  program.cost.scope_ns = 100;
  program.cost.api_ns = 4'000;
  program.cost.deviation = 0.5;
  return program;
}

TEST(CorrectionTest, CallsThatFoundTheirWorkDoneAndWaitNowAreWokenUp) {
  for (const TimeNs wake_up_ns : {3'000, 8'000, 20'000}) {
    SCOPED_TRACE(wake_up_ns);
    const Outcome outcome = CorrectAndCompare(HardlyWaitingLoop(wake_up_ns));
    std::printf("total off by %.2f %%, slowdown %.2f\n", 100 * outcome.total_error,
                outcome.slowdown);
    EXPECT_LE(outcome.total_error, kTotalWithin);
  }
}

// Behind the device's part of a copy to pageable memory the data still has to get there.
TEST(CorrectionTest, WaitsAreNotWokenUpAsLateAsCopiesReturn) {
  const Outcome outcome = CorrectAndCompare(HardlyWaitingLoop(8'000, /*copies=*/true));
  std::printf("total off by %.2f %%\n", 100 * outcome.total_error);
  EXPECT_LE(outcome.total_error, kTotalWithin);
}

// A copy begins late because the call that launches it cost much, while other streams' work ends
// all the time.
TEST(CorrectionTest, WorkOfOtherStreamsThatEndsByChanceHoldsNothingUp) {
  for (const uint64_t seed : {130, 165, 214}) {
    const Outcome outcome =
        CorrectAndCompare(MakeWorkload(Workload::kMultiStream, seed, kShortLoop));
    EXPECT_LE(outcome.total_error, 0.005) << "seed " << seed;
    EXPECT_LE(outcome.row_error, 0.03) << "seed " << seed << ", " << outcome.worst_row;
  }
}

}  // namespace
}  // namespace gpubound::sim
