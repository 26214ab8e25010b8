// SPDX-License-Identifier: Apache-2.0
//
// What is shown of the events that a compaction left: nothing is drawn longer than it is known to
// have been, and iterations are those of the whole run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/compact/compact.h"
#include "analysis/correction/run_report.h"
#include "analysis/output/page/page_timeline.h"
#include "analysis/output/page/thinned_time.h"
#include "analysis/output/tables/sqlite_session.h"
#include "analysis/reader/reader.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kLengthNs = 100;
constexpr int kIterations = 10;
constexpr int kSlow = 3;
constexpr uint64_t kSlowNs = 500;
constexpr uint64_t kEndNs = 1450;

class RowLines : public RowSink {
 public:
  void Begin(const std::vector<std::string>&) override {}
  bool Row(std::span<const Cell> cells) override {
    std::string& line = lines.emplace_back();
    for (const Cell& cell : cells) {
      if (&cell != cells.data()) line += "|";
      if (const auto* number = std::get_if<int64_t>(&cell)) line += std::to_string(*number);
      if (const auto* text = std::get_if<std::string_view>(&cell)) line += *text;
    }
    return true;
  }
  void End() override {}
  std::vector<std::string> lines;
};

// Iterations 10 to 19 in a scope that is open throughout, a chunk each; the fourth, from 300 to
// 800, is slow. Compacted, its chunk and the last ones stay, from 1200 on; so does the chunk before
// the slow one, which ends where that begins.
class ThinnedDetailTest : public testing::Test {
 protected:
  void SetUp() override {
    writer_.PutUsualRows();
    writer_.Sql("UPDATE meta SET value=" + std::to_string(kEndNs) +
                " WHERE key='end_monotonic_ns'");
    writer_.Sql("INSERT INTO thread VALUES(2, 101, 'early')");
    uint64_t at = 0;
    uint64_t sequence = 0;
    for (int i = 0; i < kIterations; ++i) {
      const uint64_t end = at + (i == kSlow ? kSlowNs : kLengthNs);
      std::vector<Slot> slots;
      if (i == 0) slots.push_back(Begin(kTrain, at));
      slots.push_back(Begin(kInner, at + 10));
      slots.push_back(End(kInner, end - 10));
      slots.push_back(MakeSlot(SlotKind::kStep, LabelId{0}, end));
      slots.push_back(static_cast<Slot>(10 + i));
      writer_.Scopes({.thread = 1, .first_sequence = sequence}, slots,
                     i == 0 ? std::vector<uint32_t>{} : std::vector<uint32_t>{1});
      sequence += slots.size();
      at = end;
    }
    // Another thread opens a range and a scope around the slow iteration, and ends both later.
    writer_.Scopes({.thread = 2}, {Begin(kTrain, 310), MakeSlot(SlotKind::kRangeStart, kInner, 320),
                                   7, Begin(kInner, 330), End(kInner, 700)});
    writer_.Scopes({.thread = 2, .first_sequence = 5},
                   {MakeSlot(SlotKind::kRangeEnd, kInner, 900), 7, End(kTrain, 910)}, {1});
  }

  void Thin() {
    writer_.Close();
    Retention retention;
    retention.window_ns = 250;
    retention.slow_factor = 3;
    const Result<Compaction> compaction = CompactRun(run_.path(), {}, retention);
    ASSERT_TRUE(compaction.ok()) << compaction.error().ToString();
    ASSERT_GT(compaction->events_removed, 0u);
  }
  std::vector<std::string> Query(const std::string& sql) const {
    RowLines rows;
    Result<std::unique_ptr<SqlSession>> session = SqlSession::Open(run_.path());
    EXPECT_TRUE(session.ok() && (*session)->Run(sql, &rows).ok());
    return rows.lines;
  }
  PageTimeline Timeline(const PageLimits& limits = {}) const {
    const Result<AnalyzedRun> analyzed = AnalyzeRun(run_.path());
    EXPECT_TRUE(analyzed.ok());
    return BuildTimeline(analyzed->run, analyzed->report, limits);
  }
  static std::vector<std::string> EventsOf(const PageTimeline& timeline, size_t track) {
    std::vector<std::string> events;
    for (const KeptEvent& event : timeline.tracks[track].events) {
      events.push_back(timeline.names[event.name] + " " + std::to_string(event.begin_ns) + " " +
                       std::to_string(event.end_ns) + (event.begin_cut ? " <" : "") +
                       (event.end_cut ? " >" : ""));
    }
    return events;
  }

  TemporaryRun run_;
  SegmentWriter writer_{run_, WriterIdentity{}};
};

TEST_F(ThinnedDetailTest, ScopesAreRowsOnlyWhereEventsAre) {
  Thin();
  EXPECT_THAT(
      Query("SELECT name, begin_ns, end_ns, cut FROM scope WHERE thread = 1 ORDER BY begin_ns, "
            "end_ns"),
      ElementsAre("inner|210|290|", "train|210|800|both", "inner|310|790|", "inner|1110|1190|",
                  "train|1110|1450|both", "inner|1210|1290|", "inner|1310|1390|"));
}

TEST_F(ThinnedDetailTest, WhatAThreadHadOpenWhenItsEventsEndIsCutThere) {
  Thin();
  EXPECT_THAT(Query("SELECT name, begin_ns, end_ns, is_range, cut FROM scope WHERE thread = 2 "
                    "ORDER BY begin_ns"),
              ElementsAre("train|310|700|0|end", "inner|320|700|1|end", "inner|330|700|0|"));
}

