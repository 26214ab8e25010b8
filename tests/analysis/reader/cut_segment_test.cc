// SPDX-License-Identifier: Apache-2.0
//
// A segment that was cut, at every page and inside one: one note says what is damaged and how much
// is lost, what is there is read, and nothing is made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "analysis/attribution/build_report.h"
#include "analysis/output/text/ledger_text.h"
#include "analysis/reader/reader.h"
#include "analysis/report/report.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
namespace fs = std::filesystem;

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kChunks = 12;

// Of chunk |c|. They differ, so that some take pages of their own and some lie two to a page.
constexpr uint64_t RecordsOf(uint64_t c) { return 300 + 90 * c; }
constexpr uint64_t RecordsBefore(uint64_t c) { return 300 * c + 45 * c * (c - 1); }
constexpr uint64_t kEvents = RecordsBefore(kChunks);

bool AreWholeChunks(uint64_t records) {
  for (uint64_t c = 0; c <= kChunks; ++c) {
    if (records == RecordsBefore(c)) return true;
  }
  return false;
}

class CutSegmentTest : public testing::Test {
 protected:
  std::string File(uint32_t segment = 0) const {
    return run_.File("host.100.5." + std::to_string(segment) + ".db");
  }

  // Of one writer, whose numbers go on from segment to segment.
  void Write(uint32_t segment = 0, bool in_log = false) {
    SegmentWriter writer(run_, {}, segment);
    writer.PutUsualRows();
    writer.Meta("end_monotonic_ns", 100'000'000);
    if (in_log) writer.UseLog();
    for (uint64_t c = 0; c < kChunks; ++c) {
      std::vector<DeviceRecord> records;
      const uint64_t first = segment * kEvents + RecordsBefore(c);
      for (uint64_t k = first; k < first + RecordsOf(c); ++k) {
        records.push_back(Kernel(k * 100, k * 100 + 1 + k * k % 97, static_cast<uint32_t>(k * k)));
      }
      writer.Work({.thread = 9, .first_sequence = first}, records);
    }
    if (in_log) writer.Close(/*keep_log=*/true);
  }

