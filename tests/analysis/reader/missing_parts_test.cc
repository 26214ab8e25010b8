// SPDX-License-Identifier: Apache-2.0
//
// What the reader makes of runs from which chunks, segments or processes are gone, and of rows with
// times that are none: nothing of that is "complete".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "analysis/correction/run_report.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
namespace fs = std::filesystem;

constexpr char kNoTime[] = "9223372036854775807";

class MissingPartsTest : public testing::Test {
 protected:
  AnalyzedRun Analyze() const {
    Result<AnalyzedRun> analyzed = AnalyzeRun(run_.path(), {});
    EXPECT_TRUE(analyzed.ok()) << (analyzed.ok() ? "" : analyzed.error().ToString());
    return analyzed.ok() ? std::move(*analyzed) : AnalyzedRun{};
  }

  // Turn |i| of a loop: a scope, the call in it and the kernel, a chunk each.
  static void PutTurn(SegmentWriter* writer, uint64_t i) {
    const uint64_t t = 100 + 200 * i;
    const auto correlation = static_cast<uint32_t>(i + 1);
    writer->Scopes({.thread = 1, .first_sequence = 2 * i}, {Begin(kTrain, t), End(kTrain, t + 50)});
    writer->Calls({.thread = 9, .first_sequence = i}, {Launch(t + 10, t + 20, correlation)});
    writer->Work({.thread = 9, .first_sequence = i}, {Kernel(t + 20, t + 100, correlation)});
  }

  void WriteOneSegment(const std::string& sql = "") const {
    SegmentWriter writer(run_, {});
    writer.PutUsualRows();
    for (uint64_t i = 0; i < 3; ++i) PutTurn(&writer, i);
    if (!sql.empty()) writer.Sql(sql);
  }

  void WriteThreeSegments() const {
    for (uint32_t i = 0; i < 3; ++i) {
      SegmentWriter writer(run_, {}, i);
      writer.PutUsualRows();
      writer.Meta("sealed", 1);
      if (i < 2) writer.Sql("DELETE FROM meta WHERE key LIKE 'end_%'");
      PutTurn(&writer, i);
    }
  }
  void RemoveSegment(int number) const {
    ASSERT_TRUE(fs::remove(run_.File("host.100.5." + std::to_string(number) + ".db")));
  }

  // A process that waits from 200 to 600 for pid 300, with |recorded| in the launcher's record.
  void WriteWaiter(const std::string& recorded) const {
    SegmentWriter writer(run_, {});
    writer.PutUsualRows();
    writer.Sql("INSERT INTO label VALUES(4, 3, 2, 'process', '300')");
    writer.Scopes({.thread = 1}, {Begin(LabelId{4}, 200), End(LabelId{4}, 600)});
    run_.Write("run.json", R"({"format": "gpubound.run.v1", "host": "host", "root_pid": 100,
                               "recorded": [)" +
                               recorded + "]}");
  }

  TemporaryRun run_;
};

uint64_t Counted(const AnalyzedRun& analyzed, LedgerCounter counter) {
  return analyzed.run.processes.at(0).ledger[static_cast<size_t>(counter)];
}

TEST_F(MissingPartsTest, AWholeRunIsComplete) {
  WriteThreeSegments();
  EXPECT_THAT(Analyze().report.run.verdict, StartsWith("complete"));
}

TEST_F(MissingPartsTest, AMissingChunkOfDeviceWorkIsCountedAndItsTimeUnknown) {
  WriteOneSegment("DELETE FROM chunk WHERE family = 3 AND first_sequence = 1");
  const AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(Counted(analyzed, LedgerCounter::chunk_events_lost), 1u);
  EXPECT_EQ(analyzed.report.processes[0].gpu_busy_ns, 160);
  EXPECT_EQ(analyzed.report.processes[0].unknown_ns, 320);  // from 200 to 520
  EXPECT_THAT(analyzed.report.run.verdict, StartsWith("incomplete"));
}

