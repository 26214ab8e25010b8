// SPDX-License-Identifier: Apache-2.0
//
// Random programs on virtual time, recorded, read back and analysed: every number of the report
// equals the truth, to the nanosecond. Once with the facts handed to the analysis in memory, which
// is fast and says which half is wrong, once through the collector and SQLite.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "analysis/process_report.h"
#include "analysis/reader.h"
#include "analysis/report.h"
#include "tests/sim/random_program.h"
#include "tests/sim/recorded_program.h"
#include "tests/sim/virtual_program.h"
#include "tests/sim/virtual_truth.h"

namespace gpubound::sim {
namespace {

constexpr int64_t kSpanBeginNs = 5'000;

WorkKind WorkKindOf(OpKind kind) {
  return kind == OpKind::kKernel   ? WorkKind::kKernel
         : kind == OpKind::kMemcpy ? WorkKind::kMemcpy
                                   : WorkKind::kMemset;
}

// The facts as the reader would hand them over.
class TraceBuilder {
 public:
  explicit TraceBuilder(const History& history) : history_(history) {
    trace_.identity = {"host", 1, 1};
    trace_.device_kind = "simulated";
    trace_.python = history.python;
    trace_.main_tid = history.tids.front();
    trace_.span_begin_ns = kSpanBeginNs;
    trace_.span_end_ns = kSpanBeginNs + history.span_ns;
    trace_.labels.emplace_back();
    trace_.works.emplace_back();
    trace_.streams.emplace_back();
    trace_.devices.resize(2);
    for (size_t i = 0; i < history.tids.size(); ++i) {
      trace_.threads.emplace_back();
      trace_.threads.back().ordinal = static_cast<ThreadId>(i + 1);
      trace_.threads.back().tid = history.tids[i];
    }
  }

  ProcessTrace Build() {
    AddEvents();
    AddCalls();
    AddWork();
    return std::move(trace_);
  }

 private:
  LabelId Intern(LabelKind kind, Layer layer, const std::string& text) {
    const auto [entry, added] = labels_.try_emplace({kind, text}, trace_.labels.size());
    if (added) trace_.labels.push_back({kind, layer, "", text});
    return static_cast<LabelId>(entry->second);
  }
  WorkId InternWork(const WorkFact& work) {
    const auto [entry, added] = works_.try_emplace({work.kind, work.name}, trace_.works.size());
    if (added) {
      Work row;
      row.info.kind = WorkKindOf(work.kind);
      row.name = work.name;
      trace_.works.push_back(row);
    }
    return static_cast<WorkId>(entry->second);
  }
  StreamId InternStream(uint32_t stream) {
    const auto [entry, added] = streams_.try_emplace(stream, trace_.streams.size());
    if (added) trace_.streams.push_back({static_cast<DeviceId>(1), 1, stream});
    return static_cast<StreamId>(entry->second);
  }

  void AddEvents() {
    for (const ScopeFact& scope : history_.scopes) {
      const LabelId label = Intern(scope.name.kind, scope.name.layer, scope.name.text);
      auto& events = trace_.threads[scope.thread].events;
      events.push_back({kSpanBeginNs + scope.begin_ns, 0, label, SlotKind::kBegin});
      if (scope.end_ns == history_.span_ns) continue;  // open at the end
      events.push_back({kSpanBeginNs + scope.end_ns, 0, label, SlotKind::kEnd});
    }
    // Whose thread changed the phase means nothing: it is the process's.
    for (const PhaseFact& phase : history_.phases) {
      const LabelId label = Intern(LabelKind::kPhase, Layer::kUnset, phase.name);
      trace_.threads[0].events.push_back(
          {kSpanBeginNs + phase.time_ns, 0, label, SlotKind::kPhase});
    }
    for (ThreadTrace& thread : trace_.threads) {
      std::stable_sort(thread.events.begin(), thread.events.end(),
                       [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    }
  }
  void AddCalls() {
    for (const ApiFact& call : history_.calls) {
      ThreadTrace& thread = trace_.threads[call.thread];
      thread.calls.push_back({kSpanBeginNs + call.begin_ns, kSpanBeginNs + call.end_ns,
                              call.correlation, Intern(LabelKind::kApi, Layer::kUnset, call.name),
                              0});
      if (call.queue_full_from_ns == call.queue_full_to_ns) continue;
      thread.overheads.push_back(
          {kSpanBeginNs + call.queue_full_from_ns, kSpanBeginNs + call.queue_full_to_ns,
           call.correlation, Intern(LabelKind::kOverhead, Layer::kUnset, "COMMAND_BUFFER_FULL")});
    }
  }
  void AddWork() {
    for (const WorkFact& work : history_.work) {
      DeviceWork row;
      row.start_ns = kSpanBeginNs + work.begin_ns;
      row.end_ns = kSpanBeginNs + work.end_ns;
      row.correlation = work.correlation;
      row.stream = InternStream(work.stream);
      row.work = InternWork(work);
      trace_.device_work.push_back(row);
    }
    std::stable_sort(trace_.device_work.begin(), trace_.device_work.end(),
                     [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  }

  const History& history_;
  ProcessTrace trace_;
  std::map<std::pair<LabelKind, std::string>, size_t> labels_;
  std::map<std::pair<OpKind, std::string>, size_t> works_;
  std::map<uint32_t, size_t> streams_;
};

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
    const ProcessTrace trace = TraceBuilder(history).Build();
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
