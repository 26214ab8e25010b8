// SPDX-License-Identifier: Apache-2.0
//
// What `gpubound top` sees of a run that grows.
#include "analysis/live_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "analysis/live_text.h"
#include "analysis/recent_time.h"
#include "analysis/text_table.h"
#include "proto/schema.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using testing_support::Begin;
using testing_support::End;
using testing_support::Kernel;
using testing_support::kInner;
using testing_support::kTrain;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMs = 1'000'000;

TEST(RecentTime, AnIntervalIsSplitOverItsBuckets) {
  RecentTime time;
  time.Add({50 * kMs, 250 * kMs}, 1);
  EXPECT_EQ(time.SumOver({0, 100 * kMs}, 2), (std::vector<int64_t>{0, 50 * kMs}));
  EXPECT_EQ(time.SumOver({100 * kMs, 300 * kMs}, 2), (std::vector<int64_t>{0, 150 * kMs}));
}

TEST(RecentTime, WhatIsForgottenStaysForgotten) {
  RecentTime time;
  time.Add({0, kSecond}, 0);
  time.DropBefore(500 * kMs);
  time.Add({0, kSecond}, 0);
  EXPECT_EQ(time.SumOver({0, kSecond}, 1).front(), kSecond);
}

TEST(RecentTime, BucketsBeforeTimeZeroAreWhole) {
  EXPECT_EQ(WholeBuckets({-50 * kMs, 50 * kMs}), (Interval{-100 * kMs, 0}));
}

TEST(RecentUnion, ConcurrentAndRepeatedWorkCountsOnceInAnyOrder) {
  RecentUnion busy;
  busy.Add({30, 40});
  busy.Add({10, 20});
  busy.Add({15, 32});
  busy.Add({15, 32});
  EXPECT_EQ(busy.LengthWithin({0, 100}), 30);
  EXPECT_EQ(busy.LengthWithin({18, 35}), 17);
}

TEST(RecentUnion, SettledTimeIsCutOffWhatComesLate) {
  RecentUnion busy;
  busy.Add({0, 150 * kMs});
  busy.Settle(100 * kMs);
  busy.Add({50 * kMs, 200 * kMs});
  EXPECT_EQ(busy.LengthWithin({0, 300 * kMs}), 200 * kMs);
}

class LiveRunTest : public testing::Test {
 protected:
  LiveRunTest() : writer_(files_, {}), run_(files_.path()) {
    writer_.PutUsualRows();
    writer_.Sql("DELETE FROM meta WHERE key IN ('end_monotonic_ns', 'end_how')");
  }
  // The recorder has drained everything until |time_ns|.
  void Drained(int64_t time_ns) {
    writer_.Sql("INSERT INTO clock VALUES(NULL, 0, " + std::to_string(time_ns) + ", 0, 0, 0)");
  }
  LiveGlance Look() {
    Result<LiveGlance> glance = run_.Look();
    EXPECT_TRUE(glance.ok());
    return glance.ok() ? std::move(*glance) : LiveGlance{};
  }
  // Of a process in an operation whose recorder last wrote |age_ns| ago.
  LiveGlance LookAfter(int64_t age_ns, Presence presence) {
    constexpr int64_t kWritten = 1000 * kSecond;
    writer_.Scopes({.thread = 1}, {Begin(kTrain, 100 * kMs)});
    writer_.Sql("INSERT INTO clock VALUES(NULL, 0, " + std::to_string(kSecond) + ", " +
                std::to_string(kWritten) + ", 0, 0)");
    const auto glance = run_.Look({kWritten + age_ns, [=](const auto&) { return presence; }});
    EXPECT_TRUE(glance.ok());
    return glance.ok() ? *glance : LiveGlance{};
  }
  void LauncherSaw(const std::string& end) {
    std::ofstream(files_.path() + "/run.json")
        << R"({"format": "gpubound.run.v1", "host": "host", "root_pid": 100)" << end << "}";
  }

  testing_support::TemporaryRun files_;
  testing_support::SegmentWriter writer_;
  LiveRun run_;
};

TEST_F(LiveRunTest, ARunWithoutAnyEventHasAProcess) {
  const LiveGlance glance = Look();
  EXPECT_TRUE(glance.operations.empty());
}

TEST_F(LiveRunTest, SplitsTheLastSecondsByOperation) {
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 0), Begin(kInner, 100 * kMs), End(kInner, 400 * kMs),
                                 End(kTrain, 500 * kMs)});
  Drained(kSecond);
  const LiveGlance glance = Look();
  ASSERT_EQ(glance.operations.size(), 2u);
  EXPECT_EQ(glance.operations[0].name, "inner");
  EXPECT_EQ(glance.operations[0].ns[0], 300 * kMs);
  EXPECT_EQ(glance.operations[1].ns[0], 200 * kMs) << "the one begun last owns the time";
  EXPECT_EQ(glance.windows_ns[2], kSecond) << "no longer than the run";
}

