// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/check/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "analysis/base/text_table.h"
#include "analysis/report/report_training.h"
#include "tests/analysis/compared_runs.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::Not;

TextOptions Full() {
  TextOptions options;
  options.full = true;
  return options;
}

TEST(Compare, ADifferenceBeyondTheSpreadOfIterationsIsSignificant) {
  const std::vector<RunGroup> groups{Group("A", {RunOf(20, 50)}), Group("B", {RunOf(30, 50)})};
  const GroupComparison comparison = CompareGroups(groups, 1);
  EXPECT_TRUE(comparison.per_iteration);
  const ComparedRow& simulation = RowOf(comparison, ComparedFigure::kOperationWall, "simulation");
  EXPECT_NEAR(simulation.groups[1].difference, 10e6, 1);
  EXPECT_TRUE(simulation.groups[1].significant);
  EXPECT_TRUE(RowOf(comparison, ComparedFigure::kIterationMedian, "").groups[1].significant);
  EXPECT_TRUE(RowOf(comparison, ComparedFigure::kIdleCause, "simulation").groups[1].significant);
  EXPECT_FALSE(RowOf(comparison, ComparedFigure::kOperationWall, "update").groups[1].significant);
}

TEST(Compare, OneRunOfEachSaysNothingOfTheWholeRun) {
  const std::vector<RunGroup> groups{Group("A", {RunOf(20, 50)}), Group("B", {RunOf(20, 50)})};
  const GroupComparison comparison = CompareGroups(groups, 1);
  EXPECT_FALSE(RowOf(comparison, ComparedFigure::kRunWall, "").groups[1].interval);
  EXPECT_THAT(comparison.notes, testing::Contains(HasSubstr("single run")));
}

Report ThatReaches(std::optional<int64_t> reached_ns) {
  Report report = RunOf(20, 50);
  RunTraining training;
  ReportTarget& target = training.targets.emplace_back();
  target.target = "return>=450";
  target.records = 100;
  target.best = reached_ns ? 450 : 312;
  target.reached_ns = reached_ns;
  report.run.training = std::make_shared<const RunTraining>(training);
  return report;
}

TEST(Compare, RepeatedRunsHaveAnIntervalOfTheirTimeToATarget) {
  const std::vector<RunGroup> groups{
      Group("A", {ThatReaches(2000 * kMs), ThatReaches(2100 * kMs), ThatReaches(1900 * kMs)}),
      Group("B", {ThatReaches(1000 * kMs), ThatReaches(1100 * kMs), ThatReaches(900 * kMs)})};
  const ComparedRow row =
      RowOf(CompareGroups(groups, 1), ComparedFigure::kTimeToTarget, "return>=450");
  EXPECT_DOUBLE_EQ(row.groups[0].value, 2000e6);
  EXPECT_DOUBLE_EQ(row.groups[1].difference, -1000e6);
  ASSERT_TRUE(row.groups[1].interval);
  EXPECT_LT(row.groups[1].interval->low, -1000e6);
  EXPECT_GT(row.groups[1].interval->high, -1000e6);
  EXPECT_TRUE(row.groups[1].significant);
}

TEST(Compare, ARunThatNeverReachesATargetIsSaidAndNotDropped) {
  const std::vector<RunGroup> groups{
      Group("A", {ThatReaches(2000 * kMs), ThatReaches(2100 * kMs)}),
      Group("B", {ThatReaches(1000 * kMs), ThatReaches(std::nullopt)})};
  const GroupComparison comparison = CompareGroups(groups, 1);
  const ComparedRow row = RowOf(comparison, ComparedFigure::kTimeToTarget, "return>=450");
  EXPECT_TRUE(row.groups[1].absent);
  EXPECT_FALSE(row.groups[1].significant);
  EXPECT_THAT(comparison.notes, testing::Contains(HasSubstr("1 of 2 runs has none")));
  EXPECT_THAT(comparison.notes,
              testing::Contains(HasSubstr("never reached: the best is 312, of 100 "
                                          "records")));
}

