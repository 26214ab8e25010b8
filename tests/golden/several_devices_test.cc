// SPDX-License-Identifier: Apache-2.0
//
// What a replay makes of a process that uses two devices, on traces written down as text.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/replay/replay.h"
#include "analysis/report/report.h"
#include "analysis/trace/event_source.h"
#include "proto/sync_types.h"
#include "tests/golden/scenario.h"
#include "tests/golden/scenario_lines.h"

namespace gpubound {
namespace {

constexpr int64_t kTurns = 10;
constexpr int64_t kTurnUs = 1000;

std::string CallLine(int64_t begin_us, int64_t end_us, const std::string& what) {
  return "call main " + std::to_string(1000 * begin_us) + " " + std::to_string(1000 * end_us) +
         " " + what + "\n";
}

std::string WorkLine(const std::string& kind, int64_t begin_us, int64_t end_us,
                     const std::string& what) {
  return kind + " " + std::to_string(1000 * begin_us) + " " + std::to_string(1000 * end_us) + " " +
         what + "\n";
}

class SeveralDevicesTest : public testing::Test {
 protected:
  SeveralDevicesTest() {
    text_ = golden::ProcessLines("", 0, kTurns * kTurnUs) + "device 2 sms=4 blocks=2\n" +
            golden::EventLine(0, "begin operation update");
  }

  static std::string Id(int64_t turn, int64_t call) {
    return " #" + std::to_string(10 * turn + call);
  }

  // What is written, its streams each in a context of their device, with |changes| made.
  ReplayedRun Replayed(const std::string& changes) {
    text_ += golden::EventLine(kTurns * kTurnUs, "end operation update");
    golden::Scenario scenario = golden::ParseScenario(text_);
    EXPECT_TRUE(scenario.mistakes.empty()) << scenario.mistakes.front();
    ProcessTrace& process = scenario.run.processes.front();
    for (size_t id = 1; id < process.streams.size(); ++id) {
      process.streams[id].context = static_cast<uint32_t>(id);
    }
    process.syncs = syncs_;
    process.contexts = contexts_;
    ReplayOptions options;
    const Result<Scaling> scaling = ParseScaling(changes);
    EXPECT_TRUE(scaling.ok());
    options.changes.scalings = {*scaling};
    run_ = std::move(scenario.run);
    Result<ReplayedRun> replayed = ReplayRun(run_, options);
    EXPECT_TRUE(replayed.ok());
    return std::move(*replayed);
  }
  static double MillisecondsOf(const ReplayedRun& replayed) {
    const ReplayFacts& facts = replayed.facts.front();
    return static_cast<double>(facts.span_end_ns - facts.span_begin_ns) / 1e6;
  }

  // In each turn "long" on the first device, for which the thread waits before it does anything
  // else, and "short" on the second one, for which it waits then.
  void WaitForOneAfterTheOther() {
    for (int64_t turn = 0; turn < kTurns; ++turn) {
      const int64_t us = turn * kTurnUs;
      text_ += CallLine(us, us + 5, "cudaLaunchKernel" + Id(turn, 1));
      text_ += WorkLine("kernel", us + 10, us + 510, "long" + Id(turn, 1));
      text_ += CallLine(us + 5, us + 10, "cudaLaunchKernel" + Id(turn, 2));
      text_ += WorkLine("kernel", us + 15, us + 315, "short device=2" + Id(turn, 2));
      WaitFor(1, us + 10, us + 515, 10 * turn + 3);
      WaitFor(2, us + 815, us + 820, 10 * turn + 4);
    }
  }
  void WaitFor(uint32_t context, int64_t begin_us, int64_t end_us, int64_t id) {
    text_ += CallLine(begin_us, end_us, "cudaDeviceSynchronize #" + std::to_string(id));
    Sync sync;
    sync.start_ns = 1000 * begin_us;
    sync.end_ns = 1000 * end_us;
    sync.correlation = static_cast<uint32_t>(id);
    sync.type = kSyncContext;
    sync.context = context;
    syncs_.push_back(sync);
  }