TEST_F(MissingPartsTest, AMissingFirstChunkIsCountedToo) {
  WriteOneSegment("DELETE FROM chunk WHERE family = 3 AND first_sequence = 0");
  const AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(Counted(analyzed, LedgerCounter::chunk_events_lost), 1u);
  EXPECT_EQ(analyzed.report.processes[0].unknown_ns, 320);  // from the span's begin
}

TEST_F(MissingPartsTest, MissingCallsAreCounted) {
  WriteOneSegment("DELETE FROM chunk WHERE family = 2 AND first_sequence = 1");
  EXPECT_EQ(Counted(Analyze(), LedgerCounter::chunk_events_lost), 1u);
}

TEST_F(MissingPartsTest, MissingScopesAreCountedAndMarkTheRowsOfTheirThread) {
  WriteOneSegment("DELETE FROM chunk WHERE family = 1 AND first_sequence = 2");
  const AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(Counted(analyzed, LedgerCounter::chunk_events_lost), 2u);
  for (const ReportOperation& row : analyzed.report.processes[0].operations) {
    EXPECT_TRUE(row.scopes_missing) << row.operation;
  }
  EXPECT_THAT(analyzed.report.notes,
              Contains(HasSubstr("scopes of thread main 100 are missing for 350 ns")));
}

TEST_F(MissingPartsTest, CorruptScopesMarkTheRowsOfTheirThread) {
  WriteOneSegment("UPDATE chunk SET crc = crc + 1 WHERE family = 1 AND first_sequence = 2");
  const AnalyzedRun analyzed = Analyze();
  EXPECT_TRUE(analyzed.report.processes[0].operations[0].scopes_missing);
  EXPECT_THAT(analyzed.report.notes,
              Contains(HasSubstr("scopes of thread main 100 are missing for 50 ns")));
}

// Chunks 7 to 9 are those of the last turn, which nothing follows.
TEST_F(MissingPartsTest, TheLastChunkOfDeviceWorkIsMissedAndTimeFromThereOnUnknown) {
  WriteOneSegment("DELETE FROM chunk WHERE id = 9; INSERT INTO meta VALUES('chunks', 9)");
  const AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(Counted(analyzed, LedgerCounter::tables_cut), 1u);
  EXPECT_EQ(analyzed.report.processes[0].unknown_ns, 600);  // from 400 on
  EXPECT_THAT(analyzed.report.notes, Contains(HasSubstr("found 8 chunks, expected 9")));
  EXPECT_THAT(analyzed.report.run.verdict, StartsWith("doubtful"));
}

TEST_F(MissingPartsTest, SoIsOneBehindWhichOthersWrote) {
  WriteOneSegment(
      "DELETE FROM chunk WHERE id = 6; DELETE FROM chunk WHERE id = 9;"
      "UPDATE chunk SET id = id + 2 WHERE id = 8; UPDATE chunk SET id = 9 WHERE id = 7;"
      "INSERT INTO meta VALUES('chunks', 10)");  // 6 to 8 are gone
  const AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(Counted(analyzed, LedgerCounter::chunk_events_lost), 0u);
  EXPECT_EQ(analyzed.report.processes[0].unknown_ns, 800);  // from 200 on
  EXPECT_FALSE(analyzed.report.processes[0].operations[0].scopes_missing);
}

TEST_F(MissingPartsTest, WithoutTheLastScopesTheRowsOfTheirThreadAreMarked) {
  WriteOneSegment("DELETE FROM chunk WHERE id = 7");  // calls and work come behind it
  const AnalyzedRun analyzed = Analyze();
  EXPECT_TRUE(analyzed.report.processes[0].operations[0].scopes_missing);
  EXPECT_THAT(analyzed.report.notes,
              Contains(HasSubstr("scopes of thread main 100 may be missing for 650 ns")));
  EXPECT_EQ(analyzed.report.processes[0].unknown_ns, 0);
}

