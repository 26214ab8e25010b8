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

#include "analysis/attribution/build_report.h"
#include "analysis/reader/reader.h"
#include "analysis/report/report.h"
#include "tests/sim/random_features.h"
#include "tests/sim/random_program.h"
#include "tests/sim/recorded_program.h"
#include "tests/sim/report_truth.h"
#include "tests/sim/virtual_program.h"
#include "tests/sim/virtual_truth.h"

namespace gpubound::sim {
namespace {

class VirtualEndToEndTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(directory_); }

  static void ExpectAnalysisEqualsTruth(const VirtualProgram& program) {
    const History history = Execute(program, nullptr);
    const Truth truth = ComputeTruth(program, history);
    const ProcessAnalysis analysis = AnalyseHistory(history);
    ExpectEqualsTruth(analysis.report, truth);
    EXPECT_EQ(analysis.found[static_cast<size_t>(LedgerCounter::kernels_without_launch)],
              truth.work_without_call);
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
    VirtualProgram program = RandomProgramWithEverything(seed);
    program.python = false;  // the collector looks for an interpreter in this very process
    return program;
  }

  const std::string directory_ = ::testing::TempDir() + "virtual_end_to_end.gpubound";
};

TEST_F(VirtualEndToEndTest, AnalysisOfRandomProgramsEqualsTheTruth) {
  for (uint64_t seed = 1; seed <= 5000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ExpectAnalysisEqualsTruth(RandomProgram(seed));
  }
}

TEST_F(VirtualEndToEndTest, AnalysisOfRandomProgramsWithEverythingEqualsTheTruth) {
  for (uint64_t seed = 1; seed <= 5000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ExpectAnalysisEqualsTruth(RandomProgramWithEverything(seed));
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
    ExpectRunEqualsTruth(report, truth);
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
    ExpectRunEqualsTruth(report, truth);
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