TEST(Compare, ItsGpuBusyIsTheShareOfAllIterationsTogether) {
  const std::vector<RunGroup> groups{Group("A", {RunOf(6, 1)}), Group("B", {RunOf(6, 1)})};
  const ComparedRow row = RowOf(CompareGroups(groups, 1), ComparedFigure::kProcessBusyShare, "");
  EXPECT_DOUBLE_EQ(row.groups[0].value, 0.5);
}

TEST(Compare, RepeatedRunsAreResampledAsRuns) {
  const std::vector<RunGroup> groups{Group("A", {RunOf(20, 50), RunOf(28, 50)}),
                                     Group("B", {RunOf(22, 50), RunOf(30, 50)})};
  const GroupComparison comparison = CompareGroups(groups, 1);
  EXPECT_EQ(comparison.resampling[1], Resampling::kRuns);
  // 2 ms apart, while runs of one group differ by 8 ms.
  EXPECT_FALSE(
      RowOf(comparison, ComparedFigure::kOperationWall, "simulation").groups[1].significant);
  EXPECT_TRUE(RowOf(comparison, ComparedFigure::kRunWall, "").groups[1].interval);
}

TEST(Compare, WhatIsSaidOfUnrepeatedRunsIsSaidOfTheseAlone) {
  const auto finding = [](size_t before, size_t after) {
    const std::vector<RunGroup> groups{Group("A", std::vector<Report>(before, RunOf(20, 50))),
                                       Group("B", std::vector<Report>(after, RunOf(30, 50)))};
    return SentencesOf(CompareGroups(groups, 1), groups, 1).finding;
  };
  EXPECT_THAT(finding(1, 1), testing::StartsWith("Of these two runs, B does "));
  EXPECT_THAT(finding(1, 2), testing::StartsWith("Of these runs, B does "));
  EXPECT_THAT(finding(2, 2), testing::StartsWith("B does "));
}

TEST(Compare, WithoutIterationsInEveryRunWholeRunsAreCompared) {
  const std::vector<RunGroup> groups{Group("A", {WithoutIterations(100)}),
                                     Group("B", {RunOf(20, 50)})};
  const GroupComparison comparison = CompareGroups(groups, 1);
  EXPECT_FALSE(comparison.per_iteration);
  EXPECT_EQ(RowOf(comparison, ComparedFigure::kOperationWall, "simulation").groups[0].value, 100e6);
  EXPECT_EQ(RowOf(comparison, ComparedFigure::kOperationWall, "simulation").groups[1].value, 0);
  EXPECT_THAT(RenderComparison(comparison, groups, {}), HasSubstr("No interval can be given"));
  EXPECT_THAT(SentencesOf(comparison, groups, 1).finding, HasSubstr("B runs at 0.01 x the speed"));
}

TEST(Compare, ARunWithoutProcessesHasNothingButItsWallTime) {
  const std::vector<RunGroup> groups{Group("A", {Report{}}), Group("B", {Report{}})};
  EXPECT_EQ(CompareGroups(groups, 1).rows.size(), 2u);
}

// Whether GPU busy in "update" differs for sure where it fell from 8 ms to 4 ms.
bool FellForSure(const Report& before, const Report& after) {
  const std::vector<RunGroup> groups{Group("A", {before}), Group("B", {after})};
  return RowOf(CompareGroups(groups, 1), ComparedFigure::kOperationBusy, "update")
      .groups[1]
      .significant;
}

TEST(Compare, WhatABoundCouldTakeBackIsNotSignificant) {
  const Report before = RunOf(20, 50);
  Report after = RunOf(20, 50);
  for (int64_t& busy_ns : after.processes[0].iterations->series.operation_busy_ns[1]) busy_ns /= 2;
  EXPECT_TRUE(FellForSure(before, after));

  Report unknown = after;
  unknown.processes[0].iterations->operations[1].unknown_ns = 50 * 3 * kMs;
  EXPECT_TRUE(FellForSure(before, unknown)) << "3 ms of each iteration may have been busy too";
  unknown.processes[0].iterations->operations[1].unknown_ns = 50 * 5 * kMs;
  EXPECT_FALSE(FellForSure(before, unknown)) << "the rest may have been busy";
  Report graphs_before = before;
  graphs_before.processes[0].operations.emplace_back().operation = "update";
  graphs_before.processes[0].operations[0].gpu_busy_is_upper_bound = true;
  EXPECT_FALSE(FellForSure(graphs_before, after)) << "it may never have been busy";

  Report graphs_after = after;
  graphs_after.processes[0].operations = graphs_before.processes[0].operations;
  EXPECT_TRUE(FellForSure(before, graphs_after)) << "it fell by that at least";
}