TEST_F(ThinnedDetailTest, ThePageDrawsScopesOnlyWhereEventsAre) {
  Thin();
  const PageTimeline timeline = Timeline();
  ASSERT_EQ(timeline.tracks.size(), 2u);
  EXPECT_THAT(
      EventsOf(timeline, 0),
      ElementsAre("train 210 800 < >", "inner 210 290", "inner 310 790", "train 1110 1450 < >",
                  "inner 1110 1190", "inner 1210 1290", "inner 1310 1390"));
  EXPECT_THAT(EventsOf(timeline, 1),
              ElementsAre("train 310 700 >", "inner 320 700 >", "inner 330 700"));
}

TEST_F(ThinnedDetailTest, ThePageSaysWhereEventsAreGone) {
  Thin();
  const PageTimeline timeline = Timeline();
  EXPECT_THAT(timeline.thinned, ElementsAre(Interval{0, 300}, Interval{800, 1200}));
  EXPECT_THAT(timeline.tracks[0].thinned, ElementsAre(Interval{0, 210}, Interval{800, 1110}));
  EXPECT_THAT(timeline.tracks[1].thinned, ElementsAre(Interval{700, 1450}));
}

TEST_F(ThinnedDetailTest, ThePageHasEveryIterationAsLongAsItWas) {
  const std::vector<IterationPoint> whole = Timeline().iterations[0];
  Thin();
  const std::vector<IterationPoint> points = Timeline().iterations[0];
  ASSERT_EQ(points.size(), static_cast<size_t>(kIterations));
  for (size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points[i].first, 10 + i);
    EXPECT_EQ(points[i].time, whole[i].time);
    EXPECT_EQ(points[i].busy_ns, whole[i].busy_ns);
  }
  EXPECT_EQ(points[kSlow].longest_ns, static_cast<int64_t>(kSlowNs));
}

TEST_F(ThinnedDetailTest, WindowsLieWhereEventsAre) {
  Thin();
  PageLimits limits;
  limits.events = 3;
  limits.window_events = 4;
  const PageTimeline timeline = Timeline(limits);
  EXPECT_FALSE(timeline.whole);
  ASSERT_FALSE(timeline.windows.empty());
  for (const DetailWindow& window : timeline.windows) {
    for (const Interval& gone : timeline.thinned) {
      EXPECT_TRUE(window.time.ClippedTo(gone).empty()) << window.why;
    }
  }
}

TEST_F(ThinnedDetailTest, ADamagedRunIsCutAtTheSamePlaces) {
  Thin();
  const std::string query = "SELECT name, begin_ns, end_ns, cut FROM scope ORDER BY 2, 3";
  const std::vector<std::string> streamed = Query(query);
  {
    SegmentWriter bad(run_, WriterIdentity{}, 1);
    bad.PutUsualRows();
    bad.Sql("UPDATE meta SET value=" + std::to_string(kEndNs) + " WHERE key='end_monotonic_ns'");
    bad.Work({.thread = 9, .first_sequence = 1000}, {Kernel(50, 60, 9999)});
    bad.Sql("UPDATE chunk SET crc=crc+1");
  }
  EXPECT_EQ(Query(query), streamed);
  const Result<gpubound::Run> run = LoadRun(run_.path());
  ASSERT_TRUE(run.ok());
  EXPECT_FALSE(run->processes[0].threads[0].tail_thinned);
  EXPECT_TRUE(run->processes[0].threads[1].tail_thinned);
}

TEST_F(ThinnedDetailTest, WhatAKilledProcessHadNotStoredComesBehindWhatIsGone) {
  Thin();
  writer_.Close();
  {
    SegmentWriter last(run_, WriterIdentity{}, 1);
    last.PutUsualRows();
    last.Sql("INSERT INTO thread VALUES(2, 101, 'early')");
    last.Sql("DELETE FROM meta WHERE key LIKE 'end%'");
  }
  LiveWriter live(WriterIdentity{});
  live.AddScopes(2, 8, {Begin(kInner, 1400), End(kInner, 1410)});
  run_.Write(LiveWriter::NameFor(WriterIdentity{}), live.Bytes());
  EXPECT_THAT(
      Query("SELECT name, begin_ns, end_ns, cut FROM scope WHERE thread = 2 "
            "ORDER BY begin_ns"),
      ElementsAre("train|310|700|end", "inner|320|700|end", "inner|330|700|", "inner|1400|1410|"));
}

TEST(ThinnedTimeTest, ARunWithoutSumsIsWhole) {
  EXPECT_THAT(ThinnedTime(nullptr, {0, 100}), IsEmpty());
}

TEST(ThinnedTimeTest, KeptDetailAndTheNewestAreLeftOut) {
  RunSums sums;
  sums.until_ns = 80;
  sums.kept = {{-10, 5}, {20, 30}, {70, 90}};
  EXPECT_THAT(ThinnedTime(&sums, {0, 100}), ElementsAre(Interval{5, 20}, Interval{30, 70}));
  sums.kept.clear();
  EXPECT_THAT(ThinnedTime(&sums, {0, 100}), ElementsAre(Interval{0, 80}));
  EXPECT_THAT(ThinnedTime(&sums, {90, 100}), IsEmpty());
}

TEST(ThinnedTimeTest, NeighboursAreJoinedWhereThereAreTooMany) {
  EXPECT_THAT(JoinedTo(1, {{0, 1}, {2, 3}}), ElementsAre(Interval{0, 3}));
  EXPECT_THAT(JoinedTo(2, {{0, 1}, {2, 3}}).size(), 1u);
  EXPECT_THAT(JoinedTo(3, {{0, 1}, {2, 3}}).size(), 2u);
}

}  // namespace
}  // namespace gpubound