TEST_F(MissingPartsTest, AGapExplainsChunksThatWereWrittenWhereItIs) {
  WriteOneSegment("DELETE FROM chunk WHERE id IN (4, 6)");  // scopes and work of the second turn
  EXPECT_EQ(Counted(Analyze(), LedgerCounter::tables_cut), 0u);
  fs::remove(run_.File("host.100.5.0.db"));
  WriteOneSegment("DELETE FROM chunk WHERE id IN (4, 8)");  // the last calls
  const AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(Counted(analyzed, LedgerCounter::tables_cut), 1u);
  EXPECT_EQ(analyzed.report.processes[0].unknown_ns, 0);
}

TEST_F(MissingPartsTest, WithoutAnyDeviceWorkAllOfItMayBeMissing) {
  WriteOneSegment("DELETE FROM chunk WHERE family = 3");
  EXPECT_EQ(Analyze().report.processes[0].unknown_ns, 1000);
}

TEST_F(MissingPartsTest, ScopesOfAnotherThreadLeaveTheRowsUnmarked) {
  {
    SegmentWriter writer(run_, {});
    writer.PutUsualRows();
    writer.Sql("INSERT INTO thread VALUES(2, 200, 'other')");
    PutTurn(&writer, 0);
    writer.Scopes({.thread = 2, .first_sequence = 2}, {Begin(kTrain, 500), End(kTrain, 600)});
  }
  const AnalyzedRun analyzed = Analyze();
  EXPECT_FALSE(analyzed.report.processes[0].operations[0].scopes_missing);
  EXPECT_TRUE(analyzed.report.processes[0].lanes.at(0).operations.at(0).scopes_missing);
  EXPECT_THAT(analyzed.report.notes, Contains(HasSubstr("thread other 200")));
}

TEST_F(MissingPartsTest, ASegmentBetweenOthersIsMissed) {
  WriteThreeSegments();
  RemoveSegment(1);
  const AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(Counted(analyzed, LedgerCounter::segments_missing), 1u);
  EXPECT_EQ(analyzed.report.processes[0].unknown_ns, 320);
  EXPECT_THAT(analyzed.report.run.verdict, StartsWith("incomplete"));
  EXPECT_THAT(analyzed.report.notes, Contains(HasSubstr("missing or cannot be read: 1.")));
}

TEST_F(MissingPartsTest, TheFirstSegmentIsMissed) {
  WriteThreeSegments();
  RemoveSegment(0);
  EXPECT_EQ(Counted(Analyze(), LedgerCounter::segments_missing), 1u);
}

TEST_F(MissingPartsTest, TheLastSegmentIsMissedAndTimeFromThereOnUnknown) {
  WriteThreeSegments();
  RemoveSegment(2);
  run_.Write("run.json", R"({"format": "gpubound.run.v1", "host": "host", "root_pid": 100,
                             "end_monotonic_ns": 1000})");
  const AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(Counted(analyzed, LedgerCounter::segments_missing), 1u);
  EXPECT_EQ(analyzed.report.processes[0].unknown_ns, 600);  // from 400 on
  EXPECT_THAT(analyzed.report.notes, Contains(HasSubstr("among them the last")));
}

TEST_F(MissingPartsTest, AllDeviceWorkMayHaveBeenInAMissingSegment) {
  WriteThreeSegments();
  for (const int number : {0, 2}) {
    SegmentWriter other(run_, {"other", 1, 1}, static_cast<uint32_t>(number));
    other.Sql("ATTACH '" + run_.File("host.100.5." + std::to_string(number) + ".db") + "' AS it");
    other.Sql("DELETE FROM it.chunk WHERE family = 3");
    other.Close();
    fs::remove(other.path());
  }
  RemoveSegment(1);
  EXPECT_EQ(Analyze().report.processes[0].unknown_ns, 1000);
}

TEST_F(MissingPartsTest, WithItsMappingASealedSegmentMayBeTheLast) {
  WriteThreeSegments();
  RemoveSegment(2);
  LiveWriter live({});
  run_.Write(LiveWriter::NameFor({}), live.Bytes());
  EXPECT_EQ(Counted(Analyze(), LedgerCounter::segments_missing), 0u);
}