TEST(Compare, GpuBusyOfTheRunIsJudgedWithItsUnknownShare) {
  const auto busy = [](double share, int64_t unknown_ms) {
    Report report = WithoutIterations(100);
    report.run.whole_gpu_busy_share = share;
    report.run.whole_unknown.share = static_cast<double>(unknown_ms) / 100;
    return report;
  };
  const auto rose_for_sure = [&](int64_t unknown_ms) {
    const std::vector<RunGroup> groups{
        Group("A", {busy(0.10, unknown_ms), busy(0.11, unknown_ms), busy(0.12, unknown_ms)}),
        Group("B", {busy(0.50, 0), busy(0.51, 0), busy(0.52, 0)})};
    return RowOf(CompareGroups(groups, 1), ComparedFigure::kGpuBusyShare, "").groups[1].significant;
  };
  EXPECT_TRUE(rose_for_sure(0));
  EXPECT_TRUE(rose_for_sure(20));
  EXPECT_FALSE(rose_for_sure(60));
}

TEST(Compare, BoundsAreSaid) {
  Report whole = RunOf(20, 50);
  whole.processes[0].operations.emplace_back().operation = "update";
  whole.processes[0].operations[0].gpu_busy_is_upper_bound = true;
  whole.run.gpu_busy_is_upper_bound = true;
  whole.run.whole_gpu_busy_is_upper_bound = true;
  Report shared = RunOf(20, 50);
  shared.run.gpu_busy_is_lower_bound = true;
  const std::vector<RunGroup> groups{Group("A", {whole}), Group("B", {shared})};
  const GroupComparison comparison = CompareGroups(groups, 1);
  const std::string text = RenderComparison(comparison, groups, Full());
  EXPECT_THAT(text, testing::ContainsRegex("update +<= 8.00 ms +8.00 ms"));
  EXPECT_THAT(text, testing::ContainsRegex("GPU busy +<= .* >= "));
  EXPECT_THAT(text, HasSubstr("A0: graphs were recorded as a whole"));
  EXPECT_THAT(text, HasSubstr("B0: processes that are not part of it"));
  EXPECT_THAT(RenderComparisonJson(comparison, groups), HasSubstr("\"is_upper_bound\": true"));
  shared.devices.emplace_back().host_outside_run = true;
  const std::vector<RunGroup> off{Group("A", {whole}), Group("B", {shared})};
  EXPECT_THAT(RenderComparison(CompareGroups(off, 1), off, {}),
              HasSubstr("B0: processes of another host lie outside of its span, so its GPU busy"));
}

TEST(Compare, GpuBusyIsTheRunsAndThatOfIterationsTheProcesss) {
  Report two_devices =
      RunOf(20, 50);  // whose process keeps one busy for 8 of 30 ms, the other idle
  two_devices.run.gpu_busy_share = 0.13;
  const std::vector<RunGroup> groups{Group("A", {two_devices}), Group("B", {two_devices})};
  const GroupComparison comparison = CompareGroups(groups, 1);
  EXPECT_EQ(RowOf(comparison, ComparedFigure::kGpuBusyShare, "").groups[0].value, 0.13);
  EXPECT_NEAR(RowOf(comparison, ComparedFigure::kProcessBusyShare, "").groups[0].value, 0.26, 0.01);
}

// Two runs of each that differ by much more than their groups do.
TEST(Compare, NoTimeFallsByMoreThanAllOfIt) {
  const std::vector<RunGroup> groups{Group("A", {WithoutIterations(100), WithoutIterations(190)}),
                                     Group("B", {WithoutIterations(1), WithoutIterations(90)})};
  const GroupComparison comparison = CompareGroups(groups, 1);
  for (const ComparedRow& row : comparison.rows) {
    if (!row.groups[1].interval) continue;
    EXPECT_GE(row.groups[1].interval->low, -row.groups[0].value) << row.name;
  }
  EXPECT_FALSE(RowOf(comparison, ComparedFigure::kRunWall, "").groups[1].significant);
}

