// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/text/training_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "analysis/output/text/report_screen.h"
#include "tests/analysis/report_rows.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int64_t kMs = 1'000'000;

Report ReportOf(RunTraining run, ProcessTraining process) {
  Report report;
  report.run.wall_ns = 1000 * kMs;
  report.run.training = std::make_shared<const RunTraining>(std::move(run));
  ReportProcess& main = report.processes.emplace_back();
  main.span_ns = 1000 * kMs;
  main.operations = {Row("update", 1000 * kMs, 0)};
  main.training = std::make_shared<const ProcessTraining>(std::move(process));
  return report;
}

ReportTarget Reached(const std::string& name) {
  ReportTarget target;
  target.target = name;
  target.mean_of = 10;
  target.records = 40;
  target.reached_ns = 500 * kMs;
  target.parts_ns = 500 * kMs;
  target.parts = {{"update", 300 * kMs, 0}, {"simulation", 200 * kMs, 0}};
  return target;
}

TEST(TrainingText, ATargetHasItsTimeWithoutProfilingAndWhereItWent) {
  ReportTarget target = Reached("return>=450");
  EXPECT_EQ(TargetLines(ReportOf({{target}, {}, {}, {}}, {}), {}),
            "return>=450 (mean of 10 records): reached after 500 ms as recorded, not\n"
            "  corrected for profiling: update 60 %, simulation 40 %.\n");
  target.corrected = CorrectedTime{480 * kMs, 470 * kMs, 490 * kMs};
  EXPECT_THAT(TargetLines(ReportOf({{target}, {}, {}, {}}, {}), {}),
              HasSubstr("without profiling 480 ms\n  (470 ms to 490 ms): update 60 %"));
}

TEST(TrainingText, SeveralTargetsHaveALineEachOnTheScreenAndAllInFull) {
  ReportTarget unknown = Reached("x>=1");
  unknown.reached_ns.reset();
  unknown.parts.clear();
  unknown.why_not = "nothing recorded 'x'; its counters are a, b, c";
  const Report report =
      ReportOf({{Reached("a>=1"), unknown, Reached("c>=1 over 5"), unknown}, {}, {}, {}}, {});
  EXPECT_EQ(TargetLines(report, {}),
            "a>=1 (mean of 10): reached after 500 ms as recorded, not corrected for\n"
            "  profiling.\n"
            "x>=1 (mean of 10): not known: nothing recorded 'x'.\n"
            "c>=1 over 5: reached after 500 ms as recorded, not corrected for profiling.\n"
            "1 further target: --full.\n");
  TextOptions full;
  full.full = true;
  EXPECT_THAT(TargetLines(report, full), HasSubstr("its counters are a,\n  b, c."));
  EXPECT_THAT(TargetLines(report, full), Not(HasSubstr("further")));
}

TEST(TrainingText, MoreFlopsThanThePeakAreAWarning) {
  ReportFlops flops;
  flops.mfu = 1.5;
  const Report wrong = ReportOf({}, {flops, {}});
  EXPECT_THAT(TrainingLines(wrong, {}, true),
              HasSubstr("! MFU 150 % of the time cannot be: the FLOPs"));
  flops.mfu = 0.4;
  flops.busy_mfu = 0.5;
  EXPECT_EQ(TrainingLines(ReportOf({}, {flops, {}}), {}, true),
            "The model uses 40 % of the GPU's peak (MFU), 50 % while the GPU is busy.\n");
}

TEST(TrainingText, TheScreenSaysWeightSyncAndWasteWhereTheyMatter) {
  ReportWeightSync sync;
  sync.count = 10;
  sync.iterations = 10;
  sync.ns = 1000 * kMs;
  sync.exposed_ns = 40 * kMs;
  RunTraining run;
  run.samples.emplace();
  run.samples->consumed = 98;
  run.samples->discarded = 2;
  run.samples->discarded_share = 0.02;
  EXPECT_EQ(TrainingLines(ReportOf(run, {{}, sync}), {}, true), "");
  EXPECT_THAT(TrainingSection(ReportOf(run, {{}, sync}), {}),
              HasSubstr("Samples discarded: 2.0 %."));
  sync.exposed_ns = 60 * kMs;
  run.samples->discarded_share = 0.2;
  EXPECT_EQ(TrainingLines(ReportOf(run, {{}, sync}), {}, true),
            "Weight sync: 10 in 10 iterations (1 in each), exposed 60.0 ms (6.0 % of the\n"
            "  time).\n"
            "Samples discarded: 20 %.\n");
}

