// SPDX-License-Identifier: Apache-2.0
//
// Processes in which threads come and go by the thousand. What a window costs must not grow with
// the threads that are not in it: where it did, these tests would go on for hours.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "analysis/attribution/process_report.h"
#include "analysis/attribution/sweep_setup.h"
#include "analysis/sweep/lane_books.h"
#include "analysis/timeline/process_timeline.h"
#include "analysis/trace/memory_source.h"
#include "analysis/trace/row_names.h"
#include "proto/scope_domains.h"

namespace gpubound {
namespace {

constexpr uint32_t kThreads = 20'000;
constexpr int64_t kLifeNs = 10'000;
constexpr int64_t kScopes = 5;
constexpr int64_t kScopeNs = 1000;

// Says how many threads are being read at once.
class CountingSource : public EventSource {
 public:
  explicit CountingSource(const ProcessTrace& process) : source_(process) {}
  std::unique_ptr<ThreadCursor> ThreadEvents(uint32_t thread) const override {
    return std::make_unique<Cursor>(source_.ThreadEvents(thread), &open_, &most_open_);
  }
  std::unique_ptr<RecordCursor<ThreadCall>> Calls() const override { return source_.Calls(); }
  std::unique_ptr<RecordCursor<ThreadOverhead>> Overheads() const override {
    return source_.Overheads();
  }
  std::unique_ptr<RecordCursor<DeviceWork>> Work() const override { return source_.Work(); }
  std::unique_ptr<RecordCursor<Sync>> Syncs() const override { return source_.Syncs(); }
  std::unique_ptr<RecordCursor<CpuTime>> CpuTimes() const override { return source_.CpuTimes(); }
  std::unique_ptr<RecordCursor<gpubound::StackLooks>> StackLooks() const override {
    return source_.StackLooks();
  }
  size_t most_open() const { return most_open_; }

 private:
  class Cursor : public ThreadCursor {
   public:
    Cursor(std::unique_ptr<ThreadCursor> cursor, size_t* open, size_t* most_open)
        : cursor_(std::move(cursor)), open_(*open) {
      *most_open = std::max(*most_open, ++open_);
    }
    ~Cursor() override { --open_; }
    Cursor(const Cursor&) = delete;
    Cursor& operator=(const Cursor&) = delete;
    bool Next(ThreadBatch* batch) override { return cursor_->Next(batch); }

   private:
    std::unique_ptr<ThreadCursor> cursor_;
    size_t& open_;
  };

  MemorySource source_;
  mutable size_t open_ = 0;
  mutable size_t most_open_ = 0;
};

class ManyThreadsTest : public testing::Test {
 protected:
  // Threads that live one after the other, each in |kind| for half of its life.
  static ProcessTrace OneAfterTheOther(LabelKind kind) {
    ProcessTrace trace;
    trace.identity = {"host", 7, 1};
    trace.main_tid = 1;
    trace.labels.resize(1);
    trace.labels.push_back({kind, Layer::kUnset, "", "work"});
    for (uint32_t i = 0; i < kThreads; ++i) {
      ThreadTrace& thread = trace.threads.emplace_back();
      thread.ordinal = static_cast<ThreadId>(i + 1);
      thread.tid = i + 1;
      for (int64_t scope = 0; scope < kScopes; ++scope) {
        const int64_t begin_ns = i * kLifeNs + scope * 2 * kScopeNs;
        thread.events.push_back({begin_ns, 0, LabelId{1}, SlotKind::kBegin});
        thread.events.push_back({begin_ns + kScopeNs, 0, LabelId{1}, SlotKind::kEnd});
      }
    }
    trace.span_end_ns = kThreads * kLifeNs;
    return trace;
  }

  // The same; a thread's last event says that it ends. Half of them live in another phase.
  static ProcessTrace EndingOneAfterTheOther() {
    ProcessTrace trace = OneAfterTheOther(LabelKind::kOperation);
    trace.labels.push_back({LabelKind::kLayer, Layer::kWait, kThreadEndDomain, kThreadEndText});
    trace.labels.push_back({LabelKind::kPhase, Layer::kUnset, "", "second half"});
    for (uint32_t i = 0; i < kThreads; ++i) {
      const int64_t end_ns = (i + 1) * kLifeNs - kScopeNs;
      trace.threads[i].events.push_back({end_ns, 0, LabelId{2}, SlotKind::kBegin});
    }
    std::vector<ThreadEvent>& events = trace.threads[kThreads / 2].events;
    events.insert(events.begin(), {kThreads / 2 * kLifeNs, 0, LabelId{3}, SlotKind::kPhase});
    return trace;
  }

