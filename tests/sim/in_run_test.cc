// SPDX-License-Identifier: Apache-2.0
//
// The proof that a run tells its own costs: training loops on the simulated device under a profiler
// that costs twice as much as calibration says, or half as much, and suspends iterations as the
// recorder does. What the report makes of it is compared with the same program without a profiler,
// and with what it makes of it when it may not look at the suspended iterations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/calibration/cost_model.h"
#include "analysis/correction/in_run_costs.h"
#include "analysis/replay/replay.h"
#include "analysis/report/report.h"
#include "tests/sim/corrected_error.h"
#include "tests/sim/history_trace.h"
#include "tests/sim/learner_and_actor.h"
#include "tests/sim/virtual_program.h"
#include "tests/sim/workloads.h"

namespace gpubound::sim {
namespace {

constexpr double kTotalWithin = 0.01;
constexpr double kRowWithin = 0.02;
constexpr double kWhatIfWithin = 0.002;
constexpr uint32_t kIterations = 25'000;
constexpr uint32_t kFewIterations = 3'000;
constexpr uint64_t kCalibrationSamples = 100'000;
// CUPTI's own work, in one iteration of so many.
constexpr int64_t kOwnWorkNs = 1'000'000;
constexpr uint64_t kOwnWorkEvery = 100;

// A loop of short iterations, every fourth of which trains: what is compared with what matters.
// With |scale| 1 recording costs an iteration 6 us.
class Loop {
 public:
  // |simulation|: times the usual length of operation "simulation".
  Loop(uint64_t seed, double scale, double simulation = 1)
      : random_(seed), scale_(scale), simulation_(simulation) {}