TEST_F(MissingPartsTest, WhatIsMissingBeforeTheMappingIsCounted) {
  WriteThreeSegments();
  RemoveSegment(2);
  LiveWriter live({});
  live.AddWork(9, 3, {Kernel(700, 720, 4)});
  run_.Write(LiveWriter::NameFor({}), live.Bytes());
  const AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(Counted(analyzed, LedgerCounter::chunk_events_lost), 1u);
  EXPECT_GT(analyzed.report.processes[0].unknown_ns, 290);  // from 400 to 700
}

TEST_F(MissingPartsTest, TimesThatAreNoneAreIgnoredAndAnError) {
  for (const char* key : {"start_monotonic_ns", "end_monotonic_ns", "start_realtime_ns"}) {
    for (const std::string& time : {std::string(kNoTime), "-" + std::string(kNoTime)}) {
      WriteOneSegment("UPDATE meta SET value = " + time + " WHERE key = '" + key + "'");
      const AnalyzedRun analyzed = Analyze();
      EXPECT_EQ(Counted(analyzed, LedgerCounter::times_impossible), 1u) << key;
      EXPECT_GT(analyzed.report.processes[0].span_ns, 0) << key;
      EXPECT_LE(analyzed.report.processes[0].span_ns, 1000) << key;
      EXPECT_THAT(analyzed.report.run.verdict, StartsWith("doubtful")) << key;
      fs::remove(run_.File("host.100.5.0.db"));
    }
  }
}

TEST_F(MissingPartsTest, UnknownTimeMayBeOpenButNotBeginAnywhere) {
  WriteOneSegment("INSERT INTO unknown VALUES(1, 900, " + std::string(kNoTime) + ", 'open'), " +
                  "(2, -" + kNoTime + ", 50, 'nowhere')");
  const AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(Counted(analyzed, LedgerCounter::times_impossible), 1u);
  EXPECT_EQ(analyzed.report.processes[0].unknown_ns, 100);
}

TEST_F(MissingPartsTest, ClockSamplesThatAreNoTimesAreIgnoredAndAnError) {
  WriteOneSegment("INSERT INTO clock VALUES(NULL, 0, " + std::string(kNoTime) + ", 0, 0, 0), " +
                  "(NULL, 0, 0, -" + kNoTime + ", 0, 0)");
  const AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(Counted(analyzed, LedgerCounter::times_impossible), 2u);
  EXPECT_THAT(analyzed.report.run.verdict, StartsWith("doubtful"));
}

TEST_F(MissingPartsTest, ClockSamplesOfTheMappingAreLookedAtToo) {
  WriteOneSegment("DELETE FROM meta WHERE key = 'end_monotonic_ns'");
  LiveWriter live({});
  live.header().clock_samples[1].monotonic_ns = INT64_MAX - 1;
  run_.Write(LiveWriter::NameFor({}), live.Bytes());
  EXPECT_EQ(Counted(Analyze(), LedgerCounter::times_impossible), 1u);
}

TEST_F(MissingPartsTest, TimesOfTheLaunchersRecordAreLookedAtToo) {
  WriteOneSegment();
  run_.Write("run.json", R"({"format": "gpubound.run.v1", "host": "host", "root_pid": 100,
                             "start_monotonic_ns": -9223372036854775807})");
  const AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(analyzed.run.info->start_monotonic_ns, 0);
  EXPECT_THAT(analyzed.report.run.verdict, HasSubstr("no times of any clock"));
}

TEST_F(MissingPartsTest, AProcessThatWasRecordedAndIsGoneIsALoss) {
  WriteWaiter(R"("host.100.5", "host.300.6")");
  const AnalyzedRun analyzed = Analyze();
  EXPECT_THAT(analyzed.report.run.verdict, StartsWith("incomplete"));
  EXPECT_THAT(analyzed.report.run.verdict, HasSubstr("of which no file is there"));
  EXPECT_THAT(analyzed.report.notes,
              Contains(HasSubstr("pid 300 of host host was recorded, but none of its files is "
                                 "there. Others waited 400 ns for it.")));
}

