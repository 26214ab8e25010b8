// SPDX-License-Identifier: Apache-2.0
//
// No report of a recorded run says "complete" while anything of it is missing: each table, each
// file and each kind of record of a small run goes in turn, wholly and in part.
//
// VerdictOf() (analysis/attribution/run_verdict.cc) says "complete" where no counter of severity
// kDataLoss or kError is above 0, no GPU time is unknown, and some process was recorded. So it is
// wrong only where a loss is in no counter. What may be lost, what tells, and which test takes it:
//
//   a process without us            its own .unrecorded, the mode of the       lifecycle_matrix_test
//                                   directory, preload_replaced
//   the files of a process          run.json's list of who was recorded        here: files
//   run.json                        meta.launched of any process               here: files
//   a segment                       their numbers in a row, meta.sealed        here: files
//   all segments, the log (-wal)    LiveHeader::transactions                   damaged_files_test
//   the mapping of a killed one     live_mapping_unavailable, unknown          here: files
//   rows of a table                 row_count, meta.row_counts                 here: rows
//   a table                         SQLite's own error, row_count              here: tables
//   chunks between others           the numbers of their writer, their ids     here: records
//   the last chunks                 meta.chunks                                here: records
//   events inside a chunk           its checksum, its count                    damaged_run_test
//   events before they are chunks   counters in the mapping or table ledger    device_faults_test,
//                                                                              libprofiler_test
//   device records of a killed one  LiveHeader::delivered_until_ns: unknown    training_run_test
//   all kernels, by CUPTI itself    calls that launched some: unknown          device_faults_test
//   what a killed one had begun     its mapping: nothing is lost, so nothing   cut_segment_test
//                                   is said where it recorded nothing yet
//   sums of a compacted run         their message's own check                  damaged_run_test
//   what a foreign trace lacks      counters import_...                        import_meaning_test
//
// A byte that changes inside a row is in none of them: rows have no checksum.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "proto/event_model.h"
#include "tests/integration/command_run.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kComplete[] = "\"complete";

// Of sync records and overheads alone the corrected timeline is made; what the report measured
// stands. They are part of the chunks that are counted all the same, so nothing is exempt here.

// Of a run that was closed, of one whose process was killed, and of one that was imported.
class IncompleteRun : public CommandRun, public testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    const bool is_imported = std::string(GetParam()) == "imported";
    const std::string action = GetParam();
    Victim(is_imported ? "train" : action, 30, action == "steps_and_kill" ? 128 + SIGKILL : 0);
    if (is_imported) ImportAgain();
    ASSERT_THAT(Verdict(), StartsWith(kComplete));
    figures_ = Figures();
    fs::copy(run_path(), File("whole"), fs::copy_options::recursive);
  }
  void ImportAgain() {
    const Outcome exported = Gpubound({"export", run_path(), "--chrome", File("train.json")});
    ASSERT_EQ(exported.exit_code, 0) << exported.Describe();
    fs::remove_all(run_path());
    const Outcome imported = Gpubound({"import", File("train.json"), "-o", run_path()});
    ASSERT_EQ(imported.exit_code, 0) << imported.Describe();
  }
  void Restore() {
    fs::remove_all(run_path());
    fs::copy(File("whole"), run_path(), fs::copy_options::recursive);
  }
  // Of a run that can be read.
  std::string Figures() {
    return Json::parse(Gpubound({"report", "--json", "--no-replay", run_path()}).out)["processes"]
        .dump();
  }
  // Why it cannot be read, where it cannot.
  std::string Verdict() {
    const Outcome report = Gpubound({"report", "--json", "--no-replay", run_path()});
    if (report.exit_code != 0) return "unreadable: " + report.err;
    return Json::parse(report.out)["run"]["verdict"].dump();
  }
  std::vector<std::vector<std::string>> Query(const std::string& sql) {
    std::vector<std::vector<std::string>> rows;
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(Databases().at(0).c_str(), &database), SQLITE_OK);
    const auto add = [](void* to, int columns, char** values, char**) {
      auto& row = static_cast<std::vector<std::vector<std::string>>*>(to)->emplace_back();
      for (int c = 0; c < columns; ++c) row.emplace_back(values[c] == nullptr ? "" : values[c]);
      return 0;
    };
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), add, &rows, nullptr), SQLITE_OK)
        << sql << ": " << sqlite3_errmsg(database);
    sqlite3_close(database);
    return rows;
  }
  std::vector<std::string> Tables() {
    std::vector<std::string> tables;
    for (const auto& row : Query("SELECT name FROM sqlite_master WHERE type='table'")) {
      tables.push_back(row[0]);
    }
    return tables;
  }
  void ExpectNotCompleteWithout(const std::string& what) {
    EXPECT_THAT(Verdict(), Not(StartsWith(kComplete))) << "without " << what;
    Restore();
  }
  // Some files hold nothing that others do not, as the log of a database its begin.
  void ExpectNothingLostWithoutOrNotComplete(const std::string& what) {
    if (Verdict().starts_with(kComplete)) {
      EXPECT_EQ(Figures(), figures_) << "without " << what;
    }
    Restore();
  }

 private:
  std::string figures_;
};

