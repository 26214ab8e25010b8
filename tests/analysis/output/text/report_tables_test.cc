// SPDX-License-Identifier: Apache-2.0
//
// Which columns and bars the tables of the text report have, and what is said of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/output/text/report_text.h"
#include "analysis/trace/row_names.h"
#include "tests/analysis/report_rows.h"

namespace gpubound {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class ReportTablesTest : public testing::Test {
 protected:
  ReportTablesTest() {
    report_.run.root = 100;
    report_.run.devices_used = 1;
    ReportProcess& process = report_.processes.emplace_back();
    process.pid = 100;
    process.span_ns = 1'000'000'000;
    process.operations = {Row("inference", 700'000'000, 400'000'000),
                          Row("simulation", 300'000'000, 10'000'000)};
    options_.by = {"operation"};
  }

  // Every column has something to say.
  void FillColumns() {
    for (ReportOperation& row : process().operations) {
      row.gpu_caused_ns = row.gpu_only_ns = row.waiting_ns = row.idle_ns = 10'000'000;
    }
  }
  ReportProcess& process() { return report_.processes[0]; }
  std::string Text() const { return RenderText(report_, options_); }

  Report report_;
  TextOptions options_;
};

TEST_F(ReportTablesTest, ColumnsOfNothingButZerosGiveTheirPlaceToTheOthers) {
  EXPECT_THAT(Text(), HasSubstr("\nOperation     wall  GPU busy  cpu only  cpu+gpu\n"));
  process().operations[0].gpu_only_ns = 1;
  process().operations[1].waiting_ns = 1;
  EXPECT_THAT(Text(), HasSubstr("  cpu only  cpu+gpu  gpu only  waiting\n"));
}

TEST_F(ReportTablesTest, WhatIsOnOtherThreadsIsNoRowOfZeros) {
  EXPECT_THAT(Text(), Not(HasSubstr("other thread")));
  ReportOperation& learn = process().operations.emplace_back(Row("learn", 0, 0));
  learn.other_threads_only = true;
  learn.gpu_caused_ns = 4'000'000;
  learn.transitions = {{"python->backend", 3}};
  process().lanes = {{"learner", 7, {}, {Row("learn", 600'000'000, 0), Row(kNoOperation, 5, 0)}},
                     {"actor", 8, {}, {Row("simulation", 200'000'000, 0)}}};
  EXPECT_THAT(Text(), Not(HasSubstr("\nlearn ")));
  options_.width = 200;
  const std::string sentence =
      "\nOn 2 other threads, not in the table: learn 600 ms (caused 4.00 ms), simulation 200 ms";
  EXPECT_THAT(Text(), HasSubstr(sentence + "; see --by thread.\n"));
  options_.by = {"operation", "thread"};
  EXPECT_THAT(Text(), HasSubstr(sentence + ".\n"));
  options_.by.clear();
  options_.full = true;
  EXPECT_THAT(Text(), HasSubstr(sentence));
}

TEST_F(ReportTablesTest, OfTheOperationsOfOtherThreadsTheLongestAreNamed) {
  ReportLane& lane = process().lanes.emplace_back();
  for (int i = 1; i <= 9; ++i) {
    lane.operations.push_back(Row("op" + std::to_string(i), i * 1'000'000, 0));
  }
  options_.width = 200;
  EXPECT_THAT(Text(), HasSubstr("On 1 other thread, not in the table: op9 9.00 ms, "));
  EXPECT_THAT(Text(), HasSubstr(", op4 4.00 ms and 3 more; see --by thread.\n"));
}

TEST_F(ReportTablesTest, OfThousandsOfRowsTheLongestAreThereAndWhatTheOthersComeTo) {
  process().operations.clear();
  for (int i = 0; i < 5'000; ++i) {
    process().operations.push_back(Row("turn " + std::to_string(i), 1'000'000 + i, 500'000));
  }
  const std::string asked = Text();
  EXPECT_THAT(asked, HasSubstr("turn 17 "));
  options_.by.clear();
  options_.full = true;
  EXPECT_THAT(Text(), HasSubstr("turn 4960 "));
  EXPECT_THAT(Text(), Not(HasSubstr("turn 4959 ")));
  options_.full = false;
  options_.raw = true;
  EXPECT_THAT(Text(), HasSubstr("turn 17 "));
}

TEST_F(ReportTablesTest, RowsOfWhichScopesAreMissingAreMarked) {
  EXPECT_THAT(Text(), Not(HasSubstr("~")));
  for (ReportOperation& row : process().operations) row.scopes_missing = true;
  EXPECT_THAT(Text(), HasSubstr("  ~700 ms"));
  EXPECT_THAT(Text(), HasSubstr("; ~ scopes are missing, see the notes"));
}

TEST_F(ReportTablesTest, TheColumnThatWasAskedForIsThereAlsoWithoutAnything) {
  options_.attribution = {"caused"};
  EXPECT_THAT(Text(), HasSubstr("Operation     wall  caused  cpu only"));
}

TEST_F(ReportTablesTest, SaysWhichColumnsANarrowTerminalHasNoRoomFor) {
  FillColumns();
  EXPECT_THAT(Text(), Not(HasSubstr("GPU busy   caused")));
  EXPECT_THAT(Text(), HasSubstr("; hidden to fit: caused\n"));
  options_.width = 120;
  EXPECT_THAT(Text(), HasSubstr("  GPU busy   caused  cpu only"));
  EXPECT_THAT(Text(), Not(HasSubstr("no room")));
}

TEST_F(ReportTablesTest, EightyColumnsHaveWhatMakesUpTheWallTimeAndABar) {
  FillColumns();
  process().operations[0].operation = "backpropagation";
  EXPECT_THAT(Text(), HasSubstr("wall cpu only cpu+gpu gpu only waiting    idle\n"));
  EXPECT_THAT(Text(), ContainsRegex("\nbackpropagation .* [^ ]{7,}\n")) << "70 % of ten";
  EXPECT_THAT(Text(), HasSubstr("; gpu only: CPU waits;"));
  EXPECT_THAT(Text(), Not(HasSubstr("its launches"))) << "that column is not there";
}

TEST_F(ReportTablesTest, WhatIsAskedForStaysInAnyRoom) {
  FillColumns();
  options_.width = 60;
  options_.attribution = {"timeline", "caused"};
  EXPECT_THAT(Text(), HasSubstr("GPU busy"));
  EXPECT_THAT(Text(), HasSubstr(" caused "));
}

TEST_F(ReportTablesTest, SaysOnceWhatColumnsAndBarsMean) {
  FillColumns();
  report_.processes.push_back(process());
  report_.processes[1].pid = 101;
  options_.by = {"process", "operation"};
  options_.width = 120;
  const std::string text = Text();
  const std::string legend =
      "█ GPU busy, ▒ cpu only, · idle; caused: by its launches; gpu only: CPU waits\n";
  const size_t first = text.find(legend);
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_EQ(text.find("CPU waits", first + legend.size()), std::string::npos);
}

TEST_F(ReportTablesTest, BarsOfAWideTerminalAreWide) {
  options_.width = 200;
  EXPECT_THAT(Text(), HasSubstr("  ████████████████▒▒▒▒▒▒▒▒▒▒▒▒\n"));
}

TEST_F(ReportTablesTest, WholeNamesGoBeforeALongBar) {
  process().operations[1].operation = "simulation in other processes";
  EXPECT_THAT(Text(), ContainsRegex("\nsimulation in other processes .*▒\n"));
}

TEST_F(ReportTablesTest, RawTablesHaveEveryColumnWhateverIsInIt) {
  options_.raw = true;
  EXPECT_THAT(Text(), ContainsRegex("\nOperation +waiting +idle +unknown\n"))
      << "beneath the others";
  options_.width = 120;
  EXPECT_THAT(Text(),
              ContainsRegex("Operation +wall +GPU busy +caused +cpu only +cpu.gpu +gpu only "
                            "+waiting +idle +unknown\n"));
}

}  // namespace
}  // namespace gpubound
