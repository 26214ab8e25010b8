// SPDX-License-Identifier: Apache-2.0
//
// Random programs on virtual time, recorded, read back and analysed: every number of the report
// equals the truth, to the nanosecond. Once with the facts handed to the analysis in memory, which
// is fast and says which half is wrong, once through the collector and SQLite.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "analysis/process_report.h"
#include "analysis/reader.h"
#include "analysis/report.h"
#include "tests/sim/history_trace.h"
#include "tests/sim/random_program.h"
#include "tests/sim/recorded_program.h"
#include "tests/sim/virtual_program.h"
#include "tests/sim/virtual_truth.h"

namespace gpubound::sim {
namespace {

using Cells = std::map<Truth::CellKey, TimeNs>;

Cells CellsOf(const ReportProcess& report) {
  Cells cells;
  for (const ReportCell& cell : report.cells) {
    cells[{cell.phase, cell.operation, cell.layer, cell.gpu}] += cell.ns;
  }
  return cells;
}

void ExpectRow(const ReportOperation& row, const OperationTruth& truth) {
  EXPECT_EQ(row.wall_ns, truth.wall_ns) << row.operation;
  EXPECT_EQ(row.gpu_busy_ns, truth.gpu_busy_ns) << row.operation;
  EXPECT_EQ(row.gpu_wait_ns, truth.gpu_wait_ns) << row.operation;
  EXPECT_EQ(row.gpu_caused_ns, truth.gpu_caused_ns) << row.operation;
  EXPECT_EQ(row.gpu_sum_ns, truth.gpu_sum_ns) << row.operation;
  EXPECT_EQ(row.count, truth.count) << row.operation;
  if (row.operation != kNoOperation) {
    EXPECT_EQ(row.inclusive_wall_ns, truth.inclusive_wall_ns) << row.operation;
  }
  const std::map<std::string, uint64_t> transitions(row.transitions.begin(), row.transitions.end());
  EXPECT_EQ(transitions, truth.transitions) << row.operation;
}

bool IsEmpty(const OperationTruth& row) {
  return row.wall_ns == 0 && row.count == 0 && row.gpu_caused_ns == 0 && row.transitions.empty();
}

void ExpectEqualsTruth(const ReportProcess& report, const Truth& truth) {
  EXPECT_EQ(report.span_ns, truth.span_ns);
  EXPECT_EQ(CellsOf(report), truth.cells);
  EXPECT_EQ(report.gpu_busy_ns, truth.gpu_busy_ns);
  EXPECT_EQ(report.gpu_wait_ns, truth.gpu_wait_ns);
  EXPECT_EQ(report.gpu_sum_ns, truth.gpu_sum_ns);
  EXPECT_DOUBLE_EQ(report.smi_model, truth.smi_model);
  std::map<std::string, OperationTruth> expected = truth.operations;
  for (const ReportOperation& row : report.operations) {
    ASSERT_TRUE(expected.count(row.operation)) << row.operation << " is not in the truth";
    ExpectRow(row, expected[row.operation]);
    expected.erase(row.operation);
  }
  for (const auto& [name, row] : expected) EXPECT_TRUE(IsEmpty(row)) << name << " is missing";
}

class VirtualEndToEndTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(directory_); }

  static Truth AnalyseInMemory(const VirtualProgram& program, ReportProcess* report) {
    const History history = Execute(program, nullptr);
    const ProcessTrace trace = TraceOf(history);
    auto analysis = AnalyzeProcess(trace, {});
    EXPECT_TRUE(analysis.ok());
    if (analysis.ok()) *report = analysis.value().report;
    return ComputeTruth(program, history);
  }

  // Records, reads and analyses; the only process of the run.
  Truth AnalyseRecorded(const VirtualProgram& program, RecordingOptions options, Report* report) {
    std::filesystem::remove_all(directory_);
    options.run_directory = directory_;
    History history;
    EXPECT_TRUE(RecordProgram(program, options, &history));
    auto run = LoadRun(directory_);
    EXPECT_TRUE(run.ok());
    if (run.ok()) {
      auto built = BuildReport(run.value());
      EXPECT_TRUE(built.ok());
      if (built.ok()) *report = built.value();
    }
    return ComputeTruth(program, history);
  }
  static VirtualProgram NativeProgram(uint64_t seed) {
    VirtualProgram program = RandomProgram(seed);
    program.python = false;  // the collector looks for an interpreter in this very process
    return program;
  }

  const std::string directory_ = ::testing::TempDir() + "virtual_end_to_end.gpubound";
};

TEST_F(VirtualEndToEndTest, AnalysisOfRandomProgramsEqualsTheTruth) {
  for (uint64_t seed = 1; seed <= 5000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ReportProcess report;
    const Truth truth = AnalyseInMemory(RandomProgram(seed), &report);
    ExpectEqualsTruth(report, truth);
  }
}

TEST_F(VirtualEndToEndTest, RecordedRandomProgramsEqualTheTruth) {
  for (uint64_t seed = 1; seed <= 100 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Report report;
    RecordingOptions options;
    options.seed = seed;
    options.reverse_batches = seed % 2 == 0;
    const Truth truth = AnalyseRecorded(NativeProgram(seed), options, &report);
    ASSERT_EQ(report.processes.size(), 1u);
    ExpectEqualsTruth(report.processes[0], truth);
  }
}

TEST_F(VirtualEndToEndTest, RecordedRunSaysThatItsDeviceIsSimulated) {
  Report report;
  AnalyseRecorded(NativeProgram(1), {}, &report);
  EXPECT_EQ(report.device_kind, "simulated");
}

TEST_F(VirtualEndToEndTest, HowOftenTheTraceIsDrainedChangesNothing) {
  for (uint32_t drain_one_in : {0u, 1u, 3u, 100u}) {
    SCOPED_TRACE("drained at one in " + std::to_string(drain_one_in) + " instants");
    Report report;
    RecordingOptions options;
    options.drain_one_in = drain_one_in;
    const Truth truth = AnalyseRecorded(NativeProgram(11), options, &report);
    ASSERT_EQ(report.processes.size(), 1u);
    ExpectEqualsTruth(report.processes[0], truth);
  }
}

TEST_F(VirtualEndToEndTest, SeveralProcessesOfARunAreKeptApart) {
  std::filesystem::remove_all(directory_);
  std::map<int64_t, Truth> truths;
  for (uint64_t pid : {101u, 102u, 103u}) {
    RecordingOptions options;
    options.run_directory = directory_;
    options.pid = pid;
    History history;
    const VirtualProgram program = NativeProgram(pid);
    ASSERT_TRUE(RecordProgram(program, options, &history));
    truths[static_cast<int64_t>(pid)] = ComputeTruth(program, history);
  }
  auto run = LoadRun(directory_);
  ASSERT_TRUE(run.ok());
  auto report = BuildReport(run.value());
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report.value().processes.size(), 3u);
  for (const ReportProcess& process : report.value().processes) {
    ExpectEqualsTruth(process, truths.at(process.pid));
  }
}

}  // namespace
}  // namespace gpubound::sim
