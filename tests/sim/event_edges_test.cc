// SPDX-License-Identifier: Apache-2.0
//
// What a wait for an event waits for in a replay, told by making the kernel before one of the
// records ten times as long: the prediction is that of the same program with the change made.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/replay/replay.h"
#include "proto/sync_types.h"
#include "tests/sim/history_trace.h"
#include "tests/sim/virtual_program.h"

namespace gpubound::sim {
namespace {

class EventEdgesTest : public ::testing::Test {
 protected:
  static constexpr TimeNs kKernelNs = 50'000;

  EventEdgesTest() {
    program_.streams = 3;
    program_.events = 2;
    program_.threads.push_back({.tid = 1, .start_ns = 0, .statements = {}});
  }

  Statement& Add(Action action, uint32_t stream, uint32_t event = 0) {
    Statement& statement = program_.threads.front().statements.emplace_back();
    statement.action = action;
    statement.cost_ns = 2'000;
    statement.slot = stream;
    statement.event = event;
    return statement;
  }
  void Launch(const char* kernel, uint32_t stream) {
    Statement& statement = Add(Action::kLaunch, stream);
    statement.name = kernel;
    statement.device_ns = kKernelNs;
  }
  void Record(uint32_t event, uint32_t stream) { Add(Action::kRecordEvent, stream, event); }
  void Wait(uint32_t event, uint32_t stream) { Add(Action::kStreamWait, stream, event); }
  void SyncStream(uint32_t stream) { Add(Action::kSyncStream, stream); }
  void SyncEvent(uint32_t event) { Add(Action::kSyncEvent, 0, event); }

  int64_t SpanWith(const char* slower) const {
    VirtualProgram changed = program_;
    for (Statement& statement : changed.threads.front().statements) {
      if (statement.name == slower) statement.device_ns *= 10;
    }
    return Execute(changed, nullptr).span_ns;
  }
  static int64_t Predicted(const gpubound::Run& run, const char* slower) {
    ReplayOptions options;
    options.keep_events = false;
    options.changes.scalings.push_back({ScaledPart::kKernel, slower, 10});
    const Result<ReplayedRun> replayed = ReplayRun(run, options);
    EXPECT_TRUE(replayed.ok());
    const ReplayFacts& facts = (*replayed).facts.front();
    return facts.span_end_ns - facts.span_begin_ns;
  }
  void ExpectPredicted(const char* slower) const {
    EXPECT_EQ(Predicted(RunOf(Execute(program_, nullptr)), slower), SpanWith(slower)) << slower;
  }

  VirtualProgram program_;
};

TEST_F(EventEdgesTest, AWaitIsForTheLatestOfTwoRecordsOfOneEvent) {
  Launch("first", 1);
  Record(0, 1);
  Launch("second", 2);
  Record(0, 2);
  Wait(0, 3);
  Launch("behind", 3);
  SyncStream(3);
  ExpectPredicted("first");
  ExpectPredicted("second");
}

TEST_F(EventEdgesTest, AWaitBetweenTwoRecordsOfOneEventIsForTheFirst) {
  Launch("first", 1);
  Record(0, 1);
  Wait(0, 3);
  Launch("second", 2);
  Record(0, 2);
  Launch("behind", 3);
  SyncStream(3);
  ExpectPredicted("first");
  ExpectPredicted("second");
}

TEST_F(EventEdgesTest, AWaitIsForItsOwnEventAndNotForTheOneRecordedLast) {
  Launch("first", 1);
  Record(0, 1);
  Launch("second", 2);
  Record(1, 2);
  Wait(0, 3);
  Launch("behind", 3);
  SyncStream(3);
  ExpectPredicted("first");
  ExpectPredicted("second");
}

TEST_F(EventEdgesTest, WorkLaunchedBehindTheRecordIsNotWaitedFor) {
  Launch("first", 1);
  Record(0, 1);
  Launch("second", 1);
  Wait(0, 3);
  Launch("behind", 3);
  SyncStream(3);
  ExpectPredicted("first");
  ExpectPredicted("second");
}

TEST_F(EventEdgesTest, WorkLaunchedBeforeTheWaitDoesNotWait) {
  Launch("earlier", 3);
  Launch("queued", 3);
  Launch("first", 1);
  Record(0, 1);
  Wait(0, 3);
  Launch("behind", 3);
  SyncStream(3);
  ExpectPredicted("first");
  ExpectPredicted("earlier");
}

TEST_F(EventEdgesTest, AThreadWaitsForTheEventAndNotForWhatEndedLast) {
  Launch("first", 1);
  Record(0, 1);
  Launch("other", 2);
  SyncEvent(0);
  ExpectPredicted("first");
  ExpectPredicted("other");
}

TEST_F(EventEdgesTest, WithoutARecordTheThreadsLastOneIsTaken) {
  Launch("first", 1);
  Record(0, 1);
  Wait(0, 3);
  Launch("behind", 3);
  SyncStream(3);
  gpubound::Run run = RunOf(Execute(program_, nullptr));
  std::erase_if(run.processes.front().syncs,
                [](const Sync& sync) { return sync.type == kSyncEventRecorded; });
  EXPECT_EQ(Predicted(run, "first"), SpanWith("first"));
}

// As JAX waits: no CUDA call on the thread says that it does.
TEST_F(EventEdgesTest, AFrameworksWaitForTheGpuIsForTheWorkThatEndedInIt) {
  Launch("first", 1);
  Statement& begin = Add(Action::kOpen, 0);
  begin.scope = {LabelKind::kLayer, Layer::kBackend, "ArrayImpl.block_until_ready"};
  SyncStream(1);
  Add(Action::kClose, 0);
  Add(Action::kCompute, 0);
  History history = Execute(program_, nullptr);
  std::erase_if(history.calls,
                [](const ApiFact& call) { return call.name == "cudaStreamSynchronize"; });
  EXPECT_EQ(Predicted(RunOf(history), "first"), SpanWith("first"));
}

}  // namespace
}  // namespace gpubound::sim
