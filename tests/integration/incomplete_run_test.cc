// SPDX-License-Identifier: Apache-2.0
//
// No report of a recorded run says "complete" while anything of it is missing: each table, each
// file and each kind of record of a small run goes in turn, wholly and in part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <set>
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

// What may go without a figure being wrong, and why.
const std::set<std::string> kFilesWithoutFigures = {
    "report.html",
    "calibration.json",  // without it a report has no corrected values, and says so
};
// Of sync records and overheads alone the corrected timeline is made; what the report measured
// stands. They are part of the chunks that are counted all the same, so nothing is exempt here.

class IncompleteRun : public CommandRun {
 protected:
  void SetUp() override {
    ASSERT_EQ(Victim("train", 30).exit_code, 0);
    ASSERT_THAT(Verdict(), StartsWith(kComplete));
    fs::copy(run_path(), File("whole"), fs::copy_options::recursive);
  }
  void Restore() {
    fs::remove_all(run_path());
    fs::copy(File("whole"), run_path(), fs::copy_options::recursive);
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
};

TEST_F(IncompleteRun, WithoutTheRowsOfAnyTable) {
  for (const std::string& table : Tables()) {
    if (Query("SELECT count(*) FROM " + table)[0][0] == "0") continue;
    Query("DELETE FROM " + table);
    ExpectNotCompleteWithout("the rows of " + table);
  }
}

TEST_F(IncompleteRun, WithoutOneRowOfAnyTable) {
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

TEST_F(IncompleteRun, WithoutAnyTable) {
  for (const std::string& table : Tables()) {
    Query("DROP TABLE " + table);
    ExpectNotCompleteWithout(table);
  }
}

TEST_F(IncompleteRun, WithoutAnyKindOfRecord) {
  for (const auto& family : Query("SELECT DISTINCT family FROM chunk")) {
    Query("DELETE FROM chunk WHERE family = " + family[0]);
    ExpectNotCompleteWithout("chunks of family " + family[0]);
    Query("DELETE FROM chunk WHERE id = (SELECT max(id) FROM chunk WHERE family = " + family[0] +
          ")");
    ExpectNotCompleteWithout("the last chunk of family " + family[0]);
  }
}

TEST_F(IncompleteRun, WithoutAnyMetaRowThatAFigureRestsOn) {
  for (const auto& key : Query("SELECT key FROM meta")) {
    Query("DELETE FROM meta WHERE key = '" + key[0] + "'");
    ExpectNotCompleteWithout("meta " + key[0]);
  }
}

TEST_F(IncompleteRun, WithoutAnyFileOrWhatIsInIt) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(run_path())) {
    names.push_back(entry.path().filename());
  }
  for (const std::string& name : names) {
    if (kFilesWithoutFigures.contains(name)) continue;
    fs::remove(run_path() + "/" + name);
    ExpectNotCompleteWithout(name);
    fs::resize_file(run_path() + "/" + name, 0);
    ExpectNotCompleteWithout("what is in " + name);
  }
}

}  // namespace
}  // namespace gpubound
