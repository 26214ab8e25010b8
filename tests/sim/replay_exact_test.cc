// SPDX-License-Identifier: Apache-2.0
//
// Nothing removed and nothing changed, the replay of a recording is the recording: every event at
// its own time. An edge of the graph that reality lacks, or one that it has and the replay lacks,
// shows up here as a deviation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "analysis/replay/replay.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/memory_source.h"
#include "analysis/trace/record_order.h"
#include "tests/sim/history_trace.h"
#include "tests/sim/random_program.h"
#include "tests/sim/virtual_program.h"
#include "tests/sim/workloads.h"

namespace gpubound::sim {
namespace {

// The largest difference of times, and how many events were compared.
struct Deviation {
  int64_t largest_ns = 0;
  uint64_t events = 0;
  void Note(int64_t recorded_ns, int64_t replayed_ns) {
    largest_ns = std::max(largest_ns, std::abs(recorded_ns - replayed_ns));
    ++events;
  }
};

void CompareThread(const EventSource& recorded, const EventSource& replayed, uint32_t thread,
                   Deviation* deviation) {
  std::vector<ThreadEvent> events[2];
  const EventSource* sources[2] = {&recorded, &replayed};
  for (int i = 0; i < 2; ++i) {
    const std::unique_ptr<ThreadCursor> cursor = sources[i]->ThreadEvents(thread);
    for (ThreadBatch batch; cursor->Next(&batch);) {
      events[i].insert(events[i].end(), batch.events.begin(), batch.events.end());
    }
  }
  ASSERT_EQ(events[0].size(), events[1].size());
  for (size_t i = 0; i < events[0].size(); ++i) {
    ASSERT_EQ(events[0][i].label, events[1][i].label);
    ASSERT_EQ(events[0][i].kind, events[1][i].kind);
    deviation->Note(events[0][i].time_ns, events[1][i].time_ns);
  }
}

const ApiCall& RecordOf(const ThreadCall& call) { return call.call; }
const Overhead& RecordOf(const ThreadOverhead& overhead) { return overhead.overhead; }
const DeviceWork& RecordOf(const DeviceWork& work) { return work; }

template <typename Record>
std::vector<Record> AllOf(std::unique_ptr<RecordCursor<Record>> cursor) {
  RecordStream<Record> stream(std::move(cursor));
  std::vector<Record> all;
  for (; stream.Peek() != nullptr; stream.Pop()) all.push_back(*stream.Peek());
  SortRecords(&all);  // of records that begin together a source in memory keeps its own order
  return all;
}

template <typename Record>
void CompareRecords(const std::vector<Record>& recorded, const std::vector<Record>& replayed,
                    Deviation* deviation) {
  ASSERT_EQ(recorded.size(), replayed.size());
  for (size_t i = 0; i < recorded.size(); ++i) {
    ASSERT_EQ(RecordOf(recorded[i]).correlation, RecordOf(replayed[i]).correlation)
        << RecordOf(recorded[i]).start_ns << " to " << RecordOf(recorded[i]).end_ns << ", replayed "
        << RecordOf(replayed[i]).start_ns << " to " << RecordOf(replayed[i]).end_ns;
    deviation->Note(RecordOf(recorded[i]).start_ns, RecordOf(replayed[i]).start_ns);
    deviation->Note(RecordOf(recorded[i]).end_ns, RecordOf(replayed[i]).end_ns);
  }
}

// Replays |run| as it is.
void Compare(const Run& run, Deviation* deviation) {
  const Result<ReplayedRun> replayed = ReplayRun(run, {});
  ASSERT_TRUE(replayed.ok());
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessTrace& before = run.processes[p];
    const ProcessTrace& after = (*replayed).run.processes[p];
    deviation->Note(before.span_begin_ns, after.span_begin_ns);
    deviation->Note(before.span_end_ns, after.span_end_ns);
    const auto recorded = SourceOf(before);
    for (uint32_t t = 0; t < before.threads.size(); ++t) {
      CompareThread(*recorded, *after.source, t, deviation);
    }
    CompareRecords(AllOf(recorded->Calls()), AllOf(after.source->Calls()), deviation);
    CompareRecords(AllOf(recorded->Overheads()), AllOf(after.source->Overheads()), deviation);
    CompareRecords(AllOf(recorded->Work()), AllOf(after.source->Work()), deviation);
  }
}

TEST(ReplayExactTest, AnUnchangedReplayIsTheRecording) {
  Deviation deviation;
  for (uint64_t seed = 1; seed <= 5000 && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    gpubound::Run run;
    run.processes.push_back(TraceOf(Execute(RandomProgram(seed), nullptr)));
    Compare(run, &deviation);
    ASSERT_EQ(deviation.largest_ns, 0);
  }
  std::printf("largest deviation %lld ns over %llu times\n",
              static_cast<long long>(deviation.largest_ns),
              static_cast<unsigned long long>(deviation.events));
}

// A child is there for a while before its first event, as an interpreter that starts is; by then
// its parent has gone on.
TEST(ReplayExactTest, AChildThatStartsSlowlyBeginsWhereItsParentWas) {
  constexpr uint64_t kStatements = 3'000;
  constexpr TimeNs kFirstEventNs = 5'000'000;
  constexpr TimeNs kStepNs = 200'000;
  constexpr int64_t kBeginNs = 1'000'000;
  Deviation deviation;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    VirtualProgram program = MakeWorkload(Workload::kTwoProcesses, seed, kStatements);
    program.threads[1].start_ns = kFirstEventNs;
    std::vector<Statement>& parent = program.threads[0].statements;
    Statement step;
    step.action = Action::kStep;
    step.cost_ns = kStepNs;
    parent.insert(parent.begin(), 2 * kFirstEventNs / kStepNs, step);
    gpubound::Run run = RunOf(Execute(program, nullptr));
    ASSERT_EQ(run.processes.size(), 2U);
    run.processes[1].span_begin_ns += kBeginNs;
    Compare(run, &deviation);
    ASSERT_EQ(deviation.largest_ns, 0);
  }
}

// Two workers that do the same at the same time, or nearly, and a trainer that waits for both.
TEST(ReplayExactTest, AWaitForSeveralProcessesEndsWhereItDid) {
  constexpr uint64_t kStatements = 3'000;
  constexpr int64_t kSecondPid = 7'777;
  Deviation deviation;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    gpubound::Run run =
        RunOf(Execute(MakeWorkload(Workload::kTwoProcesses, seed, kStatements), nullptr));
    ASSERT_EQ(run.processes.size(), 2U);
    ProcessTrace& second = run.processes.emplace_back(run.processes[1]);
    second.identity.pid = kSecondPid;
    const int64_t shift_ns = static_cast<int64_t>(seed) - 10;
    second.span_begin_ns += shift_ns;
    second.span_end_ns += shift_ns;
    for (ThreadTrace& thread : second.threads) {
      for (ThreadEvent& event : thread.events) event.time_ns += shift_ns;
    }
    int waits = 0;
    for (Label& label : run.processes[0].labels) {
      if (label.domain != kPeerDomain) continue;
      label.text += " " + std::to_string(kSecondPid);
      ++waits;
    }
    ASSERT_GT(waits, 0);
    Compare(run, &deviation);
    ASSERT_EQ(deviation.largest_ns, 0);
  }
}

}  // namespace
}  // namespace gpubound::sim
