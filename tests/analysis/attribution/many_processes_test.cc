// SPDX-License-Identifier: Apache-2.0
//
// Runs of thousands of processes that act in turns, as environments in processes of their own do.
// Where a turn cost a replay what there are processes, this would go on for a minute.
#include <gtest/gtest.h>

#include <utility>

#include "analysis/replay/replay.h"

namespace gpubound {
namespace {

constexpr int kScopes = 100'000;

// |processes| that have kScopes scopes between them, 10 ns after one another.
Run InTurns(int processes) {
  Run run;
  for (int p = 0; p < processes; ++p) {
    ProcessTrace process;
    process.identity = {"host", p + 1, p + 1};
    process.main_tid = p + 1;
    process.labels.resize(1);
    process.labels.push_back({LabelKind::kOperation, Layer::kUnset, "", "simulation"});
    process.devices.resize(1);
    process.streams.resize(1);
    process.works.resize(1);
    ThreadTrace& thread = process.threads.emplace_back();
    thread.ordinal = ThreadId{1};
    thread.tid = p + 1;
    for (int scope = p; scope < kScopes; scope += processes) {
      thread.events.push_back({scope * 10, 0, LabelId{1}, SlotKind::kBegin});
      thread.events.push_back({scope * 10 + 5, 0, LabelId{1}, SlotKind::kEnd});
    }
    process.span_end_ns = kScopes * 10;
    run.processes.push_back(std::move(process));
  }
  return run;
}

// Each is where it was: the turns are taken in the order of the recording.
TEST(ManyProcessesTest, TurnsOfThousandsOfProcesses) {
  const gpubound::Run run = InTurns(4000);
  ReplayOptions options;
  options.keep_events = false;
  const Result<ReplayedRun> replayed = ReplayRun(run, options);
  ASSERT_TRUE(replayed.ok());
  ASSERT_EQ((*replayed).facts.size(), run.processes.size());
  for (const ReplayFacts& facts : (*replayed).facts) {
    EXPECT_EQ(facts.span_end_ns - facts.span_begin_ns, run.processes[0].span_end_ns);
  }
}

}  // namespace
}  // namespace gpubound