  static std::string Bytes(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static void Restore(const std::string& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
  }

  gpubound::Run Load() const {
    Result<gpubound::Run> run = LoadRun(run_.path());
    EXPECT_TRUE(run.ok()) << (run.ok() ? "" : run.error().ToString());
    if (run.ok()) return std::move(*run);
    gpubound::Run none;
    none.processes.resize(1);
    return none;
  }

  // What a run with a file cut to |left| of |whole| bytes has to say of it.
  static void ExpectOneNote(const gpubound::Run& run, uint64_t left, uint64_t whole) {
    ASSERT_EQ(run.problems.size(), 1u) << run.problems.back();
    const std::string& note = run.problems[0];
    EXPECT_THAT(note, HasSubstr("the file is cut: found " + std::to_string(left) +
                                " bytes, expected " + std::to_string(whole)));
    EXPECT_THAT(note, Not(HasSubstr("no known family")));
    const ProcessTrace& process = run.processes.at(0);
    const uint64_t read = process.device_work.size();
    const uint64_t lost = process.Counted(LedgerCounter::chunk_events_lost);
    EXPECT_GE(process.Counted(LedgerCounter::tables_cut), 1u);
    EXPECT_EQ(process.Counted(LedgerCounter::chunks_corrupt), 0u) << "what is there is sound";
    EXPECT_TRUE(AreWholeChunks(read)) << read;
    EXPECT_LE(read + lost, kEvents);
    if (note.find("not known") == std::string::npos) {
      EXPECT_EQ(read + lost, kEvents) << note;
    } else if (lost != 0) {
      EXPECT_THAT(note, HasSubstr("At least " + std::to_string(lost) + " events"));
    }
  }

  bool IsComplete() const {
    const Result<Report> report = BuildReport(Load());
    EXPECT_TRUE(report.ok());
    return report.ok() && report->run.verdict.starts_with("complete");
  }

  static void ExpectDoubtful(const gpubound::Run& run) {
    const Result<Report> report = BuildReport(run);
    ASSERT_TRUE(report.ok());
    EXPECT_THAT(report->run.verdict, StartsWith("doubtful: Tables of a process's trace"));
    EXPECT_TRUE(LedgerHasError(*report));
  }

  TemporaryRun run_;
};

TEST_F(CutSegmentTest, SaysOnceWhatIsMissingWhereverItIsCut) {
  Write();
  const std::string whole = Bytes(File());
  ASSERT_EQ(whole.size() % kPageBytes, 0u);
  uint64_t most_read = 0;
  for (uint64_t left = kPageBytes; left < whole.size(); left += kPageBytes / 4) {
    SCOPED_TRACE(left);
    Restore(File(), whole.substr(0, left));
    const gpubound::Run run = Load();
    ExpectOneNote(run, left, whole.size());
    ExpectDoubtful(run);
    const uint64_t read = run.processes[0].device_work.size();
    EXPECT_GE(read, most_read) << "what is there of a longer file is read";
    most_read = read;
  }
  EXPECT_GE(most_read, RecordsBefore(kChunks - 2));
}

// Two rows in one page, and behind it four pages of the second one's body.
TEST_F(CutSegmentTest, WhatAListedChunkHeldIsKnown) {
  {
    SegmentWriter writer(run_, {});
    writer.PutUsualRows();
    for (const char* first : {"0", "7"}) {
      writer.Sql(std::string("INSERT INTO chunk VALUES(NULL, 3, 9, ") + first +
                 ", 7, 7, 10, 20, 0, 17028, 0, zeroblob(17028))");
    }
  }
  const uint64_t whole = fs::file_size(File());
  fs::resize_file(File(), whole - kPageBytes);
  const gpubound::Run run = Load();
  EXPECT_THAT(run.problems, testing::Contains(HasSubstr("7 events in 1 chunk are lost.")));
  const ProcessTrace& process = run.processes.at(0);
  EXPECT_EQ(process.Counted(LedgerCounter::chunk_events_lost), 14u) << "the first is no chunk";
  EXPECT_EQ(process.Counted(LedgerCounter::chunks_corrupt), 1u);
  EXPECT_EQ(process.Counted(LedgerCounter::tables_cut), 1u);
}

// SQLite finds nothing wrong with a table whose last row is gone.
TEST_F(CutSegmentTest, ALastChunkThatIsGoneIsMissed) {
  const auto load_without = [this](const char* rows) {
    {
      SegmentWriter writer(run_, {}, 1);
      writer.PutUsualRows();
      writer.Meta("chunks", 3);
      for (uint64_t c = 0; c < 3; ++c) {
        writer.Work({.thread = 9, .first_sequence = kEvents + c},
                    {Kernel(60'000'000 + c * 100, 60'000'050 + c * 100, 7)});
      }
      writer.Sql(std::string("DELETE FROM chunk WHERE ") + rows);
    }
    gpubound::Run run = Load();
    fs::remove(File(1));
    return run;
  };
  Write();
  EXPECT_TRUE(load_without("0").problems.empty());
  for (const char* rows : {"id = 3", "id > 1", "1"}) {
    SCOPED_TRACE(rows);
    const gpubound::Run run = load_without(rows);
    EXPECT_THAT(run.problems, ElementsAre(HasSubstr("expected 3). How many events are lost is")));
    EXPECT_EQ(run.processes.at(0).Counted(LedgerCounter::tables_cut), 1u);
    ASSERT_FALSE(run.processes[0].unknown.empty());
    EXPECT_EQ(run.processes[0].unknown.back().end_ns, kOpenEnded);
    ExpectDoubtful(run);
  }
}

TEST_F(CutSegmentTest, RefusesAFileWithoutItsFirstPage) {
  Write();
  const std::string whole = Bytes(File());
  for (const uint64_t left : {0, 1, 99, 100, 4095}) {
    Restore(File(), whole.substr(0, left));
    const Result<gpubound::Run> run = LoadRun(run_.path());
    ASSERT_FALSE(run.ok()) << left;
    EXPECT_THAT(run.error().ToString(), HasSubstr(File()));
  }
  EXPECT_THAT(LoadRun(run_.path()).error().ToString(), HasSubstr("found 4095 of "));
}

// Scopes are written at once, records half a second later: a chunk of scopes that was read says
// nothing of device work before its end.
TEST_F(CutSegmentTest, DeviceWorkThatIsLostLiesInUnknownTime) {
  constexpr uint64_t kMs = 1'000'000;
  constexpr uint64_t kDelay = 3;  // chunks
  {
    SegmentWriter writer(run_, {});
    writer.PutUsualRows();
    writer.Meta("end_monotonic_ns", static_cast<int64_t>(kChunks * kMs));
    for (uint64_t c = 0; c < kChunks + kDelay; ++c) {
      std::vector<Slot> slots;
      for (uint64_t k = 0; k < 200 && c < kChunks; ++k) {
        slots.push_back(Begin(kTrain, c * kMs + k * 5'000));
        slots.push_back(End(kTrain, c * kMs + k * 5'000 + 1'000 + k * k % 971));
      }
      if (!slots.empty()) writer.Scopes({.thread = 1, .first_sequence = c * 400}, slots);
      std::vector<DeviceRecord> records;
      const uint64_t first_ns = (c - kDelay) * kMs;
      for (uint64_t k = 0; k < 200 && c >= kDelay; ++k) {
        records.push_back(Kernel(first_ns + k * 5'000, first_ns + k * 5'000 + 1 + k * k % 997,
                                 static_cast<uint32_t>(c * 200 + k)));
      }
      if (!records.empty()) {
        writer.Work({.thread = 9, .first_sequence = (c - kDelay) * 200}, records);
      }
    }
  }
  const std::string whole = Bytes(File());
  uint64_t cuts_with_loss = 0;
  for (uint64_t left = kPageBytes; left < whole.size(); left += kPageBytes) {
    SCOPED_TRACE(left);
    Restore(File(), whole.substr(0, left));
    const gpubound::Run run = Load();
    const ProcessTrace& process = run.processes.at(0);
    const uint64_t read = process.device_work.size();
    if (read == kChunks * 200 || process.Counted(LedgerCounter::tables_cut) == 0) continue;
    ++cuts_with_loss;
    for (uint64_t chunk = read / 200; chunk < kChunks; ++chunk) {
      const auto first_ns = static_cast<int64_t>(chunk * kMs);
      const int64_t last_ns = first_ns + 199 * 5'000;
      const bool unknown = std::any_of(
          process.unknown.begin(), process.unknown.end(), [&](const UnknownInterval& interval) {
            return interval.start_ns <= first_ns && interval.end_ns >= last_ns;
          });
      EXPECT_TRUE(unknown) << "from " << first_ns << " on";
    }
  }
  EXPECT_GE(cuts_with_loss, 5u);
}

// The next segment's numbers tell what the one before it held.
TEST_F(CutSegmentTest, CountsWhatTheNextSegmentShowsToBeMissing) {
  Write(0);
  Write(1);
  const uint64_t whole = fs::file_size(File(0));
  fs::resize_file(File(0), whole / 2 / kPageBytes * kPageBytes);
  const gpubound::Run run = Load();
  const ProcessTrace& process = run.processes.at(0);
  const uint64_t lost = process.Counted(LedgerCounter::chunk_events_lost);
  EXPECT_EQ(process.device_work.size() + lost, 2 * kEvents);
  ASSERT_EQ(run.problems.size(), 1u);
  EXPECT_THAT(run.problems[0], HasSubstr("At least " + std::to_string(lost) + " events"));
}

TEST_F(CutSegmentTest, ReadsWhatALogHoldsOfACutFile) {
  Write(0, /*in_log=*/true);
  const std::string whole = Bytes(File());
  const std::string log = Bytes(File() + "-wal");
  for (const bool index : {true, false}) {
    if (!index) fs::remove(File() + "-shm");
    for (uint64_t left = 0; left < whole.size(); left += kPageBytes / 2) {
      SCOPED_TRACE(left);
      Restore(File(), whole.substr(0, left));
      const Result<gpubound::Run> run = LoadRun(run_.path());
      ASSERT_TRUE(Bytes(File() + "-wal") == log) << "it is all that is left";
      if (!run.ok()) {
        EXPECT_THAT(run.error().ToString(), HasSubstr(File()));
        continue;
      }
      const ProcessTrace& process = run->processes.at(0);
      const bool all = process.device_work.size() == kEvents;
      EXPECT_TRUE(all || !run->problems.empty());
      for (const std::string& note : run->problems) {
        EXPECT_THAT(note, Not(HasSubstr("no known family")));
      }
    }
  }
}

// Whole transactions are there or not; what is not was never said to be there.
TEST_F(CutSegmentTest, ReadsTheTransactionsBeforeWhereTheLogIsCut) {
  Write(0, /*in_log=*/true);
  const std::string log = Bytes(File() + "-wal");
  const std::string index = Bytes(File() + "-shm");
  for (const bool with_index : {true, false}) {
    uint64_t most_read = 0;
    for (uint64_t left = 0; left <= log.size(); left += 1030) {
      SCOPED_TRACE(left);
      Restore(File() + "-wal", log.substr(0, left));
      fs::remove(File() + "-shm");
      if (with_index) Restore(File() + "-shm", index);
      const gpubound::Run run = Load();
      const uint64_t read = run.processes.at(0).device_work.size();
      EXPECT_TRUE(AreWholeChunks(read)) << read;
      EXPECT_GE(read, most_read);
      most_read = read;
      for (const std::string& note : run.problems) {
        EXPECT_THAT(note, Not(HasSubstr("no known family")));
      }
    }
    EXPECT_GE(most_read, RecordsBefore(kChunks - 1));
  }
}

// Begins a segment, and writes nothing into it.
void BeginSegment(const TemporaryRun& run, uint32_t number) {
  SegmentWriter writer(run, {}, number);
  std::string drop;
  for (const char* table :
       {"meta",         "label",          "thread",   "device", "context",     "stream",
        "work",         "graph_node",     "function", "frame",  "utilization", "device_client",
        "process_tree", "counter_sample", "clock",    "ledger", "unknown",     "note",
        "config",       "row_count",      "chunk"}) {
    drop += std::string("DROP TABLE ") + table + ";";
  }
  writer.Sql(drop);
}

TEST_F(CutSegmentTest, ASegmentThatWasNeverWrittenSaysSo) {
  BeginSegment(run_, 0);
  const gpubound::Run run = Load();
  EXPECT_THAT(run.problems, ElementsAre(HasSubstr("the disk was full")));
  EXPECT_EQ(run.processes.at(0).Counted(LedgerCounter::sink_write_errors), 1u);
  EXPECT_EQ(run.processes.at(0).Counted(LedgerCounter::tables_cut), 0u);
  const Result<Report> report = BuildReport(run);
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(report->run.verdict, StartsWith("incomplete: Transactions that could not"));
}

// What was to be written into it lies in the mapping.
TEST_F(CutSegmentTest, AProcessThatWasKilledWhileItBeganASegmentHasLostNothing) {
  SegmentWriter(run_, {}).PutUsualRows();
  BeginSegment(run_, 1);
  LiveWriter live({});
  run_.Write(LiveWriter::NameFor({}), live.Bytes());
  EXPECT_THAT(Load().problems, testing::IsEmpty());
  live.Count(LedgerCounter::sink_write_errors, 1);
  run_.Write(LiveWriter::NameFor({}), live.Bytes());
  EXPECT_THAT(Load().problems, ElementsAre(HasSubstr("the disk was full")));
}

// The file is empty until it has its version. What was written before is as much as the mapping
// says, so one that somebody emptied is missed.
TEST_F(CutSegmentTest, AProcessThatWasKilledWhileItMadeASegmentHasLostNothing) {
  SegmentWriter first(run_, {});
  first.PutUsualRows();
  first.Meta("transactions", 2);
  const std::string without_first_page = std::string(4096, '\0') + std::string(4096, 'x');
  for (const std::string& begun : {std::string(), without_first_page}) {
    run_.Write("host.100.5.1.db", begun);
    for (const uint64_t transactions : {2, 3}) {
      LiveWriter live({});
      live.header().transactions = transactions;
      run_.Write(LiveWriter::NameFor({}), live.Bytes());
      const bool is_complete = transactions == 2;
      EXPECT_EQ(Load().problems.empty(), is_complete) << testing::PrintToString(Load().problems);
      EXPECT_EQ(IsComplete(), is_complete);
    }
  }
  run_.Write("host.100.5.1.db", "SQLite");
  EXPECT_FALSE(IsComplete());
}

class KilledAtItsBeginTest : public CutSegmentTest,
                             public testing::WithParamInterface<const char*> {
 protected:
  KilledAtItsBeginTest() {
    const std::string stage = GetParam();
    SegmentWriter(run_, {.pid = 7}).PutUsualRows();
    if (stage == "an empty file") run_.Write("host.100.5.0.db", "");
    if (stage == "no first page") run_.Write("host.100.5.0.db", std::string(8192, '\0'));
    if (stage == "no tables") BeginSegment(run_, 0);
    if (stage == "no rows") SegmentWriter(run_, {}).Sql("DELETE FROM meta");
    if (stage == "first rows") {
      SegmentWriter writer(run_, {});
      writer.PutUsualRows();
      writer.Sql("DELETE FROM meta WHERE key LIKE 'end%'");
      writer.Meta("transactions", 1);
    }
  }
};

// Its mapping has not begun, and the recorder lets no thread write before that.
TEST_P(KilledAtItsBeginTest, AProcessThatRecordedNothingHasLostNothing) {
  LiveWriter live({});
  live.header().magic = 0;
  run_.Write(LiveWriter::NameFor({}), live.Bytes());
  EXPECT_THAT(Load().problems, testing::IsEmpty());
  EXPECT_TRUE(IsComplete());
}

TEST_P(KilledAtItsBeginTest, AMappingWhoseMagicNumberIsGoneIsNoneThatHasNotBegun) {
  LiveWriter live({});
  live.header().magic = 0;
  live.AddScopes(1, 0, {Begin(kTrain, 100)});
  run_.Write(LiveWriter::NameFor({}), live.Bytes());
  EXPECT_FALSE(IsComplete());
  LiveWriter written({});
  written.header().magic = 0;
  written.header().transactions = 2;
  run_.Write(LiveWriter::NameFor({}), written.Bytes());
  EXPECT_FALSE(IsComplete());
  run_.Write(LiveWriter::NameFor({}), std::string(live.Bytes().size(), '\0'));
  EXPECT_FALSE(IsComplete());
}

INSTANTIATE_TEST_SUITE_P(Stages, KilledAtItsBeginTest,
                         testing::Values("an empty file", "no first page", "no tables", "no rows",
                                         "first rows"));

}  // namespace
}  // namespace gpubound