ReportRoles SomeRoles() {
  ReportRoles roles;
  roles.ns = 100;
  ReportRole& rollout = roles.roles.emplace_back();
  rollout.role = "rollout";
  rollout.held_ns = 200;
  rollout.idle_ns = 100;
  rollout.unknown_ns = 20;
  rollout.bubbles = {{"blocked", 60}, {"tail", 30}, {"other", 10}};
  rollout.processes = {{"host", 1, true, 100, 70, 0, {}}, {"host", 2, true, 100, 60, 1, {}}};
  ReportRole& train = roles.roles.emplace_back();
  train.role = "train";
  train.held_ns = 100;
  train.idle_ns = 40;
  train.bubbles = {{"starved", 40}};
  train.processes = {{"host", 3, false, 100, 50, 2, {}}};
  roles.overlap = {{{"rollout"}, 40}, {{"rollout", "train"}, 30}, {{"train"}, 20}, {{}, 10}};
  roles.perfect_overlap_ns = 70;
  return roles;
}

RunTraining WithRoles(ReportRoles roles) {
  RunTraining training;
  training.roles = std::move(roles);
  return training;
}

TEST(TrainingText, TheScreenSaysWhatRolesCostEachOther) {
  EXPECT_EQ(TrainingLines(ReportOf(WithRoles(SomeRoles()), {}), {}, true),
            "Idle GPU time by role: rollout at least 50 % (blocked 30 %, tail 15 %); train\n"
            "  40 % (starved 40 %).\n"
            "Perfect overlap of the roles would save at most 30 %.\n");
}

TEST(TrainingText, TheBoundHasWhatEachRoleWouldSave) {
  ReportRoles roles = SomeRoles();
  roles.savings = {{"train", 0.4, 0.38, 0.42}, {"rollout", 0.3, 0.2, 0.4}};
  EXPECT_THAT(
      TrainingLines(ReportOf(WithRoles(roles), {}), {}, true),
      HasSubstr("The run is bound by train: infinitely fast, train would save 40 %, rollout 30 %;\n"
                "  perfect overlap of the roles would save at most 30 %.\n"));
  roles.savings[0].saves = 0.04;
  EXPECT_THAT(TrainingLines(ReportOf(WithRoles(roles), {}), {}, true),
              HasSubstr("Perfect overlap of the roles would save at most 30 %.\n"))
      << "none saves much";
  roles.savings[0].saves = 0.4;
  roles.savings[1].saves = 0.36;
  EXPECT_THAT(
      TrainingSection(ReportOf(WithRoles(roles), {}), {}),
      HasSubstr("The roles are balanced: infinitely fast, train would save 40 % (38 % to 42 %),"));
}

TEST(TrainingText, AllThatIsKnownOfRolesIsInFull) {
  ReportRoles roles = SomeRoles();
  const std::string text = TrainingSection(ReportOf(WithRoles(roles), {}), {});
  EXPECT_THAT(text, HasSubstr("blocked 30 %, tail 15 %, other\n  5.0 %);"));
  EXPECT_THAT(
      text,
      HasSubstr("At work: rollout alone 40 %, rollout and train 30 %, train alone 20 %, nobody\n"
                "  10 % of the time.\n"));
  EXPECT_THAT(text, HasSubstr("Tail of rollouts: not known, since"));
  EXPECT_THAT(text, HasSubstr("Inferred from operations: rollout of 2 processes;"));
  roles.tail = ReportTail{2, 4, 10, 20, 20, 40, 10, 20, 5};
  EXPECT_THAT(
      TrainingSection(ReportOf(WithRoles(roles), {}), {}),
      HasSubstr("Tail of rollouts: 25 % of their time, after nine in ten workers had ended"));
}

}  // namespace
}  // namespace gpubound