  static int64_t InLayer(const std::vector<ReportCell>& cells, const std::string& phase,
                         const std::string& layer) {
    int64_t ns = 0;
    for (const ReportCell& cell : cells) {
      if (cell.phase == phase && cell.layer == layer) ns += cell.ns;
    }
    return ns;
  }

  static int64_t Wall(const std::vector<ReportOperation>& rows, const std::string& operation) {
    for (const ReportOperation& row : rows) {
      if (row.operation == operation) return row.wall_ns;
    }
    return 0;
  }
};

TEST_F(ManyThreadsTest, ThreadsThatComeAndGoAreNotReadAllAtOnce) {
  const ProcessTrace trace = OneAfterTheOther(LabelKind::kAnnotation);
  const CountingSource source(trace);
  Result<ProcessAnalysis> analysis = AnalyzeProcess(trace, source, {}, {});
  ASSERT_TRUE(analysis.ok()) << analysis.error().ToString();
  EXPECT_EQ(Wall(analysis->report.operations, "work"), kScopes * kScopeNs);
  EXPECT_LT(source.most_open(), 100U);
}

TEST_F(ManyThreadsTest, EveryLaneOfAShortThreadIsOfTheWholeSpan) {
  const ProcessTrace trace = OneAfterTheOther(LabelKind::kOperation);
  Result<ProcessAnalysis> analysis = AnalyzeProcess(trace, {});
  ASSERT_TRUE(analysis.ok()) << analysis.error().ToString();
  ASSERT_EQ(analysis->report.lanes.size(), kThreads - 1);
  for (const ReportLane& lane : analysis->report.lanes) {
    EXPECT_EQ(Wall(lane.operations, "work"), kScopes * kScopeNs);
    EXPECT_EQ(Wall(lane.operations, kNoOperation), kThreads * kLifeNs - kScopes * kScopeNs);
  }
}

TEST_F(ManyThreadsTest, AThreadDoesNothingBeforeItsFirstEventAndAfterItsEnd) {
  const ProcessTrace trace = EndingOneAfterTheOther();
  Result<ProcessAnalysis> analysis = AnalyzeProcess(trace, {});
  ASSERT_TRUE(analysis.ok()) << analysis.error().ToString();
  ASSERT_EQ(analysis->report.lanes.size(), kThreads - 1);
  constexpr int64_t kHalfNs = kThreads / 2 * kLifeNs;
  for (size_t i = 0; i < analysis->report.lanes.size(); ++i) {
    const ReportLane& lane = analysis->report.lanes[i];
    EXPECT_EQ(Wall(lane.operations, "work"), kScopes * kScopeNs);
    // The first thread reports, and is none.
    const int64_t begun_ns = static_cast<int64_t>(i + 1) * kLifeNs;
    const int64_t ended_ns = begun_ns + kLifeNs - kScopeNs;
    const int64_t lived_ns = std::min(ended_ns, kHalfNs) - std::min(begun_ns, kHalfNs);
    EXPECT_EQ(InLayer(lane.cells, kNoPhase, "wait"), kHalfNs - lived_ns);
    EXPECT_EQ(InLayer(lane.cells, "second half", "wait"),
              kThreads * kLifeNs - kHalfNs - (ended_ns - begun_ns - lived_ns));
  }
}

TEST_F(ManyThreadsTest, NoBookIsKeptOfALaneWhoseThreadHasEnded) {
  const ProcessTrace trace = EndingOneAfterTheOther();
  const MemorySource source(trace);
  const SweepSetup setup(trace, source, {}, {});
  const SweepInput& in = setup.input();
  ProcessTimeline timeline({in.process, in.source, in.roles, in.scan, in.peers, in.inherited});
  LaneBooks books(timeline, trace.python, in.span.begin_ns);
  GpuWindow idle;
  idle.all.push_back({});
  idle.all.push_back({.begin_ns = kOpenEnded});
  size_t most_open = 0;
  for (int64_t begin_ns = 0; begin_ns < in.span.end_ns; begin_ns = timeline.NextTime()) {
    const int64_t end_ns = timeline.Open(begin_ns, begin_ns + 2 * kLifeNs);
    timeline.Run(begin_ns, end_ns);
    books.OpenWindow(idle);
    books.BookWindow(begin_ns, in.span);
    books.BookUntil(std::min(end_ns, in.span.end_ns));
    most_open = std::max(most_open, books.open());
  }
  EXPECT_EQ(timeline.lanes(), kThreads - 1);
  EXPECT_LT(most_open, 10U);
}

}  // namespace
}  // namespace gpubound
