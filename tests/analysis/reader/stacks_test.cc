// SPDX-License-Identifier: Apache-2.0
//
// Looks at stacks and the tables of their frames: as they were written, from memory and from the
// chunks alike, and what is made of rows that cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/naming/named_source.h"
#include "analysis/reader/reader.h"
#include "analysis/replay/retimed_source.h"
#include "analysis/timeline/resumed_source.h"
#include "analysis/trace/memory_source.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Start, end, tid, frame, looks.
using Seen = std::tuple<int64_t, int64_t, uint32_t, uint32_t, uint32_t>;

std::vector<Seen> LooksOf(const EventSource& source) {
  std::vector<Seen> seen;
  RecordStream<StackLooks> stream(source.StackLooks());
  for (; stream.Peek() != nullptr; stream.Pop()) {
    const StackLooks& looks = *stream.Peek();
    seen.emplace_back(looks.start_ns, looks.end_ns, looks.tid, Raw(looks.frame), looks.looks);
  }
  return seen;
}

class StacksTest : public testing::Test {
 protected:
  using Run = gpubound::Run;  // not testing::Test::Run

  Run Load() {
    Result<Run> loaded = LoadRun(run_.path());
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().ToString());
    return loaded.ok() ? std::move(*loaded) : Run{};
  }
  std::vector<Seen> Loaded() { return LooksOf(*SourceOf(Load().processes.at(0))); }
  std::vector<Seen> Streamed() {
    const Result<Run> opened = OpenRun(run_.path());
    EXPECT_TRUE(opened.ok() && opened->processes.at(0).source != nullptr) << "was not streamed";
    return LooksOf(*opened->processes.at(0).source);
  }
  // A segment whose frame table ends with |rows|, and a look at frames 1 to 6.
  void WriteRows(const std::string& rows) {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.PutFrames();
    writer.Sql(rows);
    std::vector<StackRecord> records;
    for (uint32_t frame = 1; frame <= 6; ++frame) {
      records.push_back(Looks(100 * frame, 100 * frame + 50, frame, 1));
    }
    writer.Stacks({}, records);
  }
  // The frames that the looks of WriteRows() have.
  std::vector<uint32_t> FramesSeen() {
    std::vector<uint32_t> frames;
    for (const Seen& seen : Loaded()) frames.push_back(std::get<3>(seen));
    return frames;
  }

  TemporaryRun run_;
  WriterIdentity identity_;
};

TEST_F(StacksTest, LooksAndTheirFramesAreReadAsTheyWereWritten) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.PutFrames();
    writer.Stacks({}, {Looks(500, 700, 3, 9), Looks(100, 300, 2, 4)});
    writer.Stacks({.first_sequence = 2}, {Looks(200, 200, 1, 1, 300)});
    writer.CountRows();
  }
  const std::vector<Seen> expected{
      {100, 300, 100, 2, 4}, {200, 200, 300, 1, 1}, {500, 700, 100, 3, 9}};
  EXPECT_EQ(Loaded(), expected);
  EXPECT_EQ(Streamed(), expected);
  const Run run = Load();
  EXPECT_THAT(run.problems, IsEmpty());
  const ProcessTrace& process = run.processes.at(0);
  const Frame& step = process.FrameOf(FrameId{3});
  EXPECT_EQ(process.FunctionOf(step.function).name, "step");
  EXPECT_EQ(process.FunctionOf(step.function).file, "a.py");
  EXPECT_EQ(step.line, 21u);
  EXPECT_EQ(step.caller, FrameId{1});
  EXPECT_EQ(process.FunctionOf(process.FrameOf(step.caller).function).name, "train");
  EXPECT_EQ(process.FrameOf(step.caller).caller, FrameId{});
  EXPECT_FALSE(process.HasFrame(FrameId{0}));
  EXPECT_FALSE(process.HasFrame(FrameId{4}));
}

TEST_F(StacksTest, FramesOfAllSegmentsAreOneTable) {
  {
    SegmentWriter first(run_, identity_);
    first.PutUsualRows();
    first.PutFrames();
    first.Meta("sealed", 1);
    SegmentWriter second(run_, identity_, 1);
    second.PutUsualRows();
    second.Sql("INSERT INTO function VALUES(3, 'b.py', 'reset')");
    second.Sql("INSERT INTO frame VALUES(4, 2, 3, 7)");
    second.Stacks({}, {Looks(100, 200, 4, 2)});
  }
  const Run run = Load();
  EXPECT_THAT(run.problems, IsEmpty());
  const ProcessTrace& process = run.processes.at(0);
  ASSERT_EQ(process.frames.size(), 5u);
  EXPECT_EQ(process.FrameOf(FrameId{4}).caller, FrameId{2});
  EXPECT_EQ(process.FunctionOf(process.FrameOf(FrameId{2}).function).name, "step");
  EXPECT_EQ(process.FunctionOf(process.FrameOf(FrameId{4}).function).name, "reset");
  EXPECT_THAT(Streamed(), ElementsAre(Seen{100, 200, 100, 4, 2}));
}

// As those that a killed process had not written yet.
TEST_F(StacksTest, AFrameThatIsNotThereIsNotKnown) {
  WriteRows("INSERT INTO frame VALUES(6, 3, 1, 5)");
  EXPECT_THAT(FramesSeen(), ElementsAre(1, 2, 3, 0, 0, 6));
  EXPECT_EQ(Streamed(), Loaded());
  EXPECT_THAT(Load().problems, IsEmpty());
}