TEST_F(LiveRunTest, ReadsEachChunkOnce) {
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 0), End(kTrain, 500 * kMs)});
  Drained(kSecond);
  Look();
  Look();
  EXPECT_EQ(run_.chunks_read(), 1u);
  writer_.Scopes({.thread = 1, .first_sequence = 2},
                 {Begin(kTrain, 1500 * kMs), End(kTrain, 2 * kSecond)});
  Drained(2 * kSecond);
  EXPECT_EQ(Look().operations.at(0).ns[1], kSecond);
  EXPECT_EQ(run_.chunks_read(), 2u);
}

TEST_F(LiveRunTest, ALongRunIsReadFromItsLastMinuteOn) {
  for (uint64_t second = 0; second < 300; ++second) {
    writer_.Scopes({.thread = 1, .first_sequence = 2 * second},
                   {Begin(kTrain, second * kSecond), End(kTrain, second * kSecond + 500 * kMs)});
  }
  Drained(300 * kSecond);
  const LiveGlance glance = Look();
  EXPECT_EQ(glance.operations.at(0).ns[2], 30 * kSecond);
  EXPECT_LE(run_.chunks_read(), 72u);
}

TEST_F(LiveRunTest, WhatIsOpenGoesOnUntilNow) {
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 100 * kMs)});
  Drained(kSecond);
  const LiveGlance glance = Look();
  EXPECT_EQ(glance.processes.at(0).operation, "train");
  EXPECT_EQ(glance.operations.at(0).ns[0], 900 * kMs);
}

TEST_F(LiveRunTest, GpuTimeEndsWhereItWasDelivered) {
  writer_.Work({.thread = 2}, {Kernel(0, 300 * kMs, 1), Kernel(200 * kMs, 600 * kMs, 2)});
  writer_.Sql("INSERT INTO unknown VALUES(1, 1000000000, 9223372036854775807, '" +
              std::string(kUndeliveredReason) + "')");
  Drained(2 * kSecond);
  const LiveGlance glance = Look();
  EXPECT_EQ(glance.until_ns, kSecond);
  ASSERT_EQ(glance.devices.size(), 1u);
  EXPECT_EQ(glance.devices[0].name, "Model");
  EXPECT_EQ(glance.devices[0].busy_ns[0], 600 * kMs) << "concurrent work counts once";
}

TEST_F(LiveRunTest, AProcessThatHasClosedIsSaidToHave) {
  writer_.Meta("end_monotonic_ns", kSecond);
  EXPECT_TRUE(Look().processes.at(0).ended);
}

TEST_F(LiveRunTest, ShowsAProcessThatGoesOnRatherThanOneThatHasEnded) {
  writer_.Sql("INSERT INTO meta VALUES('end_monotonic_ns', '900000000')");
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 0), End(kTrain, 800 * kMs)});
  Drained(900 * kMs);
  testing_support::SegmentWriter later(files_, {.pid = 200});
  later.PutUsualRows();
  later.Sql("DELETE FROM meta WHERE key IN ('end_monotonic_ns', 'end_how')");
  later.Scopes({.thread = 1}, {Begin(kInner, 900 * kMs), End(kInner, 950 * kMs)});
  later.Sql("INSERT INTO clock VALUES(NULL, 0, 1000000000, 0, 0, 0)");
  const LiveGlance glance = Look();
  ASSERT_EQ(glance.processes.size(), 2u);
  EXPECT_TRUE(glance.processes[0].ended);
  EXPECT_EQ(glance.shown_process, 1u);
  ASSERT_EQ(glance.operations.size(), 1u);
  EXPECT_EQ(glance.operations[0].name, "inner");
}

TEST_F(LiveRunTest, AKilledProcessOfARunThatIsOverHasEnded) {
  LauncherSaw(R"(, "end_monotonic_ns": 1000000000, "signal": 9)");
  const LiveGlance glance = LookAfter(kMs, Presence::kGone);
  EXPECT_TRUE(glance.processes.at(0).ended);
  EXPECT_EQ(glance.processes.at(0).operation, std::nullopt);
  EXPECT_FALSE(glance.age_ns);
}

TEST_F(LiveRunTest, AKilledProcessHasEndedOnceItsRecorderIsQuiet) {
  LauncherSaw("");
  EXPECT_TRUE(LookAfter(4 * kSecond, Presence::kGone).processes.at(0).ended);
}