TEST(Compare, AShareStaysWithinTheWhole) {
  const auto busy = [](double share) {
    Report report = WithoutIterations(100);
    report.run.whole_gpu_busy_share = share;
    return report;
  };
  const std::vector<RunGroup> groups{Group("A", {busy(0.1), busy(0.9)}),
                                     Group("B", {busy(0.2), busy(0.95)})};
  const ComparedRow row = RowOf(CompareGroups(groups, 1), ComparedFigure::kGpuBusyShare, "");
  EXPECT_GE(row.groups[0].value + row.groups[1].interval->low, 0);
  EXPECT_LE(row.groups[0].value + row.groups[1].interval->high, 1);
}

TEST(Compare, AnOperationThatCameOrWentKeepsItsDifference) {
  Report without = RunOf(20, 50);
  without.processes[0].iterations->operations[0].operation = "rollout";
  const std::vector<RunGroup> groups{Group("A", {RunOf(20, 50)}), Group("B", {without})};
  const GroupComparison comparison = CompareGroups(groups, 1);
  EXPECT_TRUE(
      RowOf(comparison, ComparedFigure::kOperationWall, "simulation").groups[1].significant);
  EXPECT_TRUE(RowOf(comparison, ComparedFigure::kOperationWall, "rollout").groups[1].significant);
}

TEST(Compare, ASimulatedDeviceIsNamed) {
  Report report = RunOf(20, 50);
  report.device_kind = "simulated";
  const std::vector<RunGroup> groups{Group("A", {report}), Group("B", {RunOf(20, 50)})};
  const GroupComparison comparison = CompareGroups(groups, 1);
  EXPECT_THAT(RenderComparison(comparison, groups, {}), HasSubstr("A0: SIMULATED DEVICE"));
  EXPECT_THAT(RenderComparisonJson(comparison, groups), HasSubstr("A0: SIMULATED DEVICE"));
  const std::vector<RunGroup> both{Group("A", {report}), Group("B", {report})};
  EXPECT_THAT(CompareGroups(both, 1).notes.front(), testing::StartsWith("SIMULATED DEVICE: "));
}

TEST(Compare, WithoutADeviceNothingIsIdle) {
  const std::vector<RunGroup> neither{Group("A", {WithoutADevice()}),
                                      Group("B", {WithoutADevice()})};
  for (const ComparedRow& row : CompareGroups(neither, 1).rows) {
    EXPECT_NE(row.figure, ComparedFigure::kIdleCause) << row.name;
  }
}

// |without| used no device, |with| one; both have iterations, or neither.
void ExpectIdleOfOneOnly(const Report& without, const Report& with) {
  for (const bool first : {true, false}) {
    const std::vector<RunGroup> groups{Group("A", {first ? with : without}),
                                       Group("B", {first ? without : with})};
    const GroupComparison comparison = CompareGroups(groups, 1);
    const ComparedRow& row = RowOf(comparison, ComparedFigure::kIdleCause, "simulation");
    EXPECT_EQ(row.groups[0].absent, !first);
    EXPECT_EQ(row.groups[1].absent, first);
    EXPECT_FALSE(row.groups[1].significant || row.groups[1].interval);
    EXPECT_THAT(RenderComparison(comparison, groups, Full()),
                testing::ContainsRegex(first ? "cause.*\n  simulation .* m?s +- *\n"
                                             : "cause.*\n  simulation +- .* m?s *\n"));
    const auto json = nlohmann::json::parse(RenderComparisonJson(comparison, groups));
    EXPECT_TRUE(json["figures"].back()["groups"][first ? 1 : 0]["value"].is_null());
  }
}

TEST(Compare, ARunWithoutADeviceHasNoIdleCausesBesideOneThatHas) {
  ExpectIdleOfOneOnly(WithoutADevice(), RunOf(30, 50));
  Report with = WithoutIterations(100);
  with.run.devices_used = 1;
  ExpectIdleOfOneOnly(WithoutIterations(200), with);
  const std::vector<RunGroup> groups{Group("A", {RunOf(20, 50), RunOf(20, 50)}),
                                     Group("B", {RunOf(20, 50), WithoutADevice()})};
  const ComparedRow row = RowOf(CompareGroups(groups, 1), ComparedFigure::kIdleCause, "simulation");
  EXPECT_TRUE(row.groups[1].absent);
}

