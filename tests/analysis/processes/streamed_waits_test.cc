// SPDX-License-Identifier: Apache-2.0
//
// Waits of threads and streams as a trace has them: what a replay makes of them, streamed from
// chunks as well as loaded, and work that seems to go on behind them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/correction/run_report.h"
#include "analysis/reader/reader.h"
#include "analysis/replay/replay.h"
#include "analysis/report/report.h"
#include "proto/sync_types.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kUs = 1000;
constexpr uint32_t kContext = 1;
constexpr LabelId kRecord{4};
constexpr LabelId kWaitEvent{5};
constexpr LabelId kSyncCall{6};
constexpr LabelId kBeginCapture{7};
constexpr LabelId kEndCapture{8};

// Three streams, 1 to 3, which CUDA calls 7 to 9, and as many kernels: first, second and behind.
class StreamedWaitsTest : public testing::Test {
 protected:
  using Run = gpubound::Run;  // not testing::Test::Run

  StreamedWaitsTest() {
    writer_.PutUsualRows();
    writer_.Sql(
        "UPDATE meta SET value = '1000000' WHERE key = 'end_monotonic_ns';"
        "INSERT INTO stream VALUES(2, 1, 1, 8), (3, 1, 1, 9);"
        "UPDATE work SET name = 'first';"
        "INSERT INTO work VALUES(2, 1, 0, 'second', 8, 1, 1, 32, 1, 1, 16, 0, 0), "
        "(3, 1, 0, 'behind', 8, 1, 1, 32, 1, 1, 16, 0, 0);"
        "INSERT INTO label VALUES(4, 6, 0, '', 'cudaEventRecord'), "
        "(5, 6, 0, '', 'cudaStreamWaitEvent'), (6, 6, 0, '', 'cudaStreamSynchronize'), "
        "(7, 6, 0, '', 'cudaStreamBeginCapture'), (8, 6, 0, '', 'cudaStreamEndCapture')");
  }

  // Times are in us. The correlation is the number of the call.
  uint32_t Call(uint64_t begin, uint64_t end, LabelId label) {
    const auto correlation = static_cast<uint32_t>(calls_.size() + 1);
    calls_.push_back({begin * kUs, end * kUs, correlation, 100, label, 0});
    return correlation;
  }
  void Launch(uint64_t at, uint32_t stream, uint64_t begin, uint64_t end) {
    const uint32_t correlation = Call(at, at + 2, kLaunch);
    work_.push_back({begin * kUs, end * kUs, 0, 0, correlation, static_cast<StreamId>(stream),
                     static_cast<WorkId>(stream), 0});
  }
  void Sync(uint64_t begin, uint64_t end, LabelId label, uint32_t type, uint32_t stream,
            uint64_t event = 0) {
    const uint32_t correlation = Call(begin, end, label);
    syncs_.push_back({begin * kUs, end * kUs, event, correlation, type, kContext, stream});
  }
  void Record(uint64_t at, uint64_t event, uint32_t stream) {
    Sync(at, at + 1, kRecord, kSyncEventRecorded, stream, event);
  }
  void WaitForEvent(uint64_t at, uint64_t event, uint32_t stream) {
    Sync(at, at + 1, kWaitEvent, kSyncEventByStream, stream, event);
  }

  // Event 5 is recorded behind the first kernel.
  void LaunchFirstAndSecond() {
    Launch(10, 1, 14, 30);
    Record(16, 5, 7);
    Launch(20, 2, 24, 28);
  }
  // The third stream waits for event 5, and the thread for the third stream. Nothing but the event
  // tells of the order: the first kernel has ended by the time of the third one's launch.
  void LaunchBehindFirst() {
    WaitForEvent(30, 5, 9);
    Launch(34, 3, 38, 72);
    Sync(40, 76, kSyncCall, kSyncStream, 9);
    Write();
  }
  // Three times as long the first kernel ends at 62, and the third one would have begun at 38.
  static constexpr int64_t kHeldUpNs = 24 * kUs;

  // A chunk each, the second half of the waits first: writers of records know no order.
  void Write() {
    const auto half = static_cast<std::ptrdiff_t>(syncs_.size() / 2);
    const std::vector<SyncRecord> later(syncs_.begin() + half, syncs_.end());
    const std::vector<SyncRecord> earlier(syncs_.begin(), syncs_.begin() + half);
    writer_.Calls({.thread = 9}, calls_);
    writer_.Work({.thread = 9}, work_);
    writer_.Syncs({.thread = 9}, later);
    if (half != 0) writer_.Syncs({.thread = 9, .first_sequence = later.size()}, earlier);
    writer_.Close();
  }