TEST_F(MissingPartsTest, OfEachMissingProcessIsSaidHowLongOthersWaitedForIt) {
  WriteWaiter(R"("host.100.5", "host.300.6", "host.400.6")");
  {
    SegmentWriter writer(run_, {"host", 101, 5});
    writer.PutUsualRows();
    writer.Sql("INSERT INTO label VALUES(4, 3, 2, 'process', '300')");
    writer.Sql("INSERT INTO label VALUES(5, 3, 2, 'process', '300 400')");
    writer.Sql("INSERT INTO label VALUES(6, 3, 2, 'channel', 'pipe:[7]')");
    writer.Scopes({.thread = 1},
                  {Begin(LabelId{5}, 100), Begin(LabelId{4}, 150), End(LabelId{4}, 160),
                   End(LabelId{5}, 200), Begin(LabelId{6}, 200), End(LabelId{6}, 650)});
  }
  const auto unclaimed = [](const char* pid, const char* waited) {
    return HasSubstr(std::string("pid ") + pid +
                     " of host host was recorded, but none of its files is there. Others waited " +
                     waited + " for it.");
  };
  const AnalyzedRun analyzed = Analyze();
  EXPECT_THAT(analyzed.report.notes, Contains(unclaimed("300", "500 ns")));
  EXPECT_THAT(analyzed.report.notes,
              Contains(AllOf(unclaimed("400", "100 ns"),
                             HasSubstr("Processes waited 450 ns for pipes and sockets"))));
}

TEST_F(MissingPartsTest, OfManyMissingProcessesThereAreFewNotes) {
  std::string recorded = R"("host.100.5")";
  for (int pid = 300; pid < 1300; ++pid) recorded += ", \"host." + std::to_string(pid) + ".6\"";
  WriteWaiter(recorded);
  AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(analyzed.run.Count(LedgerCounter::processes_missing), 1000u);
  EXPECT_EQ(analyzed.run.lost.size(), 1000u);
  EXPECT_THAT(analyzed.report.notes, SizeIs(21));
  EXPECT_THAT(analyzed.report.notes, Contains(HasSubstr("Others waited 400 ns for it.")));
  EXPECT_EQ(analyzed.report.notes.back(),
            "Of 980 more processes that were recorded or imported no file is there.");
}

TEST_F(MissingPartsTest, AProcessThatWasImportedWithOthersAndIsGoneIsALoss) {
  WriteOneSegment("INSERT INTO meta VALUES('imported_pids', '100 -3 300')");
  AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(analyzed.run.Count(LedgerCounter::processes_missing), 2u);
  EXPECT_THAT(analyzed.report.run.verdict, StartsWith("incomplete"));
  EXPECT_THAT(analyzed.report.notes,
              ElementsAre("pid -3 of host host was imported, but none of its files is there.",
                          "pid 300 of host host was imported, but none of its files is there."));
}

TEST_F(MissingPartsTest, ImportedProcessesAreNotThoseOfAnotherImport) {
  WriteOneSegment("INSERT INTO meta VALUES('imported_pids', '100')");
  SegmentWriter other(run_, {.pid = 300, .start_ns = 6});
  other.PutUsualRows();
  other.Meta("imported_pids", "300 100");
  other.Close();
  EXPECT_THAT(Analyze().report.notes,
              ElementsAre("pid 100 of host host was imported, but none of its files is there."));
}

TEST_F(MissingPartsTest, AnUnreadableProcessIsNotMissing) {
  WriteWaiter(R"("host.100.5", "host.300.6")");
  run_.Write("host.300.6.0.db", "rubbish that is long enough to be looked at");
  EXPECT_THAT(Analyze().report.notes, Not(Contains(HasSubstr("was recorded, but none"))));
}

TEST_F(MissingPartsTest, WhoNeverWasRecordedIsNotMissing) {
  WriteWaiter(R"("host.100.5")");
  const AnalyzedRun analyzed = Analyze();
  EXPECT_THAT(analyzed.report.run.verdict, StartsWith("complete"));
  EXPECT_THAT(analyzed.report.notes, IsEmpty());
}

}  // namespace
}  // namespace gpubound