TEST_F(LiveRunTest, AProcessThatCannotBeSeenFromHereRunsWhileItsRecorderWrites) {
  const LiveGlance glance = LookAfter(kSecond, Presence::kGone);
  EXPECT_FALSE(glance.processes.at(0).ended);
  EXPECT_EQ(glance.processes.at(0).operation, "train");
  EXPECT_EQ(glance.age_ns, kSecond);
}

TEST_F(LiveRunTest, AProcessOfAnotherHostEndsWithTheRun) {
  EXPECT_FALSE(LookAfter(60 * kSecond, Presence::kElsewhere).processes.at(0).ended);
  LauncherSaw(R"(, "end_monotonic_ns": 1000000000, "exit_code": 0)");
  EXPECT_TRUE(LookAfter(60 * kSecond, Presence::kElsewhere).processes.at(0).ended);
}

TEST_F(LiveRunTest, WhatOutlivesTheLauncherRuns) {
  LauncherSaw(R"(, "end_monotonic_ns": 1000000000, "exit_code": 0)");
  EXPECT_FALSE(LookAfter(kSecond, Presence::kThere).processes.at(0).ended);
}

TEST(LiveRun, ADirectoryThatIsNoRunIsSaidToBeNone) {
  const testing_support::TemporaryRun folder;
  EXPECT_FALSE(LiveRun(folder.path()).Look().ok());
  folder.Write("notes.txt", "no run");
  const Result<LiveGlance> glance = LiveRun(folder.path()).Look();
  ASSERT_FALSE(glance.ok());
  EXPECT_EQ(glance.error().found, "a directory without a trace or run.json");
  folder.Write("run.json", "{}");
  EXPECT_TRUE(LiveRun(folder.path()).Look().ok()) << "nothing is recorded yet";
}

TEST_F(LiveRunTest, AFileThatWasCutIsNotOneWithoutARecord) {
  writer_.Close();
  const std::string path = writer_.path();
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  const Result<LiveGlance> glance = run_.Look();
  ASSERT_FALSE(glance.ok());
  EXPECT_EQ(glance.error().object, path);
}

TEST_F(LiveRunTest, NothingBesideTheFilesOfTheRunIsLeft) {
  const std::vector<std::string> before = files_.Names();
  Look();
  EXPECT_EQ(files_.Names(), before);
}

TEST(LiveRun, ADirectoryThatIsNotThereIsAnError) {
  const auto looked = LiveRun("/nonexistent/x.gpubound").Look();
  ASSERT_FALSE(looked.ok());
  EXPECT_THAT(looked.error().remedy,
              testing::HasSubstr("NAME-TIME-PID.gpubound where it was started"));
}

class GlanceText : public testing::Test {
 protected:
  GlanceText() {
    glance_.until_ns = 100 * kSecond;
    glance_.windows_ns = {kSecond, 10 * kSecond, 60 * kSecond};
    glance_.devices.push_back({"H100", {kSecond / 2, 4 * kSecond, 30 * kSecond}});
    glance_.operations.push_back({"simulation", {kSecond / 4, 5 * kSecond, 30 * kSecond}});
    glance_.steps = {2, 20, 120};
    glance_.processes.push_back({"python3", 100, false, {}, "simulation", {0, kSecond, 0}});
  }
  std::string Text(int height = 100) const { return RenderGlance(glance_, "run", height, {}); }
  LiveGlance glance_;
};

TEST_F(GlanceText, ShowsSharesOfEachWindow) {
  using testing::ContainsRegex;
  EXPECT_THAT(Text(), ContainsRegex("GPU busy, H100 +50 % +40 % +50 %"));
  EXPECT_THAT(Text(), ContainsRegex("simulation +25 % +50 % +50 %"));
  EXPECT_THAT(Text(), ContainsRegex("no operation. +75 % +50 % +50 %"));
  EXPECT_THAT(Text(), ContainsRegex("iterations +2 /s +2 /s +2 /s"));
  EXPECT_THAT(Text(), ContainsRegex("python3 +100 +simulation +10 %"));
}

TEST_F(GlanceText, ALongOperationIsCutToTheWidth) {
  glance_.processes[0].operation = std::string(10'000, 'x');
  for (const int width : {60, 80}) {
    TextOptions options;
    options.width = width;
    std::istringstream lines(RenderGlance(glance_, "run", 100, options));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), width) << line;
  }
}

