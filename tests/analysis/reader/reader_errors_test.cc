// SPDX-License-Identifier: Apache-2.0
//
// What the reader says about what is no trace, and what it saves from a damaged one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "analysis/attribution/build_report.h"
#include "analysis/reader/reader.h"
#include "analysis/report/report.h"
#include "proto/live_format.h"
#include "proto/run_path.h"
#include "proto/schema.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;
using ::testing::Not;
namespace fs = std::filesystem;

class ReaderErrorsTest : public testing::Test {
 protected:
  using Run = gpubound::Run;  // not testing::Test::Run

  static std::string ErrorOf(const std::string& path) {
    const Result<Run> loaded = LoadRun(path);
    return loaded.ok() ? "no error" : loaded.error().ToString();
  }
  std::string ErrorOfRun() const { return ErrorOf(run_.path()); }

  Run Load() const {
    Result<Run> loaded = LoadRun(run_.path());
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().ToString());
    if (loaded.ok()) return std::move(*loaded);
    Run one_empty_process;
    one_empty_process.processes.resize(1);
    return one_empty_process;
  }

  // A process with three chunks of device work and three of scopes, one after the other.
  std::string WriteSoundSegment() const {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    for (uint64_t i = 0; i < 3; ++i) {
      const uint64_t t = 100 + 200 * i;
      const auto correlation = static_cast<uint32_t>(i + 1);
      writer.Work({.thread = 9, .first_sequence = i}, {Kernel(t, t + 100, correlation)});
      writer.Scopes({.thread = 1, .first_sequence = 2 * i},
                    {Begin(kTrain, t), End(kTrain, t + 50)});
    }
    return writer.path();
  }

  // Many chunks, so that half the file is more than the schema.
  std::string WriteLongSegment() const {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.Sql("BEGIN");
    for (uint64_t i = 0; i < 400; ++i) {
      std::vector<DeviceRecord> records;
      for (uint64_t k = 0; k < 50; ++k) {
        records.push_back(Kernel(i * 1000 + k * 10, i * 1000 + k * 10 + k % 7, 1));
      }
      writer.Work({.thread = 9, .first_sequence = i * 50}, records);
    }
    writer.Sql("COMMIT");
    writer.Meta("end_monotonic_ns", 400'000);
    return writer.path();
  }

  TemporaryRun run_;
  WriterIdentity identity_;
};

// Of a process that ended while its recording began: it has recorded nothing, so nothing is lost.
TEST_F(ReaderErrorsTest, AMappingThatWasNeverAnnouncedIsNoProblem) {
  WriteSoundSegment();
  const std::string path = (fs::path(run_.path()) / LiveWriter::NameFor({.pid = 4321})).string();
  std::string header(sizeof(LiveHeader), '\0');
  for (const std::string& content : {std::string(), std::string(4096, '\0'), [&header] {
                                       const uint32_t version = kLiveVersion;
                                       std::memcpy(header.data() + offsetof(LiveHeader, version),
                                                   &version, sizeof(version));
                                       return header;
                                     }()}) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
    EXPECT_THAT(Load().problems, testing::IsEmpty()) << content.size() << " bytes";
  }
  std::ofstream(path, std::ios::binary) << std::string(4096, 'x');
  EXPECT_THAT(Load().problems, testing::ElementsAre(HasSubstr("no live mapping")));
}

// Sparse: to read one takes seconds and as much memory.
TEST_F(ReaderErrorsTest, FilesLargerThanAnyThatIsWrittenAreRefusedByTheirSize) {
  constexpr uintmax_t kTwoGigabytes = uintmax_t{2} << 30;
  WriteSoundSegment();
  const std::string live = LiveWriter::NameFor({.pid = 4321});
  for (const std::string& name : {std::string("run.json"), live}) {
    const std::string path = run_.Write(name, "");
    fs::resize_file(path, kTwoGigabytes);
    EXPECT_THAT(Load().problems, testing::Contains(HasSubstr("found 2147483648 bytes")));
    fs::remove(path);
  }
  fs::resize_file(run_.Write("sums.gpubound", ""), kTwoGigabytes);
  EXPECT_THAT(ErrorOfRun(), HasSubstr("sums.gpubound"));
}