// The table of every figure.
class ComparisonText : public testing::Test {
 protected:
  ComparisonText() { options_.full = true; }
  std::string Text() const {
    return RenderComparison(CompareGroups(groups_, 1), groups_, options_);
  }
  std::vector<RunGroup> groups_{Group("A", {RunOf(20, 50)}), Group("B", {RunOf(30, 50)})};
  TextOptions options_;
};

TEST_F(ComparisonText, FitsTheWidth) {
  for (const int width : {60, 80}) {
    options_.width = width;
    std::istringstream lines(Text());
    for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), width) << line;
  }
}

TEST_F(ComparisonText, NamesAreCutBeforeTheIntervalsAreLeftOut) {
  for (RunGroup& group : groups_) {
    group.reports[0].processes[0].iterations->operations[0].operation = std::string(90, 'b');
  }
  for (const int width : {60, 80}) {
    options_.width = width;
    EXPECT_THAT(Text(), testing::ContainsRegex("\n  b+…b+ .* \\+[0-9]+ % to \\+[0-9]+ %"));
    EXPECT_THAT(Text(), HasSubstr("95 % interval"));
  }
}

TEST_F(ComparisonText, IntervalsWithoutRoomAreSaidToBeLeftOut) {
  options_.width = 50;
  EXPECT_THAT(Text(), Not(HasSubstr("95 % interval  ")));
  EXPECT_THAT(Text(), testing::ContainsRegex("hidden[ \n]+to[ \n]+fit"));
}

TEST_F(ComparisonText, LongNamesOfGroupsAreCutInTheTableOnly) {
  groups_[1].name = "candidate-with-rate-0.001";
  EXPECT_THAT(Text(), testing::ContainsRegex("A +candid…0.001 +change"));
  EXPECT_THAT(Text(), HasSubstr("\ncandidate-with-rate-0.001: "));
}

TEST_F(ComparisonText, AColumnHasOneUnit) {
  groups_[1] = Group("B", {RunOf(2000, 50)});
  EXPECT_THAT(Text(), testing::ContainsRegex("simulation .* \\+9[0-9]+ % +\\+9[0-9]+ % to \\+9"));
  const std::string text = Text();
  EXPECT_THAT(text.substr(text.find("Each iteration")), Not(HasSubstr(" x ")));
}