TEST_P(IncompleteRun, WithoutTheRowsOfAnyTable) {
  for (const std::string& table : Tables()) {
    if (Query("SELECT count(*) FROM " + table)[0][0] == "0") continue;
    Query("DELETE FROM " + table);
    ExpectNotCompleteWithout("the rows of " + table);
  }
}

TEST_P(IncompleteRun, WithoutOneRowOfAnyTable) {
  for (const std::string& table : Tables()) {
    const std::string count = Query("SELECT count(*) FROM " + table)[0][0];
    if (count == "0") continue;
    const bool has_rowid =
        Query("SELECT sql FROM sqlite_master WHERE name='" + table + "'")[0][0].find(
            "WITHOUT ROWID") == std::string::npos;
    const std::string key =
        has_rowid ? "rowid" : Query("SELECT name FROM pragma_table_info('" + table + "')")[0][0];
    Query("DELETE FROM " + table + " WHERE " + key + " = (SELECT max(" + key + ") FROM " + table +
          ")");
    ExpectNotCompleteWithout("the last row of " + table);
  }
}

TEST_P(IncompleteRun, WithoutAnyTable) {
  for (const std::string& table : Tables()) {
    Query("DROP TABLE " + table);
    ExpectNotCompleteWithout(table);
  }
}

TEST_P(IncompleteRun, WithoutAnyKindOfRecord) {
  for (const auto& family : Query("SELECT DISTINCT family FROM chunk")) {
    Query("DELETE FROM chunk WHERE family = " + family[0]);
    ExpectNotCompleteWithout("chunks of family " + family[0]);
    Query("DELETE FROM chunk WHERE id = (SELECT max(id) FROM chunk WHERE family = " + family[0] +
          ")");
    ExpectNotCompleteWithout("the last chunk of family " + family[0]);
  }
}

TEST_P(IncompleteRun, WithoutAnyMetaRowThatAFigureRestsOn) {
  for (const auto& key : Query("SELECT key FROM meta")) {
    Query("DELETE FROM meta WHERE key = '" + key[0] + "'");
    ExpectNotCompleteWithout("meta " + key[0]);
  }
}

TEST_P(IncompleteRun, WithoutAnyFileOrWhatIsInIt) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(run_path())) {
    names.push_back(entry.path().filename());
  }
  for (const std::string& name : names) {
    fs::remove(run_path() + "/" + name);
    ExpectNothingLostWithoutOrNotComplete(name);
    fs::resize_file(run_path() + "/" + name, 0);
    ExpectNothingLostWithoutOrNotComplete("what is in " + name);
  }
}

INSTANTIATE_TEST_SUITE_P(Runs, IncompleteRun,
                         testing::Values("train", "steps_and_kill", "imported"));

}  // namespace
}  // namespace gpubound