TEST_F(ReaderErrorsTest, AProcessThatSaysThatItCouldNotBeRecordedIsALoss) {
  WriteSoundSegment();
  run_.Write("host.7.8.unrecorded", "process 7 is not recorded: no memory\n");
  Run run = Load();
  EXPECT_EQ(run.Count(LedgerCounter::processes_unrecorded), 1u);
  EXPECT_THAT(run.problems,
              testing::ElementsAre("host pid 7 could not be recorded: process 7 is not recorded: "
                                   "no memory."));
}

TEST_F(ReaderErrorsTest, ARunOfProcessesThatCouldNotBeRecordedIsARunAllTheSame) {
  run_.Write("host.7.8.unrecorded", "");
  EXPECT_EQ(Load().Count(LedgerCounter::processes_unrecorded), 1u);
}

// The log of a database that nobody closed is a file of its own.
TEST_F(ReaderErrorsTest, ADatabaseWithFewerTransactionsThanItsProcessHadWrittenIsCut) {
  SegmentWriter writer(run_, identity_);
  writer.PutUsualRows();
  writer.Meta("transactions", 2);
  LiveWriter live(identity_);
  for (const uint64_t written : {0, 1, 2, 3}) {
    live.header().transactions = written;
    run_.Write(LiveWriter::NameFor(identity_), live.Bytes());
    EXPECT_EQ(Load().processes.at(0).Counted(LedgerCounter::tables_cut), written == 3 ? 1u : 0u);
  }
}

// As the recorders of the first versions could be killed.
TEST_F(ReaderErrorsTest, ASegmentThatWasNotYetGivenItsVersionHidesNoOtherOne) {
  WriteSoundSegment();
  sqlite3* database = nullptr;
  const std::string path = run_.File("host.100.5.1.db");
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  const std::string sql = "PRAGMA application_id=" + std::to_string(kTraceApplicationId);
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
  EXPECT_THAT(Load().processes, testing::SizeIs(1));
  EXPECT_THAT(Load().problems, testing::Contains(HasSubstr("a database without tables")));
}

// Where there was no room for a file that says so.
TEST_F(ReaderErrorsTest, TheModeOfARunsDirectoryMaySayThatAProcessCouldNotBeRecorded) {
  WriteSoundSegment();
  chmod(run_.path().c_str(), kRunMode);
  EXPECT_EQ(Load().Count(LedgerCounter::processes_unrecorded), 0u);
  chmod(run_.path().c_str(), kUnrecordedMode);
  EXPECT_EQ(Load().Count(LedgerCounter::processes_unrecorded), 1u);
}

TEST_F(ReaderErrorsTest, RowsThatASealedSegmentCountedAndThatAreGoneAreDamageOfTheirTable) {
  for (const char* sql : {"DELETE FROM label WHERE id = 2", "DELETE FROM ledger",
                          "DROP TABLE clock", "DELETE FROM row_count", "DROP TABLE row_count",
                          "DELETE FROM meta WHERE key = 'row_counts'"}) {
    SCOPED_TRACE(sql);
    const std::string path = WriteSoundSegment();
    {
      SegmentWriter writer(run_, {"host", 300, 5});
      writer.PutUsualRows();
      writer.Sql("INSERT INTO ledger VALUES('names_truncated', 1)");
      writer.CountRows();
    }
    EXPECT_THAT(Load().problems, testing::IsEmpty());
    {
      SegmentWriter writer(run_, {"host", 301, 5});
      writer.PutUsualRows();
      writer.Sql("INSERT INTO ledger VALUES('names_truncated', 1)");
      writer.CountRows();
      writer.Sql(sql);
    }
    EXPECT_THAT(Load().problems, testing::ElementsAre(HasSubstr("can be read in part only")));
    for (const char* pid : {"100", "300", "301"}) {
      fs::remove(fs::path(run_.path()) / ("host." + std::string(pid) + ".5.0.db"));
    }
  }
}