TEST_F(ComparisonText, WhatIsNotAllGoneHasNotFallenByAllOfIt) {
  groups_ = {Group("A", {WithoutIterations(100'000)}), Group("B", {WithoutIterations(350)})};
  EXPECT_THAT(Text(), testing::ContainsRegex("simulation .* -99.6 %"));
}

TEST_F(ComparisonText, SaysTheSeedAndWhatWasResampled) {
  EXPECT_THAT(Text(), HasSubstr("bootstrap interval over iterations, seed 1."));
}

TEST_F(ComparisonText, ColoursOnlyWhatDiffersForSure) {
  options_.color = true;
  std::istringstream lines(Text());
  int coloured = 0;
  for (std::string line; std::getline(lines, line);) {
    // The finding is bold, on both of its lines.
    if (line.find(" x [") != std::string::npos || line.find(" instead of ") != std::string::npos)
      continue;
    const bool marked = line.find('*') != std::string::npos && line[0] != '*';
    EXPECT_EQ(line.find('\033') != std::string::npos, marked) << line;
    coloured += marked ? 1 : 0;
  }
  EXPECT_GE(coloured, 4);
  EXPECT_THAT(Text(), HasSubstr("\033[31m  simulation")) << "more time is worse";
}

TEST_F(ComparisonText, AnOperationThatCameOrWentIsSaidToHave) {
  groups_[1].reports[0].processes[0].iterations->operations[0].operation = "rollout";
  EXPECT_THAT(Text(), HasSubstr("gone"));
  EXPECT_THAT(Text(), HasSubstr("new"));
}

TEST_F(ComparisonText, EscapesNames) {
  groups_[0].runs[0] = "\033[2J";
  EXPECT_THAT(Text(), Not(HasSubstr("\033")));
}

TEST_F(ComparisonText, JsonSaysWhichGroupsAreOnASimulatedDevice) {
  groups_[1].reports.back().device_kind = "simulated";
  const auto json = nlohmann::json::parse(RenderComparisonJson(CompareGroups(groups_, 1), groups_));
  EXPECT_EQ(json["groups"][0]["simulated"], false);
  EXPECT_EQ(json["groups"][1]["simulated"], true);
}

TEST_F(ComparisonText, JsonHoldsEveryFigureWithItsInterval) {
  const auto json = nlohmann::json::parse(RenderComparisonJson(CompareGroups(groups_, 1), groups_));
  EXPECT_EQ(json["format"], "gpubound.compare.v1");
  EXPECT_EQ(json["groups"][1]["resampled"], "iterations");
  EXPECT_EQ(json["figures"][0]["figure"], "throughput");
  EXPECT_EQ(json["figures"][0]["unit"], "per_second");
  EXPECT_EQ(json["figures"][0]["groups"][1]["verdict"], "worse");
  EXPECT_EQ(json["figures"][1]["figure"], "run_wall");
  EXPECT_TRUE(json["figures"][1]["groups"][1]["low"].is_null());
  EXPECT_TRUE(json["figures"][2]["groups"][1]["significant"].get<bool>());
  const auto& speed = json["groups"][1]["speed"];
  EXPECT_LT(speed["high"], 1);
  EXPECT_EQ(speed["operation"], "simulation");
  EXPECT_EQ(speed["cause"], "simulation");
  EXPECT_THAT(speed["finding"].dump(), HasSubstr("B does 0.75 x [0.7"));
}

// 50 iterations of 2048 or more environment steps.
Report Counting(int64_t simulation_ms, double env_steps) {
  Report report = RunOf(simulation_ms, 50);
  ReportProcess& process = report.processes[0];
  double total_ns = 0;
  for (const ReportIteration& iteration : process.iterations->every) {
    total_ns += static_cast<double>(iteration.ns);
  }
  process.throughput = {{"env_steps", 50 * env_steps, 50 * env_steps * 1e9 / total_ns, 1}};
  return report;
}

TEST(CompareWork, TwiceTheWorkInAnIterationIsNotSlower) {
  // 30 ms an iteration against 50, of twice as many steps.
  const std::vector<RunGroup> groups{Group("A", {Counting(20, 2048)}),
                                     Group("B", {Counting(40, 4096)})};
  const GroupComparison comparison = CompareGroups(groups, 1);
  EXPECT_EQ(comparison.counter, "env_steps");
  EXPECT_NEAR(comparison.speeds[1].ratio, 1.2, 0.02);
  ASSERT_TRUE(comparison.speeds[1].interval);
  EXPECT_GT(comparison.speeds[1].interval->low, 1.1);
  EXPECT_LT(comparison.speeds[1].interval->high, 1.3);
  const ComparedRow& update = RowOf(comparison, ComparedFigure::kOperationWall, "update");
  EXPECT_NEAR(update.groups[0].value, 10e6 / 2.048, 1) << "for 1,000 steps";
  EXPECT_NEAR(update.groups[1].value, 10e6 / 4.096, 1);
  const auto json = nlohmann::json::parse(RenderComparisonJson(comparison, groups));
  for (const auto& figure : json["figures"]) {
    if (figure["figure"] == "run_wall" || figure["groups"][1]["verdict"].is_null()) continue;
    EXPECT_NE(figure["groups"][1]["verdict"], "worse") << figure["figure"] << figure["name"];
  }
  EXPECT_EQ(json["counter"], "env_steps");
  EXPECT_EQ(json["work_unit"], 1000);
  const std::string screen = RenderComparison(comparison, groups, {});
  EXPECT_THAT(screen, testing::StartsWith("Of these two runs, B does 1.2"));
  EXPECT_THAT(screen, HasSubstr("the env steps per second of A:\n  "));
  EXPECT_THAT(screen, HasSubstr("\nMost of it is in update, which takes 2.44 ms less for 1,000 env "
                                "steps (all\n  together"));
  EXPECT_THAT(screen, testing::ContainsRegex("\n1,000 env steps +A +B +difference"));
}

TEST(CompareWork, TheDifferencesOfOperationsSumToThatOfTheSpeed) {
  const std::vector<RunGroup> groups{Group("A", {Counting(20, 2048)}),
                                     Group("B", {Counting(33, 3000)})};
  const GroupComparison comparison = CompareGroups(groups, 1);
  double sum = 0;
  for (const ComparedRow& row : comparison.rows) {
    if (row.figure == ComparedFigure::kOperationWall) sum += row.groups[1].difference;
  }
  const ComparedRow& speed = RowOf(comparison, ComparedFigure::kThroughput, "env_steps");
  EXPECT_NEAR(sum, 1e12 / speed.groups[1].value - 1e12 / speed.groups[0].value, 1);
}

TEST(CompareWork, WorkThatOnlySomeRunsCountIsNotCompared) {
  const std::vector<RunGroup> groups{Group("A", {Counting(20, 2048)}), Group("B", {RunOf(30, 50)})};
  const GroupComparison comparison = CompareGroups(groups, 1);
  EXPECT_EQ(comparison.counter, "");
  EXPECT_THAT(SentencesOf(comparison, groups, 1).finding, HasSubstr("the iterations per second"));
  EXPECT_THAT(comparison.notes, testing::Contains(HasSubstr("how much work an iteration does")));
}

TEST(CompareWork, WhatMayBeChanceIsSaidAndExplainedByNothing) {
  const std::vector<RunGroup> groups{Group("A", {Counting(20, 2048)}),
                                     Group("B", {Counting(20, 2048)})};
  const GroupComparison comparison = CompareGroups(groups, 1);
  const ComparedSentences said = SentencesOf(comparison, groups, 1);
  EXPECT_THAT(said.finding, HasSubstr("B does 1.00 x ["));
  EXPECT_THAT(said.finding, testing::EndsWith(", which may be chance."));
  EXPECT_EQ(said.reason, "");
}

TEST(CompareWork, AScreenOfThreeRunsAndManyOperationsIsAScreen) {
  Report many = Counting(20, 2048);
  ReportIterations& iterations = *many.processes[0].iterations;
  for (int i = 0; i < 30; ++i) {
    iterations.operations.push_back({"part " + std::to_string(i), 1, 0, 0});
    iterations.series.operation_wall_ns.push_back(iterations.series.operation_wall_ns[0]);
    iterations.series.operation_busy_ns.push_back(iterations.series.operation_busy_ns[0]);
    iterations.series.idle_ns.emplace_back("cause " + std::to_string(i),
                                           iterations.series.idle_ns[0].second);
  }
  for (size_t others = 1; others < 3; ++others) {
    std::vector<RunGroup> groups{Group("A", {Counting(20, 2048)})};
    for (size_t i = 0; i < others; ++i) {
      groups.push_back(Group(std::string(1, static_cast<char>('B' + i)), {many}));
    }
    const std::string screen = RenderComparison(CompareGroups(groups, 1), groups, {});
    EXPECT_LE(std::count(screen.begin(), screen.end(), '\n'), others == 1 ? 27 : 36) << screen;
    std::istringstream lines(screen);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), 80) << line;
  }
}

TEST(CompareWork, MarkdownOfNamesOfOthersFormatsNothing) {
  Report evil = Counting(30, 2048);
  evil.processes[0].iterations->operations[0].operation = "a|b @team #1 <b> `*_ https://x.y";
  const std::vector<RunGroup> groups{Group("A", {Counting(20, 2048)}), Group("B", {evil})};
  const std::string text = RenderComparisonMarkdown(CompareGroups(groups, 1), groups);
  EXPECT_THAT(text, HasSubstr("a\\|b @\u200bteam #\u200b1 \\<b\\> \\`\\*\\_ https:\u200b//x.y |"));
  EXPECT_THAT(text, testing::StartsWith("**Of these two runs, B does "));
}

}  // namespace
}  // namespace gpubound