// A name of the kernel's is cut, but a log or an importer may have any.
TEST_F(GlanceText, ALongProcessLeavesFiguresBesideTheirNames) {
  std::string wide;
  for (int i = 0; i < 300; ++i) wide += "\u5b66\u7fd2";
  glance_.processes.push_back(glance_.processes[0]);
  for (const std::string& name : {std::string(3'000, 'x'), wide}) {
    for (LiveGlance::ProcessRow& row : glance_.processes) row.name = name;
    for (const int width : {60, 80, 200}) {
      for (const bool unicode : {false, true}) {
        TextOptions options;
        options.width = width;
        options.unicode = unicode;
        const std::string text = RenderGlance(glance_, "run", 100, options);
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
          EXPECT_LE(DisplayWidth(line), std::min(width, 90)) << text;
        }
        EXPECT_THAT(text, testing::ContainsRegex(" 100 +last 1.00 s +last 10.0 s +last 60.0 s\n"));
        EXPECT_THAT(text, testing::ContainsRegex(" 100 +simulation +10 %\n"));
      }
    }
  }
}

TEST_F(GlanceText, AnOperationWithoutANameIsMarked) {
  glance_.operations[0].name = "";
  glance_.processes[0].operation = "";
  EXPECT_THAT(Text(), testing::HasSubstr("\n(empty name) "));
  EXPECT_THAT(Text(), testing::ContainsRegex("python3 +100 +.empty name. +10 %"));
  glance_.processes[0].operation.reset();
  EXPECT_THAT(Text(), testing::ContainsRegex("python3 +100 +- +10 %"));
}

TEST_F(GlanceText, AWindowLongerThanTheRunIsNotShownTwice) {
  glance_.windows_ns = {kSecond, 5 * kSecond, 5 * kSecond};
  EXPECT_THAT(Text(), testing::HasSubstr("  last 1.00 s  last 5.00 s\n"));
}

TEST_F(GlanceText, SaysThatAProcessHasEndedOrThatThereIsNone) {
  glance_.processes[0].ended = true;
  EXPECT_THAT(Text(), testing::HasSubstr("(ended)"));
  EXPECT_THAT(RenderGlance({}, "run", 100, {}), testing::HasSubstr("Nothing is recorded yet."));
}

TEST_F(GlanceText, SaysHowOldTheNewestRecordIs) {
  glance_.age_ns = 700 * kMs;
  EXPECT_THAT(Text(), testing::StartsWith("run\nnewest record: 700 ms ago\n"));
}

TEST_F(GlanceText, AProcessThatNobodyHearsOfIsSilent) {
  glance_.processes[0].age_ns = 12 * kSecond;
  EXPECT_THAT(Text(), testing::ContainsRegex("python3 +100 +.silent for 12.0 s. +10 %"));
}

TEST_F(GlanceText, IsNoHigherThanTheTerminal) {
  const std::string text = Text(4);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
}

TEST_F(GlanceText, ManyOperationsAreSummedUp) {
  const LiveGlance::OperationRow tenth{"turn", {kSecond / 20, kSecond, 3 * kSecond}};
  glance_.operations.assign(9, tenth);
  EXPECT_THAT(Text(), testing::Not(testing::HasSubstr("others"))) << "a row for a row";
  glance_.operations.assign(12, tenth);
  EXPECT_THAT(Text(),
              testing::ContainsRegex("\nothers .4. +20 % +40 % +20 %\n.no operation. +40 %"));
}

TEST_F(GlanceText, OfSeveralProcessesItSaysWhoseOperationsTheseAre) {
  EXPECT_THAT(Text(), testing::Not(testing::HasSubstr("python3 100 ")));
  glance_.processes.push_back({"actor", 200, false, {}, "simulation", {}});
  glance_.shown_process = 1;
  EXPECT_THAT(Text(), testing::HasSubstr("\nactor 200 "));
}

TEST_F(GlanceText, OfManyProcessesThoseAreShownThatUseADeviceOrGoOn) {
  const LiveGlance::ProcessRow worker{"worker", 200, false, {}, std::nullopt, {}};
  glance_.processes.insert(glance_.processes.begin(), 12, worker);
  glance_.processes[0].name = "gone";
  glance_.processes[0].ended = true;
  glance_.shown_process = 12;
  glance_.processes.push_back({"server", 300, false, {}, std::nullopt, {0, kSecond, 0}});
  EXPECT_THAT(Text(), testing::ContainsRegex("python3 +100 +simulation +10 %\nserver +300 +- +10 %"
                                             "\nand 6 more\n$"));
  EXPECT_THAT(Text(), testing::Not(testing::HasSubstr("gone")));
  glance_.shown_process = 0;
  EXPECT_THAT(Text(), testing::HasSubstr("\ngone     200     (ended)"));
}

TEST_F(GlanceText, ManyProcessesAreCounted) {
  glance_.processes.assign(64, glance_.processes[0]);
  EXPECT_THAT(Text(), testing::HasSubstr("and 56 more"));
}

}  // namespace
}  // namespace gpubound
