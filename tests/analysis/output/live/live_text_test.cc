// SPDX-License-Identifier: Apache-2.0
//
// What `gpubound top` prints.
#include "analysis/output/live/live_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "analysis/base/text_table.h"
#include "analysis/diagnosis/diagnose.h"
#include "analysis/output/live/live_run.h"

namespace gpubound {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMs = 1'000'000;

class GlanceText : public testing::Test {
 protected:
  GlanceText() {
    glance_.until_ns = 100 * kSecond;
    glance_.windows_ns = {kSecond, 10 * kSecond, 60 * kSecond};
    glance_.devices.push_back({"H100", {kSecond / 2, 4 * kSecond, 30 * kSecond}});
    glance_.processes.push_back(
        {"python3", 100, false, {}, "simulation", {0, kSecond, 0}, "node0"});
    leading().operations.push_back({"simulation", {kSecond / 4, 5 * kSecond, 30 * kSecond}});
    leading().steps = {2, 20, 120};
  }
  std::string Text(int height = 100) const { return RenderGlance(glance_, "run", height, {}); }
  LiveGlance::ProcessRow& leading() { return glance_.processes[glance_.leading]; }
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

TEST_F(GlanceText, ShowsWhatIsDoneInASecond) {
  leading().work.push_back({"env_steps", {20'480, 204'800, 1'228'800}});
  EXPECT_THAT(Text(),
              testing::ContainsRegex("env steps +20.5k /s +20.5k /s +20.5k /s\niterations"));
}

TEST_F(GlanceText, ShowsAtWhichLinesTheProgramIs) {
  EXPECT_THAT(Text(), testing::Not(testing::HasSubstr("At line")));
  leading().lines.push_back({"/home/me/train.py", 88, "act\n", {0.5, 0.25, 0.125}});
  leading().lines.push_back({"/home/me/train.py", 210, "<module>", {0.25, 0.5, 0.5}});
  EXPECT_THAT(Text(), testing::ContainsRegex("At line +last 1.00 s +last 10.0 s +last 60.0 s\n"
                                             "train.py:88 act.x0a +50 % +25 % +12 %\n"
                                             "train.py:210 +25 % +50 % +50 %\n$"));
}

TEST_F(GlanceText, SaysWhatLimitsTheRunSoFarInTheWordsOfTheReport) {
  Report report;
  report.run.wall_ns = 12 * kSecond;
  report.run.devices_used = 1;
  report.run.gpu_busy_share = report.run.whole_gpu_busy_share = 0.3;
  ReportProcess& process = report.processes.emplace_back();
  process.span_ns = 12 * kSecond;
  process.gpu_busy_ns = 4 * kSecond;
  ReportOperation& row = process.operations.emplace_back();
  row.operation = "inference";
  row.device_idle = {{"sync", 6 * kSecond}, {"launch", 2 * kSecond}};
  report.diagnosis = Diagnose(report);
  const std::string text = RenderGlance(glance_, "run", 100, {}, &report);
  EXPECT_THAT(
      text, testing::HasSubstr("\nSo far (12.0 s):\n" + report.diagnosis[0].finding.substr(0, 40)));
  EXPECT_THAT(text, testing::HasSubstr("\nTry: Ask for results less often in inference"));
  EXPECT_THAT(text,
              testing::HasSubstr("\nGPU idle 70 % of the time: CPU notices late that the GPU is "
                                 "done 52 %"));
  EXPECT_THAT(text, testing::ContainsRegex("GPU busy, H100 +50 %")) << "the windows are there too";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), 80) << line;
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
  leading().operations[0].name = "";
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
  leading().operations.assign(9, tenth);
  EXPECT_THAT(Text(), testing::Not(testing::HasSubstr("others"))) << "a row for a row";
  leading().operations.assign(12, tenth);
  EXPECT_THAT(Text(),
              testing::ContainsRegex("\nothers .4. +20 % +40 % +20 %\n.no operation. +40 %"));
}

TEST_F(GlanceText, OfSeveralProcessesItSaysWhoseOperationsTheseAre) {
  EXPECT_THAT(Text(), testing::Not(testing::HasSubstr("python3 100 ")));
  glance_.processes.push_back({"actor", 200, false, {}, "simulation", {}, "node0"});
  glance_.leading = 1;
  EXPECT_THAT(Text(), testing::HasSubstr("\nactor 200 "));
}

TEST_F(GlanceText, ProcessesOfSeveralHostsAreToldApart) {
  glance_.processes.push_back(glance_.processes[0]);
  EXPECT_THAT(Text(), testing::Not(testing::HasSubstr("node")));
  glance_.processes[1].host = "node1";
  EXPECT_THAT(Text(), testing::HasSubstr("\npython3 100 on node0 "));
  EXPECT_THAT(Text(), testing::ContainsRegex("\npython3 +100 on node1 +simulation +10 %\n"));
}

TEST_F(GlanceText, OfManyProcessesThoseAreShownThatUseADeviceOrGoOn) {
  const LiveGlance::ProcessRow worker{"worker", 200, false, {}, std::nullopt, {}, "node0"};
  glance_.processes.insert(glance_.processes.begin(), 12, worker);
  glance_.processes[0].name = "gone";
  glance_.processes[0].ended = true;
  glance_.leading = 12;
  glance_.processes.push_back({"server", 300, false, {}, std::nullopt, {0, kSecond, 0}, "node0"});
  EXPECT_THAT(Text(), testing::ContainsRegex("python3 +100 +simulation +10 %\nserver +300 +- +10 %"
                                             "\nand 6 more\n$"));
  EXPECT_THAT(Text(), testing::Not(testing::HasSubstr("gone")));
  glance_.leading = 0;
  EXPECT_THAT(Text(), testing::HasSubstr("\ngone     200     (ended)"));
}

TEST_F(GlanceText, ManyProcessesAreCounted) {
  glance_.processes.assign(64, glance_.processes[0]);
  EXPECT_THAT(Text(), testing::HasSubstr("and 56 more"));
}

}  // namespace
}  // namespace gpubound