  gpubound::Run run_;
  std::string text_;
  std::vector<Sync> syncs_;
  std::vector<ContextInfo> contexts_;
};

// 10 us until both are launched, 5 us of waiting for nothing, 300 us of other work, by which the
// second device is done, and 185 us to the end of the turn.
TEST_F(SeveralDevicesTest, AWaitForOneDeviceIsNoWaitForTheOther) {
  WaitForOneAfterTheOther();
  EXPECT_NEAR(MillisecondsOf(Replayed("kernel=long:0")), kTurns * 0.5, 0.2);
}

TEST_F(SeveralDevicesTest, AWaitForAContextIsOneForTheGreenOnesThatWereMadeOfIt) {
  WaitForOneAfterTheOther();
  contexts_ = {{.device = 0, .context = 1, .parent = 0, .multiprocessors = 4, .is_green = false},
               {.device = 0, .context = 2, .parent = 1, .multiprocessors = 2, .is_green = true}};
  EXPECT_NEAR(MillisecondsOf(Replayed("kernel=long:0")), kTurns * 0.8, 0.2);
}

// It keeps the device at its other end busy as long as it takes, wherever that is, whichever of its
// two records comes first.
TEST_F(SeveralDevicesTest, BothEndsOfACopyAreAtTheSameTime) {
  for (int64_t turn = 0; turn < kTurns; ++turn) {
    const int64_t us = turn * kTurnUs;
    text_ += CallLine(us, us + 5, "cudaLaunchKernel" + Id(turn, 1));
    text_ += WorkLine("kernel", us + 10, us + 510, "long" + Id(turn, 1));
    text_ += CallLine(us + 5, us + 10, "cudaMemcpyPeerAsync" + Id(turn, 2));
    const std::string sends = WorkLine("copy", us + 511, us + 611, "peer" + Id(turn, 2));
    const std::string receives =
        WorkLine("copy", us + 511, us + 611, "peer device=2" + Id(turn, 2) + " other-end");
    text_ += turn % 2 == 0 ? sends + receives : receives + sends;
    WaitFor(1, us + 10, us + 620, 10 * turn + 3);
  }
  const ReplayedRun replayed = Replayed("kernel=long:0");
  EXPECT_NEAR(MillisecondsOf(replayed), kTurns * 0.5, 0.2);
  std::map<uint32_t, std::vector<int64_t>> begins;  // of copies, by device
  RecordStream<DeviceWork> works(replayed.run.processes.front().source->Work());
  for (; works.Peek() != nullptr; works.Pop()) {
    const DeviceWork& work = *works.Peek();
    if (work.end_ns > work.start_ns) begins[Raw(work.stream)].push_back(work.start_ns);
  }
  EXPECT_EQ(begins[1].size(), static_cast<size_t>(kTurns));
  EXPECT_EQ(begins[1], begins[2]);
}

// The second device's stream is here in a context that has a part of the multiprocessors.
TEST_F(SeveralDevicesTest, AReplayKnowsWhichPartOfADeviceAContextHas) {
  WaitForOneAfterTheOther();
  contexts_ = {{.device = 1, .context = 2, .parent = 0, .multiprocessors = 1, .is_green = true}};
  const ReplayedRun replayed = Replayed("device:1");
  const Result<Report> recorded = BuildReport(run_);
  const Result<Report> unchanged = BuildReport(replayed.run);
  ASSERT_TRUE(recorded.ok() && unchanged.ok());
  const ReportOperation& row = (*recorded).processes.at(0).operations.at(0);
  EXPECT_GT(row.sm_filled_ns, 0);
  EXPECT_LT(row.sm_filled_ns, row.gpu_busy_ns);
  EXPECT_EQ((*unchanged).processes.at(0).operations.at(0).sm_filled_ns, row.sm_filled_ns);
}

}  // namespace
}  // namespace gpubound