TEST_F(ReaderErrorsTest, AnLdPreloadThatWasReplacedOnTheWayIsALoss) {
  SegmentWriter writer(run_, identity_);
  writer.PutUsualRows();
  writer.Meta(kPreloadFact, kPreloadReplaced);
  EXPECT_EQ(Load().processes.front().Counted(LedgerCounter::preload_replaced), 1u);
  writer.Meta(kPreloadFact, kPreloadLate);
  EXPECT_EQ(Load().processes.front().Counted(LedgerCounter::preload_replaced), 0u);
}

TEST_F(ReaderErrorsTest, ARunOfTheLaunchersWithoutItsRecordMissesAFile) {
  SegmentWriter writer(run_, identity_);
  writer.PutUsualRows();
  writer.Meta(kLaunchedFact, 1);
  EXPECT_THAT(Load().problems, testing::ElementsAre(HasSubstr("run.json is missing")));
}

TEST_F(ReaderErrorsTest, NamesADirectoryThatDoesNotExist) {
  EXPECT_THAT(ErrorOf("/nowhere/at/all"), HasSubstr("/nowhere/at/all: found nothing there"));
}

TEST_F(ReaderErrorsTest, NamesAFileThatIsNoDirectory) {
  const std::string file = run_.Write("notes.txt", "hello");
  EXPECT_THAT(ErrorOf(file), HasSubstr("found a file, expected a run directory"));
  EXPECT_THAT(ErrorOf(file), HasSubstr("`gpubound import FILE`"));
}

TEST_F(ReaderErrorsTest, AnEmptyFileIsSaidToBeOne) {
  const std::string error = ErrorOf(run_.Write("train.gpubound", ""));
  EXPECT_THAT(error, HasSubstr("found an empty file, expected a run directory"));
  EXPECT_THAT(error, HasSubstr("the directory that `gpubound run` named when it ended"));
  EXPECT_THAT(error, testing::Not(HasSubstr("contains it")));
  EXPECT_THAT(ErrorOf("/dev/null"), HasSubstr("neither file nor directory"));
}

TEST_F(ReaderErrorsTest, AFileOfARunLeadsToItsDirectory) {
  const std::string remedy = "Give the directory that contains it, " + run_.path() + ".";
  EXPECT_THAT(ErrorOf(WriteSoundSegment()), HasSubstr(remedy));
  EXPECT_THAT(ErrorOf(run_.Write("run.json", "{}")), HasSubstr(remedy));
  EXPECT_THAT(ErrorOf(run_.Write("h.4.5.live", "")), HasSubstr(remedy));
}

TEST_F(ReaderErrorsTest, NamesADirectoryWithoutATrace) {
  run_.Write("notes.txt", "hello");
  EXPECT_THAT(ErrorOfRun(), HasSubstr("a directory without a trace"));
}

TEST_F(ReaderErrorsTest, RefusesANewerFormatAndNamesBothVersions) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.Sql("PRAGMA user_version=99");
  }
  const std::string error = ErrorOfRun();
  EXPECT_THAT(error, HasSubstr("host.100.5.0.db"));
  EXPECT_THAT(error, HasSubstr("found format version 99, expected format version 1"));
  EXPECT_THAT(error, HasSubstr("upgrade"));
}

TEST_F(ReaderErrorsTest, RefusesANewerFormatAmongReadableProcesses) {
  WriteSoundSegment();
  {
    SegmentWriter other(run_, {"host", 200, 5});
    other.Sql("PRAGMA user_version=2");
  }
  EXPECT_THAT(ErrorOfRun(), HasSubstr("found format version 2"));
}

TEST_F(ReaderErrorsTest, NamesAnEmptyFile) {
  run_.Write("host.1.2.0.db", "");
  EXPECT_THAT(ErrorOfRun(), HasSubstr("an empty file"));
  EXPECT_THAT(ErrorOfRun(), HasSubstr("\nIf it was copied, copy the whole directory again"));
}

TEST_F(ReaderErrorsTest, NamesATextFile) {
  run_.Write("host.1.2.0.db", std::string(5000, 'x'));
  EXPECT_THAT(ErrorOfRun(), HasSubstr("no database"));
  EXPECT_THAT(ErrorOfRun(), HasSubstr("\nIf it was copied, copy the whole directory again"));
}

