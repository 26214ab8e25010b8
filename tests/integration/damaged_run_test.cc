// SPDX-License-Identifier: Apache-2.0
//
// Traces that are not what they should be: every command says so and none of them falls over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "proto/event_model.h"
#include "tests/integration/command_run.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

class DamagedRun : public CommandRun {
 protected:
  void Record() { ASSERT_EQ(Victim("train", 50).exit_code, 0); }

  void Execute(const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(Databases().at(0).c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  void ExpectUnreadable(const std::string& words) {
    for (const char* command : {"report", "doctor"}) {
      const Outcome outcome = Gpubound({command, run_path()});
      EXPECT_EQ(outcome.exit_code, 3) << outcome.Describe();
      EXPECT_THAT(outcome.out, IsEmpty());
      EXPECT_THAT(outcome.err, HasSubstr(words));
      EXPECT_THAT(outcome.err, HasSubstr(run_path()));
    }
  }

  // The report exists and is an exact partition; the ledger says what is missing.
  void ExpectReadInPart() {
    ExpectExactPartition(Report());
    const Outcome doctor = Gpubound({"doctor", run_path()});
    EXPECT_EQ(doctor.exit_code, 1) << doctor.Describe();
    EXPECT_THAT(doctor.out, HasSubstr("error"));
  }
};

TEST_F(DamagedRun, NoSuchDirectory) { ExpectUnreadable("found"); }

TEST_F(DamagedRun, ADirectoryThatIsNoTrace) {
  fs::create_directory(run_path());
  std::ofstream(run_path() + "/thesis.tex") << "text";
  ExpectUnreadable("expected");
}

TEST_F(DamagedRun, AFileInsteadOfADirectory) {
  std::ofstream(run_path()) << "text";
  ExpectUnreadable("expected");
}

TEST_F(DamagedRun, ATraceOfANewerFormatNamesBothVersions) {
  Record();
  Execute("PRAGMA user_version = 9");
  ExpectUnreadable("version 9");
  ExpectUnreadable("version 1");
}

TEST_F(DamagedRun, ADatabaseThatIsNone) {
  Record();
  std::ofstream(Databases().at(0), std::ios::trunc) << std::string(100000, 'x');
  ExpectUnreadable("expected");
}

TEST_F(DamagedRun, ADatabaseCutAnywhereSaysOnceThatItIsCutAndNothingIsMadeUp) {
  constexpr uintmax_t kStep = 4096 + 1365;  // at the end of a page, or inside one
  Record();
  const std::string database = Databases().at(0);
  const std::string whole = ReadText(database);
  for (uintmax_t left = 4096; left < whole.size(); left += kStep) {
    SCOPED_TRACE(left);
    std::ofstream(database, std::ios::trunc) << whole.substr(0, left);
    ExpectReadInPart();
    // What chunks that are listed held may be told of beside it.
    const Json notes = Report()["notes"];
    std::vector<std::string> of_file;
    for (const Json& note : notes) {
      const auto text = note.get<std::string>();
      if (text.find("scopes of thread") == std::string::npos) of_file.push_back(text);
    }
    ASSERT_EQ(of_file.size(), 1u) << notes;
    EXPECT_THAT(of_file[0], HasSubstr("the file is cut: found " + std::to_string(left) +
                                      " bytes, expected " + std::to_string(whole.size())));
    EXPECT_THAT(of_file[0], HasSubstr("lost"));
    EXPECT_THAT(Report()["run"]["verdict"].dump(), HasSubstr("doubtful: Tables"));
  }
  fs::resize_file(database, 1000);
  ExpectUnreadable("less than a page");
}

class DamagedFamily : public DamagedRun, public testing::WithParamInterface<EventFamily> {};

TEST_P(DamagedFamily, ACorruptChunkIsCountedAndTheRestIsRead) {
  Record();
  Execute("UPDATE chunk SET body = zeroblob(length(body)) WHERE family = " +
          std::to_string(static_cast<int>(GetParam())));
  ExpectReadInPart();
}

// Of what every report reads; sync records are for the replay.
INSTANTIATE_TEST_SUITE_P(Families, DamagedFamily,
                         testing::Values(EventFamily::kThread, EventFamily::kApi,
                                         EventFamily::kDevice));

TEST_F(DamagedRun, ARunRecordThatIsNoJsonIsNoted) {
  Record();
  std::ofstream(run_path() + "/run.json", std::ios::trunc) << "{\"format\": ";
  const Outcome report = Gpubound({"report", run_path()});
  EXPECT_EQ(report.exit_code, 0) << report.Describe();
}

// Opening one waits for its other end.
TEST_F(DamagedRun, PipesInPlaceOfFilesAreRefusedAndNotWaitedFor) {
  Record();
  const fs::path database = Databases().at(0);
  const std::string stem = database.stem().stem().string();  // without the segment's number
  const fs::path folder = run_path();
  const fs::path pipes[] = {folder / (stem + ".7.db"), folder / (stem + ".live"),
                            folder / "run.json", folder / "sums.gpubound"};
  for (const fs::path& pipe : pipes) {
    fs::remove(pipe);
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    const Outcome doctor = Gpubound({"doctor", run_path()});
    EXPECT_NE(doctor.exit_code, 0) << doctor.Describe();
    EXPECT_THAT(doctor.out + doctor.err, HasSubstr("pipe")) << pipe;
    fs::remove(pipe);
  }
  const fs::path calibration = folder / "calibration.json";
  fs::remove(calibration);
  ASSERT_EQ(mkfifo(calibration.c_str(), 0600), 0);
  const Outcome report = Gpubound({"report", "--full", run_path()});
  EXPECT_EQ(report.exit_code, 0) << report.Describe();
  EXPECT_THAT(report.out + report.err, HasSubstr("pipe"));
}

TEST_F(DamagedRun, NamesThatAttackATerminalAreEscaped) {
  Record();
  Execute("UPDATE label SET text = char(27) || '[2J' || char(7) || text WHERE kind = 1");
  const std::vector<std::vector<std::string>> commands = {
      {"report", run_path()}, {"report", run_path(), "--json"}, {"doctor", run_path()}};
  for (const auto& command : commands) {
    const Outcome outcome = Gpubound(command);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
    EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.out.find('\x07'), std::string::npos) << outcome.out;
  }
}

TEST_F(DamagedRun, ReadingChangesNothing) {
  Record();
  std::map<std::string, std::string> before;
  const auto contents = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(run_path())) {
      files[entry.path().string()] = ReadText(entry.path());
    }
    return files;
  };
  before = contents();
  fs::permissions(run_path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(Gpubound({"report", run_path()}).exit_code, 0);
  EXPECT_EQ(Gpubound({"doctor", run_path(), "--all"}).exit_code, 0);
  fs::permissions(run_path(), fs::perms::owner_all);
  EXPECT_EQ(contents(), before);
}

}  // namespace
}  // namespace gpubound