  VirtualProgram Program(double kernel_ns, uint32_t iterations = kIterations) {
    VirtualProgram program;
    program.device.launch_latency_ns = std::llround(2'000 * scale_);
    program.cost.scope_ns = std::llround(400 * scale_);
    program.cost.deviation = 0.8;
    program.cost.seed = random_();
    program.cost.suspends = true;
    VirtualThread& trainer = program.threads.emplace_back();
    trainer.tid = 1001;
    statements_ = &trainer.statements;
    for (uint32_t i = 0; i < iterations; ++i) Iterate(i, kernel_ns);
    return program;
  }

 private:
  void Iterate(uint32_t number, double kernel_ns) {
    Open({LabelKind::kOperation, Layer::kUnset, "simulation"});
    for (int i = 0; i < 4; ++i) {
      Compute(3'000, simulation_);
      Open({LabelKind::kLayer, Layer::kSimulator, "env"});
      Compute(4'000, simulation_);
      Close();
    }
    Close();
    Work("inference", 2, kernel_ns);
    if (number % 4 == 0) Work("backpropagation", 8, kernel_ns);
    Compute(6'000);
    Add(Action::kStep).slot = number;
  }
  void Work(const char* operation, int launches, double kernel_ns) {
    Open({LabelKind::kOperation, Layer::kUnset, operation});
    Open({LabelKind::kLayer, Layer::kBackend, "torch"});
    for (int i = 0; i < launches; ++i) {
      Compute(1'000);
      Statement& launch = Add(Action::kLaunch);
      launch.slot = 1;
      launch.cost_ns = Time(2'000);
      launch.name = "gemm";
      launch.device_ns = Time(kernel_ns);
    }
    Add(Action::kSyncDevice).cost_ns = Time(2'000);
    Close();
    Close();
  }
  void Open(ScopeName scope) {
    Statement& statement = Add(Action::kOpen);
    statement.slot = next_handle_;
    statement.scope = std::move(scope);
    open_.push_back(next_handle_++);
  }
  void Close() {
    Add(Action::kClose).slot = open_.back();
    open_.pop_back();
  }
  void Compute(double ns, double factor = 1) {
    const auto usual_ns = static_cast<double>(Time(ns));
    Add(Action::kCompute).cost_ns = std::llround(factor * usual_ns);
  }
  TimeNs Time(double mean) {
    constexpr double kSpread = 0.2;
    std::lognormal_distribution<double> time(std::log(mean * scale_) - kSpread * kSpread / 2,
                                             kSpread);
    return std::max<TimeNs>(1, std::llround(time(random_)));
  }
  Statement& Add(Action action) {
    Statement& statement = statements_->emplace_back();
    statement.action = action;
    statement.cost_ns = 20;
    return statement;
  }

  std::mt19937_64 random_;
  double scale_;
  double simulation_;
  std::vector<Statement>* statements_ = nullptr;
  uint32_t next_handle_ = 0;
  std::vector<uint32_t> open_;
};

// What calibration elsewhere would have said: |times| what recording costs this program.
CostModel MisledCosts(const VirtualProgram& program, double times) {
  VirtualProgram elsewhere;
  elsewhere.cost = program.cost;
  elsewhere.cost.scope_ns = std::llround(times * static_cast<double>(program.cost.scope_ns));
  return CalibratedCosts(elsewhere, kCalibrationSamples);
}

// Has something happen at the end of one iteration in kOwnWorkEvery that takes kOwnWorkNs.
VirtualProgram WithOwnWork(VirtualProgram program) {
  std::vector<Statement> statements;
  for (const Statement& statement : program.threads.front().statements) {
    if (statement.action == Action::kStep && statement.slot % kOwnWorkEvery == 0) {
      statements.emplace_back().cost_ns = kOwnWorkNs;
    }
    statements.push_back(statement);
  }
  program.threads.front().statements = std::move(statements);
  return program;
}

// ... which CUPTI says is its own.
void RecordOwnWork(ProcessTrace* process) {
  Label label;
  label.kind = LabelKind::kOverhead;
  label.text = "ACTIVITY_BUFFER_REQUEST";
  process->labels.push_back(label);
  const auto own = static_cast<LabelId>(process->labels.size() - 1);
  ThreadTrace& thread = process->threads.front();
  for (const ThreadEvent& event : thread.events) {
    if (event.kind != SlotKind::kStep || event.payload % kOwnWorkEvery != 0) continue;
    const int64_t end_ns = event.time_ns - 20;  // the step is told of behind its statement
    Overhead& overhead = thread.overheads.emplace_back();
    overhead.start_ns = end_ns - kOwnWorkNs;
    overhead.end_ns = end_ns;
    overhead.label = own;
  }
}

struct Outcome : CorrectedError {
  int64_t width_ns = 0;  // of the interval of the total
  InRunCheck check;
  bool within() const { return total_error <= kTotalWithin && row_error <= kRowWithin; }
};

class InRunTest : public testing::Test {
 protected:
  // |kernel_ns|: short ones leave the loop to the CPU, long ones absorb what it costs.
  void Record(uint64_t seed, double kernel_ns, double scale = 10,
              uint32_t iterations = kIterations) {
    Record(Loop(seed, scale).Program(kernel_ns, iterations));
  }
  void Record(VirtualProgram program) {
    program_ = std::move(program);
    recorded_ = RunOf(Execute(program_, nullptr));
    const Result<Report> truth = BuildReport(RunOf(Execute(Uninstrumented(program_), nullptr)));
    ASSERT_TRUE(truth.ok());
    truth_ = *truth;
  }
  // By costs that calibration takes for |times| what they are.
  Outcome CorrectBy(double times) {
    const Result<Report> report = CorrectedReport(recorded_, MisledCosts(program_, times));
    EXPECT_TRUE(report.ok());
    return Judge(*report->processes.front().corrected);
  }
  // The trace as it would be, had the recorder said nothing of suspensions.
  void ForgetWhatTheRunTells() { recorded_.processes.front().in_run_calibration.clear(); }
  void RecordOwnWork() { sim::RecordOwnWork(&recorded_.processes.front()); }
  void MakePython() { recorded_.processes.front().python = true; }
  // The trace of a recorder that suspends nothing.
  void RecordEveryIteration(const char* verdict) {
    program_.cost.suspends = false;
    recorded_ = RunOf(Execute(program_, nullptr));
    recorded_.processes.front().in_run_calibration = verdict;
  }

 private:
  Outcome Judge(const CorrectedProcess& corrected) const {
    const Outcome outcome{ErrorOf(corrected, truth_.processes.front()),
                          corrected.span.high - corrected.span.low, corrected.in_run};
    std::printf(
        "total off by %.3f %%, row %s by %.3f %%, factor %.3f +/- %.3f, %llu iterations%s\n",
        100 * outcome.total_error, outcome.worst_row.c_str(), 100 * outcome.row_error,
        outcome.check.factor, outcome.check.standard_error,
        static_cast<unsigned long long>(outcome.check.iterations),
        outcome.covered ? "" : ", outside the interval");
    return outcome;
  }

  VirtualProgram program_;
  gpubound::Run recorded_;
  Report truth_;
};

constexpr double kShortKernelNs = 1'000;
constexpr double kLongKernelNs = 60'000;

TEST_F(InRunTest, CostsThatCalibrationTakesForHalfOfWhatTheyAreAreCorrected) {
  Record(1, kShortKernelNs);
  const Outcome outcome = CorrectBy(0.5);
  EXPECT_TRUE(outcome.check.used);
  EXPECT_TRUE(outcome.within());
  EXPECT_TRUE(outcome.covered);
  ForgetWhatTheRunTells();
  EXPECT_FALSE(CorrectBy(0.5).within());
}

TEST_F(InRunTest, CostsThatCalibrationTakesForTwiceWhatTheyAreAreCorrected) {
  Record(2, kShortKernelNs);
  const Outcome outcome = CorrectBy(2);
  EXPECT_TRUE(outcome.check.used);
  EXPECT_TRUE(outcome.within());
  EXPECT_TRUE(outcome.covered);
  ForgetWhatTheRunTells();
  EXPECT_FALSE(CorrectBy(2).within());
}

TEST_F(InRunTest, AFactorIsAsSureAsItIsBesideItself) {
  Record(1, kShortKernelNs, 10, kFewIterations);
  const Outcome outcome = CorrectBy(0.3);
  EXPECT_GT(outcome.check.standard_error, kTransferError);
  EXPECT_TRUE(outcome.check.used);
  EXPECT_TRUE(outcome.covered);
  ForgetWhatTheRunTells();
  EXPECT_FALSE(CorrectBy(0.3).covered);
}

TEST_F(InRunTest, AFactorThatIsNotSureEnoughWidensTheIntervalWhereItIsFarFromOne) {
  Record(4, kLongKernelNs);
  const Outcome far = CorrectBy(0.4);
  EXPECT_FALSE(far.check.used);
  EXPECT_GT(far.check.factor, 1 + 3 * far.check.standard_error);
  const Outcome near = CorrectBy(1);
  EXPECT_FALSE(near.check.used);
  EXPECT_LT(near.check.factor, 1 + 3 * near.check.standard_error);
  EXPECT_TRUE(far.covered);
  EXPECT_GT(far.width_ns, 2 * near.width_ns);
}

// It lies in a suspended iteration as it does in a recorded one.
TEST_F(InRunTest, WhatCuptiSaysOfItsOwnWorkDoesNotHideWhatScopesCost) {
  Record(WithOwnWork(Loop(1, 10).Program(kShortKernelNs)));
  const double alone = CorrectBy(0.5).check.factor;
  RecordOwnWork();
  const InRunCheck check = CorrectBy(0.5).check;
  EXPECT_NEAR(check.factor, 2, 3 * check.standard_error);
  EXPECT_DOUBLE_EQ(check.factor, alone);
}

// A wrapper that records nothing is still gone through.
TEST_F(InRunTest, CallsFromPythonDoNotBecomeCheaperThanCalibrated) {
  Record(2, kShortKernelNs);
  MakePython();
  const Outcome dear = CorrectBy(2);
  EXPECT_LT(dear.check.factor, 1);
  EXPECT_FALSE(dear.check.used);
  ASSERT_FALSE(dear.check.unchecked.empty());
  EXPECT_EQ(dear.check.unchecked[0].what, "scopes");
  EXPECT_NE(dear.check.unchecked[0].why.find("wrappers"), std::string::npos);
  EXPECT_TRUE(CorrectBy(0.5).check.used);
}

TEST_F(InRunTest, CostsThatCalibrationKnowsAreConfirmed) {
  Record(3, kShortKernelNs);
  const Outcome outcome = CorrectBy(1);
  EXPECT_NEAR(outcome.check.factor, 1, 3 * outcome.check.standard_error);
  EXPECT_TRUE(outcome.within());
  EXPECT_TRUE(outcome.covered);
}

TEST_F(InRunTest, WhereWaitsAbsorbTheCostCalibrationStaysAndTheReportSaysWhy) {
  Record(4, kLongKernelNs);
  const Outcome outcome = CorrectBy(1);
  EXPECT_FALSE(outcome.check.used);
  EXPECT_GT(outcome.check.standard_error, kTransferError);
  ASSERT_FALSE(outcome.check.unchecked.empty());
  EXPECT_EQ(outcome.check.unchecked[0].what, "scopes");
  EXPECT_LE(outcome.total_error, kTotalWithin);
  EXPECT_TRUE(outcome.covered);
}

TEST_F(InRunTest, WhatTheSwitchMayCostIsNotTakenForASaving) {
  Record(6, kShortKernelNs, 1);
  const Outcome outcome = CorrectBy(1);
  EXPECT_FALSE(outcome.check.used);
  EXPECT_GT(outcome.check.standard_error, kTransferError);
  EXPECT_LE(outcome.total_error, kTotalWithin);
  EXPECT_TRUE(outcome.covered);
}

TEST_F(InRunTest, WhereNothingWasSuspendedTheIntervalIsWiderAndTheReportSaysWhy) {
  Record(5, kShortKernelNs);
  RecordEveryIteration("too_long");
  const Outcome wide = CorrectBy(1);
  ASSERT_EQ(wide.check.unchecked.size(), 2u);
  EXPECT_EQ(wide.check.unchecked[0].what, "scopes");
  EXPECT_EQ(wide.check.unchecked[0].why, "iterations are longer than 1 s");
  EXPECT_EQ(wide.check.unchecked[1].what, "CUDA calls");
  ForgetWhatTheRunTells();
  EXPECT_GT(wide.width_ns, 10 * CorrectBy(1).width_ns);
}

TEST_F(InRunTest, IterationsOfTwoKindsThatOpenAsManyScopesAreNotCompared) {
  Record(LearnerAndActor(7, kIterations, 20));
  const Outcome outcome = CorrectBy(1);
  EXPECT_LT(std::abs(outcome.check.factor), 4);
  EXPECT_TRUE(outcome.within());
  EXPECT_TRUE(outcome.covered);
}

// In an iteration whose scopes were not recorded nobody knows what was simulation.
TEST_F(InRunTest, AWhatIfScalesWhatWasNotRecordedLikeTheRest) {
  for (const double factor : {0.1, 3.0}) {
    const VirtualProgram program = Loop(7, 10).Program(kShortKernelNs);
    ReplayOptions options;
    options.changes.scalings.push_back({ScaledPart::kOperationCpu, "simulation", factor});
    options.keep_events = false;
    options.costs = MisledCosts(program, 1);
    const Result<ReplayedRun> replayed = ReplayRun(RunOf(Execute(program, nullptr)), options);
    ASSERT_TRUE(replayed.ok());
    const ReplayFacts& facts = (*replayed).facts.front();
    const auto predicted = static_cast<double>(facts.span_end_ns - facts.span_begin_ns);
    const VirtualProgram changed = Loop(7, 10, factor).Program(kShortKernelNs);
    const auto truth = static_cast<double>(Execute(Uninstrumented(changed), nullptr).ends.front());
    std::printf("x %.1f: predicted %.3f %% off\n", factor, 100 * (predicted / truth - 1));
    EXPECT_NEAR(predicted / truth, 1, kWhatIfWithin);
  }
}

}  // namespace
}  // namespace gpubound::sim