TEST_F(ReaderErrorsTest, NamesADatabaseOfAnotherProgram) {
  {
    SegmentWriter writer(run_, identity_);
    writer.Sql("PRAGMA application_id=7");
  }
  EXPECT_THAT(ErrorOfRun(), HasSubstr("a database of application 7"));
  EXPECT_THAT(ErrorOfRun(), HasSubstr("\nMove it out of the run's directory"));
}

// Of a process that was killed, all lies in the log.
TEST_F(ReaderErrorsTest, ARunBehindALongPathIsToBeMoved) {
  WriteSoundSegment();
  const fs::path longer = fs::path(run_.path()) / std::string(250, 'a') / std::string(250, 'b');
  fs::create_directories(longer);
  for (const auto& entry : fs::directory_iterator(run_.path())) {
    if (entry.is_regular_file()) fs::copy(entry.path(), longer);
  }
  EXPECT_THAT(ErrorOf(longer), HasSubstr("Move the run to a shorter path"));
}

TEST_F(ReaderErrorsTest, ADatabaseWithoutItsLogIsToBeCopiedWithIt) {
  const std::string path = run_.File("host.100.5.0.db");
  // As SQLite leaves a database whose first transaction is in the log.
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  sqlite3_exec(database, "PRAGMA journal_mode=WAL", nullptr, nullptr, nullptr);
  sqlite3_close(database);
  EXPECT_THAT(ErrorOfRun(), HasSubstr("copied without the -wal file beside it"));
  EXPECT_THAT(ErrorOfRun(), HasSubstr("Copy the whole directory again"));
  EXPECT_THAT(ErrorOfRun(), Not(HasSubstr("another program")));
}

TEST_F(ReaderErrorsTest, AFileOfLessThanAPageIsToBeCopiedAgain) {
  const std::string path = WriteSoundSegment();
  fs::resize_file(path, 1000);
  EXPECT_THAT(ErrorOfRun(), HasSubstr("less than a page"));
  EXPECT_THAT(ErrorOfRun(), HasSubstr("copy it again"));
}

TEST_F(ReaderErrorsTest, ReadsTheOtherProcessesBesideAnUnreadableFile) {
  WriteSoundSegment();
  run_.Write("host.1.2.0.db", "rubbish that is long enough to be looked at");
  const Run run = Load();
  EXPECT_EQ(run.processes.size(), 1u);
  ASSERT_EQ(run.problems.size(), 1u);
  EXPECT_THAT(run.problems[0], HasSubstr("host.1.2.0.db"));
  EXPECT_THAT(run.problems[0], testing::Not(HasSubstr("\n"))) << "a note is a line";
}

TEST_F(ReaderErrorsTest, CountsACorruptChunkAndTakesItsTimeAsUnknown) {
  WriteSoundSegment();
  {
    SegmentWriter damage(run_, {"other", 1, 1});  // only for its connection
    damage.Sql("ATTACH '" + run_.File("host.100.5.0.db") + "' AS victim");
    damage.Sql("UPDATE victim.chunk SET crc = crc + 1 WHERE family = 3 AND first_sequence = 1");
  }
  fs::remove(run_.File("other.1.1.0.db"));
  const Run run = Load();
  const ProcessTrace& process = run.processes[0];
  EXPECT_EQ(process.device_work.size(), 2u);
  EXPECT_EQ(process.Counted(LedgerCounter::chunks_corrupt), 1u);
  EXPECT_EQ(process.Counted(LedgerCounter::chunk_events_lost), 1u);
  ASSERT_EQ(process.unknown.size(), 1u);
  EXPECT_EQ(process.unknown[0].start_ns, 300);
  EXPECT_EQ(process.unknown[0].end_ns, 400);
  ASSERT_EQ(run.problems.size(), 1u);
  EXPECT_THAT(run.problems[0], HasSubstr("device work of writer 9"));
  EXPECT_THAT(run.problems[0], HasSubstr("at byte"));

  const Result<Report> report = BuildReport(run);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->processes[0].unknown_ns, 100);
  EXPECT_THAT(report->run.verdict, HasSubstr("doubtful"));
}