  // How much longer it takes with |kernel| three times as long.
  static int64_t LongerBy(const Result<Run>& run, const std::string& kernel) {
    EXPECT_TRUE(run.ok());
    ReplayOptions options;
    options.keep_events = false;
    const int64_t before = SpanOf(*run, options);
    options.changes.scalings.push_back({ScaledPart::kKernel, kernel, 3});
    return SpanOf(*run, options) - before;
  }
  int64_t LongerByStreamed(const std::string& kernel) const {
    const Result<Run> run = OpenRun(run_.path());
    EXPECT_TRUE(run.ok() && run->processes.front().source != nullptr) << "was not streamed";
    return LongerBy(run, kernel);
  }
  int64_t LongerByLoaded(const std::string& kernel) const {
    return LongerBy(LoadRun(run_.path()), kernel);
  }

  // The ledger's count, and what the notes say.
  uint64_t LateWork(std::vector<std::string>* notes = nullptr) const {
    const Result<Report> report = ReportOfRun(run_.path());
    EXPECT_TRUE(report.ok());
    if (notes != nullptr) *notes = report->notes;
    for (const ReportLedgerEntry& entry : report->ledger) {
      if (entry.counter == "work_after_wait") return entry.value;
    }
    return 0;
  }

 private:
  static int64_t SpanOf(const Run& run, const ReplayOptions& options) {
    const Result<ReplayedRun> replayed = ReplayRun(run, options);
    EXPECT_TRUE(replayed.ok());
    const ReplayFacts& facts = replayed->facts.front();
    return facts.span_end_ns - facts.span_begin_ns;
  }

  TemporaryRun run_;
  SegmentWriter writer_{run_, WriterIdentity{}};
  std::vector<ApiRecord> calls_;
  std::vector<DeviceRecord> work_;
  std::vector<SyncRecord> syncs_;
};

// The thread recorded another event last; what its calls tell is not enough.
TEST_F(StreamedWaitsTest, AStreamWaitsForItsEventWhetherStreamedOrLoaded) {
  LaunchFirstAndSecond();
  Record(26, 6, 8);
  LaunchBehindFirst();
  EXPECT_EQ(LongerByLoaded("first"), kHeldUpNs);
  EXPECT_EQ(LongerByLoaded("second"), 0);
  EXPECT_EQ(LongerByStreamed("first"), kHeldUpNs);
  EXPECT_EQ(LongerByStreamed("second"), 0);
}

// An event that is recorded into a graph is not recorded for those who wait for it afterwards.
TEST_F(StreamedWaitsTest, WhatIsCapturedMeanwhileRecordsNoEvent) {
  LaunchFirstAndSecond();
  Call(25, 26, kBeginCapture);
  Record(26, 5, 8);
  WaitForEvent(27, 5, 9);
  Call(28, 29, kEndCapture);
  LaunchBehindFirst();
  EXPECT_EQ(LongerByStreamed("first"), kHeldUpNs);
  EXPECT_EQ(LongerByStreamed("second"), 0);
}

TEST_F(StreamedWaitsTest, WorkThatEndsBehindItsWaitIsLate) {
  Launch(10, 1, 14, 64);
  Sync(20, 50, kSyncCall, kSyncStream, 7);
  Write();
  std::vector<std::string> notes;
  EXPECT_EQ(LateWork(&notes), 1u);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("GPU work seems to end up to 14.0 us after a wait")));
}

TEST_F(StreamedWaitsTest, WorkThatEndsBehindAWaitForItsContextIsLate) {
  Launch(10, 1, 14, 64);
  Launch(14, 2, 20, 90);
  Sync(20, 50, kSyncCall, kSyncContext, UINT32_MAX);
  Write();
  EXPECT_EQ(LateWork(), 2u);
}

TEST_F(StreamedWaitsTest, WorkThatNoWaitWasForIsNotLate) {
  Launch(10, 1, 14, 55);  // within what clocks may differ by
  Launch(14, 2, 20, 90);  // of another stream
  Sync(20, 50, kSyncCall, kSyncStream, 7);
  Launch(52, 1, 56, 90);  // launched afterwards
  Sync(56, 57, kWaitEvent, kSyncEventByStream, 7);
  Write();
  std::vector<std::string> notes;
  EXPECT_EQ(LateWork(&notes), 0u);
  EXPECT_THAT(notes, IsEmpty());
}

// Waits of another stream come in between, more than are remembered of one.
TEST_F(StreamedWaitsTest, WaitsOfOtherStreamsDoNotHideALateOne) {
  Launch(10, 1, 14, 200);
  Sync(20, 50, kSyncCall, kSyncStream, 7);
  for (uint64_t i = 0; i < 50; ++i) Sync(51 + 2 * i, 52 + 2 * i, kSyncCall, kSyncStream, 8);
  Write();
  EXPECT_EQ(LateWork(), 1u);
}

}  // namespace
}  // namespace gpubound