TEST_F(StacksTest, ARowWhoseCallerDoesNotComeBeforeItIsDamageAndSoAreThoseThatItCalls) {
  for (const char* rows : {
           "INSERT INTO frame VALUES(4, 6, 1, 5), (5, 4, 2, 5), (6, 3, 1, 5)",   // comes later
           "INSERT INTO frame VALUES(4, 4, 1, 5), (5, 4, 2, 5), (6, 3, 1, 5)",   // calls itself
           "INSERT INTO frame VALUES(4, -1, 1, 5), (5, 4, 2, 5), (6, 3, 1, 5)",  // no id
           "INSERT INTO frame VALUES(5, 4, 2, 5), (6, 3, 1, 5)",                 // is missing
       }) {
    SCOPED_TRACE(rows);
    WriteRows(rows);
    EXPECT_THAT(FramesSeen(), ElementsAre(1, 2, 3, 0, 0, 6));
    const Run run = Load();
    EXPECT_THAT(run.problems, ElementsAre(HasSubstr("table frame can be read in part only (row ")));
    EXPECT_EQ(run.processes.at(0).Counted(LedgerCounter::tables_cut), 1u);
    EXPECT_EQ(run.processes.at(0).Counted(LedgerCounter::chunk_events_lost), 0u);
    EXPECT_THAT(run.processes.at(0).unknown, IsEmpty());
    std::filesystem::remove(run_.File("host.100.5.0.db"));
  }
}

TEST_F(StacksTest, ARowWithoutItsFunctionOrWithAnIdThatCannotBeIsDamage) {
  for (const char* row : {"(4, 3, 9, 5)", "(4, 3, 0, 5)", "(4, 3, -2, 5)", "(4, 3, NULL, 5)",
                          "(4294967296, 3, 1, 5)", "(-4, 0, 1, 5)", "(0, 0, 1, 5)"}) {
    SCOPED_TRACE(row);
    WriteRows(std::string("INSERT INTO frame VALUES") + row);
    EXPECT_THAT(FramesSeen(), ElementsAre(1, 2, 3, 0, 0, 0));
    EXPECT_THAT(Load().problems,
                ElementsAre(HasSubstr("table frame can be read in part only (row ")));
    std::filesystem::remove(run_.File("host.100.5.0.db"));
  }
}

// As code that was put together by hand may be.
TEST_F(StacksTest, AFunctionMayHaveNoName) {
  WriteRows("INSERT INTO function VALUES(3, '', ''); INSERT INTO frame VALUES(4, 3, 3, 5)");
  EXPECT_THAT(FramesSeen(), ElementsAre(1, 2, 3, 4, 0, 0));
  EXPECT_THAT(Load().problems, IsEmpty());
}

TEST_F(StacksTest, RowsThatAreGoneAreDamageOfTheirTable) {
  for (const char* sql : {"DELETE FROM frame WHERE id = 3", "DROP TABLE frame",
                          "DELETE FROM function WHERE id = 2", "DROP TABLE function"}) {
    SCOPED_TRACE(sql);
    {
      SegmentWriter writer(run_, identity_);
      writer.PutUsualRows();
      writer.PutFrames();
      writer.CountRows();
      writer.Sql(sql);
    }
    EXPECT_THAT(Load().problems, ElementsAre(HasSubstr("can be read in part only")));
    std::filesystem::remove(run_.File("host.100.5.0.db"));
  }
}

TEST_F(StacksTest, ATraceFromBeforeThereWereStacksIsComplete) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.CountRows();
    writer.Sql("DROP TABLE function");
    writer.Sql("DROP TABLE frame");
    writer.Sql("DELETE FROM row_count WHERE name IN ('function', 'frame')");
    writer.Meta("row_counts", 17);
  }
  const Run run = Load();
  EXPECT_THAT(run.problems, IsEmpty());
  EXPECT_EQ(run.processes.at(0).Counted(LedgerCounter::tables_cut), 0u);
  EXPECT_THAT(run.processes.at(0).frames, IsEmpty());
  EXPECT_THAT(Streamed(), IsEmpty());
}

TEST_F(StacksTest, ADamagedChunkOfLooksIsNamedAndHidesNothingElse) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.PutFrames();
    writer.Work({.thread = 9}, {Kernel(300, 500, 1)});
    writer.Stacks({}, {Looks(100, 200, 1, 2), Looks(300, 400, 2, 2)});
    writer.Stacks({.first_sequence = 2}, {Looks(500, 600, 3, 2)});
    writer.Sql("UPDATE chunk SET crc = crc + 1 WHERE family = 7 AND first_sequence = 0");
  }
  const Run run = Load();
  EXPECT_THAT(run.problems, ElementsAre(HasSubstr("(looks at stacks of writer 0) is lost with 2")));
  EXPECT_EQ(run.processes.at(0).Counted(LedgerCounter::chunk_events_lost), 2u);
  EXPECT_THAT(run.processes.at(0).unknown, IsEmpty());
  EXPECT_THAT(Loaded(), ElementsAre(Seen{500, 600, 100, 3, 2}));
}

TEST_F(StacksTest, EverySourceButThatOfAReplayHandsThemOn) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.PutFrames();
    writer.Stacks({}, {Looks(100, 300, 2, 4), Looks(500, 700, 3, 9)});
  }
  const Run run = Load();
  const std::shared_ptr<const EventSource> whole = SourceOf(run.processes.at(0));
  EXPECT_EQ(LooksOf(NamedSource(whole, {})), LooksOf(*whole));
  EXPECT_THAT(LooksOf(ResumedSource(*whole, 200)), ElementsAre(Seen{500, 700, 100, 3, 9}));
  RetimedSource retimed(run_.path());
  retimed.Finish();
  EXPECT_THAT(LooksOf(retimed), IsEmpty());
}

}  // namespace
}  // namespace gpubound