TEST_F(ReaderErrorsTest, ResynchronisesBehindACorruptChunkOfScopes) {
  WriteSoundSegment();
  {
    SegmentWriter damage(run_, {"other", 1, 1});
    damage.Sql("ATTACH '" + run_.File("host.100.5.0.db") + "' AS victim");
    damage.Sql("UPDATE victim.chunk SET body = x'00' WHERE family = 1 AND first_sequence = 2");
  }
  fs::remove(run_.File("other.1.1.0.db"));
  const ProcessTrace process = Load().processes[0];
  EXPECT_EQ(process.threads[0].events.size(), 4u);
  ASSERT_EQ(process.threads[0].resets.size(), 1u);
  EXPECT_EQ(process.threads[0].resets[0].event_index, 2u);
  EXPECT_EQ(process.Counted(LedgerCounter::chunk_events_lost), 2u);
}

TEST_F(ReaderErrorsTest, RunsNoViewInThePlaceOfATable) {
  WriteSoundSegment();
  {
    SegmentWriter forger(run_, {"other", 1, 1});
    forger.Sql("ATTACH '" + run_.File("host.100.5.0.db") + "' AS victim");
    forger.Sql("DROP TABLE victim.note");
    forger.Sql(
        "CREATE VIEW victim.note AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 "
        "FROM c) SELECT n AS id, n AS time_ns, 'x' AS text FROM c WHERE n < 0");
  }
  fs::remove(run_.File("other.1.1.0.db"));
  const Run run = Load();
  EXPECT_EQ(run.processes[0].Counted(LedgerCounter::tables_cut), 1u);
  ASSERT_EQ(run.problems.size(), 1u);
  EXPECT_THAT(run.problems[0], HasSubstr("note can be read in part only (a view"));
}

TEST_F(ReaderErrorsTest, SavesWhatIsThereOfADatabaseCutInHalf) {
  const std::string file = WriteLongSegment();
  fs::resize_file(file, fs::file_size(file) / 2 / 4096 * 4096);
  const Run run = Load();
  ASSERT_EQ(run.processes.size(), 1u);
  const ProcessTrace& process = run.processes[0];
  EXPECT_GT(process.device_work.size(), 1000u);
  EXPECT_LT(process.device_work.size(), 400u * 50);
  EXPECT_GE(process.Counted(LedgerCounter::tables_cut), 1u);
  EXPECT_FALSE(process.unknown.empty());
  EXPECT_FALSE(run.problems.empty());
  const Result<Report> report = BuildReport(run);
  ASSERT_TRUE(report.ok());
  EXPECT_GT(report->processes[0].unknown_ns, 100'000);
}

TEST_F(ReaderErrorsTest, SurvivesADatabaseCutAnywhere) {
  const std::string file = WriteLongSegment();
  const auto size = static_cast<int64_t>(fs::file_size(file));
  for (int64_t left = size - 1000; left >= 0; left -= size / 23) {
    fs::resize_file(file, static_cast<std::uintmax_t>(left));
    const Result<Run> loaded = LoadRun(run_.path());
    if (!loaded.ok()) {
      EXPECT_THAT(loaded.error().ToString(), HasSubstr(file));
      continue;
    }
    EXPECT_FALSE(loaded->problems.empty()) << left << " bytes left";
    EXPECT_TRUE(BuildReport(*loaded).ok());
  }
}

TEST_F(ReaderErrorsTest, NamesMissingTables) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.Sql("DROP TABLE work; DROP TABLE chunk");
  }
  const Run run = Load();
  ASSERT_EQ(run.problems.size(), 1u);
  EXPECT_THAT(run.problems[0], HasSubstr("tables work, chunk can be read in part only"));
}

TEST_F(ReaderErrorsTest, IgnoresRowsWithImpossibleIds) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.Sql("INSERT INTO label VALUES(-5, 1, 0, '', 'x'), (999999999999, 1, 0, '', 'y')");
    writer.Sql("INSERT INTO stream VALUES(0, 1, 1, 1)");
  }
  EXPECT_LT(Load().processes[0].labels.size(), 10u);
}

TEST_F(ReaderErrorsTest, ReadsFromADirectoryThatCannotBeWritten) {
  WriteSoundSegment();
  fs::permissions(run_.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const Run run = Load();
  EXPECT_EQ(run.processes[0].device_work.size(), 3u);
}

}  // namespace
}  // namespace gpubound
